//===- BuildIdentity.h - Which compiler this is -----------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_DRIVER_BUILDIDENTITY_H
#define KVFUSE_LIB_DRIVER_BUILDIDENTITY_H

#include <string>

namespace kvfuse {

/// The build IDs of the code that compiles as it lies in memory: this library,
/// MLIR and LLVM. What is on disk may have been replaced since. Empty if one of
/// them was linked without a build ID.
std::string getBuildIdentity();

} // namespace kvfuse

#endif // KVFUSE_LIB_DRIVER_BUILDIDENTITY_H
