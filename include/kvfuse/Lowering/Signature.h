//===- Signature.h - What callers pass to a function ---------- -*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LOWERING_SIGNATURE_H
#define KVFUSE_LOWERING_SIGNATURE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include <dlpack/dlpack.h>
#include <optional>

namespace kvfuse {

/// Attribute of an exported function: an array with a dictionary for each
/// argument. Lowering changes types, so this is told apart from them.
inline constexpr llvm::StringLiteral kSignatureAttr = "kv.signature";

/// What MLIR puts in front of a function's name to get that of its C wrapper,
/// and what TVM-FFI puts there.
inline constexpr llvm::StringLiteral kWrapperPrefix = "_mlir_ciface_";
inline constexpr llvm::StringLiteral kTVMFFIPrefix = "__tvm_ffi_";

/// An argument of an exported function.
struct ArgumentSignature {
  /// As in the model's code; may be empty.
  std::string name;
  /// As Python's array libraries name it.
  std::string dtype;
  /// Sizes of a tensor, -1 for any; a scalar has none.
  std::optional<llvm::SmallVector<int64_t>> sizes;
  bool isWritten = false;
};

/// The name of the data type of a tensor's elements, or of a scalar; empty if
/// DLPack has none.
llvm::StringRef getDTypeName(mlir::Type type);

/// DLPack's data type of that name. Integers of a width, signed or not, have 0
/// lanes.
DLDataType getDLDataType(llvm::StringRef name);

/// The attribute `kv.signature` of `arguments`.
mlir::ArrayAttr encodeSignature(mlir::MLIRContext *context,
                                llvm::ArrayRef<ArgumentSignature> arguments);

/// The signature of `function`, if it is exported.
std::optional<llvm::SmallVector<ArgumentSignature>>
getSignature(mlir::Operation *function);

} // namespace kvfuse

#endif // KVFUSE_LOWERING_SIGNATURE_H
