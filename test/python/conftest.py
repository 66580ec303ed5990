# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of torch.compile share."""

import pytest


@pytest.fixture(params=["kvfuse", "inductor"])
def backend(request):
    """A backend of torch.compile, with nothing compiled by another test."""
    import torch
    from torch._inductor import config

    import kvfuse.torch

    torch._dynamo.reset()
    with config.patch(force_disable_caches=True), torch.no_grad():
        kvfuse.torch.enable()
        yield request.param
        kvfuse.torch.disable()
    torch._dynamo.reset()
