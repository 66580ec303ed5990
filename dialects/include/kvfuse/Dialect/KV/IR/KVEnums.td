//===- KVEnums.td - Policies of kv.write -------------------*- tablegen -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_IR_KVENUMS_TD
#define KVFUSE_DIALECT_KV_IR_KVENUMS_TD

include "mlir/IR/EnumAttr.td"

def KV_NegativeWrap : I32EnumAttrCase<"wrap", 0>;
def KV_NegativeError : I32EnumAttrCase<"error", 1>;
def KV_NegativeUndefined : I32EnumAttrCase<"undefined", 2>;

/// SX4: what a negative coordinate means.
def KV_NegativePolicy : I32EnumAttr<"NegativePolicy",
    "meaning of a negative coordinate (SX4)",
    [KV_NegativeWrap, KV_NegativeError, KV_NegativeUndefined]> {
  let cppNamespace = "::mlir::kv";
}

def KV_BoundsTrap : I32EnumAttrCase<"trap", 0>;
def KV_BoundsSkip : I32EnumAttrCase<"skip", 1>;
def KV_BoundsUndefined : I32EnumAttrCase<"undefined", 2>;

/// SX5: what happens to a row whose coordinates lie outside the cache.
def KV_BoundsPolicy : I32EnumAttr<"BoundsPolicy",
    "treatment of a coordinate outside the cache (SX5)",
    [KV_BoundsTrap, KV_BoundsSkip, KV_BoundsUndefined]> {
  let cppNamespace = "::mlir::kv";
}

#endif // KVFUSE_DIALECT_KV_IR_KVENUMS_TD
