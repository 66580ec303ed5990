# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PrewrittenLayers: marks of layers, and what errors leave of them."""

import pytest

import kvfuse
from kvfuse_testing.package import make_inputs, write_layer

KEY, VALUE, INDEX_KEY = kvfuse.Part.KEY, kvfuse.Part.VALUE, kvfuse.Part.INDEX_KEY
ALL = KEY | VALUE | INDEX_KEY


@pytest.fixture
def layers():
    return kvfuse.PrewrittenLayers()


def test_each_part_is_consumed_once(layers):
    layers.mark(3, 7, ALL)
    assert layers.consume(3, 7, INDEX_KEY)
    assert layers.consume(3, 7, KEY | VALUE)
    assert not layers.consume(3, 7, INDEX_KEY)
    assert not layers.consume(3, 7, KEY)


def test_marks_of_other_layers_and_steps_do_not_count(layers):
    layers.mark(3, 7, ALL)
    assert not layers.consume(4, 7, KEY)
    assert not layers.consume(3, 8, KEY)
    assert not layers.consume(3, 7, KEY), "another step's consumer took the marks"


def test_what_is_asked_for_together_is_there_together(layers):
    """K alone was marked: the caller writes K and V, so K's mark goes too."""
    layers.mark(0, 1, KEY)
    assert not layers.consume(0, 1, KEY | VALUE)
    assert not layers.consume(0, 1, KEY)


def test_marks_of_one_step_add_up_and_a_new_step_starts_anew(layers):
    layers.mark(0, 1, KEY)
    layers.mark(0, 1, VALUE)
    assert layers.consume(0, 1, KEY | VALUE)
    layers.mark(0, 1, INDEX_KEY)
    layers.mark(0, 2, KEY)
    assert not layers.consume(0, 2, INDEX_KEY)


def test_clear_takes_one_layer_or_all(layers):
    for layer in range(3):
        layers.mark(layer, 1, ALL)
    layers.clear(0)
    assert not layers.consume(0, 1, ALL) and layers.consume(1, 1, ALL)
    layers.clear()
    assert not layers.consume(2, 1, ALL)


def test_an_error_in_the_write_leaves_it_unmarked(layers):
    layers.mark(0, 1, INDEX_KEY)
    with pytest.raises(RuntimeError), layers.writing(0, 1, KEY | VALUE):
        raise RuntimeError
    assert not layers.consume(0, 1, KEY) and not layers.consume(0, 1, VALUE)
    assert layers.consume(0, 1, INDEX_KEY), "it was written"


def test_an_error_in_a_second_write_takes_the_first_mark(layers):
    layers.mark(0, 1, KEY)
    with pytest.raises(RuntimeError), layers.writing(0, 1, KEY):
        raise RuntimeError
    assert not layers.consume(0, 1, KEY)


def test_an_error_between_mark_and_consumer_leaves_nothing_marked(layers):
    """Also for a step that is run again under the same number."""
    with pytest.raises(RuntimeError), layers.step():
        for layer in range(2):
            with layers.writing(layer, 1, ALL):
                pass
        raise RuntimeError
    assert not any(layers.consume(layer, 1, ALL) for layer in range(2))


def test_a_step_that_ends_leaves_nothing_marked(layers):
    with layers.step(), layers.writing(0, 1, ALL):
        pass
    assert not layers.consume(0, 1, ALL)


@pytest.mark.parametrize("fuse", ["on", "off"])
def test_a_refused_fusion_marks_too(layers, fuse):
    """The chain wrote: its consumers find what a fused write leaves."""
    inputs = make_inputs()
    write = kvfuse.compile(write_layer, inputs.arguments, fuse=fuse)
    with layers.writing(0, 1, ALL):
        write(*inputs.arguments)
    assert layers.consume(0, 1, ALL)


def test_a_call_with_wrong_arguments_does_not_mark(layers):
    write = kvfuse.compile(write_layer, make_inputs().arguments)
    with pytest.raises(TypeError), layers.writing(0, 1, ALL):
        write(*make_inputs().arguments[:3])
    assert not layers.consume(0, 1, KEY)
