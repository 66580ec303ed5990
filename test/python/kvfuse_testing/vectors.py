# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computes what a function on small vectors means, for many inputs at once.

A value of type `vector<LxT>` is an array of shape (inputs, L) with the bits of T, one
of type T an array of shape (inputs,). Only what `kv-casts-to-nvvm` makes is known.
"""

import re

import numpy as np
from torch_mlir import ir

from . import casts

#: numpy's types for the element types of MLIR.
ELEMENTS = {name: casts.NUMPY_TYPES[key] for key, name in casts.MLIR_TYPES.items()}
ELEMENTS |= {"i1": np.bool_, "i8": np.uint8, "i16": np.uint16, "i32": np.uint32}
#: `arith.cmpf` by the number of its predicate: all ordered, as numpy compares.
PREDICATES = {1: np.equal, 2: np.greater, 3: np.greater_equal, 4: np.less}


def element_type(value: ir.Value) -> type:
    """numpy's type for a scalar, or for the elements of a vector."""
    return ELEMENTS[re.sub(r"^vector<\d+x|>$", "", str(value.type))]


def convert_pair(high: np.ndarray, low: np.ndarray, result: str) -> np.ndarray:
    """`cvt.rn.satfinite.<result>x2.f32` as the PTX manual has it: what is larger
    than the largest number, infinities too, becomes that number; NaN stays NaN.
    f32 arrays to one array of 16 bits."""
    saturated = casts.Cast("f32", result, saturating=True)
    first, second = (casts.by_ml_dtypes(saturated, part) for part in (high, low))
    return first.astype(np.uint16) << 8 | second


def compute(op: ir.Operation, operands: list[np.ndarray]) -> np.ndarray:
    """The result of one operation."""
    attributes = op.attributes
    to = element_type(op.results[0])
    match op.name:
        case "arith.constant":
            value = attributes["value"]
            if isinstance(value, ir.DenseElementsAttr):
                value = value.get_splat_value()
            return np.array([value.value]).astype(to)
        case "arith.addi":
            return operands[0] + operands[1]
        case "arith.andi":
            return operands[0] & operands[1]
        case "arith.shli":
            return operands[0] << operands[1]
        case "arith.select":
            return np.where(*operands)
        case "arith.cmpf":
            return PREDICATES[attributes["predicate"].value](*operands)
        case "arith.bitcast" | "vector.bitcast":
            return np.ascontiguousarray(operands[0]).view(to)
        case "kv.cast":
            return operands[0].astype(to)
        case "vector.broadcast":
            return operands[0][:, None]
        case "vector.extract":
            return operands[0][:, attributes["static_position"][0]]
        case "vector.from_elements":
            return np.stack(operands, axis=1)
        case "vector.interleave":
            return np.stack(operands, axis=2).reshape(len(operands[0]), -1)
        case "vector.shuffle":
            return np.concatenate(operands, axis=1)[:, list(attributes["mask"])]
        case "nvvm.convert.f32x2.to.f8x2":
            names = {name: key for key, name in casts.MLIR_TYPES.items()}
            return convert_pair(*operands, names[str(attributes["dstTy"].value)])
    raise NotImplementedError(op.name)


def run(text: str, name: str, argument: np.ndarray) -> np.ndarray:
    """What the function `name`, of one argument and one result, of a module makes of
    `argument`. `text` is the module in the generic form."""
    context = ir.Context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(text, context)
    function = next(
        op for op in module.body.operations if op.attributes["sym_name"].value == name
    )
    (block,) = function.regions[0].blocks
    known = {block.arguments[0]: argument}
    for op in block.operations:
        operands = [known[operand] for operand in op.operands]
        if op.operation.name == "func.return":
            return operands[0]
        known[op.operation.results[0]] = compute(op.operation, operands)
    raise ValueError(f"'{name}' does not return")
