# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cache writes as engines, exporters and model libraries spell them, in torch.

Each entry is a short restatement of one spelling, with what a sound compiler
owes it:

- its arguments: name, element type, and a shape in T=5 tokens, H=3 heads, D=8
  head dimension, B=6 pages, P=4 page size, N=3 sequences, S=16 positions, L=2
  layers; or, after `=`, the name of index data (kvfuse_testing.field makes it),
  or the numbers themselves;
- its outcome: `fuse`, `normalise` (fused after its indices were brought into
  another form) or `refuse` with the reason; `launches` has the number of caches
  that each fused kernel writes. A reason beside `launches` says why there is
  more than one.

The class in a docstring (S1 to S20) names the kind of write: paged pairs,
separated (S2), with every dimension indexed (S3), given (S4), from a page table
(S5); flat (S7, S8), row numbers of mixed radix (S9), byte addresses (S10),
expanded indices (S11), opaque operations (S12), boolean compression (S13),
quantised with scales (S15), positions (S16), slices and loops (S17), whole
pages (S19), and what is no scatter (S18, S20).
"""

import dataclasses
from collections.abc import Callable

import torch


@dataclasses.dataclass(frozen=True)
class Entry:
    """One spelling; `exported` is the function to export, see `exported_as`."""

    name: str
    function: Callable
    arguments: str
    outcome: str
    launches: tuple[int, ...] = ()
    reason: str = ""
    exported: Callable | None = None

    @property
    def summary(self) -> str:
        """The docstring without the class."""
        return self.function.__doc__.split(": ", 1)[1]


#: All entries by name, in order.
ENTRIES: dict[str, Entry] = {}


def entry(arguments: str, outcome: str, **fields) -> Callable:
    """Registers a function as an entry under its own name."""

    def register(function: Callable) -> Callable:
        name = function.__name__
        ENTRIES[name] = Entry(name, function, arguments, outcome, **fields)
        return function

    return register


def exported_as(name: str) -> Callable:
    """The decorated function is exported in place of entry `name`: torch.export
    wants to know the bounds of numbers that the host reads from a tensor."""

    def register(function: Callable) -> Callable:
        ENTRIES[name] = dataclasses.replace(ENTRIES[name], exported=function)
        return function

    return register


_OPERATIONS = torch.library.Library("kvfield", "DEF")


def opaque(schema: str) -> Callable:
    """Registers a function as a custom operation, and returns that."""

    def register(function: Callable) -> Callable:
        name = function.__name__
        _OPERATIONS.define(name + schema)
        _OPERATIONS.impl(name, function, "CPU")
        functional = schema.endswith("-> Tensor")
        _OPERATIONS.impl(
            name, lambda c, *_: torch.empty_like(c) if functional else None, "Meta"
        )
        return getattr(torch.ops.kvfield, name)

    return register


def read(number: torch.Tensor, size: int) -> int:
    """A number that the host reads, declared to lie in [0, size)."""
    value = number.item()
    torch._check(value >= 0)
    torch._check(value < size)
    return value


@entry(
    "kc bf16 B H P D; s i32 =slots; v f32 T H D",
    "fuse",
    launches=(1,),
)
def T1(kc, s, v):
    """S2: The plain chain: one slot vector, head-major pages, rows cast on the way."""
    l = s.to(torch.long)
    page, off = l // kc.shape[2], l % kc.shape[2]
    kc[page, :, off, :] = v.to(kc.dtype)


@entry(
    "kc bf16 B P H D; s i32 =slots; v f32 T H D",
    "fuse",
    launches=(1,),
)
def T2(kc, s, v):
    """S1: Token-major pages: the two index tensors are next to each other."""
    l = s.to(torch.long)
    kc[l // kc.shape[1], l % kc.shape[1]] = v.to(kc.dtype)


@entry(
    "pool bf16 B 2 H P D; ic bf16 B 1 P D; s i32 =slots; k f32 T H*D; v f32 T H*D; x f32 T D",
    "fuse",
    launches=(3,),
)
def T4(pool, ic, s, k, v, x):
    """S2: K and V of one pool, and index-K with one head: three writes share the slots."""
    kc, vc = pool[:, 0], pool[:, 1]
    for c, u in ((kc, k), (vc, v), (ic, x)):
        l = s.to(torch.long)
        u = u.reshape(u.shape[0], c.shape[1], c.shape[3])
        c[l // c.shape[2], :, l % c.shape[2], :] = u.to(c.dtype)


@entry(
    "pool bf16 N 2 S H D; k bf16 1 T H D; v bf16 1 T H D",
    "refuse",
    reason="contiguous",
)
def T5(pool, k, v, idx: int = 1, past: int = 3):
    """S16: Positions that follow each other, bytes seen as integers on both sides."""
    pos = torch.arange(past, past + k.shape[1])
    for j, u in ((0, k), (1, v)):
        dst = pool[idx, j].unsqueeze(0)
        dst.view(torch.int16).index_copy_(1, pos, u.view(torch.int16))


@entry(
    "nope f8 B P D; rope bf16 B P 4; tab i32 =pages6; k bf16 T D; r bf16 T 4",
    "fuse",
    launches=(2,),
)
def T8(nope, rope, tab, k, r, first: int = 1, pos0: int = 3):
    """S8: Rows by a page table; the offset is a difference; fp8 seen as bytes."""
    P = nope.shape[1]
    pos = pos0 + torch.arange(k.shape[0])
    o = torch.div(pos, P, rounding_mode="floor")
    row = tab.long().index_select(0, first + o) * P + (pos - o * P)
    nb = nope.reshape(-1, nope.shape[-1]).view(torch.uint8)
    nb.index_copy_(0, row, k.to(nope.dtype).view(torch.uint8))
    rope.reshape(-1, rope.shape[-1]).index_copy_(0, row, r)


@entry(
    "ic u8 B P 1 D+4; s i64 =slots; kb u8 T D; sb u8 T 4",
    "normalise",
    launches=(2,),
)
def T9(ic, s, kb, sb):
    """S10: Byte addresses unravelled into four indices; data and scales in one buffer."""
    P, D = ic.shape[1], kb.shape[1]
    stride = P * (D + 4)
    a = (s // P) * stride + (s % P) * D
    b = (s // P) * stride + P * D + (s % P) * 4

    def unravel(f):
        idx = []
        for n in reversed(ic.shape[1:]):
            idx.append(f % n)
            f = f // n
        return (f, *reversed(idx))

    ic[unravel(a[:, None] + torch.arange(D))] = kb
    ic[unravel(b[:, None] + torch.arange(4))] = sb


@entry(
    "pool bf16 2 L B P H D; bi i64 =page; oi i64 =off; k bf16 T 1 H D; v bf16 T 1 H D",
    "normalise",
    launches=(2,),
)
def M1(pool, bi, oi, k, v, layer: int = 1, n: int = 4):
    """S4: One pool for K, V and all layers; page and offset are inputs."""
    bi, oi = bi[:n], oi[:n]
    pool[0, layer, bi, oi] = k.squeeze(1)[:n]
    pool[1, layer, bi, oi] = v.squeeze(1)[:n]


@entry(
    "pool bf16 B 2 H P D; bi i64 =page; oi i64 =off; k bf16 T H D; v bf16 T H D",
    "normalise",
    launches=(2,),
)
def M2(pool, bi, oi, k, v):
    """S4: The number that selects K or V stands between the two index tensors."""
    pool[bi, 0, :, oi, :] = k
    pool[bi, 1, :, oi, :] = v


@entry(
    "kc u8 B*P H D; vc u8 B*P H D; loc i64 =slots; k bf16 T H D; v bf16 T H D",
    "fuse",
    launches=(2,),
)
def G1(kc, vc, loc, k, v, ks: float = 0.5, vs: float = 2.0):
    """S7: Flat pool: a scale divided in place, fp8, stored as uint8."""
    k.div_(ks)
    v.div_(vs)
    k, v = k.to(torch.float8_e4m3fn), v.to(torch.float8_e4m3fn)
    kc[loc] = k.view(torch.uint8)
    vc[loc] = v.view(torch.uint8)


@entry(
    "kc u8 B*P H D//2; vc u8 B*P H D//2; ks u8 B*P H; vs u8 B*P H; loc i64 =slots; kq u8 T H D//2; vq u8 T H D//2; kf u8 T H; vf u8 T H",
    "fuse",
    launches=(4,),
)
def G3(kc, vc, ks, vs, loc, kq, vq, kf, vf):
    """S15: Packed fp4 data and block scales: four writes share an index."""
    kc[loc] = kq
    ks[loc] = kf
    vc[loc] = vq
    vs[loc] = vf


@entry(
    "buf u8 B P*(D+4); loc i64 =slots; k f8 T D; sc f32 T 1",
    "normalise",
    launches=(2,),
)
def G5(buf, loc, k, sc, P: int = 4):
    """S10: Flat byte addresses, rows and scales into one buffer."""
    D, row = k.shape[1], buf.shape[1]
    pg, of = loc // P, loc % P
    flat = buf.flatten()
    a = (pg * row)[:, None] + (of * D)[:, None] + torch.arange(D)
    flat[a.flatten()] = k.view(torch.uint8).flatten()
    b = (pg * row)[:, None] + P * D + (of * 4)[:, None] + torch.arange(4)
    flat[b.flatten()] = sc.view(torch.uint8).flatten()


@entry(
    "buf u8 B P*(D+4); loc i64 =slots; k f8 T D",
    "refuse",
    reason="host-loop",
)
def G6(buf, loc, k, P: int = 4):
    """S10: A loop over tokens that writes a slice of bytes each."""
    D = k.shape[1]
    for i in range(loc.shape[0]):
        pg, of = int(loc[i]) // P, int(loc[i]) % P
        buf[pg, of * D : (of + 1) * D] = k[i].view(torch.uint8)


@exported_as("G6")
def G6_bounded(buf, loc, k, P: int = 4):
    D = k.shape[1]
    for i in range(loc.shape[0]):
        pg, of = read(loc[i] // P, buf.shape[0]), read(loc[i] % P, P)
        buf.select(0, pg).narrow(0, of * D, D).copy_(k[i].view(torch.uint8))


@entry(
    "kc bf16 B P D; ij i64 =pagepair; ok_ b =mask; u f32 T D",
    "normalise",
    launches=(1,),
)
def G9(kc, ij, ok_, u):
    """S12: Two-column index, rows left out by a mask."""
    i = torch.where(ok_[:, None], ij, torch.full_like(ij, -1))
    u = u.to(kc.dtype)
    kc[i[ok_, 0], i[ok_, 1]] = u[ok_]


@entry(
    "kc bf16 B P H D; vc bf16 B P H D; s i64 =slotspad; k bf16 T H D; v bf16 T H D",
    "normalise",
    launches=(2,),
)
def NV1(kc, vc, s, k, v):
    """S13: Slots and rows compressed by a mask before the pages are computed."""
    m = s != -1
    s = s[m]
    pg, of = s // kc.shape[1], s % kc.shape[1]
    kc[pg, of] = k[m]
    vc[pg, of] = v[m]


@entry(
    "kc bf16 B P H D; s i64 =slotspad; k bf16 T H D",
    "normalise",
    launches=(1,),
)
def NV3(kc, s, k):
    """S13: Compressed twice: by sign, and by capacity."""
    m = s >= 0
    q = s[m]
    pg = q // kc.shape[1]
    r = pg < kc.shape[0]
    q, pg = q[r], pg[r]
    kc[pg, q % kc.shape[1]] = k[m][r].contiguous()


@entry(
    "kc bf16 B*P H D; vc bf16 B*P H D; s i32 =slots; k f32 T H*D; v f32 T H*D",
    "fuse",
    launches=(2,),
)
def NV4(kc, vc, s, k, v):
    """S7: Flat pool, rows viewed and cast in the call."""
    i = s.to(torch.long)
    kc.index_put_((i,), k.view(-1, *kc.shape[1:]).to(kc.dtype))
    vc.index_put_((i,), v.view(-1, *vc.shape[1:]).to(vc.dtype))


@entry(
    "kc bf16 B H D//4 P 4; vc bf16 B H D P; s i64 =slots; k bf16 T H D; v bf16 T H D",
    "refuse",
    reason="host-loop",
)
def V1(kc, vc, s, k, v):
    """S2: A loop over tokens; K split into vectors, V with positions innermost."""
    P = vc.shape[3]
    ku = k.reshape(-1, *kc[0, :, :, 0, :].shape)
    pg = torch.div(s, P, rounding_mode="floor").tolist()
    of = (s % P).tolist()
    for i in range(k.shape[0]):
        kc[pg[i], :, :, of[i], :] = ku[i]
        vc[pg[i], :, :, of[i]] = v[i]


@exported_as("V1")
def V1_bounded(kc, vc, s, k, v):
    P = vc.shape[3]
    ku = k.reshape(-1, *kc[0, :, :, 0, :].shape)
    for i in range(k.shape[0]):
        pg, of = read(s[i] // P, vc.shape[0]), read(s[i] % P, P)
        kc.select(0, pg).select(2, of).copy_(ku[i])
        vc.select(0, pg).select(2, of).copy_(v[i])


@entry(
    "kc bf16 B H D//4 P 4; vc bf16 B H D P; s i64 =slots; k bf16 T H D; v bf16 T H D",
    "fuse",
    launches=(2,),
)
def V1b(kc, vc, s, k, v):
    """S2: The caches of V1 without the loop."""
    P = vc.shape[3]
    pg, of = torch.div(s, P, rounding_mode="floor"), s % P
    kc[pg, :, :, of, :] = k.reshape(k.shape[0], *kc.shape[1:3], kc.shape[4])
    vc[pg, :, :, of] = v


@entry(
    "kc u8 B P D+4+8; s i64 =slots; c bf16 T D; r bf16 T 4",
    "refuse",
    reason="host-loop",
)
def V4(kc, s, c, r):
    """S15: A loop over tokens; three element types in one row of bytes."""
    P, L = kc.shape[1], c.shape[1]
    for i in range(s.shape[0]):
        row = kc[int(s[i]) // P, int(s[i]) % P]
        sc = c[i].abs().amax().float() / 448.0
        row.view(torch.float32)[L // 4] = sc
        row[:L] = (c[i].float() / sc).to(torch.float8_e4m3fn).view(torch.uint8)
        row.view(torch.bfloat16)[L // 2 + 2 :] = r[i]


@exported_as("V4")
def V4_bounded(kc, s, c, r):
    P, L = kc.shape[1], c.shape[1]
    for i in range(s.shape[0]):
        row = kc.select(0, read(s[i] // P, kc.shape[0])).select(0, read(s[i] % P, P))
        sc = c[i].abs().amax().float() / 448.0
        row.narrow(0, L, 4).copy_(sc.view(1).view(torch.uint8))
        row.narrow(0, 0, L).copy_(
            (c[i].float() / sc).to(torch.float8_e4m3fn).view(torch.uint8)
        )
        row.narrow(0, L + 4, 8).copy_(r[i].view(torch.uint8))


@entry(
    "kc bf16 H B P D; vc bf16 H B P D; hs i64 =headslots; k bf16 T H D; v bf16 T H D",
    "fuse",
    launches=(2,),
)
def V5(kc, vc, hs, k, v):
    """S9: Heads are part of the index: T * H rows."""
    kf, vf = kc.flatten(0, 2), vc.flatten(0, 2)
    kf.index_copy_(0, hs, k.flatten(0, 1))
    vf.index_copy_(0, hs, v.flatten(0, 1))


@entry(
    "pool bf16 2 B H P D; s i64 =slots; k bf16 T H D; v bf16 T H D",
    "normalise",
    launches=(2,),
)
def V7(pool, s, k, v):
    """S3: Every dimension is indexed: selector, page, head and offset."""
    P = pool.shape[3]
    pg, of = torch.div(s, P, rounding_mode="floor"), s % P
    h = torch.arange(k.shape[1])
    for j, u in ((0, k), (1, v)):
        pool.index_put_((torch.tensor([j]), pg[:, None], h[None, :], of[:, None]), u)


@entry(
    "kc bf16 B H P D; s i64 =slots; k bf16 1 H T D",
    "normalise",
    launches=(1,),
)
def V8(kc, s, k):
    """S3: Index tensors repeated for each head."""
    H, T, P = k.shape[1], s.shape[0], kc.shape[2]
    h = torch.arange(H).repeat_interleave(T)
    kc.index_put_(
        ((s // P).repeat(H), h, (s % P).repeat(H)),
        k.reshape(-1, k.shape[-1]).to(kc.dtype),
    )


@entry(
    "kc bf16 B P H D; bi i64 =page; oi i64 =off; k bf16 T H D",
    "normalise",
    launches=(1,),
)
def HP1(kc, bi, oi, k):
    """S4: Page and offset are inputs."""
    kc.index_put_((bi, oi), k)


@entry(
    "kc bf16 B P H D; bi i64 =[4,1]; k bf16 2 P H D",
    "fuse",
    launches=(1,),
)
def HP2(kc, bi, k):
    """S19: Whole pages."""
    kc.index_copy_(0, bi, k)


@entry(
    "kc bf16 B H P D; s i64 =slotspad1; k bf16 1 H T D",
    "normalise",
    launches=(1,),
)
def ND2(kc, s, k):
    """S3: Indices expanded over heads; padding redirected to the last slot."""
    B, H, P, D = kc.shape
    N, n = s.shape
    s = torch.where(s == -1, torch.tensor(B * P - 1), s)
    g = lambda x: x.view(N, 1, n).expand(N, H, n)
    h = torch.arange(H).view(1, H, 1).expand(N, H, n)
    return torch.index_put(kc, [g(s // P), h, g(s % P)], k)


@opaque("(Tensor c, Tensor b, Tensor p, Tensor u) -> Tensor")
def ctx_scatter_cb(c, b, p, u):
    out = c.clone()
    for i in range(p.shape[0]):
        for j in range(p.shape[1]):
            if int(p[i, j]) < c.shape[2]:
                out[int(b[i, 0]), :, int(p[i, j])] = u[i, :, j]
    return out


@entry(
    "kc bf16 N H S D; bi i64 =[[2],[0]]; pos i32 =posneg; k bf16 2 H 2 D",
    "refuse",
    reason="opaque-op",
)
def QE1(kc, bi, pos, k):
    """S12: A custom scatter that drops rows out of range."""
    p = torch.where(pos < 0, torch.iinfo(torch.int32).max, pos)
    return ctx_scatter_cb(kc, bi, p, k)


@opaque("(Tensor(a!) kc, Tensor s, Tensor k) -> ()")
def reshape_and_cache(kc, s, k):
    l = s.long()
    kc[l // kc.shape[2], :, l % kc.shape[2]] = k


@entry(
    "kc bf16 B H P D; s i32 =slots; k bf16 T H D",
    "refuse",
    reason="opaque-op",
)
def OI1(kc, s, k):
    """S12: A vendor's paged write."""
    reshape_and_cache(kc, s, k)


@entry(
    "kc bf16 1 H S D; vc bf16 1 H S D; pos i64 =ar3; k bf16 1 H T D; v bf16 1 H T D",
    "refuse",
    reason="contiguous",
)
def ET1(kc, vc, pos, k, v):
    """S17: A start read on the host, and a copy."""
    p = pos[0].item()
    torch._check(p >= 0)
    torch._check(p + k.shape[2] <= kc.shape[2])
    kc.narrow(2, p, k.shape[2]).copy_(k)
    vc.narrow(2, p, k.shape[2]).copy_(v)


@entry(
    "kc i8 1 S H D; ks f32 1 S H 1; kz i8 1 S H 1; pos i64 =ar3; k f32 1 H T D",
    "fuse",
    launches=(3,),
)
def ET3(kc, ks, kz, pos, k):
    """S15: int8 rows with scales and zero points at the same positions."""
    k = k.transpose(1, 2)
    sc = ((k.amax(-1, True) - k.amin(-1, True)) / 255).clamp_min(1e-6)
    z = (-128 - k.amin(-1, True) / sc).round().clamp(-128, 127)
    kc[:, pos] = (k / sc + z).round().clamp(-128, 127).to(torch.int8)
    ks[:, pos] = sc
    kz[:, pos] = z.to(torch.int8)


@opaque("(Tensor u, Tensor(a!) c, SymInt p) -> ()")
def update_cache(u, c, p):
    c[:, p : p + u.shape[1]] = u


@entry(
    "kc bf16 1 S H D; pos i64 =ar3; k bf16 1 H T D",
    "refuse",
    reason="opaque-op",
)
def ET4(kc, pos, k):
    """S12: A registered update with a start read on the host."""
    update_cache(k.transpose(1, 2), kc, int(pos[0]))


@exported_as("ET4")
def ET4_bounded(kc, pos, k):
    start = read(pos[0], kc.shape[1] - k.shape[2] + 1)
    update_cache(k.transpose(1, 2), kc, start)


@entry(
    "kc bf16 2 H 1 D S; pos i64 =ar3; k bf16 1 1 D T",
    "fuse",
    launches=(1,),
)
def CM1(kc, pos, k, l: int = 1, h: int = 2):
    """S16: Positions are the innermost dimension."""
    kc[l, h, :, :, pos] = k.squeeze(0)


@entry(
    "kc bf16 1 H S D; pos i64 =[5]; k bf16 1 H 1 D",
    "refuse",
    reason="not-a-scatter",
)
def CM2(kc, pos, k):
    """S20: A selection between the new row and the whole old cache."""
    m = (torch.arange(kc.shape[2]) == pos).view(1, 1, -1, 1)
    return torch.where(m, k.expand_as(kc), kc)


@entry(
    "kc bf16 1 H S D; vc bf16 1 H S D; pos i64 =ar3; k bf16 1 H T D; v bf16 1 H T D",
    "fuse",
    launches=(2,),
)
def GF1(kc, vc, pos, k, v):
    """S16: Static cache, position vector on dimension 2."""
    kc[:, :, pos] = k
    vc[:, :, pos] = v


@entry(
    "kc bf16 1 H S D; pos i64 =ar3; k bf16 1 H T D",
    "fuse",
    launches=(1,),
)
def AO1(kc, pos, k):
    """S16: The same through the operation itself."""
    return torch.ops.aten.index_put_(kc, [None, None, pos], k)


@entry(
    "kc bf16 N S H D; k bf16 2 T H D",
    "refuse",
    reason="contiguous",
)
def TT1(kc, k, p: int = 3):
    """S17: A slice of positions."""
    kc[: k.shape[0], p : p + k.shape[1]] = k


@entry(
    "kc bf16 1 H S D; vc bf16 1 H S D; pb i64 =arS; k bf16 1 H T D; v bf16 1 H T D",
    "fuse",
    launches=(2,),
)
def TT2(kc, vc, pb, k, v):
    """S16: Positions from a buffer that advances after the writes."""
    n = k.shape[2]
    kc[:, :, pb[:n]] = k
    vc[:, :, pb[:n]] = v
    pb.add_(n)


@entry(
    "kc bf16 2 H S D; pos i64 =pos2; k bf16 2 H 2 D",
    "fuse",
    launches=(1, 1),
    reason="different-indices",
)
def LG2(kc, pos, k):
    """S16: One index_copy_ for each sequence."""
    for i in range(k.shape[0]):
        kc[i].index_copy_(1, pos[i], k[i])


@entry(
    "ic f8 2 S D; isc f32 2 S 1; k bf16 2 T D",
    "refuse",
    reason="contiguous",
)
def DS1(ic, isc, k, p: int = 3):
    """S17: fp8 rows and scales into slices of positions."""
    sc = k.float().abs().amax(-1, keepdim=True).clamp_min(1e-4) / 448.0
    q = (k.float() / sc).to(torch.float8_e4m3fn)
    ic[: k.shape[0], p : p + k.shape[1]] = q
    isc[: k.shape[0], p : p + k.shape[1]] = sc


@entry(
    "kc bf16 2 S H D; ln i64 =[1,4]; k bf16 2 2 H D",
    "refuse",
    reason="mask-index",
)
def FA1(kc, ln, k):
    """S20: A mask over all positions."""
    ar = torch.arange(kc.shape[1])[None, :]
    m = (ln[:, None] <= ar) & (ar < ln[:, None] + k.shape[1])
    kc[m] = k.flatten(0, 1)


@entry(
    "kc bf16 B H D//4 P 4; s i64 =slots; k bf16 T H D",
    "refuse",
    reason="cache-copied",
)
def AI1(kc, s, k):
    """S8: Written in a copy of another layout, and viewed back."""
    B, H, Dx, P, x = kc.shape
    f = kc.permute(0, 3, 1, 2, 4).contiguous().view(-1, H, Dx * x)
    f[s] = k
    return f.view(B, P, H, Dx, x).permute(0, 2, 3, 1, 4)


@entry(
    "pool bf16 B 2 P H D; ind i32 =pages6; ptr i32 =[0,2,6]; bi i64 =bidx; pos i64 =bpos; k bf16 T H D; v bf16 T H D",
    "normalise",
    launches=(2,),
)
def FI1(pool, ind, ptr, bi, pos, k, v):
    """S5: Pages through a ragged page table."""
    P = pool.shape[2]
    pg = ind[(ptr[bi] + pos // P).long()].long()
    pool[pg, 0, pos % P] = k
    pool[pg, 1, pos % P] = v


@entry(
    "kc bf16 B P H D; tab i64 =table2; k bf16 T H D",
    "refuse",
    reason="host-loop",
)
def LM1(kc, tab, k, n=(2, 3), hist=(3, 1)):
    """S17: A loop over sequences and pages."""
    P = kc.shape[1]
    for b, u in enumerate(k.split(list(n))):
        i, st = (hist[b] + P) // P - 1, hist[b] % P
        while u.shape[0]:
            c = min(P - st, u.shape[0])
            kc[tab[b, i], st : st + c] = u[:c]
            u, i, st = u[c:], i + 1, 0


@exported_as("LM1")
def LM1_bounded(kc, tab, k, n=(2, 3), hist=(3, 1)):
    P = kc.shape[1]
    for b, u in enumerate(k.split(list(n))):
        i, st = (hist[b] + P) // P - 1, hist[b] % P
        while u.shape[0]:
            c = min(P - st, u.shape[0])
            page = kc.select(0, read(tab[b, i], kc.shape[0]))
            page.narrow(0, st, c).copy_(u[:c])
            u, i, st = u[c:], i + 1, 0


@entry(
    "kc bf16 B P 1 D; pt i64 =[4]; pos i64 =[1,5]; k bf16 2 2 1 4; v bf16 2 2 1 4",
    "normalise",
    launches=(1,),
)
def KT2(kc, pt, pos, k, v, per: int = 3):
    """S1: The page size is a tensor."""
    pg = (pos // pt).unsqueeze(0).expand(2, -1)
    of = (pos % pt).unsqueeze(0).expand(2, -1)
    pg = pg + (torch.arange(2) * per).unsqueeze(1)
    kc[pg, of] = torch.cat([k, v], dim=-1).contiguous()


@entry(
    "kc bf16 B P 1 D; pi i64 =pipad; oi i64 =oipad; u bf16 2 2 1 D",
    "normalise",
    launches=(1,),
)
def KT3(kc, pi, oi, u):
    """S4: Padding is -1 and wraps."""
    kc[pi, oi] = u


@entry(
    "kc bf16 1 H S D; vc bf16 1 H S D; pos i64 =ar3; k bf16 1 H T D; v bf16 1 H T D",
    "fuse",
    launches=(2,),
)
def H1(kc, vc, pos, k, v):
    """S16: index_copy_ on the positions."""
    kc.index_copy_(2, pos, k)
    vc.index_copy_(2, pos, v)


@entry(
    "kc bf16 1 H S D; k bf16 1 H 1 D",
    "refuse",
    reason="not-a-scatter",
)
def H2(kc, k):
    """S18: The window is rolled, and its last row replaced."""
    n = kc.roll(-1, dims=-2)
    n[:, :, torch.tensor([-1])] = k
    kc.copy_(n)


@entry(
    "kc bf16 B*P H D; vc bf16 B*P H D; wi i64 =slots; ri i64 =slotspad; k bf16 1 H T D; v bf16 1 H T D",
    "fuse",
    launches=(2,),
)
def H4(kc, vc, wi, ri, k, v):
    """S7: Old rows are read before they are written over."""
    k, v = k.transpose(1, 2).squeeze(0), v.transpose(1, 2).squeeze(0)
    old = kc[ri]  # must read the rows before the write
    kc[wi, :, :] = k
    vc[wi, :, :] = v
    return old


@entry(
    "kc bf16 1 H S D; k bf16 1 H T D",
    "refuse",
    reason="not-a-scatter",
)
def H5(kc, k, W: int = 10):
    """S20: Concatenation, and a slice of it."""
    return torch.cat([kc, k], dim=-2)[:, :, -W + 1 :, :]


@entry(
    "st bf16 B L*2*H*P*D; pid i64 =pid22; pos i64 =[1,6]; k f32 2 1 H D; v f32 2 1 H D",
    "fuse",
    launches=(1, 1),
    reason="different-indices",
)
def SA2(
    st, pid, pos, k, v, L: int = 2, H: int = 3, P: int = 4, D: int = 8, layer: int = 1
):
    """S9: Layer, K or V, head and offset are digits of one row number."""
    rows = st.unflatten(1, (L, 2, H, P, D)).flatten(0, 4)
    N = pos.shape[0]
    pg = pid.gather(1, (pos // P).unsqueeze(1)).view(N, 1, 1)
    of = (pos % P).view(N, 1, 1)
    hd = torch.arange(H).view(1, 1, H)
    for part, u in ((0, k), (1, v)):
        i = (
            ((pg * L + layer) * 2 + torch.tensor(part).view(1, 1, 1)) * H + hd
        ) * P + of
        rows.index_put_((i,), u.to(rows.dtype))


@entry(
    "pool bf16 2 1 H S D; k bf16 1 H T D; v bf16 1 H T D",
    "refuse",
    reason="contiguous",
)
def TG1(pool, k, v, p: int = 3):
    """S17: K and V stacked into a slice of positions."""
    pool[:, :, :, p : p + k.shape[2], :] = torch.stack([k, v])


@entry(
    "kc bf16 B*P H*D; s i64 =slots; k f32 T H D",
    "fuse",
    launches=(1,),
)
def LC1(kc, s, k):
    """S12: Flat rows of all heads, cast by the write."""
    kc.index_copy_(0, s, k.view(k.shape[0], -1).to(kc.dtype))


@entry(
    "vc bf16 H*D B*P; s i64 =slots; v bf16 T H*D",
    "refuse",
    reason="element-scatter",
)
def LC2(vc, s, v):
    """S10: One index for each element."""
    S = vc.shape[1]
    i = (torch.arange(vc.shape[0])[None, :] * S + s[:, None]).flatten()
    vc.view(-1, 1).index_copy_(0, i, v.reshape(-1, 1))


@entry(
    "kc bf16 2 H S D; wi i64 =[3,11]; k bf16 2 H T D",
    "normalise",
    launches=(1,),
)
def ON1(kc, wi, k, circular: bool = True):
    """S12: Positions from a start for each sequence, expanded for scatter."""
    i = wi[:, None] + torch.arange(k.shape[2])
    if circular:
        i = i % kc.shape[2]
    out = kc.clone()
    out.scatter_(2, i.view(i.shape[0], 1, -1, 1).expand_as(k), k)
    return out


@opaque("(Tensor(a!) kc, Tensor s, Tensor k) -> ()")
def fused_attention_(kc, s, k):
    kc[s // kc.shape[2], :, s % kc.shape[2]] = k


@entry(
    "kc bf16 B H P D; s i64 =slots; k bf16 T H D",
    "refuse",
    reason="opaque-op",
)
def PD1(kc, s, k):
    """S12: An attention operation that also writes its caches."""
    fused_attention_(kc, s, k)
