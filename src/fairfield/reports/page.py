"""A summary as one interactive HTML file that needs no network.

The page, its style and its scripts are the files in ``template/``; plotly travels inside,
compressed. Everything a user may have named reaches the page as JSON, and the scripts put it
into text nodes. A content security policy allows the scripts of this page alone, by their
digests, and no request to anywhere.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from fairfield.core.runtime.imports import needed_for
from fairfield.reports.plain import table_of_values
from fairfield.results.display import html_table

SCRIPTS = ("format.js", "summary.js", "table.js", "figures.js", "charts.js", "main.js")


def html(summary: dict[str, Any]) -> str:
    """The whole page."""
    library, digest_of_library = _plotly()
    script = _script()
    return Template(_file("page.html")).substitute(
        policy=_policy(_digest(script), digest_of_library),
        title=escape(f"{summary['title']} – fairfield"),
        style=_file("style.css"),
        plain=html_table(table_of_values(summary)),  # where scripts are not allowed to run
        **_nouns(summary["words"]),
        data=embedded(summary),
        library=library,
        script=script,
    )


def _nouns(words: dict[str, str]) -> dict[str, str]:
    """The nouns of the page, as they stand in its text and at the beginning of a line."""
    plain = {name: escape(word) for name, word in words.items()}
    return plain | {name.capitalize(): word[:1].upper() + word[1:] for name, word in plain.items()}


def embedded(data: Any) -> str:
    """JSON that can stand inside a script element: no end tag, no comment can begin in it.

    >>> embedded({"name": "</script><!--"})
    '{"name":"\\\\u003c/script>\\\\u003c!--"}'
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("&", "\\u0026")


def _policy(*digests: str) -> str:
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _script() -> str:
    """Our scripts as one, with names of their own."""
    parts = "\n".join(_file(name) for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();\n'


@cache
def _plotly() -> tuple[str, str]:
    """plotly's library, compressed, as text, and the digest of what it unpacks to."""
    with needed_for("an HTML report"):
        from plotly.offline import get_plotlyjs
    source = get_plotlyjs()
    packed = gzip.compress(source.encode(), compresslevel=9, mtime=0)
    return base64.b64encode(packed).decode(), _digest(source)


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _file(name: str) -> str:
    return (files("fairfield.reports") / "template" / name).read_text(encoding="utf-8")
