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

// And so is a slot that is not used before it is known that there is such a token.

// CHECK-LABEL: llvm.func @slot(
// CHECK:         %[[SLOT:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK-NEXT:    %[[NARROW:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK-NEXT:    %[[ELEMENT:.*]] = llvm.load %{{.*}} : !llvm.ptr -> bf16
// CHECK-NEXT:    llvm.inline_asm has_side_effects "", "l" %[[SLOT]] : (i64) -> ()
// CHECK-NEXT:    llvm.inline_asm has_side_effects "", "r" %[[NARROW]] : (i32) -> ()
// CHECK-NEXT:    %[[BITS:.*]] = llvm.bitcast %[[ELEMENT]] : bf16 to i16
// CHECK-NEXT:    llvm.inline_asm has_side_effects "", "h" %[[BITS]] : (i16) -> ()
// CHECK-NEXT:    llvm.cond_br
llvm.func @slot(%slots: !llvm.ptr, %cache: !llvm.ptr, %exists: i1) attributes {gpu.kernel, nvvm.kernel} {
  %slot = llvm.load %slots : !llvm.ptr -> i64
  %narrow = llvm.load %slots : !llvm.ptr -> i32
  %element = llvm.load %slots : !llvm.ptr -> bf16
  llvm.cond_br %exists, ^store, ^end
^store:
  llvm.store %slot, %cache : i64, !llvm.ptr
  llvm.store %narrow, %cache : i32, !llvm.ptr
  llvm.store %element, %cache : bf16, !llvm.ptr
  llvm.br ^end
^end:
  llvm.return
}

// What its own block uses stays there; what fills no register is left to LLVM.

// CHECK-LABEL: llvm.func @left(
// CHECK-NOT:     llvm.inline_asm
// CHECK:         llvm.return
llvm.func @left(%from: !llvm.ptr, %to: !llvm.ptr, %condition: i1) attributes {gpu.kernel, nvvm.kernel} {
  %used = llvm.load %from : !llvm.ptr -> vector<4xf32>
  llvm.store %used, %to : vector<4xf32>, !llvm.ptr
  %bit = llvm.load %from : !llvm.ptr -> i1
  %small = llvm.load %from : !llvm.ptr -> vector<3xi8>
  llvm.cond_br %condition, ^store, ^end
^store:
  llvm.store %bit, %to : i1, !llvm.ptr
  llvm.store %small, %to : vector<3xi8>, !llvm.ptr
  llvm.br ^end
^end:
  llvm.return
}
}
