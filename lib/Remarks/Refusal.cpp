//===- Refusal.cpp - Why a write was not fused ----------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Remarks/Refusal.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace kvfuse;

#include "kvfuse/Remarks/Refusals.cpp.inc"

bool kvfuse::isMissed(Refusal refusal) { return refusal < Refusal::Contiguous; }

void kvfuse::emitRefusal(Operation *op, Refusal refusal, const Twine &found,
                         const Twine &suggest, std::optional<Location> cause) {
  auto opts = remark::RemarkOpts::name(stringifyRefusal(refusal))
                  .category(kRemarkCategory);
  if (auto func = op->getParentOfType<FunctionOpInterface>())
    opts = opts.function(func.getName());
  Location loc = op->getLoc();
  remark::detail::InFlightRemark remark = isMissed(refusal)
                                              ? remark::missed(loc, opts)
                                              : remark::analysis(loc, opts);
  if (!remark)
    return;
  remark << remark::reason("{0}", found.str());
  if (std::string text = suggest.str(); !text.empty())
    remark << remark::suggest("{0}", text);
  if (cause) {
    std::string text;
    llvm::raw_string_ostream(text) << *cause;
    remark << remark::metric("Cause", text);
  }
}
