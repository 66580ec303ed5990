//===- Message.h - Messages of the runtime ----------------------*- C++ -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the runtime that may fail return null, or a message, as compiled
// host code does. The message lives until the thread's next one.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LIB_RUNTIME_MESSAGE_H
#define KVFUSE_LIB_RUNTIME_MESSAGE_H

#include <string>

namespace kvfuse::runtime {

/// Keeps `text` as this thread's message.
const char *setMessage(std::string text);

} // namespace kvfuse::runtime

#endif // KVFUSE_LIB_RUNTIME_MESSAGE_H
