"""Modules of PyTorch as functions of rows."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

# Rows that a module sees at once.
BATCH = 2**13


def is_module(model: Any) -> bool:
    """Whether this is a module of PyTorch, which is not imported to find out."""
    return any(
        base.__name__ == "Module" and base.__module__.startswith("torch.nn.")
        for base in type(model).__mro__
    )


class Network:
    """The outputs of a module for rows: in batches, without gradients, on the module's device.

    Layers that act differently in training, as dropout does, act as they do in evaluation.
    """

    def __init__(self, module: Any) -> None:
        self.module = module

    def __call__(self, rows: Any) -> Any:
        torch, module = import_module("torch"), self.module
        weights = [each for each in module.parameters() if each.is_floating_point()]
        like = weights[0] if weights else torch.empty(0)
        table = torch.as_tensor(np.array(rows, dtype=float), dtype=like.dtype, device=like.device)
        training = [each for each in module.modules() if each.training]
        module.eval()
        try:
            with torch.no_grad():
                parts = [self._asked(part) for part in table.split(BATCH)]
        finally:
            for each in training:
                each.training = True
        return torch.cat(parts)

    def _asked(self, part: Any) -> Any:
        found = self.module(part)
        if not hasattr(found, "detach"):
            kind = type(self.module).__name__
            raise TypeError(
                f"{kind} returned a {type(found).__name__} in place of a tensor; give a function of rows "
                f"that picks one of its tensors"
            )
        return found
