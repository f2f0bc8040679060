"""fairfield: what is each player of a cooperative game worth?

Every criterion is a reading of the gradient of the game's multilinear extension.
"""

import ast
from importlib import import_module
from pathlib import Path

__version__ = "0.2.0"

# The stub lists the public names for type checkers; at run time it says what to import from where,
# so that ``import fairfield`` costs nothing before a name is used.
_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_HOMES = {
    name.name: home.module
    for home in _STUB.body
    if isinstance(home, ast.ImportFrom)
    for name in home.names
}
__all__ = sorted(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    value = vars(import_module(home)).get(name)
    if value is None:  # a module that its package has not imported
        value = import_module(f"{home}.{name}")
    globals()[name] = value
    return value


def __dir__():
    return [*__all__, "__version__"]
