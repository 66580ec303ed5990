# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the calls of a graph are named in the Torch dialect."""

import operator
from collections.abc import Callable

import torch

#: Operators with a twin that takes a number for a tensor.
SCALAR_TWINS = {
    "torch.aten.add.Tensor": "torch.aten.add.Scalar",
    "torch.aten.div.Tensor": "torch.aten.div.Scalar",
    "torch.aten.floor_divide": "torch.aten.floor_divide.Scalar",
    "torch.aten.mul.Tensor": "torch.aten.mul.Scalar",
    "torch.aten.sub.Tensor": "torch.aten.sub.Scalar",
}

#: Operators for which the Torch dialect has no operation.
UNREGISTERED = frozenset(("torch.aten.index_copy",))

#: What Python's operators on sizes are in TorchScript.
INT_OPERATORS: dict[Callable, str] = {
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.floordiv: "floordiv",
    operator.mod: "remainder",
    operator.neg: "neg",
    operator.eq: "eq",
    operator.ne: "ne",
    operator.lt: "lt",
    operator.le: "le",
    operator.gt: "gt",
    operator.ge: "ge",
}


def operator_name(target: torch._ops.OpOverload) -> str:
    """`torch.aten.index_put`, `torch.aten.size.int`, and so on."""
    name = target._schema.name.replace("::", ".")
    # The symbolic reads of sizes are the plain ones.
    name = name.replace("aten.sym_", "aten.")
    overload = target._schema.overload_name
    return f"torch.{name}.{overload}" if overload else f"torch.{name}"


def call_name(node: torch.fx.Node) -> str:
    """The name of a higher-order operator, or of the operator that it makes
    functional."""
    name = node.target.name()
    if name.startswith("auto_functionalized"):
        return f"torch.{node.args[0].name().replace('::', '.')}"
    return f"torch.higher_order.{name}"
