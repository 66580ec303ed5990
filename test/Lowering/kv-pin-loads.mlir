// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(gpu.module(kv-pin-loads))' | FileCheck %s

gpu.module @kernels {
// Rows are loaded beside the slot, not once it is known.

// CHECK-LABEL: llvm.func @early(
// CHECK:         %[[ROW:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<8xbf16>
// CHECK:         %[[SLOT:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK:         %[[IN_BOUNDS:.*]] = llvm.icmp
// CHECK:         %[[WORDS:.*]] = llvm.bitcast %[[ROW]] : vector<8xbf16> to vector<4xi32>
// CHECK:         %[[FIRST:.*]] = llvm.extractelement %[[WORDS]]
// CHECK:         %[[LAST:.*]] = llvm.extractelement %[[WORDS]][%{{.*}} : i32]
// CHECK:         llvm.inline_asm has_side_effects "", "r,r,r,r" %[[FIRST]], {{.*}} : (i32, i32, i32, i32) -> ()
// CHECK-NEXT:    llvm.cond_br %[[IN_BOUNDS]]
llvm.func @early(%slots: !llvm.ptr, %rows: !llvm.ptr, %cache: !llvm.ptr, %size: i64) attributes {gpu.kernel, nvvm.kernel} {
  %row = llvm.load %rows {alignment = 16 : i64} : !llvm.ptr -> vector<8xbf16>
  %slot = llvm.load %slots : !llvm.ptr -> i64
  %inBounds = llvm.icmp "ult" %slot, %size : i64
  llvm.cond_br %inBounds, ^store, ^end
^store:
  llvm.store %row, %cache {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr
  llvm.br ^end
^end:
  llvm.return
}

// What its own block uses stays there; scalars, and vectors that fill no
// register, are left to LLVM.

// CHECK-LABEL: llvm.func @left(
// CHECK-NOT:     llvm.inline_asm
// CHECK:         llvm.return
llvm.func @left(%from: !llvm.ptr, %to: !llvm.ptr, %condition: i1) attributes {gpu.kernel, nvvm.kernel} {
  %used = llvm.load %from : !llvm.ptr -> vector<4xf32>
  llvm.store %used, %to : vector<4xf32>, !llvm.ptr
  %scalar = llvm.load %from : !llvm.ptr -> i64
  %small = llvm.load %from : !llvm.ptr -> vector<3xi8>
  llvm.cond_br %condition, ^store, ^end
^store:
  llvm.store %scalar, %to : i64, !llvm.ptr
  llvm.store %small, %to : vector<3xi8>, !llvm.ptr
  llvm.br ^end
^end:
  llvm.return
}
}
