//===- RuntimeCalls.h - Calls of kvfuse's runtime ------------- -*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_LOWERING_RUNTIMECALLS_H
#define KVFUSE_LIB_LOWERING_RUNTIMECALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace kvfuse {

/// Makes calls of the functions of kvfuse/Runtime/Runtime.h, which are declared
/// where they are needed.
class RuntimeCalls {
public:
  explicit RuntimeCalls(mlir::ModuleOp module)
      : symbols(module), builder(module.getBodyRegion()) {}

  /// Calls `name`. It returns nothing, or, if it may fail, a message that
  /// `kv-trap-to-status` will see to.
  void create(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
              mlir::ValueRange operands, bool mayFail);

private:
  mlir::SymbolTable symbols;
  mlir::OpBuilder builder;
};

} // namespace kvfuse

#endif // KVFUSE_LIB_LOWERING_RUNTIMECALLS_H
