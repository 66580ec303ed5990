# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The function under test: a chain of page arithmetic, casts and scatters.

Only head dimensions and page size are static. Arguments are the caches or their
common base, the rows, the slots, and the number of a layer where there are some.
"""

from .model import MLIR_TYPES, Signature

#: Coordinates of a cache -> what they are called in a map.
COORDINATES = {"hnd": "p, h, o, d", "nhd": "p, o, h, d", "flat": "s, h, d"}
WRITABLE = " {bufferization.writable = true}"


def tensor(*dims: int | str, dtype: str) -> str:
    """A tensor type."""
    return f"tensor<{'x'.join(map(str, dims))}x{MLIR_TYPES[dtype]}>"


class Function:
    """Collects the lines of a function for `signature`."""

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.lines: list[str] = []
        self.slots = f"tensor<?x{signature.slots}>"
        self.base = "%base"

    def emit(self, *lines: str) -> None:
        """Adds lines."""
        self.lines += ["  " + line for line in lines]

    def page_arithmetic(self) -> str:
        """Divides the slots; returns the index operands of every write."""
        page = self.signature.page
        if page is None:
            return f"%slots : {self.slots}"
        for name, operation in (("page", "floordiv"), ("within", "mod")):
            self.emit(
                f"%{name} = kv.apply affine_map<(s) -> (s {operation} {page})>"
                f"(%slots) : {self.slots}"
            )
        return f"%page, %within : {self.slots}, {self.slots}"

    def cache_type(self, place: int) -> str:
        """The type of a member's cache."""
        made = self.signature
        sizes = {
            "p": "?",
            "s": "?",
            "h": "?",
            "o": made.page,
            "d": made.head_dims[place],
        }
        return tensor(*map(sizes.get, self.coordinates(place)), dtype=made.cache)

    def coordinates(self, place: int) -> list[str]:
        """The coordinates of a member's cache; index-K has no heads."""
        names = COORDINATES[self.signature.map].split(", ")
        return [n for n in names if n != "h" or self.signature.members[place] != "i"]

    def rows_type(self, place: int, dtype: str) -> str:
        """The type of a member's rows."""
        heads = ["?"] * (self.signature.members[place] != "i")
        return tensor("?", *heads, self.signature.head_dims[place], dtype=dtype)

    def base_shape(self) -> list[str]:
        """The dimensions of the base; %b pages, %h heads."""
        page, dims = str(self.signature.page), self.signature.head_dims
        if self.signature.base == "packed":
            return ["%b", page, "%h", str(sum(dims))]
        inner = ["%b", "%h", page, str(dims[0])]
        if self.signature.base == "pool":
            return ["%b", "2", *inner[1:]]
        return ["%l", "2", *inner]

    def base_type(self) -> str:
        """The type of the base."""
        dims = ["?" if n.startswith("%") else n for n in self.base_shape()]
        return tensor(*dims, dtype=self.signature.cache)

    def slice_text(self, place: int) -> str:
        """Offsets, sizes and strides of a member's cache in the base."""
        sizes = self.base_shape()
        offsets = ["0"] * len(sizes)
        if self.signature.base == "packed":
            dims = self.signature.head_dims
            offsets[-1], sizes[-1] = str(sum(dims[:place])), str(dims[place])
        elif self.signature.base == "pool":
            offsets[1], sizes[1] = str(place), "1"
        else:
            offsets[:2], sizes[:2] = ["%layer", str(place)], ["1", "1"]
        ones = ", ".join(["1"] * len(sizes))
        return f"[{', '.join(offsets)}] [{', '.join(sizes)}] [{ones}]"

    def measure_base(self) -> None:
        """Takes the number of pages and heads from the base."""
        shape = self.base_shape()
        for name in ("%b", "%h"):
            self.emit(
                f"{name}_dim = arith.constant {shape.index(name)} : index",
                f"{name} = tensor.dim %base, {name}_dim : {self.base_type()}",
            )

    def convert(self, place: int) -> str:
        """Casts a member's rows, if the cache has another type."""
        member, made = self.signature.members[place], self.signature
        if made.values == made.cache:
            return f"%{member}"
        types = [self.rows_type(place, t) for t in (made.values, made.cache)]
        self.emit(f"%{member}_cast = kv.cast %{member} : {' to '.join(types)}")
        return f"%{member}_cast"

    def write(self, place: int, indices: str) -> None:
        """One member's scatter, with its slice of the base around it."""
        member, cache = self.signature.members[place], self.cache_type(place)
        rows = self.convert(place)
        if self.signature.base:
            self.emit(
                f"%{member}_cache = tensor.extract_slice {self.base}"
                f"{self.slice_text(place)} : {self.base_type()} to {cache}"
            )
        names = self.coordinates(place)
        inner = [n for n in names if n in "hd"]
        index = ["s"] if self.signature.page is None else ["p", "o"]
        self.emit(
            f"%{member}_new = kv.write at({indices}) negative(wrap)"
            f" out_of_bounds({self.signature.out_of_bounds})",
            f"  put {rows} : {self.rows_type(place, self.signature.cache)}"
            f" into %{member}_cache : {cache}",
            f"  map(affine_map<({', '.join(['t', *index, *inner])}) ->"
            f" ({', '.join(names)})>)",
        )
        if self.signature.base:
            self.emit(
                f"%{member}_base = tensor.insert_slice %{member}_new into {self.base}"
                f"{self.slice_text(place)} : {cache} into {self.base_type()}"
            )
            self.base = f"%{member}_base"

    def written(self) -> list[tuple[str, str]]:
        """Name and type of the arguments that are written."""
        if self.signature.base:
            return [("%base", self.base_type())]
        return [
            (f"%{member}_cache", self.cache_type(place))
            for place, member in enumerate(self.signature.members)
        ]

    def text(self) -> str:
        """The whole function."""
        made = self.signature
        places = range(len(made.members))
        if made.base:
            self.measure_base()
        indices = self.page_arithmetic()
        for place in places:
            self.write(place, indices)
        written = self.written()
        arguments = [f"{name}: {type_}{WRITABLE}" for name, type_ in written]
        arguments += [
            f"%{made.members[place]}: {self.rows_type(place, made.values)}"
            for place in places
        ]
        arguments.append(f"%slots: {self.slots}")
        if made.base == "layers":
            arguments.append("%layer: index")
        results = [self.base] if made.base else [f"%{m}_new" for m in made.members]
        types = ", ".join(type_ for _, type_ in written)
        self.emit(f"return {', '.join(results)} : {types}")
        head = f"func.func public @{made.name}({', '.join(arguments)}) -> ({types})"
        return "\n".join([head + " {", *self.lines, "}", ""])


def module_text(signatures: list[Signature]) -> str:
    """A module with a function for each signature."""
    return "\n".join(Function(signature).text() for signature in signatures)
