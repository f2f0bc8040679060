"""How many players own the rows of the tests."""

PLAYERS = 5
