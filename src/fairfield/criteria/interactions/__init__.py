"""What players are worth together."""
