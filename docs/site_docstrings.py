"""Our docstrings as Markdown: examples in frames, formulas apart, stars and underscores as they are."""

import re
from textwrap import dedent
from typing import Any

import griffe

# A doctest, up to the next empty line or the end.
EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
# What is indented is a formula.
FORMULA = re.compile(r"(?:^ {4,}\S.*\n)+", re.MULTILINE)
# What Markdown leaves alone.
CODE = re.compile(r"(```.*?```|`+[^`]+`+)", re.DOTALL)
ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?(\w+)`")


def as_markdown(text: str) -> str:
    """A docstring as a page shows it.

    >>> as_markdown("(*batch, n)")
    '(\\\\*batch, n)'
    """
    text = ROLE.sub(r"`\1`", text)
    text = EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
    text = FORMULA.sub(lambda found: f"```formula\n{dedent(found[0])}```\n", text)
    parts = CODE.split(text)
    parts[::2] = [re.sub(r"([*_<\[])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


class Docstrings(griffe.Extension):
    """Called for every object that is documented."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        # Criteria yield one valuation per round and give the last one (criteria/streamed.py).
        if any(decorator.callable_path.endswith("streamed") for decorator in func.decorators):
            func.returns = "Valuation"
