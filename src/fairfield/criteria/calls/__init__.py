"""Ways to ask for criteria: several at once, step by step, or only what they would take."""
