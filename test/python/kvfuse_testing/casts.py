# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kv.cast alone: modules that hold one cast, their inputs, and what is right."""

import dataclasses

import ml_dtypes
import numpy as np
import torch

from . import cases, cells

MLIR_TYPES = {
    "bf16": "bf16",
    "f16": "f16",
    "f32": "f32",
    "e4m3fn": "f8E4M3FN",
    "e5m2": "f8E5M2",
    "e4m3fnuz": "f8E4M3FNUZ",
    "e5m2fnuz": "f8E5M2FNUZ",
}
NUMPY_TYPES = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "e4m3fn": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}
TORCH_TYPES = {
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f32": torch.float32,
    "e4m3fn": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "e4m3fnuz": torch.float8_e4m3fnuz,
    "e5m2fnuz": torch.float8_e5m2fnuz,
}

#: Elements in a row of the modules below.
ROW = 256


@dataclasses.dataclass(frozen=True)
class Cast:
    """A conversion from element type `source` to element type `result`."""

    source: str
    result: str
    saturating: bool = False

    def __str__(self) -> str:
        mode = "-saturating" if self.saturating else ""
        return f"{self.source}-to-{self.result}{mode}"


#: Every cast to an fp8 type, in both modes where the type has both (SC3).
FP8_CASTS = [
    Cast(source, result, saturating)
    for source in ("bf16", "f16", "f32")
    for result in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz")
    for saturating in (False, True)
    if not (saturating and result == "e5m2")
]
#: The casts between the wider types that lose bits.
WIDE_CASTS = [
    Cast("f32", "bf16"),
    Cast("f32", "f16"),
    Cast("bf16", "f16"),
    Cast("f16", "bf16"),
]


def module_text(cast: Cast) -> str:
    """A function `cast` that stores row t of x, converted, as row i[t] of out."""
    source, result = MLIR_TYPES[cast.source], MLIR_TYPES[cast.result]
    mode = " saturating" if cast.saturating else ""
    rows, out = f"tensor<?x{ROW}x{source}>", f"tensor<?x{ROW}x{result}>"
    return f"""
func.func public @cast(%out: {out} {{bufferization.writable = true}},
                       %x: {rows}, %i: tensor<?xi64>) -> {out} {{
  %0 = kv.write at(%i : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %x : {rows} into %out : {out}
        map(affine_map<(t, s, d) -> (s, d)>) {{
    ^bb0(%e: {source}):
      %c = kv.cast %e{mode} : {source} to {result}
      kv.yield %c : {result}
    }}
  return %0 : {out}
}}
"""


def cast_case(cast: Cast, rows: int) -> cases.Case:
    """All boundary values of the source, `rows` rows, written to slots 0, 1, ..."""
    sizes, strides = (rows, ROW), (ROW, 1)
    return cases.Case(
        buffers=(
            cases.Buffer(cast.result, rows * ROW, "canary", seed=1, cast=True),
            cases.Buffer(cast.source, rows * ROW, "boundaries", seed=2),
            cases.Buffer("i64", rows, "numbers", numbers=tuple(range(rows))),
        ),
        views=(
            cases.View(0, 0, sizes, strides),
            cases.View(1, 0, sizes, strides),
            cases.View(2, 0, (rows,), (1,)),
        ),
    )


def by_ml_dtypes(cast: Cast, source: np.ndarray) -> np.ndarray:
    """Cells that ml_dtypes gives; it never saturates, so out of range values are
    brought into range first where the cast saturates."""
    wide = source.view(NUMPY_TYPES[cast.source]).astype(np.float32)
    with np.errstate(all="ignore"):
        if cast.saturating:
            largest = float(ml_dtypes.finfo(NUMPY_TYPES[cast.result]).max)
            wide = np.clip(wide, -largest, largest)
        made = wide.astype(NUMPY_TYPES[cast.result])
    return made.view(cells.cell_type(cast.result))


def by_torch(cast: Cast, source: np.ndarray) -> np.ndarray:
    """Cells that this torch gives, whatever its mode for the type is."""
    wide = torch.from_numpy(source.view(np.uint8)).view(TORCH_TYPES[cast.source])
    made = wide.to(TORCH_TYPES[cast.result]).view(torch.uint8).numpy()
    return made.view(cells.cell_type(cast.result))


def torch_has(cast: Cast) -> bool:
    """Is this the mode of torch 2.13 for the type (SC4)?"""
    return cast.saturating == (cast.result == "e4m3fn")
