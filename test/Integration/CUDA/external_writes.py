# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches the PTX of a compiled write without kvfuse's runtime, by its report."""

from collections.abc import Callable, Sequence

import kvfuse
import launcher
import torch


class ExternalWrite:
    """The kernel for aligned arguments, and few tokens, of a program with one write.

    Arguments are the program's tensors; the slots are the last one.
    """

    def __init__(
        self, device: launcher.Device, write: kvfuse.Compiled, ptx: str | None = None
    ) -> None:
        self.device = device
        self.entry = write.report["kernels"][0]
        module = device.load((ptx or write.ptx).encode())
        self.kernel = device.kernel(module, self.entry["name"])

    def bind(
        self, arguments: Sequence[torch.Tensor], dependent: bool
    ) -> Callable[[], None]:
        """Launches it on torch's current stream, with or without the attribute of
        dependent launch, each time that it is called."""
        parameters = []
        for number in self.entry["arguments"]:
            tensor = arguments[number]
            parameters += launcher.memref_parameters(
                tensor.data_ptr(), tensor.shape, tensor.stride()
            )
        tokens = arguments[-1].shape[0]
        shape = launcher.launch_shape(self.entry, tokens, elements=0)

        def launch() -> None:
            stream = torch.cuda.current_stream().cuda_stream
            self.device.launch(
                self.kernel,
                shape["grid"],
                shape["block"],
                parameters,
                stream=stream,
                dependent=dependent,
            )

        return launch
