"""What replaces features that are left out."""
