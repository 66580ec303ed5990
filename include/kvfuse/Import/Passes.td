//===- Passes.td - Import: every spelling to the kv dialect -*- tablegen -*-===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVFUSE_IMPORT_PASSES
#define KVFUSE_IMPORT_PASSES

include "mlir/Pass/PassBase.td"

def KVImportTorch : Pass<"kv-import-torch", "::mlir::ModuleOp"> {
  let summary = "turn torch-mlir's cache-write chains into kv operations";
  let description = [{
    Overview: reads the chain as torch-mlir writes it, in its `raw` and its
    `torch` output in generic form, by operation names and the text of types,
    so that it works with and without the Torch dialect registered.
    `aten.index_put` (also `_unsafe_index_put` and `index_put.hacked_twin`),
    `index_copy` and `scatter.src` become `kv.write`; the last two take no
    negative index (SX4). What feeds a write, index arithmetic, masks, casts and
    scales, becomes operations of kv, arith, linalg and tensor. Indices and rows
    that one mask picks (`x[mask]`) are taken whole, with the mask as that of the
    write; where they are picked differently the write is refused
    (`data-dependent`).

    A cache may be seen through views. Slices (`select`, `slice`, `narrow`,
    `as_strided`) become `tensor.extract_slice` and `tensor.insert_slice` of the
    base; what puts the slice back, `select_scatter` and the like, or the
    `where(arange == k, ..)` that torch makes of it, is then no operation. Reshapes,
    permutations and bitcasts of equal width go into the map and the values: no
    operation reshapes a cache. Tensors are taken to be contiguous, as torch-mlir
    does: a view that merges dimensions which are not neighbours in memory is a
    copy, and is refused (`cache-copied`), as are an index of an inner dimension
    that is not known to be inside (`index-unknown`), an expanded cache
    (`overlap`) and elements of another width (`encoding-unknown`). Updates of
    arguments that are no writes of rows are named by remarks.

    Before: functions in the Torch dialect (value tensors) or already in kv.
    After: a function made of such chains alone has builtin tensor types and no
    Torch operation; in any other function the chain alone is kv, between
    `torch_c.to_builtin_tensor` and `torch_c.from_builtin_tensor`, and every
    operation that is not known stays as it is; a remark `opaque-op` names those
    that touch a cache. A division that rounds otherwise than down stays an
    `arith` operation unless negative slots are excluded (SX3). An
    `_assert_tensor_metadata` on a chain's tensors is checked here: it is
    dropped if it holds, an error if not.

    Skipping is a mask (SX4, SX6): `negative=skip` and `reserved-slot` compare the
    slots, widened and before any arithmetic, once for all writes at them. A
    reserved slot that is not negative can be told from one slot tensor only; at
    a page and an offset from two tensors it is an error.

    Arguments that may be written in place are marked
    `bufferization.writable = true`, all other cache arguments `false` (SM5):
    the text of a torch-mlir module cannot say which ones are.

    Example (names of constants shortened):

    ```mlir
    %page = "torch.aten.floor_divide.Scalar"(%slots, %int32) : ...
    %off = "torch.aten.remainder.Scalar"(%slots, %int32) : ...
    %list = "torch.prim.ListConstruct"(%page, %none, %off) : ...
    %new = "torch.aten.index_put"(%cache, %list, %rows, %false) : ...
    ```
    becomes
    ```mlir
    %page = kv.apply affine_map<(s) -> (s floordiv 32)>(%slots) : tensor<?xi64>
    %off = kv.apply affine_map<(s) -> (s mod 32)>(%slots) : tensor<?xi64>
    %new = kv.write at(%page, %off : tensor<?xi64>, tensor<?xi64>) negative(wrap) out_of_bounds(trap)
      put %rows : tensor<?x4x128xbf16> into %cache : tensor<?x4x32x128xbf16>
          map(affine_map<(t, p, o, h, d) -> (p, h, o, d)>)
    ```
  }];
  let options = [
    Option<"mutates", "mutates", "std::string", "\"\"",
           "Arguments that may be written in place (SM5): a list of numbers such "
           "as 0,1,2, or auto for every cache that a write reaches">,
    Option<"torchVersion", "torch-version", "std::string", "\"2.13\"",
           "Version whose casts are meant (SC4): 2.11 or 2.13">,
    Option<"negative", "negative", "std::string", "\"\"",
           "Meaning of negative indices (SX4): wrap, error, skip or undefined; "
           "left out, the source program's">,
    Option<"outOfBounds", "out-of-bounds", "std::string", "\"\"",
           "Treatment of indices outside the cache (SX5): trap, skip or "
           "undefined; left out, the source program's">,
    Option<"reservedSlot", "reserved-slot", "std::string", "\"\"",
           "A slot id that marks padding: its rows are not written (SX6)">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::kv::KVDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif // KVFUSE_IMPORT_PASSES
