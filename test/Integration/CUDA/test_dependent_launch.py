# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that overlap leave the bytes of kernels that do not (rules SP1 to SP4).

A kernel in front of the write makes its rows, scales and slots, but first lets the
write start and takes its time: a write that does not wait reads what was there
before. A kernel behind copies the caches: one that does not wait copies old rows.
"""

import ctypes
import re
from collections.abc import Callable

import kvfuse
import launcher
import pytest
import torch
from copy_kernels import CopyKernels
from external_writes import ExternalWrite
from kvfuse_testing import paged_writes
from kvfuse_testing.paged_writes import Spec, choose_slots, make_call

pytestmark = pytest.mark.skipif(
    torch.cuda.is_available() and torch.cuda.get_device_capability() < (9, 0),
    reason="needs a GPU with dependent launch",
)

REPETITIONS = 200
#: How long the kernel in front takes, in nanoseconds: longer than it takes Python to
#: launch the ones behind it.
SLEEP = 300_000
PAGES, PAGE, HEADS, DIM, TOKENS = 8, 32, 4, 128, 64
#: CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
PROGRAMMATIC = 1
MODES = ("late", "early")


def write_scaled(
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    index_cache: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    index_k: torch.Tensor,
    k_scale: torch.Tensor,
    v_scale: torch.Tensor,
    slots: torch.Tensor,
) -> None:
    """Writes rows [T, H, D] over scales [1] at slots [T] into caches [B, H, P, D]."""
    page, offset = slots // k_cache.shape[2], slots % k_cache.shape[2]
    k_cache[page, :, offset, :] = (k / k_scale).to(k_cache.dtype)
    v_cache[page, :, offset, :] = (v / v_scale).to(v_cache.dtype)
    index_cache[page, :, offset, :] = index_k


def random_inputs(seed: int) -> list[torch.Tensor]:
    """Rows, scales and slots of a call, on the CPU."""
    generator = torch.Generator().manual_seed(seed)
    rows = [
        torch.randn(TOKENS, heads, DIM, generator=generator).bfloat16()
        for heads in (HEADS, HEADS, 1)
    ]
    scales = [0.5 + torch.rand(1, generator=generator) for _ in range(2)]
    slots = torch.randperm(PAGES * PAGE, generator=generator)[:TOKENS]
    return [*rows, *scales, slots]


def pack(tensors: list[torch.Tensor]) -> torch.Tensor:
    """The bytes of all tensors on the GPU, each from a multiple of 16 on."""
    parts = []
    for tensor in tensors:
        flat = tensor.flatten().view(torch.uint8)
        parts.append(torch.nn.functional.pad(flat, (0, -flat.numel() % 16)))
    return torch.cat(parts).cuda()


def unpack(packed: torch.Tensor, like: list[torch.Tensor]) -> list[torch.Tensor]:
    """Views of `packed` in the shapes of the tensors that it was packed of."""
    views, start = [], 0
    for tensor in like:
        flat = packed[start : start + tensor.nbytes].view(tensor.dtype)
        views.append(flat.view(tensor.shape))
        start += -(-tensor.nbytes // 16) * 16
    return views


class Scene:
    """What a write reads and writes, and how both are before and after it."""

    def __init__(self) -> None:
        inputs = random_inputs(seed=1)
        self.stale, self.fresh = pack(random_inputs(seed=2)), pack(inputs)
        self.live = self.stale.clone()
        pool = torch.randn(PAGES, 2, HEADS, PAGE, DIM).to(torch.float8_e4m3fn)
        index = torch.randn(PAGES, 1, PAGE, DIM).bfloat16()
        # One allocation, so that one copy resets or reads all caches.
        self.caches = pack([pool, index])
        self.before = self.caches.clone()
        self.seen = torch.empty_like(self.caches)
        self.wrong = torch.zeros((), dtype=torch.int64, device="cuda")
        pool, index = unpack(self.caches, [pool, index])
        rows = unpack(self.live, inputs)
        self.arguments = (pool[:, 0], pool[:, 1], index, *rows)
        self.expected = self.after_eager()

    def after_eager(self) -> torch.Tensor:
        """The caches after torch wrote the fresh rows."""
        self.live.copy_(self.fresh)
        write_scaled(*self.arguments)
        after = self.caches.clone()
        self.reset()
        return after

    def reset(self) -> None:
        """Nothing is made, written or read yet; the kernels are launched normally."""
        self.live.copy_(self.stale)
        self.caches.copy_(self.before)
        self.seen.zero_()

    def count(self) -> None:
        """Counts on the device whether what the reader saw is wrong."""
        self.wrong += (self.seen != self.expected).any()


def compile_write(pdl: str) -> kvfuse.Compiled:
    """The fused write for this GPU."""
    write = kvfuse.compile(write_scaled, Scene().arguments, pdl=pdl)
    assert write.launches == 1
    return write


@pytest.fixture(scope="module")
def device() -> launcher.Device:
    """The driver, in torch's context."""
    torch.cuda.init()
    return launcher.Device()


@pytest.fixture(scope="module")
def copies(device: launcher.Device) -> CopyKernels:
    """The kernels around the write."""
    return CopyKernels(device)


@pytest.fixture(scope="module", params=MODES)
def write(request: pytest.FixtureRequest) -> kvfuse.Compiled:
    """The fused write, in each mode of dependent launch."""
    return compile_write(request.param)


def read_in_order(copies: CopyKernels, scene: Scene) -> None:
    """A reader that is launched like any other kernel."""
    scene.seen.copy_(scene.caches)


def read_dependently(copies: CopyKernels, scene: Scene) -> None:
    """A reader that may start before the write has ended, and waits."""
    copies.launch("consume", scene.caches, scene.seen, dependent=True)


#: Reader -> edges of a graph around the write that let kernels overlap.
READERS = {read_in_order: 1, read_dependently: 2}
Reader = Callable[[CopyKernels, Scene], None]
Arguments = tuple[torch.Tensor, ...]


def play(
    copies: CopyKernels, scene: Scene, write: Callable[[], object], read: Reader
) -> None:
    """Kernel in front, write, reader, one right behind the other."""
    scene.reset()
    copies.launch("produce", scene.fresh, scene.live, SLEEP)
    write()
    read(copies, scene)
    scene.count()


def count_wrong(
    copies: CopyKernels,
    bind: Callable[[Arguments], Callable[[], object]],
    read: Reader = read_in_order,
) -> int:
    """How many of the repetitions leave a reader with wrong bytes. `bind` makes a
    launch of the write from its arguments."""
    scene = Scene()
    write = bind(scene.arguments)
    for _ in range(REPETITIONS):
        play(copies, scene, write, read)
    return int(scene.wrong.item())


@pytest.mark.parametrize("read", READERS)
def test_rows_scales_and_slots_are_waited_for(
    copies: CopyKernels, write: kvfuse.Compiled, read: Reader
) -> None:
    assert count_wrong(copies, lambda given: lambda: write(*given), read) == 0


@pytest.mark.parametrize("dependent", [True, False])
def test_launched_by_others(
    device: launcher.Device,
    copies: CopyKernels,
    write: kvfuse.Compiled,
    dependent: bool,
) -> None:
    """With the launch attribute, and without: then the instructions do nothing."""
    external = ExternalWrite(device, write)
    assert count_wrong(copies, lambda given: external.bind(given, dependent)) == 0


def test_without_its_wait_the_write_reads_too_soon(
    device: launcher.Device, copies: CopyKernels
) -> None:
    """The tests above can fail: kernels do overlap here."""
    write = compile_write("early")
    ptx = re.sub(r"(@%p )?griddepcontrol\.wait;", "", write.ptx)
    external = ExternalWrite(device, write, ptx)
    assert "griddepcontrol.wait" not in ptx
    assert count_wrong(copies, lambda given: external.bind(given, True)) > 0


def test_a_reader_that_does_not_wait_reads_too_soon(copies: CopyKernels) -> None:
    """What SP2 asks of readers behind an early write is needed."""
    write = compile_write("early")

    def read_hastily(copies: CopyKernels, scene: Scene) -> None:
        copies.launch("consume_hastily", scene.caches, scene.seen, dependent=True)

    assert count_wrong(copies, lambda given: lambda: write(*given), read_hastily) > 0


def edge_types(graph: torch.cuda.CUDAGraph) -> list[int]:
    """The types of the edges of a graph that was kept."""

    class EdgeData(ctypes.Structure):
        _fields_ = (
            ("ports", ctypes.c_ubyte * 2),
            ("type", ctypes.c_ubyte),
            ("rest", ctypes.c_ubyte * 5),
        )

    get_edges = ctypes.CDLL("libcuda.so.1").cuGraphGetEdges_v2
    handle, count = ctypes.c_void_p(graph.raw_cuda_graph()), ctypes.c_size_t()
    assert get_edges(handle, None, None, None, ctypes.byref(count)) == 0
    nodes = ctypes.c_void_p * count.value
    edges = (EdgeData * count.value)()
    assert get_edges(handle, nodes(), nodes(), edges, ctypes.byref(count)) == 0
    return [edge.type for edge in edges]


def capture(kernels: Callable[[], None]) -> torch.cuda.CUDAGraph:
    """A graph of the kernels, whose nodes can be looked at."""
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        kernels()
    graph.instantiate()
    return graph


@pytest.mark.parametrize(("read", "overlaps"), READERS.items())
def test_in_a_graph(
    copies: CopyKernels, write: kvfuse.Compiled, read: Reader, overlaps: int
) -> None:
    scene = Scene()

    def play_once() -> None:
        play(copies, scene, lambda: write(*scene.arguments), read)

    # Loads the kernels, which a capture does not allow.
    play_once()
    graph = capture(play_once)
    assert edge_types(graph).count(PROGRAMMATIC) == overlaps
    for _ in range(REPETITIONS):
        graph.replay()
    assert scene.wrong.item() == 0


def test_off_leaves_no_such_edge_in_a_graph() -> None:
    write, scene = compile_write("off"), Scene()
    graph = capture(lambda: [write(*scene.arguments) for _ in range(2)])
    assert PROGRAMMATIC not in edge_types(graph)


def writes_of_the_same_rows() -> tuple[list[list[torch.Tensor]], torch.Tensor]:
    """Arguments of sixty writes, long ones and short ones, of other rows at the same
    slots of one pool, which is the second result."""
    spec = Spec(heads=HEADS, head_dim=DIM, page_size=PAGE, pages=64)
    slots = choose_slots(spec, 1500, 0)
    first = make_call(spec, slots)
    calls = []
    for number in range(60):
        tokens = (1500, 1, 64)[number % 3]
        rows = make_call(spec, slots[:tokens], seed=number).arguments
        calls.append([*first.arguments[: paged_writes.CACHES], *rows[3:]])
    return calls, first.pools[0]


@pytest.mark.parametrize("in_graph", [False, True])
@pytest.mark.parametrize("pdl", MODES)
def test_the_last_write_of_a_row_stays(pdl: str, in_graph: bool) -> None:
    calls, pool = writes_of_the_same_rows()
    before = pool.clone()
    write = kvfuse.compile(paged_writes.write_hnd, tuple(calls[0]), pdl=pdl)

    def write_all(function: Callable[..., object]) -> None:
        for arguments in calls:
            function(*arguments)

    write_all(paged_writes.write_hnd)
    expected = pool.view(torch.uint8).clone()
    graph = capture(lambda: write_all(write)) if in_graph else None
    wrong = torch.zeros((), dtype=torch.int64, device="cuda")
    for _ in range(REPETITIONS // 4):
        pool.copy_(before)
        if graph:
            graph.replay()
        else:
            write_all(write)
        wrong += (pool.view(torch.uint8) != expected).any()
    assert wrong.item() == 0
