"""Switches that are kept and told."""

import flambeau as fl
import pytest


def test_determinism_by_mode_and_by_number():
    assert fl.get_deterministic_debug_mode() == 0
    fl.set_deterministic_debug_mode("warn")
    assert fl.are_deterministic_algorithms_enabled()
    assert fl.is_deterministic_algorithms_warn_only_enabled()
    assert fl.get_deterministic_debug_mode() == 1
    fl.use_deterministic_algorithms(False)
    assert fl.get_deterministic_debug_mode() == 0
    with pytest.raises(RuntimeError, match="allowed: 0 'default', 1 'warn', 2 'error'"):
        fl.set_deterministic_debug_mode(3)


def test_words_and_numbers_are_checked():
    with pytest.raises(RuntimeError, match="not one of 'highest', 'high', or 'medium'"):
        fl.set_float32_matmul_precision("low")
    with pytest.raises(RuntimeError, match="positive number of threads, got 0"):
        fl.set_num_interop_threads(0)
