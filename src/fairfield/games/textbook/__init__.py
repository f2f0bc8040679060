"""The classic games of cooperative game theory, in closed form."""
