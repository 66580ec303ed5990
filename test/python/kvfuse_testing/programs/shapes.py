# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that make or change shapes, as MLIR."""

from collections.abc import Iterable, Mapping

from . import model


def names(values: Iterable[str]) -> str:
    """A list of values."""
    return ", ".join(f"%{name}" for name in values)


def literal(dtype: str, number: int | float) -> str:
    """A number of type `dtype`."""
    return f"{number:e}" if dtype in ("f32", "bf16", "f16") else str(number)


class ShapePrinter:
    """Prints types, and operations that make or change shapes."""

    def __init__(self, types: Mapping[str, model.Type]) -> None:
        self.types = types

    def type(self, name: str) -> str:
        """The type of value `name`."""
        made = self.types[name]
        shown = (
            f"{dim}x" if isinstance(dim, int) and not hidden else "?x"
            for dim, hidden in zip(made.dims, made.unknown, strict=True)
        )
        return f"tensor<{''.join(shown)}{made.dtype}>"

    def all_types(self, values: Iterable[str]) -> str:
        """The types of some values."""
        return ", ".join(map(self.type, values))

    def is_known(self, name: str, dim: int) -> bool:
        """Does the type of `name` say the size of dimension `dim`?"""
        made = self.types[name]
        return isinstance(made.dims[dim], int) and not made.unknown[dim]

    def size(self, result: str, like: str, dim: int) -> tuple[str, str]:
        """The size of a dimension of `like` for an operation that makes `result`:
        lines that compute it, and its name."""
        number, name = f"%{result}_i{dim}", f"%{result}_d{dim}"
        lines = (
            f"  {number} = arith.constant {dim} : index\n"
            f"  {name} = tensor.dim %{like}, {number} : {self.type(like)}\n"
        )
        return lines, name

    def sizes(self, result: str, like: str) -> tuple[str, str]:
        """The sizes that the type of `result` does not say, as those of `like`."""
        unknown = [
            self.size(result, like, dim)
            for dim in range(len(self.types[result].dims))
            if not self.is_known(result, dim)
        ]
        return "".join(lines for lines, _ in unknown), ", ".join(n for _, n in unknown)

    def shape_op(self, op: model.Op) -> str | None:
        """An operation that makes or changes a shape, or nothing for others."""
        match op:
            case model.Splat():
                return self.splat(op)
            case model.Count(result):
                numbers = ", ".join(map(str, range(self.types[result].dims[0])))
                made = self.type(result)
                return f"  %{result} = arith.constant dense<[{numbers}]> : {made}\n"
            case model.Spread():
                return self.spread(op)
            case model.Reshape():
                return self.reshape(op)
            case model.Element():
                return self.element(op)
            case model.Slice() | model.Insert():
                return self.part(op)
        return None

    def splat(self, op: model.Splat) -> str:
        """A constant, or a tensor.splat where a size is not known."""
        name, made, dtype = op.result, self.type(op.result), self.types[op.result].dtype
        number = literal(dtype, op.number)
        if "?" not in made:
            return f"  %{name} = arith.constant dense<{number}> : {made}\n"
        lines, sizes = self.sizes(name, op.like)
        return (
            f"  %{name}_n = arith.constant {number} : {dtype}\n{lines}"
            f"  %{name} = tensor.splat %{name}_n[{sizes}] : {made}\n"
        )

    def element(self, op: model.Element) -> str:
        """The element is extracted, and splat."""
        name = op.result
        lines, sizes = self.sizes(name, op.like)
        shown = f"[{sizes}]" if sizes else ""
        return (
            f"  %{name}_0 = arith.constant 0 : index\n"
            f"  %{name}_n = tensor.extract %{op.value}[%{name}_0]"
            f" : {self.type(op.value)}\n{lines}"
            f"  %{name} = tensor.splat %{name}_n{shown} : {self.type(name)}\n"
        )

    def spread(self, op: model.Spread) -> str:
        """A linalg.broadcast into an empty tensor."""
        name, made = op.result, self.type(op.result)
        lines, sizes = self.sizes(name, op.like)
        added = ", ".join(map(str, op.added))
        return (
            f"{lines}  %{name}_e = tensor.empty({sizes}) : {made}\n"
            f"  %{name} = linalg.broadcast ins(%{op.value} : {self.type(op.value)})"
            f" outs(%{name}_e : {made}) dimensions = [{added}]\n"
        )

    def reshape(self, op: model.Reshape) -> str:
        """The first two dimensions are one, before or afterwards."""
        before, after = (len(self.types[n].dims) for n in (op.value, op.result))
        groups = [[0, 1], *([i] for i in range(2, max(before, after)))]
        types = f"{self.type(op.value)} into {self.type(op.result)}"
        if before > after:
            collapse = f"tensor.collapse_shape %{op.value} {groups} : {types}"
            return f"  %{op.result} = {collapse}\n"
        lines, first = "", str(self.types[op.result].dims[0])
        if not self.is_known(op.result, 0):
            lines, first = self.size(op.result, op.value, 0)
        shape = ", ".join([first, *map(str, self.types[op.result].dims[1:])])
        return (
            f"{lines}  %{op.result} = tensor.expand_shape %{op.value} {groups}"
            f" output_shape [{shape}] : {types}\n"
        )

    def part(self, op: model.Slice | model.Insert) -> str:
        """A tensor.extract_slice or a tensor.insert_slice."""
        whole = op.value if isinstance(op, model.Slice) else op.whole
        offsets, sizes, lines = [], [], ""
        for dim, span in enumerate(op.part):
            counter = isinstance(span.offset, str)
            offsets.append(f"%{span.offset}" if counter else str(span.offset))
            size = self.types[whole].dims[dim] if span.size is None else span.size
            if not isinstance(size, int):
                more, size = self.size(op.result, whole, dim)
                lines += more
            sizes.append(str(size))
        where = (
            f"[{', '.join(offsets)}] [{', '.join(sizes)}]"
            f" [{', '.join('1' for _ in op.part)}]"
        )
        if isinstance(op, model.Slice):
            types = f"{self.type(whole)} to {self.type(op.result)}"
            name = "extract_slice"
        else:
            types = f"{self.type(op.value)} into {self.type(whole)}"
            name = f"insert_slice %{op.value} into"
        return f"{lines}  %{op.result} = tensor.{name} %{whole}{where} : {types}\n"
