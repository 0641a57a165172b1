"""The caching allocator as Python sees it: statistics, peaks, and giving memory back."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import flambeau as fl
import pytest

MB = 1 << 20


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    fl.empty_cache()
    yield
    fl.empty_cache()


def test_statistics_count_what_is_allocated():
    before = fl.memory_stats()
    x = fl.zeros(MB)  # 4 MB
    during = fl.memory_stats()
    assert 4 * MB <= during["allocated_bytes"] - before["allocated_bytes"] < 5 * MB
    del x
    assert fl.memory_stats()["allocated_bytes"] == before["allocated_bytes"]


def test_freed_memory_is_kept_and_used_again():
    x = fl.zeros(MB)
    address = x.data_ptr()
    del x
    assert fl.memory_stats()["cached_bytes"] >= 4 * MB
    assert fl.zeros(MB).data_ptr() == address


def test_empty_cache_gives_everything_back():
    x = fl.ones(64 * MB // 4)
    before = resident()
    del x
    fl.empty_cache()
    assert fl.memory_stats()["cached_bytes"] < MB  # what other threads keep for small tensors
    assert resident() < before - 60 * MB


def test_peak_is_the_most_since_the_last_reset():
    gc.collect()
    fl.reset_peak_memory_stats()
    x = fl.zeros(2 * MB)
    held = fl.memory_stats()["allocated_bytes"]
    del x
    assert fl.memory_stats()["peak_allocated_bytes"] >= held >= 8 * MB
    fl.reset_peak_memory_stats()
    assert fl.memory_stats()["peak_allocated_bytes"] <= held - 8 * MB


def test_views_share_and_the_last_one_frees():
    x = fl.zeros(MB)
    allocated = fl.memory_stats()["allocated_bytes"]
    view = x[10:]
    assert fl.memory_stats()["allocated_bytes"] == allocated
    del x
    assert fl.memory_stats()["allocated_bytes"] == allocated
    del view
    assert fl.memory_stats()["allocated_bytes"] <= allocated - 4 * MB


def test_a_request_that_cannot_be_met_leaves_the_statistics():
    before = fl.memory_stats()["allocated_bytes"]
    with pytest.raises((RuntimeError, MemoryError)):
        fl.empty(1 << 60)
    assert fl.memory_stats()["allocated_bytes"] == before
