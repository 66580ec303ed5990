//===- SizeChecks.cpp - Sizes that a write needs to be equal --------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Dialect/KV/Transforms/SizeChecks.h"

#include "kvfuse/Dialect/KV/Analysis/ArgumentNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::kv;

static Value createSize(ImplicitLocOpBuilder &b, Value memref, int64_t dim) {
  return b.createOrFold<memref::DimOp>(memref, dim);
}

void mlir::kv::createSizeCheck(ImplicitLocOpBuilder &b, Value lhs, Value rhs,
                               const Twine &message) {
  if (isEqualConstantIntOrValue(lhs, rhs))
    return;
  Value equal = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lhs, rhs);
  cf::AssertOp::create(b, equal, b.getStringAttr("SX10: " + message));
}

void mlir::kv::createSizeChecks(ImplicitLocOpBuilder &b, WriteOp write) {
  Value first = write.getIndices().front();
  for (unsigned dim = 0; dim < write.getGridRank(); ++dim) {
    Value size = createSize(b, first, dim);
    for (Value index : write.getIndices().drop_front())
      createSizeCheck(b, createSize(b, index, dim), size,
                      "index tensors" + quoteName(first) + quoteName(index) +
                          " differ in size");
    if (Value mask = write.getMask())
      createSizeCheck(b, createSize(b, mask, dim), size,
                      "mask" + quoteName(mask) + " and index tensor" +
                          quoteName(first) + " differ in size");
  }
  for (unsigned i = 0; i < write.getNumDests(); ++i) {
    AffineMap map = write.getMap(i), order = write.getOrder(i);
    Value dest = write.getDests()[i], values = write.getValues()[i];
    for (auto [dim, expr] : llvm::enumerate(order.getResults())) {
      unsigned position = cast<AffineDimExpr>(expr).getPosition();
      if (position < write.getGridRank())
        createSizeCheck(b, createSize(b, values, dim),
                        createSize(b, first, position),
                        "values" + quoteName(values) + " of destination " +
                            Twine(i) + " and index tensor" + quoteName(first) +
                            " differ in the number of rows");
    }
    if (write.isBox(i))
      continue;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto bare = dyn_cast<AffineDimExpr>(expr);
      if (!bare || bare.getPosition() < write.getRowDim(0))
        continue;
      WriteOp::Extent extent =
          write.getRowExtent(i, bare.getPosition() - write.getRowDim(0));
      if (extent.fromValues)
        createSizeCheck(b, createSize(b, values, extent.dim),
                        createSize(b, dest, dim),
                        "rows" + quoteName(values) + " of destination " +
                            Twine(i) + " do not cover dimension " + Twine(dim) +
                            " of the cache" + quoteName(dest));
    }
  }
}
