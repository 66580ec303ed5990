// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(gpu.module(kv-dependent-launch))' | FileCheck %s --check-prefixes=CHECK,LATE
// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(gpu.module(kv-dependent-launch{early}))' | FileCheck %s --check-prefixes=CHECK,EARLY

gpu.module @kernels {
// SP1: every thread waits, before any load and any way out. Under early it depends
// on what is used behind it, here two addresses.

// CHECK-LABEL: llvm.func @write(
// CHECK-SAME:    %[[FROM:[^,:]+]]: !llvm.ptr, %[[TO:[^,:]+]]: !llvm.ptr)
// EARLY-NEXT:    nvvm.griddepcontrol launch_dependents
// LATE-NEXT:     nvvm.griddepcontrol wait
// EARLY-NEXT:    llvm.inline_asm has_side_effects "{ .reg .pred %p; .reg .b64 %any;
// EARLY-SAME:      mov.b64 %any, $0; or.b64 %any, %any, $1;
// EARLY-SAME:      setp.ne.b64 %p, %any, 0; @%p griddepcontrol.wait; }", "l,l,~{memory}" %[[FROM]], %[[TO]] :
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

// Each way waits, as late as may be. Under early what needs no memory is computed
// first, such as addresses of loads behind the first, but nothing that may fail. A
// place that is reached in several ways is no place to wait, as one of them may have
// waited.

// CHECK-LABEL: llvm.func @ways(
// CHECK-SAME:    %[[A:[^,:]+]]: !llvm.ptr, %[[B:[^,:]+]]: !llvm.ptr, %[[I:[^,:]+]]: i64
// EARLY-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    llvm.cond_br %{{.+}}, ^[[READ:bb[0-9]+]], ^[[OUT:bb[0-9]+]]
// CHECK:       ^[[READ]]:
// LATE-NEXT:     nvvm.griddepcontrol wait
// EARLY-NEXT:    %[[AT:.+]] = llvm.getelementptr %[[B]][%[[I]]]
// EARLY-NEXT:    llvm.inline_asm has_side_effects {{.*}}@%p griddepcontrol.wait; }", "l,l,l,l,~{memory}" %[[A]], %[[AT]], %[[B]], %[[I]] :
// CHECK-NEXT:    %[[FIRST:.+]] = llvm.load %[[A]]
// LATE-NEXT:     %[[AT:.+]] = llvm.getelementptr %[[B]][%[[I]]]
// CHECK-NEXT:    llvm.load %[[AT]]
// CHECK-NEXT:    llvm.getelementptr %[[B]][%[[FIRST]]]
// CHECK:         llvm.udiv %[[I]], %[[I]]
// CHECK-NOT:     griddepcontrol wait
// CHECK:       ^[[OUT]]:
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    llvm.br ^[[END:bb[0-9]+]](%[[I]] : i64)
// CHECK:       ^[[END]](
// CHECK-NOT:     griddepcontrol wait
// CHECK:         llvm.return
llvm.func @ways(%a: !llvm.ptr, %b: !llvm.ptr, %i: i64, %condition: i1) attributes {gpu.kernel, nvvm.kernel} {
  llvm.cond_br %condition, ^read, ^end(%i : i64)
^read:
  %0 = llvm.load %a : !llvm.ptr -> i64
  %1 = llvm.getelementptr %b[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %2 = llvm.load %1 : !llvm.ptr -> i64
  // This address is not known before the first load.
  %3 = llvm.getelementptr %b[%0] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %4 = llvm.load %3 : !llvm.ptr -> i64
  llvm.store %2, %3 : i64, !llvm.ptr
  %d = llvm.udiv %i, %i : i64
  %5 = llvm.add %4, %d : i64
  llvm.br ^end(%5 : i64)
^end(%6: i64):
  llvm.store %6, %a : i64, !llvm.ptr
  llvm.return
}

// In a long step, registers count for more.

// CHECK-LABEL: llvm.func @long(
// EARLY-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    llvm.getelementptr
// CHECK-NEXT:    llvm.load
llvm.func @long(%from: !llvm.ptr, %i: i64) attributes {gpu.kernel, kv.token_kernel = 4 : i64, nvvm.kernel} {
  %0 = llvm.getelementptr %from[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %1 = llvm.load %0 : !llvm.ptr -> f32
  llvm.store %1, %from : f32, !llvm.ptr
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
