"""Worker processes: what they send, how they fail, how they end."""

import faulthandler
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import flambeau
import pytest
from flambeau.utils.data import DataLoader, Dataset, get_worker_info

FAULT_SECONDS = 5.0


class Calls(Dataset):
    """Sample i is f(i)."""

    def __init__(self, f, n=20):
        self.f = f
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.f(i)


def as_is(batch):
    return batch


def sent(value):
    """Return `value` after it went through a worker."""
    return next(iter(DataLoader([0], None, num_workers=1, collate_fn=lambda _: value)))


def is_running(pid):
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


# ---- what they send


@pytest.mark.parametrize("n", [1, 100_000])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16", "int8", "uint8", "bool", "complex64"])
def test_tensors_arrive_as_they_were(dtype, n):
    t = flambeau.ones(n, 3, dtype=getattr(flambeau, dtype))
    got = sent(t)
    assert got.dtype == t.dtype
    assert got.shape == t.shape
    assert bool((got == t).all())


def test_odd_tensors_arrive():
    got = sent(
        [
            flambeau.tensor(3.5),
            flambeau.empty(0, 3),
            flambeau.arange(12).reshape(3, 4).t(),
            flambeau.arange(10)[::3],
            flambeau.ones(2, requires_grad=True),
        ]
    )
    assert got[0].item() == 3.5
    assert got[1].shape == (0, 3)
    assert got[2].tolist() == flambeau.arange(12).reshape(3, 4).t().tolist()
    assert got[3].tolist() == [0, 3, 6, 9]
    assert got[4].requires_grad


@pytest.mark.parametrize("n", [2, 100_000])
def test_tensors_that_arrive_can_be_written_to(n):
    got = sent(flambeau.zeros(n))
    got.add_(1)
    assert got.sum().item() == n


def test_other_objects_arrive():
    value = {"text": "x" * 100_000, "set": {1, 2}, "none": None, "nested": [({"a": b"b"},)]}
    assert sent(value) == value


def test_many_tensors_arrive_in_one_batch():
    got = sent([flambeau.full((2,), float(i)) for i in range(5000)])
    assert len(got) == 5000
    assert got[4321].tolist() == [4321.0, 4321.0]


def test_batches_outlive_their_worker():
    batches = list(DataLoader(Calls(lambda i: flambeau.full((50_000,), float(i)), 4), 1, num_workers=2))
    assert [b[0, -1].item() for b in batches] == [0.0, 1.0, 2.0, 3.0]


def test_memory_is_used_again_but_never_under_a_batch_that_is_alive():
    sizes = [20_000, 30_000, 9_000, 100, 60_000, 20_000]
    calls = Calls(lambda i: flambeau.full((sizes[i % 6],), float(i)), 300)
    kept = {}
    for i, batch in enumerate(DataLoader(calls, None, num_workers=2)):
        assert bool((batch == i).all())
        if i % 7 == 0:
            kept[i] = batch[10:50]
        if i % 50 == 49:
            for k in list(kept)[::2]:
                assert bool((kept.pop(k) == k).all())
    assert all(bool((view == k).all()) for k, view in kept.items())
    assert len(kept) > 5


def test_memory_that_a_forked_child_may_read_is_not_used_again():
    it = iter(DataLoader(Calls(lambda i: flambeau.full((50_000,), float(i)), 12), None, num_workers=1))
    batch = next(it)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        flambeau.set_num_threads(1)
        os.read(reader, 1)
        os._exit(0 if bool((batch == 0).all()) else 1)
    del batch
    rest = list(it)
    assert [r[0].item() for r in rest] == list(range(1, 12))
    os.write(writer, b"x")
    assert os.waitpid(pid, 0)[1] == 0
    os.close(reader)
    os.close(writer)


def test_more_batches_than_segments_can_be_kept():
    batches = list(DataLoader(Calls(lambda i: flambeau.full((10_000,), float(i)), 60), None, num_workers=2))
    assert all(bool((b == i).all()) for i, b in enumerate(batches))


def test_long_lists_of_keys_do_not_block():
    loader = DataLoader(range(600_000), 200_000, num_workers=2, collate_fn=len)
    assert list(loader) == [200_000] * 3


def test_a_tensor_with_a_graph_is_refused():
    with pytest.raises(RuntimeError, match="non-leaf"):
        sent(flambeau.ones(1, requires_grad=True) * 2)


# ---- how they fail


def failing(i):
    if i == 3:
        return {}["missing"]
    if i == 5:
        raise ValueError("bad sample 5")
    return i


def test_an_exception_in_a_worker_is_raised_here_with_its_traceback():
    it = iter(DataLoader(Calls(failing, 7), 1, num_workers=2))
    got = []
    while True:
        try:
            got.append(next(it).item())
        except StopIteration:
            break
        except KeyError as error:
            got.append("KeyError")
            assert "in DataLoader worker process 1" in str(error)
            assert "in failing" in str(error)
        except ValueError as error:
            got.append("ValueError")
            assert "bad sample 5" in str(error)
    assert got == [0, 1, 2, "KeyError", 4, "ValueError", 6]


class Picky(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


def raise_picky(i):
    raise Picky(1, 2)


def stop(i):
    raise StopIteration


@pytest.mark.parametrize("workers", [0, 1])
def test_a_dataset_that_raises_stop_iteration_does_not_end_the_pass_quietly(workers):
    with pytest.raises(RuntimeError, match="StopIteration"):
        list(DataLoader(Calls(stop), 1, num_workers=workers))


def test_an_exception_that_cannot_be_made_again_is_named():
    with pytest.raises(RuntimeError, match="Caught Picky in DataLoader worker process 0"):
        list(DataLoader(Calls(raise_picky), 1, num_workers=1))


def test_a_sample_that_cannot_be_sent_is_an_error():
    with pytest.raises(Exception, match="in DataLoader worker process 0"):
        list(DataLoader(Calls(lambda i: lambda: i, 2), 1, num_workers=1, collate_fn=as_is))


def test_an_exception_in_the_init_function_is_raised_here():
    def init(worker):
        raise ZeroDivisionError(f"worker {worker}")

    with pytest.raises(ZeroDivisionError, match="worker 0"):
        list(DataLoader(range(4), 1, num_workers=2, worker_init_fn=init))


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGTERM"])
def test_a_killed_worker_is_named_with_its_signal(name):
    def die(i):
        if i == 9:
            faulthandler.disable()  # pytest's would print the stack of this process
            os.kill(os.getpid(), getattr(signal, name))
        return i

    start = time.monotonic()
    with pytest.raises(RuntimeError, match=rf"pid\(s\) \d+\) exited unexpectedly: worker 1: .*{name}"):
        list(DataLoader(Calls(die), 1, num_workers=2))
    assert time.monotonic() - start < FAULT_SECONDS


def test_a_worker_that_exits_is_named_with_its_code():
    with pytest.raises(RuntimeError, match="worker 0: it exited with code 3"):
        list(DataLoader(Calls(lambda i: os._exit(3)), 1, num_workers=1))


def test_no_answer_in_time_is_an_error():
    loader = DataLoader(Calls(lambda i: time.sleep(60)), 1, num_workers=1, timeout=0.2)
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="timed out after 0.2 seconds"):
        list(loader)
    assert time.monotonic() - start < FAULT_SECONDS


def test_persistent_workers_come_back_after_a_death():
    loader = DataLoader(range(4), 1, num_workers=2, persistent_workers=True)
    assert len(list(loader)) == 4
    victim = loader._iterator._workers.pids[0]
    os.kill(victim, signal.SIGKILL)
    with pytest.raises(RuntimeError, match=str(victim)):
        list(loader)
    assert len(list(loader)) == 4


# ---- how they end


def test_no_worker_is_left_after_an_epoch_or_a_break():
    it = iter(DataLoader(range(4), 1, num_workers=2))
    pids = it._workers.pids
    list(it)
    assert not any(map(is_running, pids))
    it = iter(DataLoader(range(40), 1, num_workers=2))
    pids = it._workers.pids
    next(it)
    del it
    assert not any(map(is_running, pids))


def test_a_busy_worker_does_not_hold_up_the_end():
    it = iter(DataLoader(Calls(lambda i: time.sleep(60 if i > 1 else 0)), 1, num_workers=2, collate_fn=as_is))
    pids = it._workers.pids
    next(it)
    start = time.monotonic()
    del it
    assert time.monotonic() - start < FAULT_SECONDS
    assert not any(map(is_running, pids))


def test_a_fault_leaves_no_worker_behind():
    it = iter(DataLoader(Calls(raise_picky), 1, num_workers=2))
    pids = it._workers.pids
    with pytest.raises(RuntimeError, match="Picky"):
        next(it)
    del it
    assert not any(map(is_running, pids))


SCRIPT = """
import os, signal, sys, time
import flambeau
from flambeau.utils.data import DataLoader, Dataset
class Slow(Dataset):
    def __len__(self):
        return 100
    def __getitem__(self, i):
        time.sleep(0.1)
        return i
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with it ignored
it = iter(DataLoader(Slow(), 1, num_workers=2))
next(it)
print(*it._workers.pids, flush=True)
{rest}
"""


def start(rest):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(rest=rest)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    return process, [int(pid) for pid in process.stdout.readline().split()]


def wait_for_end(pids):
    deadline = time.monotonic() + FAULT_SECONDS
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(is_running, pids))


def test_ctrl_c_ends_everything_with_one_traceback():
    process, pids = start("for _ in it: pass")
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert errors.count("Traceback") == 1
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert wait_for_end(pids)


def test_workers_end_when_the_loader_is_killed():
    process, pids = start("os.kill(os.getpid(), signal.SIGKILL)")
    process.communicate(timeout=20)
    assert wait_for_end(pids)


def test_a_script_that_ends_in_the_middle_of_an_epoch_ends():
    process, pids = start("")
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 0
    assert errors == ""
    assert wait_for_end(pids)


def test_a_forked_child_does_not_stop_the_workers_of_its_parent():
    it = iter(DataLoader(range(6), 1, num_workers=2))
    next(it)
    pid = os.fork()
    if pid == 0:
        del it
        os._exit(0)
    os.waitpid(pid, 0)
    assert len(list(it)) == 5


# ---- other ways to start them


def square(i):
    assert get_worker_info().num_workers == 1
    return i * i


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_start_methods(method):
    loader = DataLoader(Calls(square, 3), None, num_workers=1, multiprocessing_context=method)
    assert list(loader) == [0, 1, 4]
