"""Which coalitions are asked for: by size, in balance, where they tell most."""
