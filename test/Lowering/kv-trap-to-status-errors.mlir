// RUN: kvfuse-opt %s -pass-pipeline='builtin.module(kv-trap-to-status)' -verify-diagnostics -split-input-file

func.func @assert_in_loop(%ok: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @+1 {{'cf.assert' op expects unstructured control flow, to return from here, but is nested in 'scf.for'}}
    cf.assert %ok, "failed"
  }
  return
}

// -----

func.func private @callee() {
  return
}

func.func @call_in_branch(%ok: i1) {
  scf.if %ok {
    // expected-error @+1 {{'func.call' op expects unstructured control flow, to return from here, but is nested in 'scf.if'}}
    func.call @callee() : () -> ()
  }
  return
}
