//===- LaunchShape.cpp - Threads, blocks and tokens of a write ------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchShape.h"

#include "kvfuse/Lowering/Capability.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kv;
using namespace kvfuse;

/// A step of so many blocks, with one token each, is long. Blocks start one
/// after another, an H200 starts one in about 1.2 ns, and from here on that
/// takes longer than the memory does. (Measured: docs/performance.md.)
static constexpr int64_t kManyBlocks = 2048;

/// Tokens of a thread in a long step.
static constexpr int64_t kManyTokensPerThread = 4;

/// Groups of a token's rows over all destinations, if the types say it.
static std::optional<int64_t> countGroups(WriteOp write) {
  int64_t total = 0;
  for (unsigned i = 0; i < write.getNumDests(); ++i) {
    int64_t groups = 1;
    for (unsigned row = 0, e = write.getRowRank(i); row < e; ++row) {
      int64_t extent = write.getStaticRowExtent(i, row);
      if (ShapedType::isDynamic(extent))
        return std::nullopt;
      groups *=
          row + 1 == e ? llvm::divideCeil(extent, write.getAccess(i)) : extent;
    }
    total += groups;
  }
  return total;
}

/// Tokens, if the types say how many.
static std::optional<int64_t> countTokens(WriteOp write) {
  auto type = cast<MemRefType>(write.getIndices().front().getType());
  if (!type.hasStaticShape())
    return std::nullopt;
  return type.getNumElements();
}

static bool hasVectors(WriteOp write) {
  for (unsigned i = 0; i < write.getNumDests(); ++i)
    if (write.getAccess(i) == 1)
      return false;
  return true;
}

LaunchShapes kvfuse::chooseShapes(WriteOp write,
                                  const LaunchShapeOptions &options) {
  LaunchShapes shapes;
  LaunchShape &few = shapes.few;
  if (options.blockSize)
    few.blockSize = options.blockSize;
  std::optional<int64_t> groups = countGroups(write);
  if (groups && *groups > 0) {
    few.blocksPerToken = llvm::divideCeil(*groups, few.blockSize);
    few.blockSize = llvm::alignTo(
        llvm::divideCeil(*groups, *few.blocksPerToken), kWarpSize);
  }
  shapes.many = few;
  if (options.tokensPerThread) {
    few.tokensPerThread = shapes.many.tokensPerThread = options.tokensPerThread;
  } else if (few.blocksPerToken && hasVectors(write)) {
    shapes.manyTokens = llvm::divideCeil(kManyBlocks, *few.blocksPerToken);
    std::optional<int64_t> tokens = countTokens(write);
    if (!tokens || *tokens >= shapes.manyTokens)
      shapes.many.tokensPerThread = kManyTokensPerThread;
    if (tokens)
      few = shapes.many;
  }
  return shapes;
}
