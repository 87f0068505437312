"""Gradient functions that ran are recorded, in eager mode and in graphs, and no others."""

from typing import Any

import pytest

from gradfuzz.gradients_run import recording
from gradfuzz.registry import registered_gradients
from gradfuzz.runtime import ops, tf
from tests.planted import planted_gradient


def gradient_of_tanh() -> Any:
    x = tf.constant([0.5])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.raw_ops.Tanh(x=x)
    return tape.gradient(y, x)


@pytest.mark.parametrize("function", [gradient_of_tanh, tf.function(gradient_of_tanh)])
def test_a_gradient_that_ran_is_recorded(function: Any) -> None:
    with recording() as seen:
        function()
    assert seen == {"Tanh"}


def test_a_forward_pass_and_a_look_into_the_registry_run_none() -> None:
    with recording() as seen:
        tf.raw_ops.Tanh(x=tf.constant([0.5]))
        assert "Tanh" in registered_gradients()
    assert seen == set()


def test_an_op_that_is_declared_not_differentiable_has_none_to_run() -> None:
    x = tf.constant([0.5])
    with recording() as seen, tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.raw_ops.ZerosLike(x=x)
        tape.gradient(y, x)
    assert seen == set()


def test_a_gradient_that_raises_ran() -> None:
    def broken(right: Any, op: Any, cotangent: Any) -> Any:
        raise ZeroDivisionError

    with planted_gradient("Tanh", broken), recording() as seen, pytest.raises(ZeroDivisionError):
        gradient_of_tanh()
    assert seen == {"Tanh"}


def test_blocks_may_be_nested_and_leave_the_registry_as_it_was() -> None:
    before = type(ops.gradient_registry)
    with recording() as outer:
        with recording() as inner:
            gradient_of_tanh()
        gradient_of_tanh()
    assert outer == inner == {"Tanh"}
    gradient_of_tanh()
    assert type(ops.gradient_registry) is before
