"""Fail when `import flambeau` loads what it should not, or changes the process that imports it.

Run with an interpreter that has flambeau installed: `nox -s lint` does.
"""

from __future__ import annotations

import json
import subprocess
import sys

# Each of these costs milliseconds or brings a hundred modules; all are loaded on first use where needed.
FORBIDDEN = {
    "numpy", "typing", "dataclasses", "inspect", "ast", "asyncio", "logging", "unittest", "json", "pickle", "subprocess",
    "tempfile", "ctypes", "multiprocessing", "concurrent", "urllib", "email", "socket", "ssl", "zipfile", "decimal",
    "flambeau.nn", "flambeau.optim", "flambeau.compiler", "flambeau.distributed",
}  # fmt: skip

PROBE = """
import os, signal, sys, warnings
HOOKS = len(sys.meta_path)  # one may be added behind them: it says what to install for a missing layer
def state():
    handlers = {int(s): str(signal.getsignal(s)) for s in signal.valid_signals()}
    return {"environment": dict(os.environ), "sys.path": list(sys.path), "import hooks": [str(f) for f in sys.meta_path[:HOOKS]],
            "warning filters": [str(f) for f in warnings.filters], "signal handlers": handlers, "threads": os.listdir("/proc/self/task")}
before, modules = state(), set(sys.modules)
import flambeau
after, loaded = state(), sorted(set(sys.modules) - modules)
out = {"loaded": loaded, "changed": [k for k in before if before[k] != after[k]]}
import json
print(json.dumps(out))
"""


def probe() -> dict[str, list[str]]:
    """What the import loaded beyond a bare interpreter, and which parts of the process it changed."""
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"[import] import flambeau failed:\n{done.stderr}")
    return json.loads(done.stdout)


def problems(found: dict[str, list[str]]) -> list[str]:
    bad = [f"import flambeau loads {m}: load it on first use" for m in found["loaded"] if m in FORBIDDEN]
    return bad + [f"import flambeau changes {part} of the process" for part in found["changed"]]


def main() -> int:
    found = probe()
    bad = problems(found)
    print("\n".join(bad) or f"import ok: {len(found['loaded'])} modules loaded, nothing else changed")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
