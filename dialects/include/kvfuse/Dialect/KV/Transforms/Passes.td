//===- Passes.td - Passes of the kv dialect ----------------*- tablegen -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_TRANSFORMS_PASSES
#define KVFUSE_DIALECT_KV_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def KVDecomposeWrites : Pass<"kv-decompose-writes"> {
  let summary = "take fused writes apart into the chain they came from";
  let description = [{
    Overview: a write with several destinations becomes one write per
    destination, in program order; in tensor form each of these becomes the
    chain: a `kv.apply` per computed coordinate, the operations of its region
    `where` on whole tensors as a mask, the operations of its value region on
    whole tensors, and a scatter with a bare map and no region. In buffer form
    nothing is allocated, so maps and regions stay.

    Before: any kv IR. After: every `kv.write` has one destination; in tensor
    form its regions are empty and index values appear in its map alone, or
    added to other coordinates. Exceptions are kept whole: a region with an
    operation that does not work on tensors, the map of a write whose `where` is
    such a region, and index values that are divided together with a row
    coordinate.

    Caveats: discardable attributes of a write are dropped, for they may speak of
    all its destinations together.

    Example:

    ```mlir
    func.func @write(%s: tensor<?xi64>, %v: tensor<?x4x8xbf16>, %c: tensor<?x4x32x8xbf16>)
        -> tensor<?x4x32x8xbf16> {
      %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %v : tensor<?x4x8xbf16> into %c : tensor<?x4x32x8xbf16>
            map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)
      return %0 : tensor<?x4x32x8xbf16>
    }
    ```
    becomes
    ```mlir
    func.func @write(%s: tensor<?xi64>, %v: tensor<?x4x8xbf16>, %c: tensor<?x4x32x8xbf16>)
        -> tensor<?x4x32x8xbf16> {
      %p = kv.apply affine_map<(s) -> (s floordiv 32)>(%s) : tensor<?xi64>
      %o = kv.apply affine_map<(s) -> (s mod 32)>(%s) : tensor<?xi64>
      %0 = kv.write at(%p, %o : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %v : tensor<?x4x8xbf16> into %c : tensor<?x4x32x8xbf16>
            map(affine_map<(t, p, o, h, d) -> (p, h, o, d)>)
      return %0 : tensor<?x4x32x8xbf16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // KVFUSE_DIALECT_KV_TRANSFORMS_PASSES
