// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-export-functions)' -split-input-file -verify-diagnostics

// expected-error @+1 {{expects the arguments of its signature, and a status to return}}
llvm.func @_mlir_ciface_no_status(%c: !llvm.ptr) attributes {kv.signature = [{dtype = "float32", sizes = array<i64: 4>}]} {
  llvm.return
}

// -----

// expected-error @+1 {{expects the arguments of its signature, and a status to return}}
llvm.func @_mlir_ciface_other_arguments(%c: !llvm.ptr) -> !llvm.ptr attributes {kv.signature = []} {
  llvm.return %c : !llvm.ptr
}
