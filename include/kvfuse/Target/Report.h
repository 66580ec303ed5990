//===- Report.h - What was fused, what was not, and why ---------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report is made from remarks, the only record that passes keep, and from
// the IR before and after. docs/kvfuse-compile.md describes its JSON.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_TARGET_REPORT_H
#define KVFUSE_TARGET_REPORT_H

#include "kvfuse/Remarks/Refusal.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/JSON.h"

namespace kvfuse {

/// A remark of kvfuse, kept.
struct RecordedRemark {
  std::string name, function, reason, suggestion, outlined;
  unsigned destinations = 0;
  mlir::Location loc;
};

/// Keeps the remarks of a compilation in the order in which they came.
class RemarkRecorder : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkRecorder(std::vector<RecordedRemark> &remarks)
      : remarks(remarks) {}
  void
  streamOptimizationRemark(const mlir::remark::detail::Remark &remark) override;

private:
  std::vector<RecordedRemark> &remarks;
};

/// Turns on remarks for `context` and keeps them in `remarks`; with `print`,
/// also emits them as diagnostics.
void recordRemarks(mlir::MLIRContext &context,
                   std::vector<RecordedRemark> &remarks, bool print);

/// Launches of each function of `module`, which is kv IR on tensors, if every
/// operation were a kernel of its own. Functions without writes are not listed.
using LaunchCounts = llvm::MapVector<mlir::StringAttr, unsigned>;
LaunchCounts countUnfusedLaunches(mlir::ModuleOp module);

/// The report on `module` after `buildGPUPipeline`. `assumptions` are rules
/// that the bytes rely on and that nothing tests.
llvm::json::Value makeReport(mlir::ModuleOp module, const LaunchCounts &unfused,
                             llvm::ArrayRef<RecordedRemark> remarks,
                             llvm::ArrayRef<std::string> assumptions);

/// `loc` as `file:line:column`, if it stands in a file.
std::string stringifyLocation(mlir::Location loc);

} // namespace kvfuse

#endif // KVFUSE_TARGET_REPORT_H
