# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs as MLIR."""

from collections.abc import Iterable, Mapping, Sequence

from . import model
from .model import Expr


def show(expr: Expr) -> str:
    """`expr` as text, with dimensions d0, d1, ..."""
    match expr:
        case ("dim", number):
            return f"d{number}"
        case ("number", number):
            return str(number)
        case (operator, left, right):
            return f"({show(left)} {operator} {show(right)})"
    raise ValueError(expr)


def affine_map(dims: int, exprs: Iterable[Expr]) -> str:
    """An affine map of `dims` dimensions."""
    inputs = ", ".join(f"d{i}" for i in range(dims))
    return f"affine_map<({inputs}) -> ({', '.join(map(show, exprs))})>"


def names(values: Iterable[str]) -> str:
    """A list of values."""
    return ", ".join(f"%{name}" for name in values)


def cast(value: str, saturating: bool, source: str, result: str) -> str:
    """A kv.cast from type `source` to type `result`."""
    mode = " saturating" if saturating else ""
    return f"kv.cast %{value}{mode} : {source} to {result}"


def cast_region(dtype: str, casts: Sequence[tuple[str, bool]]) -> str:
    """The region of a put that casts a `dtype`; empty without casts."""
    if not casts:
        return ""
    lines = [f" {{\n    ^bb0(%x0: {dtype}):"]
    for i, (result, saturating) in enumerate(casts):
        lines.append(f"      %x{i + 1} = {cast(f'x{i}', saturating, dtype, result)}")
        dtype = result
    lines.append(f"      kv.yield %x{len(casts)} : {dtype}\n    }}")
    return "\n".join(lines)


def where_region(write: model.Write) -> str:
    """The region `where` of a write, if it has one."""
    if write.where is None:
        return ""
    number, predicate, constant = write.where
    arguments = ", ".join(f"%i{i}: i64" for i in range(len(write.indices)))
    return (
        f" where {{\n    ^bb0({arguments}):\n"
        f"      %k = arith.constant {constant} : i64\n"
        f"      %w = arith.cmpi {predicate}, %i{number}, %k : i64\n"
        "      kv.yield %w : i1\n    }"
    )


class Printer:
    """Prints operations on values of `types`."""

    def __init__(self, types: Mapping[str, model.Type]) -> None:
        self.types = types

    def type(self, name: str) -> str:
        """The type of value `name`."""
        made = self.types[name]
        shown = (
            "?x" if hidden or isinstance(dim, str) else f"{dim}x"
            for dim, hidden in zip(made.dims, made.unknown, strict=True)
        )
        return f"tensor<{''.join(shown)}{made.dtype}>"

    def op(self, op: model.Op) -> str:
        """An operation, indented by two."""
        if isinstance(op, model.Write):
            return f"  {self.write(op)}"
        if isinstance(op, model.Splat):
            return self.splat(op)
        return f"  %{op.result} = {self.right_side(op)}"

    def right_side(self, op: model.Op) -> str:
        """What stands behind the `=` of an operation that is one line."""
        made = self.type(op.result)
        match op:
            case model.Extend(_, value):
                return f"arith.extsi %{value} : {self.type(value)} to {made}"
            case model.Bitcast(_, value):
                return f"arith.bitcast %{value} : {self.type(value)} to {made}"
            case model.Convert(_, value, saturating):
                return cast(value, saturating, self.type(value), made)
            case model.Apply(_, expr, inputs):
                applied = affine_map(len(inputs), [expr])
                return f"kv.apply {applied}({names(inputs)}) : {made}"
            case model.Compare(_, predicate, left, right):
                operands = names([left, right])
                return f"arith.cmpi {predicate}, {operands} : {self.type(left)}"
            case model.Compute(_, name, inputs):
                return f"{name} {names(inputs)} : {made}"
        raise TypeError(op)

    def splat(self, op: model.Splat) -> str:
        """A constant, or a tensor.splat where the number of tokens is unknown."""
        name, made = op.result, self.type(op.result)
        if "?" not in made:
            return f"  %{name} = arith.constant dense<{op.number}> : {made}"
        dtype = self.types[name].dtype
        return (
            f"  %{name}_n = arith.constant {op.number} : {dtype}\n"
            f"  %{name}_0 = arith.constant 0 : index\n"
            f"  %{name}_d = tensor.dim %{op.like}, %{name}_0 : {self.type(op.like)}\n"
            f"  %{name} = tensor.splat %{name}_n[%{name}_d] : {made}"
        )

    def write(self, op: model.Write) -> str:
        """A kv.write with its regions."""
        results = names(dest.result for dest in op.destinations)
        types = ", ".join(map(self.type, op.indices))
        mask = f" mask(%{op.mask} : {self.type(op.mask)})" if op.mask else ""
        puts = (self.put(dest, len(op.indices)) for dest in op.destinations)
        return (
            f"{results} = kv.write at({names(op.indices)} : {types}){mask}"
            f"{where_region(op)} negative({op.negative})"
            f" out_of_bounds({op.out_of_bounds})\n" + "\n".join(puts)
        )

    def put(self, dest: model.Destination, num_indices: int) -> str:
        """One destination of a write with `num_indices` index vectors."""
        rows = len(dest.rows)
        order = affine_map(1 + rows, [("dim", i) for i in dest.order])
        return (
            f"    put %{dest.values} : {self.type(dest.values)}"
            f" into %{dest.cache} : {self.type(dest.cache)}"
            f"{' box' if dest.box else ''}\n"
            f"      map({affine_map(1 + num_indices + rows, dest.map)}) order({order})"
            f"{cast_region(self.types[dest.values].dtype, dest.casts)}"
        )


class Program(model.Function):
    """A function that can be printed."""

    def text(self) -> str:
        """The function in MLIR."""
        printer = Printer(self.types)

        def argument(name: str) -> str:
            writable = name in self.versions and name not in self.undeclared
            mark = " {bufferization.writable = true}" if writable else ""
            return f"%{name}: {printer.type(name)}{mark}"

        arguments = ",\n    ".join(map(argument, self.arguments))
        types = ", ".join(map(printer.type, self.results))
        body = "".join(f"{printer.op(op)}\n" for op in self.ops)
        returned = f" {names(self.results)} : {types}" if self.results else ""
        return (
            f"func.func public @{self.name}(\n    {arguments}) -> ({types}) {{\n"
            f"{body}  return{returned}\n}}\n"
        )
