//===- Passes.td - Layout: strides, addresses, overlap -----*- tablegen -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_LAYOUT_PASSES
#define KVFUSE_LAYOUT_PASSES

include "mlir/Pass/PassBase.td"

def KVVersionLayouts : Pass<"kv-version-layouts", "::mlir::ModuleOp"> {
  let summary = "prove or test what a fused write needs of the layouts";
  let description = [{
    Overview: a fused write that moves 16 bytes at a time needs rows whose
    elements lie side by side and start at multiples of 16 bytes, and caches that
    do not overlap. For each `kv.write` on buffers this pass takes what the types
    and the views say, tests the rest in host code, and picks a version of the
    write by the outcome:

    - *Sizes* (SX10): an assert, where they are not plain to see.
    - *Disjointness* (SM2, SM3): proven from the views of one buffer; or tested,
      with the write's decomposition into single writes as the other branch; or,
      where it cannot hold, decomposed right away (`dest-alias`).
    - *Access*: elements moved at once (`access(n)`), up to 16 bytes of the wider
      of value and stored element. At most three versions: the widest that
      nothing in the types contradicts; a narrower one, of the largest power of
      two that divides each head dimension, as rows without gaps need, or of 4
      bytes where that is no narrower; and by element, at any stride, which needs
      nothing. What is proven is not tested, and where all is proven there is one
      version. Strides of dimensions of size 1 count as whatever is convenient.

    Facts travel so that canonicalization keeps them: a stride of 1 in the type
    of a `memref.reinterpret_cast`, the others as clauses of the write.

    At the start of each function, arguments that it writes are tested
    against all others (SM8): first by ranges of addresses, and where these meet
    by the page-stride rule, which lets interleaved views of one pool pass. One
    of which a kernel writes several parts must not repeat its elements by a
    stride of 0, on which the proofs for its parts rely. What fails is an error,
    and nothing is written.

    `count-branches` counts which versions run, in `memref.global
    @kvfuse_branches`; its attribute `kv.branches` says which counter is which.

    Before: kv IR on buffers. After: every write has `access` clauses, and those
    with several destinations are `disjoint`.

    Example: the layouts are static, but where the buffers start is not known.

    ```mlir
    func.func @before(%s: memref<?xi64>, %v: memref<?x6xf32>) -> memref<64x6xf32> {
      %c = memref.alloc() : memref<64x6xf32>
      kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
        put %v : memref<?x6xf32> into %c : memref<64x6xf32>
            map(affine_map<(t, s, d) -> (s, d)>)
      return %c : memref<64x6xf32>
    }
    ```
    becomes, when canonicalized,
    ```mlir
    func.func @after(%s: memref<?xi64>, %v: memref<?x6xf32>) -> memref<64x6xf32> {
      %c7 = arith.constant 7 : index
      %c0 = arith.constant 0 : index
      %c = memref.alloc() : memref<64x6xf32>
      %rows = memref.dim %v, %c0 : memref<?x6xf32>
      %tokens = memref.dim %s, %c0 : memref<?xi64>
      %equal = arith.cmpi eq, %rows, %tokens : index
      cf.assert %equal, "SX10: values of destination 0 and index tensor differ in the number of rows"
      %from = memref.extract_aligned_pointer_as_index %v : memref<?x6xf32> -> index
      %a = arith.andi %from, %c7 : index
      %to = memref.extract_aligned_pointer_as_index %c : memref<64x6xf32> -> index
      %b = arith.andi %to, %c7 : index
      %bits = arith.ori %a, %b : index
      %aligned = arith.cmpi eq, %bits, %c0 : index
      scf.if %aligned {
        kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
          put %v : memref<?x6xf32> into %c : memref<64x6xf32> access(2)
              map(affine_map<(t, s, d) -> (s, d)>)
        attributes {kv.branch = "8 bytes"}
      } else {
        kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
          put %v : memref<?x6xf32> into %c : memref<64x6xf32> access(1)
              map(affine_map<(t, s, d) -> (s, d)>)
        attributes {kv.branch = "by element"}
      } {kv.versions}
      return %c : memref<64x6xf32>
    }
    ```
  }];
  let options = [
    Option<"assumeDisjoint", "assume-disjoint", "bool", "false",
           "The caller promises that no memref argument overlaps another one "
           "that is written, and that views of one buffer, written by one "
           "kernel, do not overlap: nothing of this is tested">,
    Option<"assumeAligned", "assume-aligned", "bool", "false",
           "The caller promises that addresses and strides that the types leave "
           "open, but for the last stride, are multiples of 16 bytes">,
    Option<"unitStrideOnly", "unit-stride-only", "bool", "false",
           "Leave destinations whose last stride is not 1 apart "
           "(inner-stride)">,
    Option<"noVersioning", "no-versioning", "bool", "false",
           "Use what is proven, and leave the rest apart or by element: one "
           "version of each write">,
    Option<"countBranches", "count-branches", "bool", "false",
           "Count which versions run">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

#endif // KVFUSE_LAYOUT_PASSES
