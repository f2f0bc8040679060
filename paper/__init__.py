"""The paper's experiments, run again with fairfield: ``python -m paper`` from the repository's root.

Each file in ``paper/experiments`` is one experiment and registers itself; what several of them
share lies beside that folder. Nothing of it is part of the installed package.
"""
