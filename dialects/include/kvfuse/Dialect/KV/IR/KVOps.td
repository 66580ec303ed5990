//===- KVOps.td - Operations of the kv dialect -------------*- tablegen -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every example below is a whole function, and a test parses it.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_IR_KVOPS_TD
#define KVFUSE_DIALECT_KV_IR_KVOPS_TD

include "kvfuse/Dialect/KV/IR/KVBase.td"
include "kvfuse/Dialect/KV/IR/KVWriteOp.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// kv.apply
//===----------------------------------------------------------------------===//

def KV_ApplyOp : KV_Op<"apply", [
    Pure, SameOperandsAndResultType] # ElementwiseMappable.traits> {
  let summary = "elementwise affine function of integer index values";
  let description = [{
    Applies a one-result affine map to its operands, element by element, in
    64-bit arithmetic (SX1). `floordiv` and `mod` are those of affine maps
    (SX2): they round towards minus infinity, the remainder by P lies in
    [0, P), and P is a positive constant, which need not be a power of two.
    Sums and products are assumed not to overflow 64 bits (SX3).

    Operands and result have one type: i64, or a tensor or vector of i64.

    Canonicalization simplifies the map and drops operands that it does not
    use. It never composes one `kv.apply` with the next: that is fusion, and an
    unfused chain keeps its operations apart.

    Example: page and offset of each slot, for a page size of 32.

    ```mlir
    func.func @coordinates(%slots: tensor<?xi64>) -> (tensor<?xi64>, tensor<?xi64>) {
      %page = kv.apply affine_map<(s) -> (s floordiv 32)>(%slots) : tensor<?xi64>
      %offset = kv.apply affine_map<(s) -> (s mod 32)>(%slots) : tensor<?xi64>
      return %page, %offset : tensor<?xi64>, tensor<?xi64>
    }
    ```
  }];

  let arguments = (ins AffineMapAttr:$map, Variadic<KV_I64Like>:$inputs);
  let results = (outs KV_I64Like:$result);
  let assemblyFormat = [{
    $map `(` $inputs `)` attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

//===----------------------------------------------------------------------===//
// kv.cast
//===----------------------------------------------------------------------===//

def KV_CastOp : KV_Op<"cast", [
    Pure, SameOperandsAndResultShape] # ElementwiseMappable.traits> {
  let summary = "float to float conversion with one rounding";
  let description = [{
    Converts each element from its own type to the result's element type with
    one rounding, to nearest, ties to even (SC1). A NaN stays a NaN; which of
    the NaN encodings it becomes is not specified (SC6). Element types have 8,
    16 or 32 bits, a sign and a zero.

    Without `saturating` a magnitude that rounds past the largest finite value
    becomes infinity, or NaN where the type has no infinity (SC2):
    float8_e4m3fn from above 464, float8_e5m2 from 61440 up. With `saturating`
    it becomes the largest finite value, and so does an infinity (SC3); this is
    allowed for types without infinities only.

    Example:

    ```mlir
    func.func @round(%k: tensor<?x4x128xbf16>, %v: tensor<?x4x128xbf16>)
        -> (tensor<?x4x128xf8E5M2>, tensor<?x4x128xf8E4M3FN>) {
      %a = kv.cast %k : tensor<?x4x128xbf16> to tensor<?x4x128xf8E5M2>
      %b = kv.cast %v saturating : tensor<?x4x128xbf16> to tensor<?x4x128xf8E4M3FN>
      return %a, %b : tensor<?x4x128xf8E5M2>, tensor<?x4x128xf8E4M3FN>
    }
    ```
  }];

  let arguments = (ins KV_FloatLike:$input, UnitAttr:$saturating);
  let results = (outs KV_FloatLike:$result);
  let assemblyFormat = [{
    $input (`saturating` $saturating^)? attr-dict
    `:` type($input) `to` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// kv.yield
//===----------------------------------------------------------------------===//

def KV_YieldOp : KV_Op<"yield", [Pure, Terminator, HasParent<"WriteOp">]> {
  let summary = "ends a region of kv.write";
  let description = [{
    Yields the element to store, or from a region `where` the i1 that says
    whether the token is written.

    Example: values are stored with their sign changed.

    ```mlir
    func.func @negated(%slots: memref<?xi64>, %v: memref<?x64xf32>, %c: memref<?x64xf32>) {
      kv.write at(%slots : memref<?xi64>) negative(error) out_of_bounds(skip)
        put %v : memref<?x64xf32> into %c : memref<?x64xf32>
            map(affine_map<(t, s, d) -> (s, d)>) {
        ^bb0(%x: f32):
          %y = arith.negf %x : f32
          kv.yield %y : f32
        }
      return
    }
    ```
  }];
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // KVFUSE_DIALECT_KV_IR_KVOPS_TD
