"""Record rng_goldens.json from torch (run with a Python that has torch, CPU build, on a machine with AVX2).

One record a line, so that the C++ test reads it without a JSON library. `call` is evaluated with `torch` and `g`, a
generator seeded with `seed`; a record whose seed is null goes on with the generator of the one before. `bits` are the
result's elements as little-endian hexadecimal, or `hash` is their 64-bit FNV-1a when there are many. `state` is the hash of the
generator's state afterwards.
"""

from __future__ import annotations

import json
import pathlib

import torch

DTYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16"}
MOST_BYTES_WRITTEN_OUT = 160


def fnv1a(data: bytes) -> str:
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{h:016x}"


def data_of(tensor: torch.Tensor) -> bytes:
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


def cases() -> list[tuple[str, str, int, list[float], str]]:
    """(op of flambeau::random, dtype, n, arguments, call)"""
    out = []
    for short, name in DTYPES.items():
        d = f"torch.{name}"
        empty = f"torch.empty({{n}}, dtype={d})"
        for n in (1, 5, 16, 17, 100, 1000):
            out.append(("uniform", short, n, [0, 1], f"torch.rand({n}, dtype={d}, generator=g)"))
            out.append(("normal", short, n, [0, 1], f"torch.randn({n}, dtype={d}, generator=g)"))
        for n in (7, 33):
            e = empty.format(n=n)
            out.append(("uniform", short, n, [-1.3, 2.7], f"{e}.uniform_(-1.3, 2.7, generator=g)"))
            out.append(("normal", short, n, [1.5, 0.3], f"{e}.normal_(1.5, 0.3, generator=g)"))
        e = empty.format(n=6)
        out.append(
            ("normal_serial", short, 20, [0.5, 2], f"torch.empty(40, dtype={d})[::2].normal_(0.5, 2, generator=g)")
        )
        out.append(("exponential", short, 6, [0.7], f"{e}.exponential_(0.7, generator=g)"))
        out.append(("cauchy", short, 6, [0.5, 0.7], f"{e}.cauchy_(0.5, 0.7, generator=g)"))
        out.append(("log_normal", short, 6, [0.5, 0.7], f"{e}.log_normal_(0.5, 0.7, generator=g)"))
        out.append(("geometric", short, 6, [0.1], f"{e}.geometric_(0.1, generator=g)"))
        out.append(("bernoulli", short, 30, [0.3], f"torch.empty(30, dtype={d}).bernoulli_(0.3, generator=g)"))
        out.append(("random_any", short, 6, [], f"{e}.random_(generator=g)"))
        out.append(("random_from_to", short, 6, [-5, 100], f"{e}.random_(-5, 100, generator=g)"))
    integers = {"bool": "bool", "u8": "uint8", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64"}
    for short, name in integers.items():
        e = f"torch.empty(6, dtype=torch.{name})"
        out.append(("random_any", short, 6, [], f"{e}.random_(generator=g)"))
        out.append(("random_from_to", short, 6, [0, 2], f"{e}.random_(0, 2, generator=g)"))
    for low, high in ((0, 10), (-7, 2**28 - 8), (0, 2**28), (-(2**62), 2**62 + 1), (-(2**63), 2**63 - 1)):
        call = f"torch.randint({low}, {high}, (9,), generator=g)"
        out.append(("random_from_to", "i64", 9, [low, high], call))
    call = f"torch.empty(5, dtype=torch.int64).random_({-(2**63)}, None, generator=g)"
    out.append(("random_full_range", "i64", 5, [], call))
    for n in (1, 2, 10, 1000):
        out.append(("randperm", "i64", n, [], f"torch.randperm({n}, generator=g)"))
    weights = "torch.arange(1, 9, dtype=torch.float32)"
    for num_samples, replacement in ((1, True), (12, True), (1, False), (5, False), (8, False)):
        call = f"torch.multinomial({weights}, {num_samples}, {replacement}, generator=g)"
        out.append(("multinomial", "f32", num_samples, [int(replacement)], call))
    return out


def main() -> None:
    lines = []
    # Each op from a fresh seed, then all of them in one go on one generator.
    for fresh in (True, False):
        for i, (op, dtype, n, args, call) in enumerate(cases()):
            seed = 42 + 1000003 * i if fresh else 2**40 + 5 if i == 0 else None
            if seed is not None:
                g = torch.Generator().manual_seed(seed)
            data = data_of(eval(call, {"torch": torch, "g": g}))  # our own strings
            record = {"op": op, "dtype": dtype, "seed": seed, "n": n, "args": args}
            if fresh:
                record["call"] = call
            short = fresh and len(data) <= MOST_BYTES_WRITTEN_OUT
            record.update({"bits": data.hex()} if short else {"hash": fnv1a(data)})
            record["state"] = fnv1a(g.get_state().numpy().tobytes())
            lines.append(json.dumps(record))
    path = pathlib.Path(__file__).with_name("rng_goldens.json")
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
