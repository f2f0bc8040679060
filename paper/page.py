"""One plain page of all that the experiments in a folder found, as HTML and as Markdown.

Verdicts first, then for each experiment its pictures, one short row for every claim, and what
stands behind them folded away. The HTML needs no network and no script; what experiments say is
escaped, figures travel inside.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections import Counter
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from paper.claims import CODE, PAPER, VERDICTS
from paper.registry import experiments

MARKS = {"reproduced": "✓", "differs": "≠", "wrong": "✗", "open": "?"}
MEANINGS = {
    "reproduced": "what is said holds here",
    "differs": "it does not hold here, or not of all that it is said of",
    "wrong": "it cannot hold, or is not what was done; the evidence is beside it",
    "open": "this run was too small to tell, or lacked the data",
}
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
TITLE = "The paper’s experiments, run again"
COUNTED = ("verdict", f"claims of {PAPER}", f"of {CODE}", "meaning")
CLAIM = ("verdict", "where", "what it says", "paper", "here")
CELLS = ("where", "says", "paper", "ours")

Found = dict[str, Any]


def findings(folder: Path) -> list[Found]:
    """What the experiments kept in a folder, in the order of the page."""
    files = [folder / f"{each.name}.json" for each in experiments()]
    return [json.loads(f.read_text(encoding="utf-8")) for f in files if f.exists()]


def write_page(folder: Path, docs: Path | None = None) -> Path:
    """The page of a folder, and the same in Markdown beside it: the page's path.

    ``docs`` is a folder of documentation that takes the Markdown as paper.md, with its pictures.
    A page that is there keeps its sections of experiments that this folder lacks.
    """
    found, path = findings(folder), folder / "index.html"
    path.write_text(html(found, folder), encoding="utf-8")
    (folder / "claims.md").write_text(markdown(found, "."), encoding="utf-8")
    if docs is not None:
        pictures = docs / "images" / "paper"
        pictures.mkdir(parents=True, exist_ok=True)
        for name in (name for each in found for name in each["figures"]):
            shutil.copyfile(folder / f"{name}.svg", pictures / f"{name}.svg")
        intro = files("paper").joinpath("intro.md").read_text(encoding="utf-8")
        page = docs / "paper.md"
        before = page.read_text(encoding="utf-8") if page.exists() else ""
        text = markdown(found, "images/paper", before)
        page.write_text(intro + "\n" + text, encoding="utf-8")
    return path


def counts(found: list[Found]) -> list[tuple[str, int, int, str]]:
    """For each verdict how many claims have it, of the paper and of its code, and its meaning."""
    held = Counter((claim["verdict"], claim["of"]) for each in found for claim in each["claims"])
    return [(v, held[v, PAPER], held[v, CODE], MEANINGS[v]) for v in VERDICTS]


def html(found: list[Found], folder: Path) -> str:
    """The whole page."""
    style = files("paper").joinpath("page.css").read_text(encoding="utf-8")
    links = "".join(
        f'<li><a href="#{escape(e["name"])}">{escape(e["title"])}</a></li>' for e in found
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{TITLE} – fairfield</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<header>\n<h1>{TITLE}</h1>\n"
        "<p>Bian, Rong, Xu, Wu, Krause, Huang: <cite>Energy-Based Learning for Cooperative Games, "
        "with Applications to Valuation Problems in Machine Learning</cite>, ICLR 2022. Each claim "
        "of the paper, and what its released code does without saying so, stands beside what was "
        "found here.</p>\n"
        f"{_counts(found)}\n<nav aria-label='Experiments'><ul>{links}</ul></nav>\n</header>\n<main>\n"
        + "\n".join(_section(each, folder) for each in found)
        + "\n</main>\n</body>\n</html>\n"
    )


def _counts(found: list[Found]) -> str:
    rows = "".join(
        f"<tr><td>{_verdict(verdict)}</td>{_cells(*cells)}</tr>"
        for verdict, *cells in counts(found)
    )
    head = f"<tr>{_heads(*COUNTED)}</tr>"
    return f'<table class="counts"><thead>{head}</thead><tbody>{rows}</tbody></table>'


def _section(found: Found, folder: Path) -> str:
    name = escape(found["name"])
    rows = "\n".join(_row(claim) for claim in found["claims"])
    tables = ", ".join(
        f'<a href="{escape(each)}.csv">{escape(each)}.csv</a>' for each in found["tables"]
    )
    return (
        f'<section aria-labelledby="{name}">\n<h2 id="{name}">{escape(found["title"])}</h2>\n'
        f'<p class="quiet small">{escape(found["sizes"])}</p>\n'
        + "\n".join(_figure(each, found["captions"].get(each, ""), folder) for each in found["figures"])
        # A keyboard must reach what it is to scroll.
        + f'\n<div class="scroll" tabindex="0" role="region" aria-labelledby="{name}">'
        f'<table class="claims"><thead><tr>{_heads(*CLAIM)}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>\n"
        + "".join(_folded_table(each) for each in found["shown"])
        + f'<p class="small quiet">{escape(found["made"])}'
        + (f" Numbers: {tables}" if tables else "")
        + "</p>\n</section>"
    )  # fmt: skip


def _heads(*names: str) -> str:
    return "".join(f'<th scope="col">{escape(each)}</th>' for each in names)


def _cells(*cells: Any) -> str:
    return "".join(f"<td>{escape(str(each))}</td>" for each in cells)


def _row(claim: dict[str, str]) -> str:
    *first, ours = (escape(claim[key]) for key in CELLS)
    why = _folded("why", escape(claim["why"])) if claim["why"] else ""
    cells = "".join(f"<td>{each}</td>" for each in first)
    of = "" if claim["of"] == PAPER else f'<br><span class="quiet">{escape(claim["of"])}</span>'
    return f"<tr><td>{_verdict(claim['verdict'])}{of}</td>{cells}<td>{ours}{why}</td></tr>"


def _verdict(verdict: str) -> str:
    return f'<span class="verdict {escape(verdict)}">{MARKS[verdict]} {escape(verdict)}</span>'


def _folded(summary: str, inside: str) -> str:
    return f"<details><summary>{summary}</summary>{inside}</details>"


def _folded_table(table: dict[str, Any]) -> str:
    rows = "".join(f"<tr>{_cells(*row)}</tr>" for row in table["rows"])
    inside = f"<table><thead><tr>{_heads(*table['head'])}</tr></thead><tbody>{rows}</tbody></table>"
    return _folded(escape(table["title"]), inside) + "\n"


def _figure(name: str, caption: str, folder: Path) -> str:
    picture = base64.b64encode((folder / f"{name}.svg").read_bytes()).decode()
    text = escape(caption)
    return (
        f'<figure><img alt="{text}" src="data:image/svg+xml;base64,{picture}">'
        f"<figcaption>{text}</figcaption></figure>"
    )


def markdown(found: list[Found], pictures: str, before: str = "") -> str:
    """The same in Markdown, with pictures in a folder; what is folded is HTML inside.

    ``before`` is a page whose sections stay, each in its place, where nothing new is found.
    """
    parts = re.split(r"^## (.*)\n", before, flags=re.MULTILINE)
    sections = {
        title: body.strip("\n") for title, body in zip(parts[1::2], parts[2::2], strict=True)
    }
    sections |= {each["title"]: "\n".join(_lines(each, pictures)).strip("\n") for each in found}
    body = "\n".join(f"## {title}\n\n{text}\n" for title, text in sections.items())
    said = Counter(re.findall(r"^\| (\w+(?: \(code\))?) \|", body, flags=re.MULTILINE))
    counted = [(v, said[v], said[f"{v} (code)"], MEANINGS[v]) for v in VERDICTS]
    return "\n".join([*_table(COUNTED, counted), "", body])


def _lines(found: Found, pictures: str) -> list[str]:
    """One section."""
    sizes = found["sizes"].rstrip(".")
    lines = [_plain(sizes[:1].upper() + sizes[1:] + "."), ""]
    for name in found["figures"]:
        caption = _plain(found["captions"].get(name, ""))
        lines += [f"![{caption}]({pictures}/{name}.svg)", "", f"*{caption}*", ""]
    rows = [(_said(claim), *(claim[key] for key in CELLS)) for claim in found["claims"]]
    lines += [*_table(CLAIM, rows), ""]
    why = [
        f"<li><b>{escape(c['says'])}</b>: {escape(c['why'])}</li>"
        for c in found["claims"]
        if c["why"]
    ]
    if why:
        lines += [_folded("What stands behind these", f"<ul>{''.join(why)}</ul>"), ""]
    lines += [_folded_table(table) for table in found["shown"]]
    return [*lines, f"*{found['made']}*"] if found["made"] else lines


def _said(claim: dict[str, str]) -> str:
    return claim["verdict"] if claim["of"] == PAPER else f"{claim['verdict']} (code)"


def _table(head: tuple[str, ...], rows: Any) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(_plain(str(cell)) for cell in line) + " |" for line in lines]


def _plain(text: str) -> str:
    """Text in which x* and | mean themselves."""
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")
