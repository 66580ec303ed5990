//===- Refusal.cpp - Why a write was not fused ----------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Remarks/Refusal.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace kvfuse;

namespace {
struct Entry {
  Refusal refusal;
  StringLiteral name;
  bool missed;
};
} // namespace

static constexpr Entry kEntries[] = {
    {Refusal::MixedDivision, "mixed-division", true},
    {Refusal::IndexOverflow, "index-overflow", true},
    {Refusal::IndexUnknown, "index-unknown", true},
    {Refusal::DifferentIndices, "different-indices", true},
    {Refusal::Accumulate, "accumulate", true},
    {Refusal::Overlap, "overlap", true},
    {Refusal::DestAlias, "dest-alias", true},
    {Refusal::AliasValue, "alias-value", true},
    {Refusal::Order, "order", true},
    {Refusal::OldCacheLive, "old-cache-live", true},
    {Refusal::CacheCopied, "cache-copied", true},
    {Refusal::CastMode, "cast-mode", true},
    {Refusal::EncodingUnknown, "encoding-unknown", true},
    {Refusal::ScaleRank, "scale-rank", true},
    {Refusal::DataDependent, "data-dependent", true},
    {Refusal::ElementScatter, "element-scatter", true},
    {Refusal::WindowRMW, "window-rmw", true},
    {Refusal::Contiguous, "contiguous", false},
    {Refusal::HostLoop, "host-loop", false},
    {Refusal::DeviceLoop, "device-loop", false},
    {Refusal::OpaqueOp, "opaque-op", false},
    {Refusal::MaskIndex, "mask-index", false},
    {Refusal::NotAScatter, "not-a-scatter", false},
};

static const Entry &getEntry(Refusal refusal) {
  return *llvm::find_if(kEntries,
                        [&](const Entry &e) { return e.refusal == refusal; });
}

StringRef kvfuse::stringifyRefusal(Refusal refusal) {
  return getEntry(refusal).name;
}

std::optional<Refusal> kvfuse::symbolizeRefusal(StringRef name) {
  for (const Entry &entry : kEntries)
    if (entry.name == name)
      return entry.refusal;
  return std::nullopt;
}

bool kvfuse::isMissed(Refusal refusal) { return getEntry(refusal).missed; }

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
