"""The paper's experiments, run again with fairfield: ``python -m paper`` from the repository's root.

Each file in ``paper/experiments`` is one experiment and registers itself, each in
``paper/verdicts`` judges the numbers of one; what several of them share lies beside these folders.
Nothing of it is part of the installed package.
"""
