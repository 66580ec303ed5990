//===- Message.cpp - Messages of the runtime ------------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Message.h"

using namespace kvfuse;

static thread_local std::string message;

const char *runtime::setMessage(std::string text) {
  message = std::move(text);
  return message.c_str();
}
