# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Index tensors in the forms that programs have."""

from . import addresses, heads
from .form import PAGE, PAGES, Form

__all__ = ["FORMS", "PAGE", "PAGES", "Form"]

FORMS = heads.FORMS | addresses.FORMS
