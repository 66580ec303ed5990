//===- BuildIdentity.cpp - Which compiler this is -------------------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildIdentity.h"

#include "mlir/InitAllExtensions.h"
#include "llvm/Object/ELFTypes.h"
#include "llvm/TargetParser/Host.h"
#include <link.h>

using namespace llvm;
using namespace kvfuse;

namespace {
/// A loaded object that holds an address.
struct Search {
  uintptr_t address;
  std::string buildID;
};
} // namespace

static bool holds(const dl_phdr_info &object, uintptr_t address) {
  return any_of(ArrayRef(object.dlpi_phdr, object.dlpi_phnum),
                [&](const ElfW(Phdr) & segment) {
                  uintptr_t start = object.dlpi_addr + segment.p_vaddr;
                  return segment.p_type == PT_LOAD && address >= start &&
                         address - start < segment.p_memsz;
                });
}

/// The build ID in a segment of notes, or an empty string.
static std::string readBuildID(const dl_phdr_info &object,
                               const ElfW(Phdr) & segment) {
  using Native = object::ELFType<endianness::native, sizeof(void *) == 8>;
  auto *data =
      reinterpret_cast<const char *>(object.dlpi_addr + segment.p_vaddr);
  size_t size = segment.p_memsz;
  while (size >= sizeof(Native::Nhdr)) {
    auto &header = *reinterpret_cast<const Native::Nhdr *>(data);
    size_t noteSize = header.getSize(segment.p_align);
    if (noteSize > size)
      break;
    Native::Note note(header);
    if (note.getType() == NT_GNU_BUILD_ID && note.getName() == ELF_NOTE_GNU)
      return note.getDescAsStringRef(segment.p_align).str();
    data += noteSize;
    size -= noteSize;
  }
  return {};
}

/// The build ID of the object that holds `address`, or an empty string.
static std::string findBuildID(const void *address) {
  Search search{reinterpret_cast<uintptr_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *data) {
        auto &search = *static_cast<Search *>(data);
        if (!holds(*object, search.address))
          return 0;
        for (const ElfW(Phdr) &segment :
             ArrayRef(object->dlpi_phdr, object->dlpi_phnum))
          if (segment.p_type == PT_NOTE && search.buildID.empty())
            search.buildID = readBuildID(*object, segment);
        return 1;
      },
      &search);
  return search.buildID;
}

std::string kvfuse::getBuildIdentity() {
  std::string identity;
  for (const void *address :
       {reinterpret_cast<const void *>(&getBuildIdentity),
        reinterpret_cast<const void *>(&mlir::registerAllExtensions),
        reinterpret_cast<const void *>(&sys::getDefaultTargetTriple)}) {
    std::string buildID = findBuildID(address);
    if (buildID.empty())
      return {};
    identity += buildID;
  }
  return identity;
}
