# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs what kvfuse-compile leaves of a Torch-dialect function.

`--emit=kv` shows the caller: Torch operations as they were, and calls of the
compiled functions. Here torch eager runs the former on the CPU and the compiled
library the latter. An operation that torch implements as a view stays a view, so
that a write which comes too early for a reader shows.
"""

import math
import operator
import re
from collections.abc import Callable

import torch
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect

from . import abi

#: Element types by their codes in Torch-dialect text.
DTYPES = {
    0: torch.uint8,
    1: torch.int8,
    2: torch.int16,
    3: torch.int32,
    4: torch.int64,
    5: torch.float16,
    6: torch.float32,
    7: torch.float64,
    11: torch.bool,
    15: torch.bfloat16,
    23: torch.float8_e5m2,
    24: torch.float8_e4m3fn,
}
#: Element types of literals.
LITERALS = {
    "si64": torch.int64,
    "i64": torch.int64,
    "si32": torch.int32,
    "i1": torch.bool,
    "f32": torch.float32,
    "f64": torch.float64,
}


def view(tensor: torch.Tensor, sizes: list[int]) -> torch.Tensor:
    """In Torch-dialect text a view is a reshape of a value."""
    return tensor.reshape(sizes)


def check(condition: bool, message: str = "false") -> None:
    """An assertion of the program itself."""
    if not condition:
        raise RuntimeError(message)


#: Operations on Python numbers and lists, and others without a schema in torch.
SCALARS: dict[str, Callable] = {
    "torch.prim.ListConstruct": lambda *values: list(values),
    "torch.prim.NumToTensor.Scalar": torch.tensor,
    "torch.aten.size.int": lambda tensor, dim: tensor.shape[dim],
    "torch.aten.Int.bool": int,
    "torch.aten.Int.Tensor": int,
    "torch.aten.item": lambda tensor: tensor.item(),
    "torch.aten.ge.int": operator.ge,
    "torch.aten.le.int": operator.le,
    "torch.aten.lt.int": operator.lt,
    "torch.aten.gt.int": operator.gt,
    "torch.aten.eq.int": operator.eq,
    "torch.aten.ne.int": operator.ne,
    "torch.aten.add.int": operator.add,
    "torch.aten.sub.int": operator.sub,
    "torch.aten.mul.int": operator.mul,
    "torch.aten.neg.int": operator.neg,
    "torch.aten.floordiv.int": operator.floordiv,
    "torch.prim.ListUnpack": list,
    "torch.aten.view": view,
    "torch.runtime.assert": check,
    "torch.aten._assert_scalar": check,
    "torch_c.to_builtin_tensor": lambda tensor: tensor,
    "torch_c.from_builtin_tensor": lambda tensor: tensor,
}


def torch_operation(name: str) -> torch._ops.OpOverload:
    """The operation that `torch.aten.add.Tensor` and the like name."""
    _, namespace, function, *overload = name.split(".")
    packet = getattr(getattr(torch.ops, namespace), function)
    # The twins take a plain list of tensors, which Python does not tell apart.
    if overload and overload[0].endswith("hacked_twin"):
        overload = {"index": ["Tensor"]}.get(function, [])
    return getattr(packet, overload[0] if overload else "default")


def call_torch(name: str, operands: list) -> object:
    """Calls an operation with its operands in the order of its schema."""
    function = torch_operation(name)
    positional, keywords = [], {}
    for argument, value in zip(function._schema.arguments, operands, strict=False):
        if value is not None and argument.name == "dtype":
            value = DTYPES[value]
        elif value is not None and argument.name == "memory_format":
            value = torch.contiguous_format
        elif value is not None and argument.name == "layout":
            value = torch.strided
        if argument.kwarg_only:
            keywords[argument.name] = value
        else:
            positional.append(value)
    return function(*positional, **keywords)


def literal(attribute: ir.Attribute) -> torch.Tensor:
    """The tensor of a `torch.vtensor.literal`."""
    kind = ir.RankedTensorType(attribute.type)
    dtype = LITERALS[str(kind.element_type)]
    elements = (
        ir.DenseFPElementsAttr(attribute)
        if dtype.is_floating_point
        else ir.DenseIntElementsAttr(attribute)
    )
    values = [elements[place] for place in range(len(elements))]
    return torch.tensor(values, dtype=dtype).reshape(kind.shape)


def sizes_of(operation: ir.Operation, dynamic: list[int]) -> list[int]:
    """The shape of the result, its dynamic sizes given in order."""
    kind, given = ir.RankedTensorType(operation.results[0].type), iter(dynamic)
    return [
        next(given) if kind.is_dynamic_dim(dim) else kind.shape[dim]
        for dim in range(kind.rank)
    ]


def expand_shape(operation: ir.Operation, operands: list) -> torch.Tensor:
    """A `tensor.expand_shape`."""
    return operands[0].reshape(sizes_of(operation, operands[1:]))


def collapse_shape(operation: ir.Operation, operands: list) -> torch.Tensor:
    """A `tensor.collapse_shape`."""
    groups = eval(str(operation.attributes["reassociation"]).replace(" : i64", ""))
    shape = operands[0].shape
    return operands[0].reshape([math.prod(shape[d] for d in dims) for dims in groups])


def broadcast(operation: ir.Operation, operands: list) -> torch.Tensor:
    """A `linalg.broadcast`, whose second operand has the shape of the result."""
    value, result = operands
    for dim in ir.DenseI64ArrayAttr(operation.attributes["dimensions"]):
        value = value.unsqueeze(dim)
    return value.expand(result.shape)


def empty(operation: ir.Operation, operands: list) -> torch.Tensor:
    """A `tensor.empty`; nobody reads its elements."""
    return torch.empty(sizes_of(operation, operands))


def splat(operation: ir.Operation, operands: list) -> torch.Tensor:
    """A `tensor.splat`."""
    return torch.full(sizes_of(operation, operands[1:]), operands[0])


def apply(operation: ir.Operation, operands: list) -> torch.Tensor:
    """A `kv.apply`; `//` and `%` of torch round down as those of its map do."""
    dims, result = re.fullmatch(
        r"affine_map<\((.*)\) -> \((.*)\)>", str(operation.attributes["map"])
    ).groups()
    names = dict(zip(dims.split(", "), operands, strict=True))
    return eval(result.replace("floordiv", "//").replace("mod", "%"), {}, names)


def iota(operation: ir.Operation, operands: list) -> torch.Tensor:
    """A `tensor.generate` of 0, 1, and so on."""
    names = [each.name for each in operation.regions[0].blocks[0].operations]
    assert names == ["arith.index_cast", "tensor.yield"]
    return torch.arange(*sizes_of(operation, operands))


def builtin_constant(operation: ir.Operation, operands: list) -> object:
    """An `arith.constant`, a tensor or a number."""
    value = operation.attributes["value"]
    dense = str(operation.results[0].type).startswith("tensor")
    return literal(value) if dense else ir.IntegerAttr(value).value


def dim(operation: ir.Operation, operands: list) -> int:
    """A `tensor.dim`."""
    return operands[0].shape[operands[1]]


def widen(operation: ir.Operation, operands: list) -> torch.Tensor:
    """A `kv.cast` to f32, which changes no value."""
    assert str(ir.RankedTensorType(operation.results[0].type).element_type) == "f32"
    return operands[0].float()


#: Operations on builtin tensors that the import leaves in front of a call.
BUILTIN: dict[str, Callable] = {
    "arith.constant": builtin_constant,
    "kv.apply": apply,
    "kv.cast": widen,
    "linalg.broadcast": broadcast,
    "tensor.collapse_shape": collapse_shape,
    "tensor.dim": dim,
    "tensor.empty": empty,
    "tensor.expand_shape": expand_shape,
    "tensor.generate": iota,
    "tensor.splat": splat,
}


def constant(operation: ir.Operation) -> object:
    """The value of a `torch.constant.*`."""
    kind = operation.name.removeprefix("torch.constant.")
    if kind == "none":
        return None
    attribute = operation.attributes["value"]
    wrap = {
        "int": ir.IntegerAttr,
        "float": ir.FloatAttr,
        "bool": ir.BoolAttr,
        "str": ir.StringAttr,
        "device": ir.StringAttr,
    }[kind]
    return wrap(attribute).value


def source_name(owner: ir.Operation | ir.Block) -> str:
    """The name of an operation, nothing for the block of an argument."""
    return "" if isinstance(owner, ir.Block) else owner.name


class Interpreter:
    """One caller, in generic form, and the library its calls go to."""

    def __init__(self, text: str, library: abi.Library | None) -> None:
        self.context = ir.Context()
        self.context.allow_unregistered_dialects = True
        torch_dialect.register_dialect(self.context)
        self.module = ir.Module.parse(text, self.context)
        self.library = library

    def function(self, name: str) -> ir.Block:
        """The body of function `name`."""
        for operation in self.module.body.operations:
            named = operation.operation.name == "func.func"
            if named and ir.StringAttr(operation.attributes["sym_name"]).value == name:
                return operation.regions[0].blocks[0]
        raise KeyError(name)

    def sources(self, name: str) -> list[tuple[str, str]]:
        """Operation and type of what each operand of a call comes from; the
        operation is empty for an argument of the function."""
        found = []
        for operation in self.function(name).operations:
            if operation.operation.name != "func.call":
                continue
            for operand in operation.operands:
                source = operand.owner
                if source_name(source) == "torch_c.to_builtin_tensor":
                    source = source.operands[0].owner
                found.append((source_name(source), str(operand.type)))
        return found

    def run(self, name: str, arguments: list) -> list:
        """The results of function `name`."""
        return self.run_block(self.function(name), arguments, {})

    def run_block(self, block: ir.Block, arguments: list, outer: dict) -> list:
        """The operands of the block's terminator; `outer` has the values around."""
        values = outer | dict(zip(block.arguments, arguments, strict=True))
        for operation in block.operations:
            operation = operation.operation
            operands = [values[operand] for operand in operation.operands]
            if operation.name in ("func.return", "torch.prim.Loop.condition"):
                return operands
            if operation.name == "torch.prim.Loop":
                results = self.loop(operation, operands, values)
            else:
                results = self.results(operation, operands)
            values.update(zip(operation.results, results, strict=True))
        raise ValueError("no terminator")

    def loop(self, operation: ir.Operation, operands: list, values: dict) -> list:
        """What a `torch.prim.Loop` carries out of its last round."""
        limit, more, *carried = operands
        rounds = 0
        while more and rounds < limit:
            body = operation.regions[0].blocks[0]
            more, *carried = self.run_block(body, [rounds, *carried], values)
            rounds += 1
        return carried

    def results(self, operation: ir.Operation, operands: list) -> list:
        """The results of one operation."""
        name = operation.name
        if name.startswith("torch.constant."):
            return [constant(operation)]
        if name == "torch.vtensor.literal":
            return [literal(operation.attributes["value"])]
        if name in BUILTIN:
            return [BUILTIN[name](operation, operands)]
        if name == "func.call":
            return self.call(operation, operands)
        if name == "torch.aten._assert_tensor_metadata":
            return []
        if name == "torch.operator":
            name = ir.StringAttr(operation.attributes["name"]).value
        if name in SCALARS:
            result = SCALARS[name](*operands)
        else:
            result = call_torch(name, operands)
        if len(operation.results) == 0:
            return []
        if isinstance(result, (list, tuple)) and name != "torch.prim.ListConstruct":
            several = len(operation.results) > 1 or name == "torch.prim.ListUnpack"
            return list(result) if several else [result]
        return [result]

    def call(self, operation: ir.Operation, operands: list) -> list:
        """Calls the compiled function; its results are its first operands."""
        callee = ir.FlatSymbolRefAttr(operation.attributes["callee"]).value
        self.library.call(callee, *operands)
        return operands[: len(operation.results)]
