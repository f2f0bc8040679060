"""The commands: each file registers its own, and ``fairfield.cli.app`` imports them all."""
