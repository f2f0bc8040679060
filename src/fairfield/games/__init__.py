"""Games: what the players are and what their coalitions are worth."""
