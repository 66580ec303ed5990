//===- KVDialect.td - The kv dialect -----------------------*- tablegen -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_IR_KVDIALECT_TD
#define KVFUSE_DIALECT_KV_IR_KVDIALECT_TD

include "mlir/IR/OpBase.td"

def KV_Dialect : Dialect {
  let name = "kv";
  let cppNamespace = "::mlir::kv";
  let summary = "Writes of new rows into paged key/value caches";
  let description = [{
    Four operations say everything that a paged cache write is: `kv.apply`
    computes coordinates from slots, `kv.cast` rounds values to the cache's
    type, `kv.write` puts rows into one or more caches at computed coordinates
    and `kv.yield` ends its regions. A chain of tiny operations and the fused
    write are spelled with the same four, so fusing a chain is composing its
    `kv.apply` into the map and its `kv.cast` into the region of the write.

    Numbers such as SX4 or SC3 in the documentation and in error messages name
    the rules of `docs/semantics.md`.

    Nothing here knows a model, a layer, a layout by name, or a front end.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let hasConstantMaterializer = 1;
}

#endif // KVFUSE_DIALECT_KV_IR_KVDIALECT_TD
