//===- LaunchShape.h - Threads, blocks and tokens of a write ----*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost model of the write kernel. A short step waits for latencies: every
// group of elements gets a thread of its own, so that all bytes are in flight
// at once. A long one waits for blocks to start, and for bandwidth: a thread
// that moves the same group of several tokens computes the place in the row
// once, has as many loads in flight itself, and there are fewer blocks.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LOWERING_LAUNCHSHAPE_H
#define KVFUSE_LOWERING_LAUNCHSHAPE_H

#include "kvfuse/Dialect/KV/IR/KV.h"

namespace kvfuse {

/// Threads of a block where nothing says how many there should be.
inline constexpr int64_t kBlockSize = 256;

struct LaunchShape {
  int64_t blockSize = kBlockSize;
  /// Blocks along grid y, which together have a thread for each group of a
  /// token's rows; nothing if the number of groups is not known.
  std::optional<int64_t> blocksPerToken;
  int64_t tokensPerThread = 1;
};

/// What the options of the pass ask for; 0 leaves it to the model.
struct LaunchShapeOptions {
  int64_t blockSize = 0;
  int64_t tokensPerThread = 0;
};

/// The shapes for few tokens and for many, and the number of tokens from which
/// on there are many; both are the same where nothing is gained.
struct LaunchShapes {
  LaunchShape few, many;
  int64_t manyTokens = 0;
  bool areSame() const { return few.tokensPerThread == many.tokensPerThread; }
};

LaunchShapes chooseShapes(mlir::kv::WriteOp write,
                          const LaunchShapeOptions &options);

} // namespace kvfuse

#endif // KVFUSE_LOWERING_LAUNCHSHAPE_H
