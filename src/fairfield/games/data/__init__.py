"""The rows of a training set, valued by refitting."""
