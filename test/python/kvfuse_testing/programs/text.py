# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs as MLIR."""

from collections.abc import Iterable, Sequence

from . import model
from .function import Function
from .model import Expr
from .shapes import ShapePrinter, names


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


class Printer(ShapePrinter):
    """Prints operations on values of `types`."""

    def op(self, op: model.Op) -> str:
        """An operation, in lines that end."""
        match op:
            case model.Write():
                return f"  {self.write(op)}\n"
            case model.If():
                return self.branch(op)
            case model.For():
                return self.loop(op)
        return self.shape_op(op) or f"  %{op.result} = {self.right_side(op)}\n"

    def right_side(self, op: model.Op) -> str:
        """What stands behind the `=` of an operation that is one line."""
        made = self.type(op.result)
        match op:
            case model.Resize(result, value):
                name = "extsi" if self.types[result].dtype == "i64" else "trunci"
                return f"arith.{name} %{value} : {self.type(value)} to {made}"
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

    # Writes

    def write(self, op: model.Write) -> str:
        """A kv.write with its regions."""
        results = names(dest.result for dest in op.destinations)
        types = ", ".join(map(self.type, op.indices))
        mask = f" mask(%{op.mask} : {self.type(op.mask)})" if op.mask else ""
        puts = (self.put(dest, op) for dest in op.destinations)
        return (
            f"{results} = kv.write at({names(op.indices)} : {types}){mask}"
            f"{where_region(op)} negative({op.negative})"
            f" out_of_bounds({op.out_of_bounds})\n" + "\n".join(puts)
        )

    def put(self, dest: model.Destination, op: model.Write) -> str:
        """One destination of a write."""
        grid_and_rows = len(self.types[op.indices[0]].dims) + len(dest.rows)
        order = affine_map(grid_and_rows, [("dim", i) for i in dest.order])
        return (
            f"    put %{dest.values} : {self.type(dest.values)}"
            f" into %{dest.cache} : {self.type(dest.cache)}"
            f"{' box' if dest.box else ''}\n"
            f"      map({affine_map(grid_and_rows + len(op.indices), dest.map)})"
            f" order({order})"
            f"{cast_region(self.types[dest.values].dtype, dest.casts)}"
        )

    # Regions

    def block(self, ops: Sequence[model.Op], yielded: Sequence[str]) -> str:
        """A region that yields values."""
        body = "".join(map(self.op, ops))
        types = self.all_types(yielded)
        return f"{{\n{body}  scf.yield {names(yielded)} : {types}\n  }}"

    def branch(self, op: model.If) -> str:
        """An scf.if."""
        results, thens, otherwises = zip(*op.results, strict=True)
        return (
            f"  {names(results)} = scf.if %{op.flag} -> ({self.all_types(results)})"
            f" {self.block(op.then, thens)}"
            f" else {self.block(op.otherwise, otherwises)}\n"
        )

    def loop(self, op: model.For) -> str:
        """An scf.for, and its bounds."""
        results, inners, firsts, yielded = zip(*op.carried, strict=True)
        counter = op.counter
        carried = ", ".join(
            f"%{inner} = %{first}" for inner, first in zip(inners, firsts, strict=True)
        )
        return (
            f"  %{counter}_0 = arith.constant 0 : index\n"
            f"  %{counter}_1 = arith.constant 1 : index\n"
            f"  %{counter}_n = arith.constant {op.rounds} : index\n"
            f"  {names(results)} = scf.for %{counter} = %{counter}_0 to %{counter}_n"
            f" step %{counter}_1 iter_args({carried})"
            f" -> ({self.all_types(results)}) {self.block(op.body, yielded)}\n"
        )


class Program(Function):
    """A function that can be printed."""

    def text(self) -> str:
        """The function in MLIR."""
        printer = Printer(self.types)

        def argument(name: str) -> str:
            writable = name in self.versions and name not in self.undeclared
            mark = " {bufferization.writable = true}" if writable else ""
            return f"%{name}: {printer.type(name)}{mark}"

        shown = [*map(argument, self.arguments), *(f"%{f}: i1" for f in self.flags)]
        arguments = ",\n    ".join(shown)
        types = printer.all_types(self.results)
        body = "".join(map(printer.op, self.ops))
        returned = f" {names(self.results)} : {types}" if self.results else ""
        return (
            f"func.func public @{self.name}(\n    {arguments}) -> ({types}) {{\n"
            f"{body}  return{returned}\n}}\n"
        )
