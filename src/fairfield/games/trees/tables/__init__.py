"""What leaves pay, from tables over the patterns of rows."""
