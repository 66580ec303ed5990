//===- ProgressLine.h - Progress on a terminal ------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_TOOLS_KVFUSE_COMPILE_PROGRESSLINE_H
#define KVFUSE_TOOLS_KVFUSE_COMPILE_PROGRESSLINE_H

#include "llvm/Support/raw_ostream.h"

namespace kvfuse {

/// Standard error, with a last line of progress that is written over, gives way
/// to all other output, and is gone at the end. There is no such line unless
/// standard error is a terminal that knows how to clear one.
class ProgressLine : public llvm::raw_ostream {
public:
  ProgressLine();
  ~ProgressLine() override;

  bool isOn() const { return on; }

  void show(unsigned done, unsigned total, llvm::StringRef what);

  bool has_colors() const override { return llvm::errs().has_colors(); }

private:
  void clear();

  void write_impl(const char *text, size_t size) override;
  uint64_t current_pos() const override { return position; }

  bool on;
  bool isShown = false;
  uint64_t position = 0;
};

} // namespace kvfuse

#endif // KVFUSE_TOOLS_KVFUSE_COMPILE_PROGRESSLINE_H
