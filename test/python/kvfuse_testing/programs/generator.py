# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes programs from seeds."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from .dtypes import FLOATS, same_width
from .layouts import LAYOUTS, PAGE_SIZES, Layout, row
from .model import Apply, Destination, Dim, Expr, Write
from .text import Program
from .tokens import Style, TokenBuilder


@dataclasses.dataclass
class Cache:
    """A cache while the program grows."""

    argument: str
    version: str
    layout: Layout


def substitute(expr: Expr, places: Mapping[Expr, Expr]) -> Expr:
    """`expr` with PAGE, OFFSET, SLOT and SELECTOR replaced."""
    if expr in places:
        return places[expr]
    return tuple(
        substitute(part, places) if isinstance(part, tuple) else part for part in expr
    )


def index_names(expr: Expr) -> list[str]:
    """The index vectors in `expr`, by name."""
    if expr[0] == "index":
        return [expr[1]]
    return [
        name for part in expr if isinstance(part, tuple) for name in index_names(part)
    ]


def resolve(expr: Expr, indices: Sequence[str]) -> Expr:
    """`expr` over the dimensions (token, index values, row) of a write."""
    match expr:
        case ("index", name):
            return ("dim", 1 + indices.index(name))
        case ("row", number):
            return ("dim", 1 + len(indices) + number)
        case ("number", _):
            return expr
        case (operator, left, right):
            return (operator, resolve(left, indices), resolve(right, indices))
    raise ValueError(expr)


class Generator(TokenBuilder):
    """Makes one program from a seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.caches: list[Cache] = []

    # Rows

    def casts(self, dtype: str) -> list[str]:
        """Element types that a row has on its way into a cache of `dtype`."""
        chain = [dtype]
        if dtype not in FLOATS:
            return chain
        for _ in range(self.rng.choice([0, 0, 1, 1, 1, 2])):
            chain.insert(0, self.rng.choice([t for t in FLOATS if t != chain[0]]))
        return chain

    def given_rows(self, dtype: str, dims: Sequence[Dim]) -> str:
        """An argument of rows, a new one or one that a write has already."""
        same = [
            name
            for name in self.program.arguments
            if name.startswith("rows")
            and self.program.types[name].dtype == dtype
            and self.program.types[name].dims == tuple(dims)
        ]
        if same and self.chance(0.4):
            return self.rng.choice(same)
        return self.argument("rows", self.tensor(dtype, dims))

    def rows(self, dtype: str, dims: Sequence[Dim]) -> tuple[str, tuple]:
        """Rows of a cache of `dtype`, and the casts that its region does."""
        chain = self.casts(dtype)
        if len(chain) == 1:
            return self.plain_rows(dtype, dims), ()
        value = self.given_rows(chain[0], dims)
        in_region = self.rng.choice([0, 0, 1])
        steps = [(result, self.saturates(result)) for result in chain[1:]]
        for result, saturating in steps[: len(steps) - in_region]:
            value = self.convert(value, result, saturating)
        return value, tuple(steps[len(steps) - in_region :])

    def plain_rows(self, dtype: str, dims: Sequence[Dim]) -> str:
        """Rows that reach the cache without a cast."""
        if dtype == "i8" and self.chance(0.5):
            fp8 = self.given_rows(self.rng.choice(["f8E4M3FN", "f8E5M2"]), dims)
            return self.bitcast(fp8, "i8")
        value = self.given_rows(dtype, dims)
        if dtype == "f32" and self.chance(0.2):
            return self.compute("arith.negf", value)
        return value

    # Readers of caches

    def used_caches(self) -> list[Cache]:
        """The caches whose contents are used."""
        return [c for c in self.caches if c.argument not in self.program.unused]

    def read(self) -> None:
        """Sometimes an operation on the contents of a cache, which is returned."""
        used = self.used_caches()
        if not used or not self.chance(0.2):
            return
        version = self.rng.choice(used).version
        made = self.program.types[version]
        same = [n for n in self.readers if self.program.types[n] == made]
        other = self.rng.choice([version, *same])
        self.readers.append(self.rng.choice(self.readings(version, other))())

    def readings(self, version: str, other: str) -> list[Callable[[], str]]:
        """Ways to read `version`, some together with `other` of its type."""
        dtype = self.program.types[version].dtype
        ways: list[Callable[[], str]] = []
        if dtype in FLOATS:
            result = self.rng.choice([t for t in FLOATS if t != dtype])
            ways.append(lambda: self.convert(version, result, self.saturates(result)))
        if version not in self.program.rounded:
            ways.append(lambda: self.bitcast(version, same_width(dtype)))
        if dtype == "f32":
            name = self.rng.choice(["arith.addf", "arith.mulf"])
            ways.append(lambda: self.compute(name, version, other))
        if dtype == "i8":
            ways.append(lambda: self.compute("arith.addi", version, other))
        return ways

    # Writes

    def cache(self, style: Style) -> Cache:
        """A cache to write: a new one, or one that is there."""
        page = style.tokens.page
        fitting = [c for c in self.used_caches() if page in (0, c.layout.page)]
        if fitting and self.chance(0.3):
            return self.rng.choice(fitting)
        return self.new_cache(style)

    def new_cache(self, style: Style) -> Cache:
        """A new argument that is a cache."""
        page = style.tokens.page or self.rng.choice(PAGE_SIZES)
        heads, head_dim = self.rng.choice([1, 2, 3]), self.rng.choice([1, 3, 4, 8])
        gap = self.rng.choice([1, 2, 5])
        layout = self.rng.choice(LAYOUTS)(page, heads, head_dim, gap)
        dtype = self.rng.choice([*FLOATS, "i8"])
        symbol = f"N{len(self.program.types)}"
        dims = [symbol if dim == "N" else dim for dim in layout.dims]
        name = self.argument("cache", self.tensor(dtype, dims))
        self.program.versions[name] = [name]
        self.program.page_sizes[name] = layout.page if layout.paged else 1
        self.caches.append(Cache(name, name, layout))
        return self.caches[-1]

    def order(self, layout: Layout) -> list[int]:
        """Which of (token, row coordinates) the dimensions of the rows are."""
        order = list(range(1 + len(layout.rows)))
        if self.chance(0.3):
            self.rng.shuffle(order)
        if self.chance(0.1):
            bare = [
                i + 1 for i in range(len(layout.rows)) if row(i) in layout.coordinates
            ]
            order.remove(self.rng.choice([0, *bare]))
        return order

    def destination(self, style: Style, cache: Cache) -> Destination:
        """A write of `cache`, its map over index vectors by name."""
        layout = cache.layout
        order = self.order(layout)
        dims = [(style.tokens.dim, *layout.rows)[i] for i in order]
        dtype = self.program.types[cache.argument].dtype
        values, casts = self.rows(dtype, dims)
        places = self.places(style, layout)
        # The text (s mod 1) * W + r is read as r, which would have to cover the rows.
        bare = layout.page == 1 and style.mode == "inline"
        before = cache.version
        return Destination(
            self.new_version(cache, values, casts),
            before,
            values,
            tuple(substitute(expr, places) for expr in layout.coordinates),
            tuple(order),
            layout.rows,
            layout.box or bare or self.chance(0.05),
            casts,
        )

    def new_version(self, cache: Cache, values: str, casts: tuple) -> str:
        """The cache after a write of `values`, which its region casts."""
        result = self.add("cache", self.program.types[cache.argument])
        if casts or not self.program.rounded.isdisjoint({cache.version, values}):
            self.program.rounded.add(result)
        cache.version = result
        self.program.versions[cache.argument].append(result)
        return result

    def write(self, style: Style, destinations: Sequence[Destination]) -> None:
        """One kv.write of `destinations`."""
        names: dict[str, None] = {}
        for dest in destinations:
            for expr in dest.map:
                names |= dict.fromkeys(index_names(expr))
        indices = list(names) or [style.tokens.first]
        if self.chance(0.2):
            self.rng.shuffle(indices)
        resolved = tuple(
            dataclasses.replace(dest, map=tuple(resolve(e, indices) for e in dest.map))
            for dest in destinations
        )
        where = style.where and (self.rng.randrange(len(indices)), *style.where)
        self.program.ops.append(
            Write(
                tuple(indices),
                resolved,
                style.negative,
                style.out_of_bounds,
                style.mask,
                where,
            )
        )

    def layer(self) -> None:
        """The writes of one layer, with readers between."""
        style = self.style()
        count = self.rng.choice([1, 2, 2, 3, 3, 3, 4, 5])
        pending: list[Destination] = []
        together = self.chance(0.12)
        for _ in range(count):
            cache = self.cache(style)
            if any(dest.result == cache.version for dest in pending):
                continue
            pending.append(self.destination(style, cache))
            if not together:
                self.write(self.varied(style), pending)
                pending = []
                self.read()
        if pending:
            self.write(style, pending)

    def varied(self, style: Style) -> Style:
        """`style`, rarely with another policy."""
        if self.chance(0.95):
            return style
        return dataclasses.replace(
            style, out_of_bounds=self.rng.choice(["trap", "skip"])
        )

    def repeat(self) -> None:
        """Sometimes the last write once more, to the same slots."""
        write = self.program.ops[-1]
        if not isinstance(write, Write) or not self.chance(0.2):
            return
        old = write.destinations[-1]
        cache = next(c for c in self.caches if c.version == old.result)
        result = self.new_version(cache, old.values, old.casts)
        again = dataclasses.replace(old, result=result, cache=old.result)
        self.program.ops.append(dataclasses.replace(write, destinations=(again,)))

    def unused_write(self) -> None:
        """Rarely a write to a cache that nobody uses."""
        style = self.style()
        if style.out_of_bounds == "trap":
            return
        cache = self.new_cache(style)
        self.program.unused.add(cache.argument)
        self.write(style, [self.destination(style, cache)])

    def generate(self) -> Program:
        """The program."""
        for _ in range(self.rng.choice([1, 1, 2, 2, 3, 4, 5, 6])):
            self.read()
            self.layer()
            self.repeat()
            if self.chance(0.1):
                self.unused_write()
        self.read()
        # An index that folds to an argument is no result of its own.
        indices = [
            op.result
            for op in self.program.ops
            if isinstance(op, Apply) and ("number", 1) not in op.expr
        ]
        if indices and self.chance(0.15):
            self.readers.append(self.rng.choice(indices))
        caches = [cache.version for cache in self.used_caches()]
        self.program.results = caches + self.readers
        self.rng.shuffle(self.program.results)
        return self.program


def generate(seed: int) -> Program:
    """The program of `seed`; all of its writes may be done in place."""
    return Generator(seed).generate()
