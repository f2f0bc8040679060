"""The experiments, one file each; every file here is found and registers itself."""
