"""The models of an ensemble."""
