//===- RuntimeData.h - Data that the runtime reads ------------ -*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_LOWERING_RUNTIMEDATA_H
#define KVFUSE_LIB_LOWERING_RUNTIMEDATA_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"

namespace kvfuse {

/// Makes the globals of one module that are laid out as the structures of
/// kvfuse/Runtime/Runtime.h. They are internal; names that are taken change.
class RuntimeData {
public:
  using Builder = mlir::ImplicitLocOpBuilder;

  RuntimeData(mlir::ModuleOp module, mlir::SymbolTable &symbols)
      : builder(module.getBodyRegion()), symbols(symbols) {}

  mlir::LLVM::LLVMPointerType getPointerType() {
    return mlir::LLVM::LLVMPointerType::get(builder.getContext());
  }
  mlir::Type getStructType(mlir::ArrayRef<mlir::Type> fields) {
    return mlir::LLVM::LLVMStructType::getLiteral(builder.getContext(), fields);
  }

  /// A global with the value that `build` returns. What is not constant is what
  /// the runtime writes to.
  mlir::LLVM::GlobalOp
  createGlobal(mlir::Location loc, const llvm::Twine &name, mlir::Type type,
               bool isConstant,
               llvm::function_ref<mlir::Value(Builder &)> build);

  /// A constant with the bytes of `text`, which are not terminated.
  mlir::LLVM::GlobalOp createBytes(mlir::Location loc, const llvm::Twine &name,
                                   llvm::StringRef text);

  /// A constant with `text` and the zero behind it.
  mlir::LLVM::GlobalOp createString(mlir::Location loc, const llvm::Twine &name,
                                    llvm::StringRef text);

  /// A constant array of `values`, all of type `type`, or nothing where there
  /// are none.
  mlir::LLVM::GlobalOp
  createArray(mlir::Location loc, const llvm::Twine &name, mlir::Type type,
              size_t count,
              llvm::function_ref<mlir::Value(Builder &, size_t)> buildElement);

private:
  /// In front of all functions, in the order they are made.
  mlir::OpBuilder builder;
  mlir::SymbolTable &symbols;
};

/// A value of the struct or array `type` with `fields`.
mlir::Value createAggregate(mlir::ImplicitLocOpBuilder &b, mlir::Type type,
                            mlir::ValueRange fields);

/// The address of `global`, or null where there is none.
mlir::Value createAddress(mlir::ImplicitLocOpBuilder &b,
                          mlir::LLVM::GlobalOp global);

mlir::Value createInteger(mlir::ImplicitLocOpBuilder &b, unsigned width,
                          int64_t value);

} // namespace kvfuse

#endif // KVFUSE_LIB_LOWERING_RUNTIMEDATA_H
