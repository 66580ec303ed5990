//===- InferIntRangeInterfaceImpl.h -----------------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_INFERINTRANGEINTERFACEIMPL_H
#define KVFUSE_FUSION_INFERINTRANGEINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace kvfuse {
/// Registers integer ranges for kv.apply and tensor.splat, which upstream's
/// range analysis then sees through.
void registerInferIntRangeExternalModels(mlir::DialectRegistry &registry);
} // namespace kvfuse

#endif // KVFUSE_FUSION_INFERINTRANGEINTERFACEIMPL_H
