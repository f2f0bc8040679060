"""The features behind a prediction."""
