// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(gpu.module(kv-dependent-launch))' | FileCheck %s --check-prefixes=CHECK,LATE
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(gpu.module(kv-dependent-launch{early}))' | FileCheck %s --check-prefixes=CHECK,EARLY

gpu.module @kernels {
// SP1: every thread waits, before any load and any way out.

// CHECK-LABEL: llvm.func @write(
// EARLY-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    llvm.load
// CHECK:         llvm.cond_br
// CHECK:         llvm.store
// LATE:          nvvm.griddepcontrol launch_dependents
// CHECK-NOT:     griddepcontrol
// CHECK:         llvm.return
// LATE:          nvvm.griddepcontrol launch_dependents
// CHECK-NOT:     griddepcontrol
// CHECK:         llvm.return
llvm.func @write(%condition: i1, %from: !llvm.ptr, %to: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
  %0 = llvm.load %from : !llvm.ptr -> f32
  llvm.cond_br %condition, ^store, ^end
^store:
  llvm.store %0, %to : f32, !llvm.ptr
  llvm.return
^end:
  llvm.return
}

// A kernel without rows, too: the one behind it counts on the one in front.

// CHECK-LABEL: llvm.func @empty(
// EARLY-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    nvvm.griddepcontrol wait
// LATE-NEXT:     nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    llvm.return
llvm.func @empty() attributes {gpu.kernel, nvvm.kernel} {
  llvm.return
}

// Only kernels are launched.

// CHECK-LABEL: llvm.func @helper(
// CHECK-NEXT:    llvm.return
llvm.func @helper() {
  llvm.return
}

// CHECK: llvm.func @declared()
llvm.func @declared()
}
