//===- Passes.td - Fusion: chains to fused writes ----------*- tablegen -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_FUSION_PASSES
#define KVFUSE_FUSION_PASSES

include "mlir/Pass/PassBase.td"

def KVFuseChains : Pass<"kv-fuse-chains"> {
  let summary = "compose what computes indices, mask and values into the write";
  let description = [{
    Overview: each index operand of a `kv.write` on tensors is evaluated at a
    point of the token grid: traced back, element by element, to the vectors it
    is computed from, through reshapes, broadcasts, transpositions, iotas
    (constants, `tensor.generate`, `linalg.generic`), `kv.apply`, changes of
    width and integer arithmetic with constants (sums, products, floor
    divisions, shifts, masks of low bits). The affine expression found is
    composed into the maps and simplified by the ranges of what stands in it.
    What is no arithmetic (an argument, a gather, a selection) is a root: an
    index operand of the fused write.

    Dimensions of the grid that no root has become row coordinates: that of a
    head iota, the heads of slots repeated for each head, the bytes of a row
    addressed byte by byte. Where that makes a bare row coordinate, the sizes
    show that it covers the cache, or the destination becomes a `box` (SX10).

    Comparisons that make the mask go to the region `where`; cheap elementwise
    producers of the values (casts, scales, clamps, bitcasts) go to the region of
    their destination, as they are and in their order, also those that stand
    before a reshape, a transposition or a broadcast. A value, page or offset
    with other users stays for them (SM6).

    Divisions that round otherwise, narrowing and sums in 32 bits are seen
    through where ranges show that they change nothing: upstream's integer range
    analysis, selections by a comparison, the write's own mask, or its promise
    `negative(undefined)`. Where nothing does, the chain is refused as a whole
    (SX3): a remark names the reason, and the write is marked with the attribute
    `kv.refused`. So are writes of single elements (`element-scatter`), values
    quantised by a scale per head (`scale-rank`) and casts with another rounding
    (`cast-mode`).

    Before: kv IR on tensors. After: no write that was not refused has an index
    computed by `kv.apply` or `arith.extsi`, or a value computed by `kv.cast`,
    unless that would leave sizes untested (SX10).

    Example:

    ```mlir
    func.func @before(%s: tensor<?xi64>, %v: tensor<?x4x8xbf16>,
                      %c: tensor<?x4x32x8xf8E5M2>) -> tensor<?x4x32x8xf8E5M2> {
      %p = kv.apply affine_map<(s) -> (s floordiv 32)>(%s) : tensor<?xi64>
      %o = kv.apply affine_map<(s) -> (s mod 32)>(%s) : tensor<?xi64>
      %x = kv.cast %v : tensor<?x4x8xbf16> to tensor<?x4x8xf8E5M2>
      %0 = kv.write at(%p, %o : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %x : tensor<?x4x8xf8E5M2> into %c : tensor<?x4x32x8xf8E5M2>
            map(affine_map<(t, p, o, h, d) -> (p, h, o, d)>)
      return %0 : tensor<?x4x32x8xf8E5M2>
    }
    ```
    becomes
    ```mlir
    func.func @after(%s: tensor<?xi64>, %v: tensor<?x4x8xbf16>,
                     %c: tensor<?x4x32x8xf8E5M2>) -> tensor<?x4x32x8xf8E5M2> {
      %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %v : tensor<?x4x8xbf16> into %c : tensor<?x4x32x8xf8E5M2>
            map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>) {
        ^bb0(%e: bf16):
          %x = kv.cast %e : bf16 to f8E5M2
          kv.yield %x : f8E5M2
        }
      return %0 : tensor<?x4x32x8xf8E5M2>
    }
    ```
  }];
  let options = [
    Option<"required", "required", "bool", "false",
           "Make a refusal an error">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"
  ];
}

def KVNormalizeSlices : Pass<"kv-normalize-slices"> {
  let summary = "write slices of pools one after the other, each next to its "
                "write";
  let description = [{
    Overview: K and V may be slices of one tensor, the pool, and so may be the
    caches of all layers. Bufferization works in place, and later passes see the
    slice of each write, where the pool goes through the writes in sequence:
    slice, write, insertion, slice of the result, write, insertion. This pass
    brings other orders into that form:

    - Coordinates that are constant, such as a layer number, select a slice.
    - Slices of slices become slices of the pool, insertions into slices
      insertions into the pool.
    - An insertion that puts back what a write returns moves up to that write.
    - Slices that share no element with what was written become slices of the
      newest version, and so does a written slice that is used after it was put
      back.
    - A slice that is written is taken out right before its write, and put back
      before the next one.

    Before: kv IR on tensors. After: between the operation that takes a slice
    out for a write and the one that puts it back stands only that write, unless the order of the program does not allow it; the pool's older
    versions are used behind it only where slices overlap, or may.

    Example: K and V are taken out first, and put back last.

    ```mlir
    func.func @before(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>,
                      %pool: tensor<2x64x8xf32>) -> tensor<2x64x8xf32> {
      %k0 = tensor.extract_slice %pool[0, 0, 0] [1, 64, 8] [1, 1, 1]
          : tensor<2x64x8xf32> to tensor<64x8xf32>
      %v0 = tensor.extract_slice %pool[1, 0, 0] [1, 64, 8] [1, 1, 1]
          : tensor<2x64x8xf32> to tensor<64x8xf32>
      %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %k : tensor<?x8xf32> into %k0 : tensor<64x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %v : tensor<?x8xf32> into %v0 : tensor<64x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      %p1 = tensor.insert_slice %k1 into %pool[0, 0, 0] [1, 64, 8] [1, 1, 1]
          : tensor<64x8xf32> into tensor<2x64x8xf32>
      %p2 = tensor.insert_slice %v1 into %p1[1, 0, 0] [1, 64, 8] [1, 1, 1]
          : tensor<64x8xf32> into tensor<2x64x8xf32>
      return %p2 : tensor<2x64x8xf32>
    }
    ```
    becomes
    ```mlir
    func.func @after(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>,
                     %pool: tensor<2x64x8xf32>) -> tensor<2x64x8xf32> {
      %k0 = tensor.extract_slice %pool[0, 0, 0] [1, 64, 8] [1, 1, 1]
          : tensor<2x64x8xf32> to tensor<64x8xf32>
      %k1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %k : tensor<?x8xf32> into %k0 : tensor<64x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      %p1 = tensor.insert_slice %k1 into %pool[0, 0, 0] [1, 64, 8] [1, 1, 1]
          : tensor<64x8xf32> into tensor<2x64x8xf32>
      %v0 = tensor.extract_slice %p1[1, 0, 0] [1, 64, 8] [1, 1, 1]
          : tensor<2x64x8xf32> to tensor<64x8xf32>
      %v1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %v : tensor<?x8xf32> into %v0 : tensor<64x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      %p2 = tensor.insert_slice %v1 into %p1[1, 0, 0] [1, 64, 8] [1, 1, 1]
          : tensor<64x8xf32> into tensor<2x64x8xf32>
      return %p2 : tensor<2x64x8xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def KVFoldRepeatedWrites : Pass<"kv-fold-repeated-writes"> {
  let summary = "remove writes of rows that are in the cache already";
  let description = [{
    Overview: a write of the same values, at the same indices through the same
    map, as an earlier write of the same cache or slice of a pool returns its
    destination, if all that was written between the two lies elsewhere. This is
    also how a branch that writes only what is not "prewritten" goes away: where
    the earlier write is on the way to the cache that it is given, whatever the
    flag says. Where it is not, the branch stays.

    A write is not removed for being overwritten by a later one.

    Before: kv IR on tensors, chains composed into the writes. After: no write
    repeats another one that can be seen to have been done. The names in the
    source of those removed are kept in `kv.repeated` of the function.

    Example:

    ```mlir
    func.func @before(%prewritten: i1, %s: tensor<?xi64>, %v: tensor<?x8xf32>,
                      %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %v : tensor<?x8xf32> into %c : tensor<?x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      %1 = scf.if %prewritten -> tensor<?x8xf32> {
        scf.yield %0 : tensor<?x8xf32>
      } else {
        %2 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
          put %v : tensor<?x8xf32> into %0 : tensor<?x8xf32>
              map(affine_map<(t, s, d) -> (s, d)>)
        scf.yield %2 : tensor<?x8xf32>
      }
      return %1 : tensor<?x8xf32>
    }
    ```
    becomes
    ```mlir
    func.func @after(%prewritten: i1, %s: tensor<?xi64>, %v: tensor<?x8xf32>,
                     %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %v : tensor<?x8xf32> into %c : tensor<?x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      return %0 : tensor<?x8xf32>
    }
    ```
  }];
}

def KVGroupWrites : Pass<"kv-group-writes"> {
  let summary = "make writes of the same index vectors neighbours";
  let description = [{
    Overview: in each block, writes on tensors with equal indices, mask, region
    `where` and policies, into different caches, become neighbours. A later
    write moves up, with what computes its operands, where no operation on the
    way uses the old contents of its cache; otherwise the earlier ones move down
    where no operation on the way uses their results or writes a cache that they
    read. Where neither is possible
    the group is split, and a remark `order` names the operation in the way. A
    write that is computed from results of the group, such as the next layer's,
    begins another one without a remark.

    Parts of one cache are different caches if they are disjoint. If only the
    running program knows, since an offset or a size is dynamic, they are taken
    together in their order, which `kv-version-layouts` keeps where they overlap;
    if they are known to overlap, they stay apart (`dest-alias`).

    Before: kv IR on tensors. After: the writes of a group stand side by side.
    What the program computes is unchanged: operations without effects move, and
    SSA keeps every use behind its definition.

    Example: the second write and what computes its values move up.

    ```mlir
    func.func @before(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>,
                      %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>)
        -> (tensor<?x8xf32>, tensor<?x8xf32>, index) {
      %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %k : tensor<?x8xf32> into %kc : tensor<?x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      %c0 = arith.constant 0 : index
      %rows = tensor.dim %kc, %c0 : tensor<?x8xf32>
      %x = arith.negf %v : tensor<?x8xf32>
      %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %x : tensor<?x8xf32> into %vc : tensor<?x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      return %0, %1, %rows : tensor<?x8xf32>, tensor<?x8xf32>, index
    }
    ```
    becomes
    ```mlir
    func.func @after(%s: tensor<?xi64>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>,
                     %kc: tensor<?x8xf32>, %vc: tensor<?x8xf32>)
        -> (tensor<?x8xf32>, tensor<?x8xf32>, index) {
      %x = arith.negf %v : tensor<?x8xf32>
      %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %k : tensor<?x8xf32> into %kc : tensor<?x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      %1 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %x : tensor<?x8xf32> into %vc : tensor<?x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      %c0 = arith.constant 0 : index
      %rows = tensor.dim %kc, %c0 : tensor<?x8xf32>
      return %0, %1, %rows : tensor<?x8xf32>, tensor<?x8xf32>, index
    }
    ```
  }];
  let options = [
    Option<"required", "required", "bool", "false",
           "Make a refusal an error">
  ];
}

def KVOutlineWrites : Pass<"kv-outline-writes", "::mlir::ModuleOp"> {
  let summary = "put each group of writes into a function of module @kvfuse";
  let description = [{
    Overview: each run of neighbouring writes with equal tokens becomes a call of
    a public function `@kv_write_N(caches, values, indices) -> caches` of the
    nested `module @kvfuse`; equal groups share one. A function made of known
    operations only (kv, arith, and those of tensor and scf that kvfuse lowers)
    is moved there whole, calls included; any other keeps the call and a
    declaration, and what computes the operands goes along, unless it reads a
    cache. With `keep-callers` that holds for every function: a framework runs
    what stays. Everything after this pass runs on `@kvfuse` alone.

    Whether a cache may be written in place is decided here, on SSA (SM5). The
    cache must be an argument declared `bufferization.writable = true`,
    `tf.aliasing_output` or `jax.buffer_donor`, or else `cache-copied`; the old
    contents must have no later use, or else `old-cache-live`; the write must not
    write it twice (`dest-alias`). Such writes are left where they are. A write
    that may read part of the cache, as values or indices, reads a copy and is
    done by itself (`alias-value`); of a whole cache none is made. Neighbours of
    which one reads what the other writes are done one after the other
    (`alias-value`).

    Before: kv IR on tensors. After: no write that may be done in place stands
    outside `module @kvfuse`. A call says by `kv.written` which of its
    operands it writes, and by `kv.holders` which of them hold its results in
    memory afterwards (-1: none holds the whole of it).

    Example:

    ```mlir
    func.func @before(%s: tensor<?xi64>, %v: tensor<?x8xf32>,
                      %c: tensor<?x8xf32> {bufferization.writable = true})
        -> tensor<?x8xf32> {
      %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
        put %v : tensor<?x8xf32> into %c : tensor<?x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      return %0 : tensor<?x8xf32>
    }
    ```
    becomes
    ```mlir
    module {
      module @kvfuse {
        func.func @kv_write_0(%c: tensor<?x8xf32> {bufferization.writable = true},
                              %v: tensor<?x8xf32> {bufferization.writable = false},
                              %s: tensor<?xi64> {bufferization.writable = false})
            -> tensor<?x8xf32> attributes {no_inline} {
          %0 = kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
            put %v : tensor<?x8xf32> into %c : tensor<?x8xf32>
                map(affine_map<(t, s, d) -> (s, d)>)
          return %0 : tensor<?x8xf32>
        }
        func.func @after(%s: tensor<?xi64> {bufferization.writable = false},
                         %v: tensor<?x8xf32> {bufferization.writable = false},
                         %c: tensor<?x8xf32> {bufferization.writable = true})
            -> tensor<?x8xf32> {
          %0 = call @kv_write_0(%c, %v, %s) {kv.holders = array<i64: 0>, kv.written = array<i64: 0>}
              : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xi64>) -> tensor<?x8xf32>
          return %0 : tensor<?x8xf32>
        }
      }
    }
    ```
  }];
  let options = [
    Option<"group", "group", "bool", "true",
           "Put neighbours of equal tokens into one function; otherwise each "
           "write is a function of its own">,
    Option<"keepCallers", "keep-callers", "bool", "false",
           "Leave functions of known operations in place, too, and in all "
           "functions the writes that are not fused">,
    Option<"required", "required", "bool", "false",
           "Make a refusal, or a module without any write, an error">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::affine::AffineDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect"
  ];
}

def KVCheckInPlace : Pass<"kv-check-in-place", "::mlir::ModuleOp"> {
  let summary = "check that no cache was copied, and drop the results that are one";
  let description = [{
    Overview: after bufferization, results of functions that are one of their
    own arguments are dropped, public functions included: the caller has them
    already. Then every buffer that a `kv.write` or a callee writes must be an
    argument of its function, or a view of one, and no allocation or copy may be
    fed by such a buffer. A violation is an error: it means that outlining let through what
    bufferization could not do in place.

    Before: functions on buffers. After: caches are written in place.

    Example:

    ```mlir
    func.func @before(%c: memref<8x4xf32>) -> memref<8x4xf32> {
      return %c : memref<8x4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @after(%c: memref<8x4xf32>) {
      return
    }
    ```
  }];
}

def KVMergeWrites : Pass<"kv-merge-writes"> {
  let summary = "merge neighbouring writes on buffers into one";
  let description = [{
    Overview: writes of one block with equal indices, mask, region `where` and
    policies become one write with all their destinations, at the place of the
    last. Maps, page sizes, head counts, head dimensions, types and layouts may
    differ per destination.

    Earlier writes move down over what stands between: an operation stays there
    if its memory effects touch no destination of the earlier writes and change
    nothing that they read, for all that upstream's alias analysis can tell.
    Otherwise the writes stay apart, with a remark `order`.

    Destinations must be disjoint (SM2) and values must not overlap them (SM3).
    Distinct arguments of the function are (SM8). Parts of one buffer are proven
    to be where they are slices side by side, have other constants in a
    coordinate (K and V of a pool), or are other columns or bytes of a row. If
    all is proven, the merged write is `disjoint`. Where something dynamic
    decides, writes are merged without that word, and `kv-version-layouts` puts a
    test in front of them; with the option `only-proven` they stay apart. Writes
    to places that are known to overlap, or of which nothing is dynamic, stay
    apart in any case. What stays apart for this gets a remark `dest-alias` or
    `alias-value`. A cache whose elements lie in one place, such as along a
    dimension of stride 0, is not merged with others (`overlap`).

    Layers that nothing separates share a launch, up to the 4096 bytes of
    parameters that a kernel has on every target. That is the only choice: a
    launch costs more than a few rows take to copy, and no layer could have begun
    earlier, for nothing runs between them.

    Before: kv IR on buffers. After: neighbours are merged.

    Example:

    ```mlir
    func.func @before(%s: memref<?xi64>, %k: memref<?x8xf32>, %v: memref<?x8xf32>,
                      %kc: memref<?x8xf32>, %vc: memref<?x8xf32>) {
      kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
        put %k : memref<?x8xf32> into %kc : memref<?x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
        put %v : memref<?x8xf32> into %vc : memref<?x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      return
    }
    ```
    becomes
    ```mlir
    func.func @after(%s: memref<?xi64>, %k: memref<?x8xf32>, %v: memref<?x8xf32>,
                     %kc: memref<?x8xf32>, %vc: memref<?x8xf32>) {
      kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap) disjoint
        put %k : memref<?x8xf32> into %kc : memref<?x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
        put %v : memref<?x8xf32> into %vc : memref<?x8xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      return
    }
    ```
  }];
  let options = [
    Option<"onlyProven", "only-proven", "bool", "false",
           "Merge only what is proven to be disjoint, and leave nothing to test "
           "at run time">
  ];
}

#endif // KVFUSE_FUSION_PASSES
