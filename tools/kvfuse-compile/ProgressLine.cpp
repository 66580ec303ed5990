//===- ProgressLine.cpp - Progress on a terminal --------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgressLine.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include <sys/ioctl.h>
#include <unistd.h>

using namespace llvm;
using namespace kvfuse;

/// Back to the start of the line, which is cleared.
static constexpr StringLiteral kClearLine = "\r\x1b[K";

/// Width of the terminal, or 0. (LLVM knows COLUMNS only, which shells do not
/// export.)
static unsigned getColumns() {
  winsize size;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// A terminal that takes the sequences of colours takes this one.
ProgressLine::ProgressLine() : on(sys::Process::StandardErrHasColors()) {
  SetUnbuffered();
  enable_colors(true);
}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(unsigned done, unsigned total, StringRef what) {
  std::string line = formatv("[{0}/{1}] {2}", done, total, what);
  // A line that wraps would not be cleared as a whole.
  if (unsigned columns = getColumns())
    line.resize(std::min<size_t>(line.size(), columns - 1));
  errs() << kClearLine << line;
  isShown = true;
}

void ProgressLine::clear() {
  if (isShown)
    errs() << kClearLine;
  isShown = false;
}

void ProgressLine::write_impl(const char *text, size_t size) {
  clear();
  errs().write(text, size);
  position += size;
}
