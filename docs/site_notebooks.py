"""Notebooks: the pages of docs/notebooks/ run when the site is built, and show what they print and draw.

A notebook is a page of Markdown whose blocks of Python run one after another, as in Jupyter: the
last expression of a block is shown, and so are the pictures it drew and the reports it wrote. Beside
each page lies the same as a file for Jupyter. A block that fails, fails the build.
"""

import ast
import base64
import io
import json
import re
import tempfile
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

import matplotlib
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
DOWNLOAD = "\n[This page as a notebook]({}){{ .md-button download }}\n"

# What a block leaves behind: pairs of a MIME type and a text, pictures in base 64.
Outputs = list[tuple[str, str]]


def on_files(files: Files, config: Any) -> Files:
    """Every notebook replaced by what came of it."""
    matplotlib.use("Agg")
    for file in [each for each in files if re.fullmatch(r"notebooks/\w+\.md", each.src_uri)]:
        name = Path(file.src_uri).stem
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            cells = run(Path(file.abs_src_path).read_text(encoding="utf-8"), name)
            reports = {path.name: path.read_bytes() for path in sorted(Path().glob("*.html"))}
        files.remove(file)
        made: dict[str, str | bytes] = {
            f"{name}.md": page(cells, name),
            f"{name}.ipynb": jupyter(cells),
            **{f"{name}-{report}": content for report, content in reports.items()},
        }
        for place, content in made.items():
            files.append(File.generated(config, f"notebooks/{place}", content=content))
    return files


def run(text: str, name: str) -> list[tuple[str, Outputs | None]]:
    """The cells of a notebook: texts with None, programs with their outputs."""
    names: dict[str, Any] = {"__name__": name}
    cells: list[tuple[str, Outputs | None]] = []
    for place, part in enumerate(BLOCK.split(text)):
        if place % 2:
            try:
                cells.append((part, outputs_of(part, names)))
            except Exception as error:
                raise PluginError(f"{name}.md: {error!r} in\n{part}") from error
        elif part.strip():
            cells.append((part, None))
    return cells


def outputs_of(code: str, names: dict[str, Any]) -> Outputs:
    """What a block prints, is, draws and writes."""
    import matplotlib.pyplot as plt

    before, printed = set(Path().glob("*.html")), io.StringIO()
    tree, value = ast.parse(code), None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(printed):
        exec(compile(tree, names["__name__"], "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), names["__name__"], "eval"), names)
    found = [("text/plain", printed.getvalue())] if printed.getvalue() else []
    written = [("report", path.name) for path in sorted({*Path().glob("*.html")} - before)]
    if hasattr(value, "_repr_html_"):
        found.append(("text/html", value._repr_html_().replace("\n", "")))
    elif value is not None and not written and not plt.get_fignums():
        found.append(("text/plain", repr(value)))
    for number in plt.get_fignums():
        drawn = io.BytesIO()
        plt.figure(number).savefig(drawn, format="png", dpi=80, bbox_inches="tight")
        found.append(("image/png", base64.b64encode(drawn.getvalue()).decode()))
    plt.close("all")
    return [*found, *written]


def page(cells: list[tuple[str, Outputs | None]], name: str) -> str:
    """The notebook as a page of the site."""
    parts = []
    for source, outputs in cells:
        parts.append(source if outputs is None else f"```python\n{source}```\n")
        for kind, held in outputs or []:
            parts.append(
                {
                    "text/plain": f"```text\n{held.rstrip()}\n```",
                    "text/html": f'<div class="output">{held}</div>',
                    "image/png": f'<img alt="{name}" src="data:image/png;base64,{held}">',
                    "report": f'<iframe class="report" title="{held}" src="{name}-{held}"></iframe>',
                }[kind]
            )
    return "\n\n".join([*parts, DOWNLOAD.format(f"{name}.ipynb")])


def jupyter(cells: list[tuple[str, Outputs | None]]) -> str:
    """The notebook as a file for Jupyter."""
    found = []
    for number, (source, outputs) in enumerate(cells):
        cell: dict[str, Any] = {"id": f"cell-{number}", "metadata": {}, "source": source.strip()}
        if outputs is None:
            found.append({"cell_type": "markdown", **cell})
            continue
        shown = [
            {"output_type": "display_data", "metadata": {}, "data": {kind: held}}
            for kind, held in outputs
            if kind != "report"
        ]
        found.append({"cell_type": "code", "execution_count": None, "outputs": shown, **cell})
    about = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    whole = {"nbformat": 4, "nbformat_minor": 5, "metadata": about, "cells": found}
    return json.dumps(whole, ensure_ascii=False, indent=1)
