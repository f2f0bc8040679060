"""What the code of a user depends on, so that a function differs from what it was before an edit."""

from __future__ import annotations

import dis
import functools
import inspect
import os
import sys
import sysconfig
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

# Methods by which a function writes into a container that it holds.
_WRITING = {
    *("append", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "remove"),
    *("discard", "clear", "sort", "reverse", "fill", "appendleft", "popleft", "subtract"),
}
_ASSIGNING = {"STORE_DEREF", "DELETE_DEREF", "STORE_ATTR", "DELETE_ATTR"}
_WRITING_INTO = {"STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE", "STORE_ATTR"}
# Attributes of a class that are constants.
_PLAIN = (bool, int, float, complex, str, bytes, tuple, frozenset)
# Where libraries are, and fairfield itself, which may be elsewhere.
_INSTALLED = [sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib")]
_LIBRARIES = tuple(os.path.join(str(each), "") for each in [*_INSTALLED, Path(__file__).parents[1]])


def code_parts(given: Any) -> dict[str, Any] | None:
    """What a function, class or object of the user depends on, by name; None for libraries' own.

    That is its instructions with their constants, its defaults and the variables that it has
    from around it (or the attributes of its object), except those it writes to, as counters and
    caches. Not what is global: modules, settings, and functions by name.

    >>> sorted(code_parts(lambda S, power=2: (S.sum(axis=1) - 1) ** power))
    ['default power', 'instructions']
    """
    given = _unwrapped(given)
    if isinstance(given, functools.partial):
        return {"function": given.func, "arguments": given.args, "keywords": given.keywords}
    if isinstance(given, MethodType):
        owner = given.__self__
        return {"function": given.__func__, **(code_parts(owner) or {})}
    if inspect.isbuiltin(given) or _is_library(given):
        return None
    if isinstance(given, FunctionType):
        return _function_parts(given)
    if inspect.isclass(given):
        parts = {f"method {name}": each for name, each in _methods(given).items()}
        plain = {n: v for n, v in vars(given).items() if n[:2] != "__" and isinstance(v, _PLAIN)}
        bases = [each for each in given.__bases__ if each is not object]
        return {**parts, "attributes": plain, "bases": bases}
    own = {
        each for name, f in _methods(type(given)).items() if name != "__init__"
        for each in _written(f.__code__)
    }  # fmt: skip
    slots = [name for kind in type(given).__mro__ for name in _slots(kind) if hasattr(given, name)]
    state = {name: getattr(given, name) for name in slots} | getattr(given, "__dict__", {})
    held = {f"attribute {name}": each for name, each in state.items() if name not in own}
    return {"class": type(given), **held}


def _slots(kind: type) -> list[str]:
    """The attributes that objects of a class hold outside their dictionary."""
    named = vars(kind).get("__slots__", ())
    listed = [named] if isinstance(named, str) else list(named)
    return [name for name in listed if name[:2] != "__"]


def _methods(kind: type) -> dict[str, FunctionType]:
    own = {name: _unwrapped(each) for name, each in vars(kind).items()}
    return {name: each for name, each in own.items() if isinstance(each, FunctionType)}


def _unwrapped(given: Any) -> Any:
    """The function in a static or class method, a property, or a cache of its answers."""
    if isinstance(given, property):
        return given.fget
    if isinstance(given, FunctionType | MethodType):  # one that wraps another has its own code
        return given
    return getattr(given, "py_func", getattr(given, "__wrapped__", given))  # Numba's, functools'


def _is_library(given: Any) -> bool:
    """Whether a function or object is of an installed library, whose version tells what it does."""
    if isinstance(given, FunctionType):
        return given.__code__.co_filename.startswith(_LIBRARIES)
    home = given if hasattr(given, "__qualname__") else type(given)
    place = getattr(sys.modules.get(str(home.__module__)), "__file__", None)
    return home.__module__ == "builtins" or (place or "").startswith(_LIBRARIES)


def _function_parts(function: FunctionType) -> dict[str, Any]:
    code = function.__code__
    written = _written(code)
    names = code.co_varnames[: code.co_argcount]
    given = function.__defaults__ or ()
    defaults = dict(zip(names[len(names) - len(given) :], given, strict=True))
    defaults |= function.__kwdefaults__ or {}
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    parts: dict[str, Any] = {"instructions": instructions(code)}
    parts |= {f"default {name}": each for name, each in defaults.items() if name not in written}
    for name, cell in cells.items():
        if name not in written and name != "__class__":
            try:
                parts[f"cell {name}"] = cell.cell_contents
            except ValueError:  # it is assigned later
                continue
    return parts


def instructions(code: CodeType) -> str:
    """The instructions of a code object with names and constants, without lines and comments."""
    listed = (f"{each.opname} {_spelled(each.argval)}" for each in dis.get_instructions(code))
    return f"{code.co_varnames[: code.co_argcount]} {'; '.join(listed)} {code.co_exceptiontable!r}"


def _spelled(argument: Any) -> str:
    if isinstance(argument, CodeType):
        return instructions(argument)
    if isinstance(argument, frozenset):  # in no order of its own
        return f"frozenset({sorted(map(_spelled, argument))})"
    if isinstance(argument, tuple):
        return f"({', '.join(map(_spelled, argument))})"
    return repr(argument)


def _written(code: CodeType) -> set[str]:
    """The variables and attributes that a function, or one inside it, assigns or writes into."""
    found: set[str] = set()
    loaded: list[str] = []  # in the present line
    line = None
    for each in dis.get_instructions(code):
        if each.positions is not None and each.positions.lineno != line:
            line, loaded = each.positions.lineno, []
        if isinstance(each.argval, CodeType):
            found |= _written(each.argval)
        if each.opname in _ASSIGNING:
            found.add(each.argval)
        if each.opname in _WRITING_INTO:
            found.update(loaded)
        elif each.opname in ("LOAD_ATTR", "LOAD_METHOD") and each.argval in _WRITING:
            found.update(loaded[-1:])
        elif each.opname.startswith("LOAD_") and isinstance(each.argval, str):
            loaded.append(each.argval)
        elif isinstance(each.argval, tuple) and each.opname.startswith("LOAD_FAST"):
            loaded.extend(each.argval)  # two at once, since Python 3.13
    return found
