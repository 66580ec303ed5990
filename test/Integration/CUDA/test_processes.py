# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lost contexts, forks and traps: errors in processes of their own, no crashes."""

from collections.abc import Callable

RunChild = Callable[[str], str]

#: Compiles a write and calls it once.
CALLED = """
import os, sys
import torch
from kvfuse_testing import paged_writes
from kvfuse_testing.paged_writes import Spec, choose_slots, make_call

spec = Spec()
write = paged_writes.compiled(spec)
call = make_call(spec, choose_slots(spec, 9, 0))
write(*call.arguments)
torch.cuda.synchronize()

def error_of(action):
    try:
        action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"

def leave(text):
    # Without torch's own clean-up, which has no context to work in.
    print(text, flush=True)
    os._exit(0)
"""


def test_a_destroyed_context_is_an_error(run_child: RunChild) -> None:
    out = run_child(
        CALLED
        + """
import ctypes
status = ctypes.CDLL("libcuda.so.1").cuDevicePrimaryCtxReset_v2(0)
assert status == 0, status


def call_and_wait():
    write(*call.arguments)
    torch.cuda.synchronize()

leave(error_of(call_and_wait))
"""
    )
    assert "Error: " in out, out
    assert "CUDA" in out, out


def test_a_fork_after_cuda_was_used_is_an_error(run_child: RunChild) -> None:
    out = run_child(
        CALLED
        + """
child = os.fork()
if child == 0:
    leave("child: " + error_of(lambda: write(*call.arguments)))
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
write(*call.arguments)
torch.cuda.synchronize()
print("parent: no error")
"""
    )
    assert "child: RuntimeError: " in out, out
    assert "parent: no error" in out, out


def test_a_slot_out_of_bounds_traps(run_child: RunChild) -> None:
    for slot in ("spec.capacity", "-spec.capacity - 1"):
        out = run_child(
            CALLED
            + f"""
call.arguments[-1][4] = {slot}
write(*call.arguments)
leave(error_of(torch.cuda.synchronize))
"""
        )
        assert "assert" in out, out


def test_after_a_trap_calls_are_errors(run_child: RunChild) -> None:
    out = run_child(
        CALLED
        + """
call.arguments[-1][4] = spec.capacity
write(*call.arguments)
error_of(torch.cuda.synchronize)
leave(error_of(lambda: write(*call.arguments)))
"""
    )
    assert out.startswith("RuntimeError: "), out
    assert "CUDA_ERROR_ASSERT" in out, out


def test_a_device_that_is_not_there(run_child: RunChild) -> None:
    """The functions that load a module say which device they did not find."""
    out = run_child(
        CALLED
        + """
leave(error_of(lambda: write.load(torch.cuda.device_count())))
"""
    )
    assert out.startswith(("RuntimeError: ", "ValueError: ")), out
    assert "device" in out.lower(), out


def test_compiled_for_the_cpu_called_on_a_gpu(run_child: RunChild) -> None:
    out = run_child(
        CALLED
        + """
cpu = paged_writes.compiled(spec, on=torch.device("cpu"))
before = call.bytes()
text = error_of(lambda: cpu(*call.arguments))
paged_writes.assert_same(call.bytes(), before)
leave(text)
"""
    )
    assert out.startswith(("TypeError: ", "ValueError: ")), out
    assert "k_cache" in out, out
