//===- KVBase.td - Types of the kv dialect -----------------*- tablegen -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_IR_KVBASE_TD
#define KVFUSE_DIALECT_KV_IR_KVBASE_TD

include "kvfuse/Dialect/KV/IR/KVDialect.td"
include "mlir/IR/CommonTypeConstraints.td"

class KV_Op<string mnemonic, list<Trait> traits = []>
    : Op<KV_Dialect, mnemonic, traits>;

/// `element`, or a ranked tensor or a vector of it. Unranked tensors are left
/// out: no lowering could say how many elements there are.
class KV_ElementwiseOf<Type element, string description> : Type<
    Or<[element.predicate, RankedTensorOf<[element]>.predicate,
        VectorOfAnyRankOf<[element]>.predicate]>, description>;

def KV_I64Like : KV_ElementwiseOf<I64,
    "i64, or a ranked tensor or vector of it (SX1)">;
def KV_FloatLike : KV_ElementwiseOf<AnyFloat,
    "float, or a ranked tensor or vector of it">;

/// A tensor or memref of `elements`, of a rank from `first` to `last`. The memref
/// is strided: addresses are computed from strides and offset.
class KV_ShapedOf<list<Type> elements, int first, int last, string description>
    : Type<
    Or<[TensorRankOf<elements, !range(first, !add(last, 1))>.predicate,
        And<[AnyStridedMemRef.predicate,
             MemRefRankOf<elements, !range(first, !add(last, 1))>.predicate]>]>,
    "tensor or strided memref of rank " # first # " to " # last # " of " #
    description>;

/// What a cache stores: whole bytes, so that no write touches its neighbour
/// (SM4).
def KV_Element : Type<
    CPred<"$_self.isIntOrFloat() && $_self.getIntOrFloatBitWidth() >= 8 && "
          "$_self.getIntOrFloatBitWidth() <= 64 && "
          "::llvm::isPowerOf2_32($_self.getIntOrFloatBitWidth())">,
    "integer or float of 8, 16, 32 or 64 bits">;

def KV_IndexValues : KV_ShapedOf<[I32, I64], 1, 4, "i32 or i64 (SX1)">;
def KV_Mask : KV_ShapedOf<[I1], 1, 4, "i1">;
def KV_Cache : KV_ShapedOf<[KV_Element], 1, 8,
    "integers or floats of 8, 16, 32 or 64 bits">;
def KV_Rows : KV_ShapedOf<[KV_Element], 0, 8,
    "integers or floats of 8, 16, 32 or 64 bits">;

#endif // KVFUSE_DIALECT_KV_IR_KVBASE_TD
