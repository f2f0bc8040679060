"""What recording a training run costs: record_training against the same loop without it.

    python benchmarks/training.py [cpu | cuda] [rounds]

A small convolutional network and a small transformer, each trained alone and under a record, in
turns, with batches of 64 rows and 16 validation rows. Shown is the least processor time of a step (on
a GPU: the least time until it is done), how much more it is under a record, and one step in how many
may be recorded within the bar of 15 %.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from measure import machine, show

import fairfield as ff

try:
    import torch
    from torch import nn
except ImportError:
    print("# Recording a training run\n\nPyTorch is not installed, so recording was not measured.")
    sys.exit()

STEPS, BATCH, VAL_ROWS, VENDORS, LR = 16, 64, 16, 6, 0.05
BAR = 0.15
# What is recorded: single rows to first order, vendors to second.
RECORDS: dict[str, dict[str, Any]] = {
    "order 1, every step": {},
    "order 1, one step in 8": {"every": 8},
    "order 1, one step in 16": {"every": 16},
    "order 2 of 6 vendors, one step in 8": {"every": 8, "order": 2},
}


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.asked, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        parts = self.asked(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        return self.out(
            nn.functional.scaled_dot_product_attention(*parts).transpose(1, 2).flatten(2)
        )


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.attention = nn.Sequential(nn.LayerNorm(width), Attention(width, 4))
        self.dense = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Any) -> Any:
        x = x + self.attention(x)
        return x + self.dense(x)


class Mean(nn.Module):
    def forward(self, x: Any) -> Any:
        return x.mean(dim=1)


def convolutional() -> tuple[nn.Module, Callable[[int], Any]]:
    """Pictures of 3 × 32 × 32 through three convolutions."""
    layers: list[nn.Module] = []
    for before, after in ((3, 32), (32, 64), (64, 64)):
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.GroupNorm(4, after), nn.ReLU()]
        layers += [nn.MaxPool2d(2)]
    net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 16, 10))
    return net, lambda rows: torch.randn(rows, 3, 32, 32)


def transformer() -> tuple[nn.Module, Callable[[int], Any]]:
    """Texts of 32 words through two blocks of width 128."""
    net = nn.Sequential(nn.Embedding(1000, 128), Block(128), Block(128), Mean(), nn.Linear(128, 10))
    return net, lambda rows: torch.randint(0, 1000, (rows, 32))


class Run:
    """A network in training, under a record or not."""

    def __init__(
        self, build: Callable[[], Any], device: str, options: dict[str, Any] | None
    ) -> None:
        torch.manual_seed(0)
        net, draw = build()
        self.net, self.loss = net.to(device), nn.CrossEntropyLoss()
        self.X, X_val = draw(BATCH * STEPS).to(device), draw(VAL_ROWS).to(device)
        self.y, y_val = (torch.randint(0, 10, (len(X),), device=device) for X in (self.X, X_val))
        self.owners = torch.arange(len(self.X))
        if options and options.get("order") == 2:
            self.owners %= VENDORS
        self.open = ExitStack()
        self.record = None
        if options is not None:
            recording = ff.record_training(
                self.net, self.loss, X_val, y_val, int(self.owners.max()) + 1, **options
            )
            self.record = self.open.enter_context(recording)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=LR)

    def steps(self) -> None:
        for rows in torch.arange(len(self.X)).split(BATCH):
            with self.record.step(self.owners[rows], LR) if self.record else ExitStack():
                self.optimizer.zero_grad()
                self.loss(self.net(self.X[rows]), self.y[rows]).backward()
                self.optimizer.step()


def seconds(run: Run, device: str) -> float:
    """The time of one step."""
    clock = time.process_time
    if device == "cuda":
        clock = time.perf_counter
        torch.cuda.synchronize()
    start = clock()
    run.steps()
    if device == "cuda":
        torch.cuda.synchronize()
    return (clock() - start) / STEPS


def main(device: str = "cpu", rounds: int = 3) -> None:
    lines = []
    for name, build in (("CNN", convolutional), ("transformer", transformer)):
        runs = {what: Run(build, device, options) for what, options in RECORDS.items()}
        alone = Run(build, device, None)
        for run in (alone, *runs.values()):
            run.steps()  # the first step of a record checks the layers
        times: dict[str, list[float]] = {what: [] for what in ("alone", *runs)}
        for _ in range(rounds):
            for what, run in (("alone", alone), *runs.items()):
                times[what].append(seconds(run, device))
        base = min(times["alone"])
        for what, run in runs.items():
            least = min(times[what])
            more = least / base - 1
            fits = max(1, math.ceil(more * RECORDS[what].get("every", 1) / BAR))
            lines.append((name, what, 1e3 * base, 1e3 * least, f"{more:.0%}", fits))
            run.open.close()
    where = torch.cuda.get_device_name() if device == "cuda" else machine()
    print(f"# Recording a training run\n\n{where}, PyTorch {torch.__version__}")
    show(
        "Steps with and without a record",
        (
            "network",
            "record",
            "ms a step alone",
            "recorded",
            "overhead, bar 15 %",
            "`every` at the bar",
        ),
        lines,
    )


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]))
