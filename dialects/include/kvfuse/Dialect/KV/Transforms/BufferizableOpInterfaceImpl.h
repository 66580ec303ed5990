//===- BufferizableOpInterfaceImpl.h ----------------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_DIALECT_KV_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define KVFUSE_DIALECT_KV_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
namespace kv {
/// Registers the bufferization of kv.write: each destination in place.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);
} // namespace kv
} // namespace mlir

#endif // KVFUSE_DIALECT_KV_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
