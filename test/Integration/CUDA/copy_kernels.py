# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that stand in front of a write and behind it, and copy words.

`produce` lets the kernel behind it start at once, and only then takes its time.
`consume` waits for the kernel in front of it, as rule SP2 wants it of a reader that
is launched dependently; `consume_hastily` does not.
"""

import ctypes

import launcher
import torch

#: Few enough to leave most of a GPU to the kernels that overlap.
BLOCKS, BLOCK = 32, 256

#: Arguments: addresses to copy from and to, words of 4 bytes, nanoseconds to sleep.
ENTRY = """
.visible .entry {name}(
  .param .u64 from, .param .u64 to, .param .u64 words, .param .u64 sleep
)
{{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<12>;
  {first}
  ld.param.u64 %rd1, [sleep];
  mov.u64 %rd2, %globaltimer;
  add.u64 %rd2, %rd2, %rd1;
SLEEP:
  mov.u64 %rd3, %globaltimer;
  setp.lt.u64 %p1, %rd3, %rd2;
  @%p1 bra SLEEP;

  ld.param.u64 %rd4, [from];
  cvta.to.global.u64 %rd4, %rd4;
  ld.param.u64 %rd5, [to];
  cvta.to.global.u64 %rd5, %rd5;
  ld.param.u64 %rd6, [words];
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r2, %r1, %r3;
  cvt.u64.u32 %rd7, %r4;
  mov.u32 %r5, %nctaid.x;
  mul.lo.u32 %r6, %r5, %r1;
  cvt.u64.u32 %rd8, %r6;
COPY:
  setp.ge.u64 %p2, %rd7, %rd6;
  @%p2 bra DONE;
  shl.b64 %rd9, %rd7, 2;
  add.u64 %rd10, %rd4, %rd9;
  ld.global.u32 %r7, [%rd10];
  add.u64 %rd11, %rd5, %rd9;
  st.global.u32 [%rd11], %r7;
  add.u64 %rd7, %rd7, %rd8;
  bra COPY;
DONE:
  ret;
}}
"""

PTX = ".version 8.0\n.target sm_90\n.address_size 64\n" + "".join(
    ENTRY.format(name=name, first=first)
    for name, first in {
        "produce": "griddepcontrol.launch_dependents;",
        "consume": "griddepcontrol.wait;",
        "consume_hastily": "",
    }.items()
)


class CopyKernels:
    """The kernels, loaded on the first GPU."""

    def __init__(self, device: launcher.Device) -> None:
        self.device = device
        self.module = device.load(PTX.encode())

    def launch(
        self,
        name: str,
        source: torch.Tensor,
        target: torch.Tensor,
        sleep_ns: int = 0,
        dependent: bool = False,
    ) -> None:
        """Copies `source` to `target`, of as many words, on torch's current stream."""
        words = source.nbytes // 4
        numbers = (source.data_ptr(), target.data_ptr(), words, sleep_ns)
        self.device.launch(
            self.device.kernel(self.module, name),
            (BLOCKS, 1, 1),
            BLOCK,
            [ctypes.c_uint64(number) for number in numbers],
            stream=torch.cuda.current_stream().cuda_stream,
            dependent=dependent,
        )
