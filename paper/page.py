"""One plain page of all that the experiments in a folder found: claims, verdicts, figures.

It needs no network and no script; what experiments say is escaped, figures travel inside.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from paper.claims import VERDICTS
from paper.registry import experiments

MARKS = {"reproduced": "✓", "differs": "≠", "wrong": "✗", "open": "?"}
MEANINGS = {
    "reproduced": "what the paper says holds here",
    "differs": "it does not hold here, or not of all that it is said of",
    "wrong": "it cannot hold, or is not what was done; the evidence is beside it",
    "open": "this run was too small to tell, or lacked the data",
}
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"


def findings(folder: Path) -> list[dict[str, Any]]:
    """What the experiments kept in a folder, in the order of the page."""
    files = [folder / f"{each.name}.json" for each in experiments()]
    return [json.loads(f.read_text(encoding="utf-8")) for f in files if f.exists()]


def write_page(folder: Path) -> Path:
    """The page of a folder, and its claims in Markdown beside it: the page's path."""
    found, path = findings(folder), folder / "index.html"
    path.write_text(html(found, folder), encoding="utf-8")
    (folder / "claims.md").write_text(markdown(found), encoding="utf-8")
    return path


def html(found: list[dict[str, Any]], folder: Path) -> str:
    """The whole page."""
    from fairfield import __version__

    style = files("paper").joinpath("page.css").read_text(encoding="utf-8")
    title = "The paper’s experiments, run again"
    links = "".join(
        f'<li><a href="#{escape(e["name"])}">{escape(e["title"])}</a></li>' for e in found
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title} – fairfield</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<header>\n<h1>{title}</h1>\n"
        "<p>Bian, Rong, Xu, Wu, Krause, Huang: <cite>Energy-Based Learning for Cooperative Games, "
        "with Applications to Valuation Problems in Machine Learning</cite>, ICLR 2022. Each claim "
        "of the paper (or of its released code) stands beside what was found here.</p>\n"
        f'<p class="quiet small">fairfield {escape(__version__)}</p>\n'
        f"{_counts(found)}\n<nav aria-label='Experiments'><ul>{links}</ul></nav>\n</header>\n<main>\n"
        + "\n".join(_section(each, folder) for each in found)
        + "\n</main>\n</body>\n</html>\n"
    )


def _counts(found: list[dict[str, Any]]) -> str:
    counts = Counter(claim["verdict"] for each in found for claim in each["claims"])
    rows = "".join(
        f"<tr><td>{_verdict(verdict)}</td><td>{counts[verdict]}</td>"
        f"<td>{escape(MEANINGS[verdict])}</td></tr>"
        for verdict in VERDICTS
    )
    head = f"<tr>{_heads('Verdict', 'Claims', 'Meaning')}</tr>"
    return f'<table class="counts"><thead>{head}</thead><tbody>{rows}</tbody></table>'


def _section(found: dict[str, Any], folder: Path) -> str:
    name = escape(found["name"])
    head = _heads("Verdict", "Where", "What it says", "Paper", "Here")
    rows = "\n".join(_row(claim) for claim in found["claims"])
    tables = ", ".join(
        f'<a href="{escape(each)}.csv">{escape(each)}.csv</a>' for each in found["tables"]
    )
    return (
        f'<section aria-labelledby="{name}">\n<h2 id="{name}">{escape(found["title"])}</h2>\n'
        f'<p class="quiet small">{escape(found["sizes"])}</p>\n'
        # A keyboard must reach what it is to scroll.
        f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{name}">'
        f'<table class="claims"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>\n"
        + (f'<p class="small">Numbers: {tables}</p>\n' if tables else "")
        + "\n".join(
            _figure(each, found["captions"].get(each, ""), folder) for each in found["figures"]
        )
        + "\n</section>"
    )


def _heads(*names: str) -> str:
    return "".join(f'<th scope="col">{each}</th>' for each in names)


def _row(claim: dict[str, str]) -> str:
    why = f'<br><span class="quiet">{escape(claim["why"])}</span>' if claim["why"] else ""
    cells = "".join(f"<td>{escape(claim[key])}</td>" for key in ("where", "says", "paper"))
    return f"<tr><td>{_verdict(claim['verdict'])}</td>{cells}<td>{escape(claim['ours'])}{why}</td></tr>"


def _verdict(verdict: str) -> str:
    return f'<span class="verdict {escape(verdict)}">{MARKS[verdict]} {escape(verdict)}</span>'


def _figure(name: str, caption: str, folder: Path) -> str:
    picture = base64.b64encode((folder / f"{name}.png").read_bytes()).decode()
    text = escape(caption)
    return (
        f'<figure><img alt="{text}" src="data:image/png;base64,{picture}">'
        f"<figcaption>{text}</figcaption></figure>"
    )


def markdown(found: list[dict[str, Any]]) -> str:
    """The claims as tables of Markdown, an experiment each."""
    lines = []
    for each in found:
        lines += [
            f"\n## {each['title']}\n",
            each["sizes"] + ("" if each["sizes"].endswith(".") else "."),
        ]
        lines += [
            "",
            "| verdict | where | the paper says | paper | here |",
            "|---|---|---|---|---|",
        ]
        for claim in each["claims"]:
            here = claim["ours"] + (f". *{claim['why']}*" if claim["why"] else "")
            cells = (claim["verdict"], claim["where"], claim["says"], claim["paper"], here)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
