"""The file of a store: its format, its drivers, and what may be wrong with it."""
