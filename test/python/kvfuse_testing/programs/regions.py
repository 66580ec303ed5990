# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes in branches and in loops."""

from collections.abc import Callable

from .caches import Pool
from .model import For, If, Op
from .writes import WriteBuilder


class RegionBuilder(WriteBuilder):
    """Adds scf.if and scf.for to a program."""

    def versions(self) -> dict[str, str]:
        """Argument -> its version, of all pools."""
        return {pool.argument: pool.version for pool in self.pools}

    def branch(self, work: Callable[[], None]) -> tuple[list[Op], dict[str, str]]:
        """What `work` adds to a region, and the versions at its end. Behind it,
        the pools are what they were in front of it."""
        before, last = self.versions(), self.last
        with self.region() as ops:
            work()
            after = self.versions()
        for pool in self.pools:
            pool.version = before.get(pool.argument, pool.argument)
        self.last = last
        return ops, after

    def result(self, pool: Pool, *sources: str) -> str:
        """A version of the pool that is one of `sources`."""
        made = self.add("cache", self.program.types[pool.argument])
        if self.is_rounded(*sources):
            self.program.rounded.add(made)
        return made

    def choose(
        self, flag: str, then: Callable[[], None], otherwise: Callable[[], None]
    ) -> None:
        """An scf.if that returns the pools which either branch has changed."""
        branches = [self.branch(then), self.branch(otherwise)]
        results = []
        for pool in self.pools:
            name, before = pool.argument, pool.version
            yielded = [after.get(name, before) for _, after in branches]
            if yielded == [before, before]:
                continue
            result = self.result(pool, *yielded)
            results.append((result, *yielded))
            self.set_version(pool, result)
        (then_ops, _), (other_ops, _) = branches
        self.ops.append(If(flag, tuple(then_ops), tuple(other_ops), tuple(results)))

    def conditional(self) -> None:
        """A layer that a flag guards, or one of two."""
        style = self.style()
        two = self.chance(0.3)
        self.choose(
            self.flag(),
            lambda: self.layer(style),
            lambda: self.layer(style) if two else None,
        )

    def prewritten(self) -> None:
        """The last write once more, unless a flag says that it was done."""
        self.choose(self.flag(), lambda: None, self.repeat)

    def repeated_layer(self) -> None:
        """A layer in a loop that carries its caches."""
        style = self.style()
        caches = [self.cache(style) for _ in range(self.rng.choice([1, 2]))]
        pools = [p for p in self.pools if any(p is cache.pool for cache in caches)]
        counter, rounds = f"round{len(self.program.types)}", self.rng.choice([1, 2, 3])
        firsts = [pool.version for pool in pools]
        inners = [self.result(pool, pool.version) for pool in pools]

        def body() -> None:
            for pool, inner in zip(pools, inners, strict=True):
                pool.version = inner
            self.allowed, self.loop = pools, (counter, rounds)
            self.layer(style)
            self.allowed = self.loop = None

        ops, after = self.branch(body)
        yielded = [after[pool.argument] for pool in pools]
        results = [
            self.result(pool, *sources)
            for pool, *sources in zip(pools, firsts, yielded, strict=True)
        ]
        carried = tuple(zip(results, inners, firsts, yielded, strict=True))
        self.ops.append(For(counter, rounds, tuple(ops), carried))
        for pool, result in zip(pools, results, strict=True):
            self.set_version(pool, result)
