//===- MaskBuilder.h - Masks in the region `where` --------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_MASKBUILDER_H
#define KVFUSE_FUSION_MASKBUILDER_H

#include "IndexAnalysis.h"

namespace kvfuse {

/// Tells `analysis` what the mask and the region `where` of `write` say: where
/// they hold, index values that they compare are not negative (SX3).
void assumeMask(mlir::kv::WriteOp write, const TokenGrid &grid,
                IndexAnalysis &analysis);

/// Rebuilds a mask that is computed by comparisons of index values, on scalars:
/// the roots as i64.
class MaskBuilder {
public:
  MaskBuilder(mlir::OpBuilder &builder, const TokenGrid &grid,
              IndexAnalysis &analysis, mlir::ValueRange slots)
      : builder(builder), grid(grid), analysis(analysis), slots(slots) {}

  /// The scalar form of `mask` at the insertion point; null if the mask is
  /// computed from more than the roots.
  mlir::Value build(ElementAccess mask);

private:
  mlir::Value buildInteger(mlir::Location loc, const ElementAccess &integer);
  mlir::Value buildOp(mlir::Operation *op, Coords coords);

  mlir::OpBuilder &builder;
  const TokenGrid &grid;
  IndexAnalysis &analysis;
  mlir::ValueRange slots;
  llvm::SmallVector<std::pair<ElementAccess, mlir::Value>> built;
};

} // namespace kvfuse

#endif // KVFUSE_FUSION_MASKBUILDER_H
