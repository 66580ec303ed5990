//===- Refusals.td - Why a write was not fused -------------*- tablegen -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one list of reasons: the enumeration that remarks and the report use, and
// docs/refusals.md, are generated from it.
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_REMARKS_REFUSALS_TD
#define KVFUSE_REMARKS_REFUSALS_TD

include "mlir/IR/EnumAttr.td"

/// A reason: its number, its name in remarks, and for the documentation the
/// passes that give it, one line, what was found, what would be needed, and how
/// to change the program.
class Refusal<string symbol, int value, string name> :
    I32EnumCase<symbol, value, name> {
  list<string> passes;
  string short;
  string found;
  string needed;
  string change;
}

//===----------------------------------------------------------------------===//
// Candidates that were missed
//===----------------------------------------------------------------------===//

def MixedDivision : Refusal<"MixedDivision", 0, "mixed-division"> {
  let passes = ["kv-fuse-chains"];
  let short = "an index is divided, and not rounded down";
  let found = [{
    A page or an offset comes from a division or remainder that rounds towards
    zero or is unsigned (`arith.divsi`, `remsi`, `divui`, `remui`, `shrui`; in
    torch, `rounding_mode="trunc"` and `fmod`), or that rounds up. For a negative
    slot it gives another place than rounding down (rule SX3): slot -1 with pages
    of 32 is page -1, offset 31 for `//` and `%`, and page 0, offset -1 for
    truncation.
  }];
  let needed = "That no slot is negative, or division that rounds down.";
  let change = [{
    Divide with `//` and `%`, or `rounding_mode="floor"`. If no slot is negative,
    say so: `--negative=undefined`; if negative slots are padding,
    `--negative=skip`. What the program itself says is seen too: a clamp at zero
    (`arith.maxsi`), a select on `s >= 0`, a mask that leaves negative slots out,
    remainders and constants.
  }];
}

def IndexOverflow : Refusal<"IndexOverflow", 1, "index-overflow"> {
  let passes = ["kv-fuse-chains"];
  let short = "index arithmetic in fewer than 64 bits";
  let found = [{
    An index is added, multiplied, shifted or truncated in fewer than 64 bits,
    where it may wrap around. The fused write computes in 64 bits, and would not.
  }];
  let needed = [{
    64-bit arithmetic from the start, or values whose range shows that nothing
    wraps around.
  }];
  let change = [{
    Widen first: `slots.long() * 2` instead of `(slots * 2).long()`.
  }];
}

def IndexUnknown : Refusal<"IndexUnknown", 2, "index-unknown"> {
  let passes = ["kv-import-torch"];
  let short = "indices or rows that `kv.write` cannot say";
  let found = [{
    A write whose indices or rows have no form in `kv.write`: a list of indices
    from elsewhere, no index at all, more indices than the cache has dimensions, a
    scalar index, an index that is neither int32 nor int64 (SX1), rows whose
    sizes do not fit what is indexed, or a view of the cache whose coordinates
    cannot be traced to the cache's own: a flattened dimension of unknown size,
    or a coordinate inside a page that may lie outside of it.
  }];
  let needed = [{
    Index tensors of int32 or int64 that broadcast to one shape of rank 1 or more,
    rows that fit, and static sizes of all but the first of the dimensions that a
    view merges.
  }];
  let change = [{
    Index the cache itself instead of a view of it; cast indices to int64; export
    with the sizes of pages and rows.
  }];
}

def DifferentIndices : Refusal<"DifferentIndices", 3, "different-indices"> {
  let passes = ["kv-group-writes"];
  let short = "neighbouring writes of different tokens";
  let found = [{
    Two writes follow one another, and nothing keeps them apart, but their index
    vectors, masks or policies differ. One kernel reads one set of tokens. Each
    write is fused with its own chain.
  }];
  let needed = "The same index vectors, mask and policies in both.";
  let change = [{
    Compute the slots once, and use the same tensor for all caches of a layer.
    Where the tokens really differ, as in layers with a sliding window, two
    kernels are what is meant.
  }];
}

def Accumulate : Refusal<"Accumulate", 4, "accumulate"> {
  let passes = ["kv-import-torch"];
  let short = "rows are added to the cache";
  let found = [{
    `accumulate=True`, or a flag that is no constant. Rows are added to the cache,
    and tokens for the same place all count (SX7).
  }];
  let needed = "`accumulate=False`.";
  let change = [{
    A cache write replaces rows, so the flag is mostly a mistake. Where adding is
    meant, this is no cache write, and it is left to torch.
  }];
}

def Overlap : Refusal<"Overlap", 5, "overlap"> {
  let passes = ["kv-import-torch", "kv-merge-writes"];
  let short = "elements of the destination share memory";
  let found = [{
    The destination is an expanded view: a dimension of stride 0, so that several
    of its elements are one place in memory. Which row stays there depends on the
    order of the stores.
  }];
  let needed = "A destination whose elements are all places of their own.";
  let change = "Write to the tensor that was expanded.";
}

def DestAlias : Refusal<"DestAlias", 6, "dest-alias"> {
  let passes = ["kv-group-writes", "kv-outline-writes", "kv-merge-writes"];
  let short = "two destinations may share memory";
  let found = [{
    Two writes of the same tokens go to views of one buffer that are not known to
    be disjoint. As one kernel they would run side by side, so that which bytes
    they touch has to be known (SM2).
  }];
  let needed = [{
    Slices whose offsets and sizes show that they do not overlap, or coordinates
    that cannot meet, such as two column ranges of one row.
  }];
  let change = [{
    Use slices with constant offsets, or pass the caches as arguments of their
    own. The two writes run one after the other meanwhile, each fused with its own
    chain.
  }];
}

def AliasValue : Refusal<"AliasValue", 7, "alias-value"> {
  let passes = ["kv-outline-writes", "kv-merge-writes"];
  let short = "what is read may be what is written";
  let found = [{
    Values, slots or mask of a write may share memory with the cache that it, or
    the write beside it, writes: a slice of the cache, or what an unknown
    operation made of it. The chain read everything first (SM1, SM3).
  }];
  let needed = "Values in memory of their own.";
  let change = [{
    Copy them (`.clone()`) before the write. The compiled function does so
    meanwhile, unless they are the whole cache: that is an error.
  }];
}

def Order : Refusal<"Order", 8, "order"> {
  let passes = ["kv-group-writes", "kv-merge-writes"];
  let short = "an operation stands between two writes";
  let found = [{
    Two writes of the same tokens could share a kernel, but the operation named
    stands between them. It uses the contents of the second cache before its
    write, or the result of the first write, or writes a cache that the first
    write reads, or the second write needs what it computes and it may not be
    moved. A write computed from the first one's result, as the next layer's is,
    could never share its kernel, and is not named.
  }];
  let needed = "All writes of a layer before, or all after, that operation.";
  let change = [{
    Write all caches of a layer before any of them is read. Each write is fused
    with its own chain meanwhile.
  }];
}

def OldCacheLive : Refusal<"OldCacheLive", 9, "old-cache-live"> {
  let passes = ["kv-outline-writes"];
  let short = "the contents before the write are used later";
  let found = [{
    The contents that the cache had before the write are used after it. Written
    in place, they would be gone (SM5), and a copy of a cache is never made.
  }];
  let needed = "That everything after the write uses its result.";
  let change = [{
    Use the cache that the write returns, or read what is needed before the write.
    A program that really needs both versions keeps its chain.
  }];
}

def CacheCopied : Refusal<"CacheCopied", 10, "cache-copied"> {
  let passes = ["kv-import-torch", "kv-outline-writes"];
  let short = "the cache may not be written, or is a copy";
  let found = [{
    Either the argument that is written is not declared mutated, or what is
    written is no argument at all: the program writes to a copy, so that writing
    the cache itself would change what others see (SM5). A reshape of a view that
    is not contiguous is such a copy, and the write to it is lost in the
    original as well. Torch's exported text is the same for a function that
    updates its argument and for one that returns a new tensor, so the
    declaration has to come from the user.
  }];
  let needed = [{
    A cache that is an argument, and a declaration that it may be written.
  }];
  let change = [{
    `--mutates=0,1,2` with the numbers of the arguments (the remark suggests the
    list), or `--mutates=auto` for every cache that a write reaches. In MLIR,
    `bufferization.writable = true` on the argument. If the program reshapes or
    converts the cache first and writes to the result, write to the cache instead.
  }];
}

def CastMode : Refusal<"CastMode", 11, "cast-mode"> {
  let passes = ["kv-fuse-chains"];
  let short = "the values are rounded in another way";
  let found = [{
    The values are cast to the cache's type with a rounding mode that is not to
    the nearest, ties to even. `kv.cast` has no other (SC1).
  }];
  let needed = "Rounding to the nearest even.";
  let change = [{
    Leave the rounding mode out, or compute the rounded values with operations of
    the program's own, before the write.
  }];
}

def EncodingUnknown : Refusal<"EncodingUnknown", 12, "encoding-unknown"> {
  let passes = ["kv-import-torch"];
  let short = "a cache seen as a type of another width";
  let found = [{
    The write goes through a view of the cache with elements of another size, as
    when a row of bytes is seen as float32 scales. What the bytes of the row mean
    is not in its type.
  }];
  let needed = "A view with elements of the cache's own size.";
  let change = [{
    Look at the values as bytes (`scales.view(torch.uint8)`) and write them to the
    cache's own columns.
  }];
}

def ScaleRank : Refusal<"ScaleRank", 13, "scale-rank"> {
  let passes = ["kv-fuse-chains"];
  let short = "a scale per head";
  let found = [{
    The values are multiplied or divided by a tensor with one element for each
    head. The region of a write takes scalars only.
  }];
  let needed = "A scalar, or a tensor of one element.";
  let change = [{
    Scale the values before the write, in the kernel that makes them, or use one
    scale for all heads.
  }];
}

def DataDependent : Refusal<"DataDependent", 14, "data-dependent"> {
  let passes = ["kv-import-torch"];
  let short = "which rows are kept depends on data";
  let found = [{
    The slots are filtered by a mask, and the rows by another one or not at all.
    Which row goes to which slot then depends on how many are kept.
  }];
  let needed = "One and the same mask for slots, rows and everything beside them.";
  let change = [{
    `cache[slots[mask]] = rows[mask]`, with one `mask`: it becomes the mask of the
    write, and nothing is compressed.
  }];
}

def ElementScatter : Refusal<"ElementScatter", 15, "element-scatter"> {
  let passes = ["kv-fuse-chains"];
  let short = "one index for each element";
  let found = [{
    Each element of a row has an index of its own, and neighbours in the row are
    not neighbours in the cache: a cache that is stored transposed and written as
    a column of single elements.
  }];
  let needed = "An index for each row, or element addresses that follow on.";
  let change = [{
    Index the cache with the token on its own dimension:
    `cache[:, slots] = rows.T`.
  }];
}

def WindowRMW : Refusal<"WindowRMW", 16, "window-rmw"> {
  let passes = ["kv-import-torch"];
  let short = "whole pages are read, edited and written back";
  let found = [{
    The values of the write are gathered from the cache at the same indices, and
    only some of them changed. Bytes are rewritten that nobody changed, and
    another sequence may share the page.
  }];
  let needed = "A write of the new rows alone.";
  let change = "Index the cache by page and offset, and write the new rows.";
}

def InnerStride : Refusal<"InnerStride", 17, "inner-stride"> {
  let passes = ["kv-version-layouts"];
  let short = "elements of a row do not lie side by side";
  let found = [{
    The last dimension of a destination has another stride than 1, or one that is
    not known where nothing may be tested, and `unit-stride-only` leaves such
    destinations apart. Without that option they are written by element, in the
    same kernel as the others.
  }];
  let needed = "A last stride of 1.";
  let change = "Lay the cache out so that the elements of a row lie side by side.";
}

def DynamicPage : Refusal<"DynamicPage", 18, "dynamic-page"> {
  let passes = ["kv-import-torch"];
  let short = "slots are divided by a size that is no constant";
  let found = [{
    A page or an offset is the quotient or remainder of a division by a number
    of the host that is no constant, such as a dynamic size of the cache. Kernels
    divide by constants only.
  }];
  let needed = "A page size that is known when the program is compiled.";
  let change = [{
    Export with a static page size. The rows are written by a kernel meanwhile;
    pages and offsets are computed before it, by operations of the program's own.
  }];
}

//===----------------------------------------------------------------------===//
// No candidate at all. Numbers from 64 on.
//===----------------------------------------------------------------------===//

def Contiguous : Refusal<"Contiguous", 64, "contiguous"> {
  let passes = ["kv-import-torch"];
  let short = "rows go to a slice, without index vector";
  let found = [{
    Rows are copied to consecutive positions of the cache, from one start. That
    is a copy, one kernel already.
  }];
  let needed = "Nothing.";
  let change = [{
    If several caches are to be written at once, index them by a vector of
    positions.
  }];
}

def HostLoop : Refusal<"HostLoop", 65, "host-loop"> {
  let passes = ["kv-import-torch"];
  let short = "a Python loop writes token by token";
  let found = [{
    The place of a write is a number that was read out of a tensor on the host
    (`.item()`, `.tolist()`), as loops over tokens do.
  }];
  let needed = "Slots in a tensor.";
  let change = "`cache[slots // P, slots % P] = rows`, once for all tokens.";
}

def DeviceLoop : Refusal<"DeviceLoop", 66, "device-loop"> {
  let passes = ["kv-import-torch"];
  let short = "a loop of the program writes token by token";
  let found = [{
    The write stands in a loop of the exported program (`torch.prim.Loop`, or a
    higher-order `while_loop`).
  }];
  let needed = "One write for all tokens.";
  let change = "`cache[slots // P, slots % P] = rows`, outside of the loop.";
}

def OpaqueOp : Refusal<"OpaqueOp", 67, "opaque-op"> {
  let passes = ["kv-import-torch"];
  let short = "an operation that kvfuse does not know takes a cache";
  let found = [{
    An operation that kvfuse does not know takes a cache, or an `index_put` has
    operands that it cannot read: no rank, another element type than the cache's,
    too few.
  }];
  let needed = [{
    Nothing, if the operation is a reader such as attention: it stays as it is,
    and its place among the writes is respected. It only may keep writes apart
    (see [`order`](#order)).
  }];
  let change = [{
    Cast rows to the cache's element type; export with ranks and element types. If
    an operation that writes the cache is missing here, kvfuse cannot read that
    spelling yet.
  }];
}

def MaskIndex : Refusal<"MaskIndex", 68, "mask-index"> {
  let passes = ["kv-import-torch"];
  let short = "the cache is indexed by a mask";
  let found = [{
    The cache is indexed by a tensor of bool, or of uint8, which torch takes for a
    mask. How many rows are written then depends on the data.
  }];
  let needed = "Slot numbers.";
  let change = [{
    `cache[slots] = rows` with the numbers of the slots, with -1 for those to
    leave out and `--negative=skip`.
  }];
}

def NotAScatter : Refusal<"NotAScatter", 69, "not-a-scatter"> {
  let passes = ["kv-import-torch"];
  let short = "the whole cache is computed anew";
  let found = [{
    The new cache comes from an operation on all of the old one: a select between
    old and new rows, a concatenation, a roll, an addition of a one-hot product.
  }];
  let needed = "A write that names the rows.";
  let change = [{
    Index the cache by position: `cache[:, :, positions] = rows`.
  }];
}

def RefusalEnum : I32Enum<"Refusal", "Why a write was left as it was.", [
    MixedDivision, IndexOverflow, IndexUnknown, DifferentIndices, Accumulate,
    Overlap, DestAlias, AliasValue, Order, OldCacheLive, CacheCopied, CastMode,
    EncodingUnknown, ScaleRank, DataDependent, ElementScatter, WindowRMW,
    InnerStride, DynamicPage, Contiguous, HostLoop, DeviceLoop, OpaqueOp,
    MaskIndex, NotAScatter]> {
  let cppNamespace = "::kvfuse";
}

#endif // KVFUSE_REMARKS_REFUSALS_TD
