//===- BranchCounter.h - Which branches run -----------------------*- C++
//-*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LAYOUT_BRANCHCOUNTER_H
#define KVFUSE_LAYOUT_BRANCHCOUNTER_H

#include "mlir/IR/BuiltinOps.h"

namespace kvfuse {

/// Makes `module` count how often each branch runs, in a global that code
/// outside may read: `memref.global @kvfuse_branches`. A branch is given by its
/// first operation, which has its name as kBranchAttr.
void countBranches(mlir::ModuleOp module,
                   llvm::ArrayRef<mlir::Operation *> branches);

} // namespace kvfuse

#endif // KVFUSE_LAYOUT_BRANCHCOUNTER_H
