"""What the site adds to the pages in docs/.

Pages link to files of the repository, ``../examples/baskets.py`` say, so that they can be read
there. On the site those files are pages, too, and every link follows them. Where a page says
``fairfield data --help`` or ``python -m paper --help`` in a line of its own, the site shows what it
prints; a picture with ``<!-- live: demo/report.html -->`` below gives way to that page. Formulas
are written to be read as they are, x_i and 2^n; the site lowers and raises what they mean. Searching
finds the reference first, and no columns of measurements. A page that would load anything from elsewhere
fails the build.
"""

import os
import posixpath
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = (
    "examples/*.py",
    "benchmarks/*.md",
    "benchmarks/*.py",
    "benchmarks/*/*.py",
    "release/*.py",
    "release/*.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
)
# Pages by how much they count in a search, 1 where nothing is said; None: not searched.
FOUND = {
    "reference/": 3,
    "benchmarks/": None,
    "release/": None,
    "examples/": 0.5,
    "CHANGELOG.md": 0.3,
    "CONTRIBUTING.md": 0.5,
    "paper.md": 0.5,
}
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)\s#]+)")
HELP = re.compile(r"^`(fairfield|python -m paper) ([a-z ]*)--help`$", re.MULTILINE)
LIVE = re.compile(r"^!\[(.*)\]\(.*\)\n<!-- live: (demo/\w+\.html) -->$", re.MULTILINE)
# An indented block that holds a mathematical sign.
FORMULA = re.compile(r"(?<=\n\n)(?: {4}.*\n)+(?=\n)")
SIGNS = re.compile("[ΣΠ∫σ∂∇‖∝→φ∈]")
FRAMES = re.compile(r"(<pre.*?</pre>|<code.*?</code>|<svg.*?</svg>|<[^>]*>)", re.DOTALL)
LOWERED = re.compile(r"(?<!\w)((?:[^\W\d_]{1,2}|[Σ∂∇∫∏Π]))_(\{[^}]*\}|[^\W_]{1,2})(?!\w)")
RAISED = re.compile(r"(?<=[\w)>])\^(\{[^}]*\}|\([^)]*\)|\w+)")
LOADED = re.compile(
    r"""<(?:script|img|iframe|link\s+rel="(?:stylesheet|preconnect|icon)")[^>]*"""
    r"""(?:src|href)="(?:https?:)?//[^"]*"""
)


def on_files(files: Files, config: Any) -> Files:
    """Files outside docs/ as pages: programs in a frame, other pages as they are."""
    for pattern in PUBLISHED:
        for source in sorted(ROOT.glob(pattern)):
            path = source.relative_to(ROOT).as_posix()
            text = source.read_text(encoding="utf-8")
            if source.suffix == ".py":
                text = f"# {source.stem}\n\n`{path}`\n\n```python\n{text}```\n"
            files.append(File.generated(config, _place(path), content=text))
    for source in ROOT.glob("demo/*.html"):
        files.append(File.generated(config, f"demo/{source.name}", content=source.read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page with its links led to where they are on the site, and helps filled in."""
    place = page.file.src_uri
    source = place if page.file.generated_by else f"docs/{place}"
    for start, weight in FOUND.items():
        if place.startswith(start):
            page.meta["search"] = {"exclude": True} if weight is None else {"boost": weight}
    if place == "benchmarks/RESULTS.md":  # the page of each script becomes a part that is listed
        markdown = re.sub(r"(?<=\n)# ", "## ", markdown)
    told = HELP.sub(_help, LINK.sub(_led(source, place), LIVE.sub(_live, markdown)))
    return FORMULA.sub(_formula, told)


def on_page_content(html: str, **_: Any) -> str:
    """The page with indices lowered and powers raised, outside programs."""
    parts = FRAMES.split(html)
    parts[::2] = [_set(part) for part in parts[::2]]
    return "".join(parts)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """The page as it is, unless it would load something from elsewhere."""
    found = LOADED.search(output)
    if found:
        raise PluginError(f"{page.file.src_uri} would load from elsewhere: {found[0]}")
    return output


def _place(path: str) -> str:
    """Where a file of the repository is on the site."""
    inside = path.removeprefix("docs/")
    return f"{inside}.md" if inside.endswith(".py") else inside


def _led(source: str, place: str) -> Callable[[re.Match[str]], str]:
    def lead(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[1]))
        return posixpath.relpath(_place(target), posixpath.dirname(place) or ".")

    return lead


def _formula(block: re.Match[str]) -> str:
    """An indented formula in a frame of its own; programs stay as they are."""
    return f"```formula\n{dedent(block[0])}```\n" if SIGNS.search(block[0]) else block[0]


def _set(text: str) -> str:
    text = LOWERED.sub(lambda m: f"{m[1]}<sub>{m[2].strip('{}')}</sub>", text)
    return RAISED.sub(lambda m: f"<sup>{m[1].strip('{}')}</sup>", text)


def _live(picture: re.Match[str]) -> str:
    """A page of the demo in place of its picture, once ``make demo`` has written it."""
    if not (ROOT / picture[2]).exists():
        return picture[0]
    return f'<iframe class="report" title="{picture[1]}" src="{picture[2]}"></iframe>'


def _help(line: re.Match[str]) -> str:
    """What a command prints when it is asked for help, eighty characters wide."""
    plain = {"COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1"}
    if line[1] == "fairfield":
        from typer.testing import CliRunner

        from fairfield.cli.app import app

        words = [*line[2].split(), "--help"]
        shown = CliRunner().invoke(app, words, env=plain, prog_name="fairfield")
        failed, output = shown.exit_code, shown.output
    else:
        ran = subprocess.run(
            [sys.executable, "-m", "paper", "--help"],
            cwd=ROOT, env={**os.environ, **plain, "PYTHONIOENCODING": "utf-8"},
            capture_output=True, encoding="utf-8",
        )  # fmt: skip
        failed, output = ran.returncode, ran.stdout + ran.stderr
    if failed:
        raise PluginError(f"{line[0]} failed: {output}")
    printed = "\n".join(each.rstrip() for each in output.strip().splitlines())
    return f'```text title="{line[0].strip("`")}"\n{printed}\n```'
