//===- InterleavedTest.h - Views that share periods of memory ---*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LAYOUT_INTERLEAVEDTEST_H
#define KVFUSE_LAYOUT_INTERLEAVEDTEST_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace kvfuse {

/// The private function of `module` that returns an i1, true only if two views
/// with elements, of rank `rank`, have no byte in common: if both are unions of
/// parts of a period, and the parts do not meet. Its arguments are, for one
/// view and then for the other, all in bytes: the lowest address, the size of
/// an element, the sizes of the dimensions, and their strides.
mlir::func::FuncOp getInterleavedTest(mlir::ModuleOp module, unsigned rank);

} // namespace kvfuse

#endif // KVFUSE_LAYOUT_INTERLEAVEDTEST_H
