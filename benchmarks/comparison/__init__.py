"""The public comparison of data valuations, its parts one by one; ``__main__`` is the command."""
