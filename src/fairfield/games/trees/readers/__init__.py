"""Trees of other libraries, read into one form."""
