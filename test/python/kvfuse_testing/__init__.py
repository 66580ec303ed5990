# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helpers of the Python tests.

cells and cases need NumPy only and also run on the machine with the GPU;
layers needs torch; compile and abi drive kvfuse-compile and what it makes.
"""
