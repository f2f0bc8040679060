"""Inner products with the gradients of single rows, none of which is ever made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import Any, NamedTuple

from fairfield.core.runtime.imports import needed_for

# Their outputs are linear in their parameters, and a row's output depends on that row alone.
LAYERS = (
    *("Linear", "Conv1d", "Conv2d", "Conv3d", "Embedding", "LayerNorm", "GroupNorm", "RMSNorm"),
    *("BatchNorm1d", "BatchNorm2d", "BatchNorm3d"),
)
# How far the gradients of all rows may be from the gradient of the batch, which half precision
# rounds; a parameter that is also used elsewhere is further off.
ROUNDING = 0.02

# Tensors by the names of the model's parameters.
Tensors = dict[str, Any]


def import_torch() -> Any:
    """PyTorch, or an error that says how to install it."""
    with needed_for("recording a training run"):
        return import_module("torch")


class Layer(NamedTuple):
    """A layer, its name, and the model's name for each of its parameters, None if frozen."""

    name: str
    module: Any
    parameters: dict[str, str | None]


class Call(NamedTuple):
    """What went into a layer, and the gradient of the loss in what came out, row by row."""

    layer: Layer
    inputs: Any
    slopes: Any


class Ghosts:
    """The layers of a model, and what their rows' gradients have in common with a direction.

    A layer y = layer(a; w) that is linear in its parameters w has, of row r, a gradient g_r with
    ⟨u, g_r⟩ = ⟨δ_r, layer(a_r; u)⟩, where δ is the gradient of the loss in y. So the layer itself,
    with u in the place of its weights, gives the inner products of u with all rows at once.
    """

    def __init__(self, model: Any) -> None:
        self._torch = import_torch()
        self.model = model
        self.parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
        self._layers = list(self._find())

    def _find(self) -> Iterator[Layer]:
        nn = self._torch.nn
        known = tuple(getattr(nn, name) for name in LAYERS if hasattr(nn, name))
        # A parameter shared by two layers has one name.
        names = {id(parameter): name for name, parameter in self.parameters.items()}
        if not names:
            raise ValueError("the model has no parameters to train; let some require gradients")
        for name, module in self.model.named_modules():
            own = {n: names.get(id(p)) for n, p in module.named_parameters(recurse=False)}
            if not any(own.values()):
                continue
            # These options let the gradient of a row depend on other rows, or change weights; other
            # names are those of weights that are made from others before each call.
            odd = not {"weight", "bias"}.issuperset(own) or any(
                getattr(module, option, None)
                for option in ("max_norm", "scale_grad_by_freq", "sparse")
            )
            if not isinstance(module, known) or odd:
                raise ValueError(
                    f"{', '.join(filter(None, own.values()))}: the gradients of single rows are not "
                    f"known for parameters of {type(module).__name__}, or for its options; use "
                    f"{', '.join(LAYERS[:5])} or a norm of each row, or freeze them by "
                    "requires_grad_(False)"
                )
            yield Layer(name, module, own)

    @contextmanager
    def listening(self, rows: int, take: Callable[[Call], Any]) -> Iterator[None]:
        """Inside, ``take`` is given each call of a layer as its gradient comes back."""
        for name, module in self.model.named_modules():
            if "BatchNorm" in type(module).__name__ and module.training:
                raise ValueError(
                    f"{name!r} mixes the rows of a batch, so that no row has a gradient of its own; "
                    "use GroupNorm or LayerNorm, or keep it in eval() mode"
                )

        def heard(layer: Layer) -> Callable[..., None]:
            def hook(module: Any, inputs: Any, named: dict[str, Any], output: Any) -> None:
                if not output.requires_grad:
                    return
                if len(output) != rows:
                    raise ValueError(
                        f"layer {layer.name!r} gave an output of shape {tuple(output.shape)} in a step "
                        f"of {rows} indices; rows must come first, with one index for each"
                    )
                given = (*inputs, *named.values())[0].detach()
                output.register_hook(lambda slopes: take(Call(layer, given, slopes)))

            return hook

        # Hooks are there for recorded steps alone: on a GPU they are a tenth of a small step.
        handles = [
            layer.module.register_forward_hook(heard(layer), with_kwargs=True)
            for layer in self._layers
        ]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def products(self, call: Call, direction: Tensors) -> Any:
        """⟨u, g_r⟩ of the rows of a call, as double numbers."""
        torch = self._torch
        with torch.no_grad():
            out = self._apply(call, direction)
            return torch.linalg.vecdot(
                call.slopes.to(out.dtype).flatten(1), out.flatten(1)
            ).double()

    def gradient(self, calls: list[Call], weights: Tensors, rows: Any = slice(None)) -> Tensors:
        """The sum of the gradients of some rows."""
        total = {name: self._torch.zeros_like(weight) for name, weight in weights.items()}
        for call in calls:
            names = [name for name in call.layer.parameters.values() if name]
            some = call._replace(inputs=call.inputs[rows], slopes=call.slopes[rows])
            with self._torch.enable_grad():
                out = self._apply(some, weights)
            parts = self._torch.autograd.grad(
                out, [weights[name] for name in names], some.slopes.to(out.dtype)
            )
            for name, part in zip(names, parts, strict=True):
                total[name] += part
        return total

    def _apply(self, call: Call, weights: Tensors) -> Any:
        """The layer with other weights, 0 for those that are frozen."""
        layer, given = call.layer, call.inputs
        own = {
            inner: self._torch.zeros_like(getattr(layer.module, inner))
            if name is None
            else weights[name]
            for inner, name in layer.parameters.items()
        }
        if given.is_floating_point():
            given = given.to(next(iter(own.values())).dtype)
        # A tenth of the time of torch.func.functional_call, and hooks of the user's do not fire.
        module, kept = layer.module, layer.module._parameters
        module._parameters = {**kept, **own}
        try:
            return module.forward(given)
        finally:
            module._parameters = kept

    @contextmanager
    def checked(self, calls: list[Call], weights: Tensors) -> Iterator[None]:
        """Inside, a step whose gradients must all come through the layers, into ``calls``."""
        batch: Tensors = {}

        def hook(name: str) -> Callable[[Any], None]:
            def add(gradient: Any) -> None:
                batch[name] = batch[name] + gradient if name in batch else gradient.clone()

            return add

        handles = [p.register_hook(hook(name)) for name, p in self.parameters.items()]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()
        if not calls:
            raise ValueError(
                "no gradient came back through the model inside record.step(…); call "
                "loss.backward() there"
            )
        heard = self.gradient(calls, weights)
        for name, gradient in batch.items():
            if (heard[name] - gradient).norm() > ROUNDING * gradient.norm():
                raise ValueError(
                    f"the gradient of {name} does not come from its layer alone; call the layer where "
                    "its parameters are used, or freeze them by requires_grad_(False)"
                )

    def slope(
        self, loss: Callable[[Any, Any], Any], X: Any, y: Any, *, twice: bool
    ) -> tuple[Tensors, Tensors]:
        """The weights as they are, and the gradient of the loss in them, the model in eval mode.

        With ``twice`` the gradient can be differentiated, also after the model's weights moved.
        """
        torch = self._torch
        # Detached, so that hooks of the user's own on the parameters do not fire.
        weights = {
            name: (parameter.detach().clone() if twice else parameter.detach()).requires_grad_()
            for name, parameter in self.parameters.items()
        }
        spelled = nullcontext()
        if twice:  # fused attention has no second derivative
            attention = import_module("torch.nn.attention")
            spelled = attention.sdpa_kernel(attention.SDPBackend.MATH)
        modes = [(module, module.training) for module in self.model.modules()]
        self.model.eval()
        try:
            with torch.enable_grad(), spelled:
                value = loss(torch.func.functional_call(self.model, weights, (X,)), y)
        finally:
            for module, mode in modes:
                module.training = mode
        if tuple(value.shape):
            raise ValueError(
                f"loss gave an array of shape {tuple(value.shape)}; it must give one number, the mean "
                "over the validation rows"
            )
        slopes = torch.autograd.grad(
            value, list(weights.values()), create_graph=twice, materialize_grads=True
        )
        return weights, dict(zip(weights, slopes, strict=True))

    def curved(self, weights: Tensors, slope: Tensors, direction: Tensors) -> Tensors:
        """The Hessian of the loss times a direction."""
        along = sum((slope[name] * direction[name]).sum() for name in weights)
        if not along.requires_grad:  # a loss that is linear in the weights
            return {name: self._torch.zeros_like(each) for name, each in weights.items()}
        found = self._torch.autograd.grad(
            along, list(weights.values()), retain_graph=True, materialize_grads=True
        )
        return dict(zip(weights, found, strict=True))
