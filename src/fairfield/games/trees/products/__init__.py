"""Games with a background as sums of products, at any point."""
