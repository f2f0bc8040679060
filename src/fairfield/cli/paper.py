"""``fairfield paper``: the paper's experiments with the paper's settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairfield.cli.sentences import say, told
from fairfield.paper.adult import MODELS, load_adult
from fairfield.paper.features import PAPER_ACCURACY, draw, sample_rows, study

app = typer.Typer(
    no_args_is_help=True,
    help="The experiments of Bian et al., Energy-Based Learning for Cooperative Games, ICLR 2022.",
)
Out = Annotated[Path, typer.Option(help="The folder to write figures and numbers to.")]
ROWS, QUICK_ROWS = 1000, 50


@app.command(epilog="**Example** `fairfield paper features --out paper --quick`")
def features(
    out: Out = Path("paper"),
    quick: Annotated[bool, typer.Option("--quick", help="Fewer rows: minutes, not hours.")] = False,
    source: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help="adult_train.csv.gz or its folder; else FAIRFIELD_DATA, else OpenML is asked.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Which rows are drawn.")] = 0,
) -> None:
    """Adult: what carries the prediction of an income, by three models."""
    with told():
        X, y = load_adult(source)
        rows = sample_rows(y, QUICK_ROWS if quick else ROWS, seed)
        lines = ["model,accuracy,paper's accuracy,criterion,mean decoupling error,lowest error in"]
        for model in MODELS:
            found = study(model, X, y, rows)
            lowest = found.lowest_error()
            for criterion, errors in found.errors().items():
                numbers = f"{errors.mean():.6g},{lowest[criterion]:.4f}"
                accuracies = f"{found.accuracy:.6f},{PAPER_ACCURACY[model]:.6f}"
                lines.append(f"{model},{accuracies},{criterion},{numbers}")
            for path in draw(found, out):
                say(f"wrote {path}")
        table = out / "features.csv"
        table.write_text("\n".join(lines) + "\n", encoding="utf-8")
        say(f"wrote {table}")
