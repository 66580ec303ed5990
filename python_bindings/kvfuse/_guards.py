# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What has to hold of a call's inputs for a traced program to be the function's.

torch.export follows one path through Python code. Where that path was picked by
sizes, or by the value of an argument that is no tensor, each call is tested.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx.experimental.symbolic_shapes import SYMPY_INTERP

#: Sizes 0 and 1 are never symbols, so a symbol's range starts at 2 of itself.
_NO_LOWER_BOUND = 2

#: Operations that give a view where strides allow it, and otherwise a copy.
_VIEWS_OR_COPIES = frozenset(
    f"aten::{name}"
    for name in ("contiguous", "flatten", "ravel", "reshape", "reshape_as")
)


def spell(key: str) -> str:
    """A leaf as the model code writes it: "['cache']['k'][0]" is cache['k'][0]."""
    return re.sub(r"^\['(\w+)'\]", r"\1", key)


@dataclasses.dataclass(frozen=True)
class Guards:
    """Tests of the leaves of a call's inputs.

    names: each leaf as the model code spells it.
    values: the tensors, as traced, that leaves have to look like; None for others.
    constants: the values of leaves that are no tensors, by number.
    test: raises ValueError where the traced path does not hold; None if it always
        does. test_tensors: the same for leaves that have the values in `constants`.
    """

    names: tuple[str, ...]
    values: tuple[Any, ...]
    constants: dict[int, Any]
    test: Callable[[Sequence[Any]], None] | None
    test_tensors: Callable[[Sequence[Any]], None] | None

    def check_tensors(self, leaves: Sequence[Any]) -> None:
        """Raises TypeError or ValueError if a leaf is not what was traced.

        Functions that are compiled whole test this themselves.
        """
        for name, value, leaf in zip(self.names, self.values, leaves, strict=True):
            if isinstance(value, torch.Tensor):
                _check_tensor(name, value, leaf)


def _check_tensor(name: str, traced: torch.Tensor, leaf: Any) -> None:
    if not isinstance(leaf, torch.Tensor):
        raise TypeError(f"argument {name!r}: expects a tensor, got {type(leaf)}")
    for what in ("dtype", "ndim"):
        wanted, got = getattr(traced, what), getattr(leaf, what)
        if wanted != got:
            kind = TypeError if what == "dtype" else ValueError
            raise kind(f"argument {name!r}: expects {what} {wanted}, got {got}")
    if traced.device.type != leaf.device.type:
        raise ValueError(
            f"argument {name!r}: expects a tensor on {traced.device.type}, got one on "
            f"{leaf.device}"
        )
    for dim, (wanted, got) in enumerate(zip(traced.shape, leaf.shape, strict=True)):
        if isinstance(wanted, int) and wanted != got:
            raise ValueError(
                f"argument {name!r}: expects size {wanted} in dimension {dim}, got {got}"
            )


def of_graph(values: Sequence[Any], names: Sequence[str]) -> Guards:
    """An FX graph's: who traced it guards it."""
    return Guards(tuple(names), tuple(values), {}, None, None)


def of_export(
    exported: ExportedProgram,
    keys: Sequence[str],
    values: Sequence[Any],
    constants: dict[int, Any],
    mutated: Iterable[int],
) -> Guards:
    """What torch.export took for granted of the leaves with these `keys`.

    values: the leaves as traced; constants: those that are no tensors, by number;
    mutated: numbers of those that are written.
    """
    conditions = _traced_conditions(exported, keys)
    conditions += _range_conditions(exported, values)
    conditions += _layout_conditions(exported, values, mutated)
    names = tuple(map(spell, keys))
    return Guards(
        names,
        tuple(values),
        constants,
        _compile(_constant_conditions(constants) + conditions, names, constants),
        _compile(conditions, names, constants),
    )


def _constant_conditions(constants: dict[int, Any]) -> list[str]:
    """An argument that is no tensor has the value that was traced."""
    return [
        f"type(leaves[{n}]) is type(constants[{n}]) and leaves[{n}] == constants[{n}]"
        for n in constants
    ]


def _traced_conditions(exported: ExportedProgram, keys: Sequence[str]) -> list[str]:
    """The conditions on sizes that picked branches, as torch.export spells them."""
    conditions = []
    for code in exported._guards_code:
        # Longer keys first: L['a'] begins L['a'][0].
        for number, key in sorted(enumerate(keys), key=lambda item: -len(item[1])):
            code = code.replace(f"L{key}", f"leaves[{number}]")
        # As NumPy spells it, too.
        code = code.replace(".size()", ".shape")
        if ".stride()" in code or ".storage_offset()" in code:
            continue  # How inputs lie in memory: see _layout_conditions.
        if "L[" in code:
            raise ValueError(
                f"the exported program's guard {code} names no input: compile the "
                "function that it was exported from"
            )
        conditions.append(code)
    return conditions


def _range_conditions(exported: ExportedProgram, values: Sequence[Any]) -> list[str]:
    """The bounds of dynamic dimensions that callers of torch.export gave."""
    conditions = []
    for number, value in enumerate(values):
        if not isinstance(value, torch.Tensor):
            continue
        for dim, size in enumerate(value.shape):
            expression = size.node.expr if isinstance(size, torch.SymInt) else None
            bounds = exported.range_constraints.get(expression)
            if bounds is None:
                continue
            place = f"leaves[{number}].shape[{dim}]"
            if bounds.lower > _NO_LOWER_BOUND:
                conditions.append(f"{place} >= {int(bounds.lower)}")
            if bounds.upper.is_Integer:
                conditions.append(f"{place} <= {int(bounds.upper)}")
    return list(dict.fromkeys(conditions))


def _layout_conditions(
    exported: ExportedProgram, values: Sequence[Any], mutated: Iterable[int]
) -> list[str]:
    """Caches that are reshaped lie in memory as those that were traced.

    Whether `reshape` gives a view, and a write through it reaches the cache, depends
    on strides. No other operation depends on them: compiled functions honour any.
    """
    user_inputs = list(exported.graph_signature.user_inputs)
    nodes = {node.name: node for node in exported.graph.nodes}
    conditions = []
    for number in sorted(mutated):
        value = values[number]
        if not _is_reshaped(nodes[user_inputs[number]]):
            continue
        if value.is_contiguous():
            conditions.append(f"is_contiguous(leaves[{number}])")
        else:
            inner = tuple(value.stride())[1:]
            conditions.append(f"strides(leaves[{number}])[1:] == {inner}")
    return conditions


def _is_reshaped(tensor: torch.fx.Node) -> bool:
    """Is the tensor, or a view of it, taken by an operation that views or copies?"""
    for user in tensor.users:
        schema = getattr(user.target, "_schema", None)
        if schema is None:
            continue
        if schema.name in _VIEWS_OR_COPIES:
            return True
        is_view = any(result.alias_info is not None for result in schema.returns)
        if is_view and _is_reshaped(user):
            return True
    return False


def _is_contiguous(leaf: Any) -> bool:
    if isinstance(leaf, torch.Tensor):
        return leaf.is_contiguous()
    # JAX arrays have no flags, and no gaps.
    return not hasattr(leaf, "flags") or leaf.flags.c_contiguous


def _strides(leaf: Any) -> tuple[int, ...]:
    """Strides in elements, of a tensor or of a NumPy or JAX array."""
    if isinstance(leaf, torch.Tensor):
        return leaf.stride()
    if not hasattr(leaf, "strides"):
        return torch.empty(leaf.shape, device="meta").stride()
    return tuple(stride // leaf.itemsize for stride in leaf.strides)


def _compile(
    conditions: Sequence[str], names: Sequence[str], constants: dict[int, Any]
) -> Callable[[Sequence[Any]], None] | None:
    """A function that tests all conditions in turn."""
    if not conditions:
        return None
    lines = ["def test(leaves):"]
    for condition in conditions:
        spelled = re.sub(r"leaves\[(\d+)\]", lambda m: names[int(m[1])], condition)
        spelled = re.sub(
            r"constants\[(\d+)\]", lambda m: repr(constants[int(m[1])]), spelled
        )
        message = f"compiled for inputs with {spelled}; compile again for these"
        lines.append(f"    if not ({condition}): raise ValueError({message!r})")
    namespace = {
        **SYMPY_INTERP,
        "constants": constants,
        "is_contiguous": _is_contiguous,
        "strides": _strides,
    }
    # torch.export gives its conditions as Python code.
    exec("\n".join(lines), namespace)  # noqa: S102
    return namespace["test"]
