# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The entries of test/Field/torch_writes.py: their inputs and exports."""

import dataclasses
import functools

import numpy as np
import torch

from torch_writes import ENTRIES, Entry

from . import torch_programs

SIZES = {"T": 5, "H": 3, "D": 8, "B": 6, "P": 4, "N": 3, "S": 16, "L": 2}
TOKENS, HEADS, PAGES, PAGE, POSITIONS = (SIZES[letter] for letter in "THBPS")
DTYPES = {
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f8": torch.float8_e4m3fn,
    "u8": torch.uint8,
    "i8": torch.int8,
    "i32": torch.int32,
    "i64": torch.int64,
    "b": torch.bool,
}


#: Entries whose rows or indices are copied into another shape before the write,
#: for their strides are not known.
COPIED = frozenset(("V5", "ET3", "SA2"))
#: Named index data with a number for each token -> the dimension of the tokens.
TOKEN_INDICES = {"slotspad1": 1} | dict.fromkeys(
    ("slots", "slotspad", "page", "off", "pagepair", "mask", "ar3", "bidx", "bpos"), 0
)


def index_data(seed: int) -> dict[str, np.ndarray]:
    """The named index data. No two tokens name one place, so that the bytes that
    a write leaves are determined (SX7); seed 0 has the numbers of the field."""
    random = np.random.default_rng(seed)
    slots = np.array([2, 9, 14, 7, 20])
    pages = np.array([3, 0, 5, 1, 4, 2])
    start, mask = 3, np.array([True, False, True, True, False])
    if seed:
        slots = random.permutation(PAGES * PAGE)[:TOKENS]
        pages = random.permutation(PAGES)
        start = int(random.integers(POSITIONS - TOKENS + 1))
        mask = random.permutation(mask)
    padded = np.where(mask, slots, -1)
    one_padded = slots.copy()
    one_padded[int(np.flatnonzero(~mask)[0])] = -1
    heads = np.arange(HEADS) * PAGES * PAGE
    # Two sequences: one on the first two of the pages, one on the other four.
    lengths = (2 * PAGE, 4 * PAGE)
    positions = [2, 5, 0, 7, 13]
    if seed:
        positions = [
            *random.permutation(lengths[0])[:2],
            *random.permutation(lengths[1])[:3],
        ]
    return {
        "slots": slots,
        "slotspad": padded,
        "slotspad1": one_padded[None],
        "page": slots // PAGE,
        "off": slots % PAGE,
        "pagepair": np.stack([slots // PAGE, slots % PAGE], axis=1),
        "headslots": (slots[:, None] + heads).reshape(-1),
        "mask": mask,
        "pages6": pages,
        "pid22": pages[:4].reshape(2, 2),
        "table2": pages[:4].reshape(2, 2),
        "bidx": np.array([0, 0, 1, 1, 1]),
        "bpos": np.array(positions),
        "ar3": start + np.arange(TOKENS),
        "arS": np.arange(POSITIONS),
        "pos2": start + np.array([[0, 1], [4, 5]]),
        "posneg": np.array([[start, -1], [5, 6]]),
        "pipad": np.array([[pages[0], -1], [pages[1], pages[2]]]),
        "oipad": np.array([[PAGE - 1, -1], [0, 2]]),
    }


@dataclasses.dataclass(frozen=True)
class Argument:
    """One argument of an entry, as its notation says."""

    name: str
    dtype: torch.dtype
    shape: tuple[str, ...]
    index: str

    @classmethod
    def parse(cls, text: str) -> "Argument":
        """Reads `kc bf16 B*P H D`, `s i32 =slots` or `pos i64 =[5]`."""
        name, dtype, *rest = text.split(maxsplit=2)
        shape = rest[0] if rest else ""
        if shape.startswith("="):
            return cls(name, DTYPES[dtype], (), shape[1:])
        return cls(name, DTYPES[dtype], tuple(shape.split()), "")

    def sizes(self) -> tuple[int, ...]:
        """The shape in numbers."""
        return tuple(eval(size, {}, SIZES) for size in self.shape)

    def token_dims(self) -> list[int]:
        """Dimensions whose size is the number of tokens."""
        dims = [dim for dim, size in enumerate(self.shape) if size == "T"]
        if self.index in TOKEN_INDICES:
            dims.append(TOKEN_INDICES[self.index])
        return dims

    def make(self, seed: int) -> torch.Tensor:
        """Its data."""
        if self.index:
            named = index_data(seed)
            data = named.get(self.index)
            data = (
                torch.tensor(eval(self.index)) if data is None else torch.tensor(data)
            )
            return data.to(self.dtype)
        generator = torch.Generator().manual_seed(
            seed * 1000 + sum(map(ord, self.name))
        )
        if self.dtype.is_floating_point:
            return torch.randn(self.sizes(), generator=generator).to(self.dtype)
        low, high = torch.iinfo(self.dtype).min, torch.iinfo(self.dtype).max
        data = torch.randint(low, high + 1, self.sizes(), generator=generator)
        return data.to(self.dtype)


@functools.cache
def arguments(entry: Entry) -> tuple[Argument, ...]:
    """The arguments of an entry."""
    return tuple(Argument.parse(text) for text in entry.arguments.split("; "))


def inputs(entry: Entry, seed: int, tokens: int = TOKENS) -> list[torch.Tensor]:
    """New tensors for a call with the first of the tokens."""
    made = []
    for argument in arguments(entry):
        tensor = argument.make(seed)
        for dim in argument.token_dims():
            tensor = tensor.narrow(dim, 0, tokens)
        made.append(tensor.contiguous())
    return made


@functools.cache
def cache_numbers(entry: Entry) -> tuple[int, ...]:
    """Its caches: the arguments before the first index, of a function that
    returns a new cache the first one."""
    numbers = []
    for number, argument in enumerate(arguments(entry)):
        if argument.index:
            break
        numbers.append(number)
    return tuple(numbers)


@functools.cache
def exported_program(entry: Entry) -> torch.export.ExportedProgram:
    """torch.export of an entry."""
    return torch_programs.export_program(
        entry.exported or entry.function, inputs(entry, 0)
    )


@functools.cache
def export(name: str, output_type: str = "raw") -> torch_programs.Exported:
    """An entry through torch.export and torch-mlir.

    Entries with an opaque operation that writes in place are not decomposed:
    torch would wrap the operation into one that torch-mlir cannot import.
    """
    entry = ENTRIES[name]
    return torch_programs.import_program(
        exported_program(entry), output_type, decompose=entry.reason != "opaque-op"
    )


@functools.cache
def export_dynamic(name: str) -> torch_programs.Exported:
    """An entry exported for any number of tokens."""
    entry, tokens = ENTRIES[name], torch.export.Dim("tokens")
    dims = [dict.fromkeys(each.token_dims(), tokens) for each in arguments(entry)]
    program = torch_programs.export_program(
        entry.function, inputs(entry, 0), tuple(dims)
    )
    return torch_programs.import_program(program)
