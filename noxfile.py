"""Every contributor command. `nox -l` lists the sessions; `nox -s tests -- nn -k softmax` runs a part of one.

The README's two commands are `nox -s quickstart` and `nox -s tests`; each works first in a fresh clone.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))

from repo.counts import Counts, read_junit  # noqa: E402
from repo.environments import SiblingEnvironment  # noqa: E402
from repo.merged import link_sources, read_by_checkers  # noqa: E402
from repo.packages import DEFAULT_TEST_TOOLS, META, Package, Repository  # noqa: E402
from repo.wheels import Dist, WheelError, build_environment, sibling_constraints  # noqa: E402

nox.needs_version = ">=2025.5"
nox.options.sessions = ["lint", "typecheck", "codegen", "wheels", "tests"]
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_existing_virtualenvs = True  # each session states what its environment holds

CONSTRAINTS = ROOT / "ci/constraints.txt"
TORCH = os.environ.get("FLAMBEAU_ORACLE_TORCH", "torch==2.13.0")
SITE = "import sysconfig; print(sysconfig.get_path('purelib'))"
repository = Repository(ROOT)
dist = Dist(repository)


def prepare(session: nox.Session, constraints: Path = CONSTRAINTS) -> None:
    """Pin what pip installs and builds with; keep the caller's Python settings out of the session."""
    # pip's own builds read PIP_BUILD_CONSTRAINT, everything else PIP_CONSTRAINT
    session.env.update(PIP_BUILD_CONSTRAINT=str(constraints), PIP_CONSTRAINT=str(constraints))
    session.env.update(PIP_DISABLE_PIP_VERSION_CHECK="1", PYTHONNOUSERSITE="1", PYTHONPATH=None)
    if not (Path(session.bin) / ".pip-is-pinned").exists():
        session.install("-q", "pip")
        (Path(session.bin) / ".pip-is-pinned").touch()


def environment_of(session: nox.Session) -> SiblingEnvironment:
    """The record of which of our wheels the session's environment holds."""

    def pip(command: str, *args: str) -> None:
        session.run("python", "-m", "pip", command, *args, silent=True, log=False)

    return SiblingEnvironment(dist, pip, Path(session.virtualenv.location) / "siblings.txt")


def hold_wheels(session: nox.Session, packages: list[Package], *tools: str) -> None:
    """Make the session's environment hold exactly `packages` from dist/, what they require, and `tools`."""
    prepare(session)
    session.log(
        f"installing {', '.join(p.short for p in packages)} from dist/, and {', '.join(tools) or 'nothing else'}"
    )
    environment_of(session).hold(packages, tools)


def everything() -> list[Package]:
    """All that users install; opgen is a build requirement only."""
    return repository.run_siblings(repository.by_name[META])


def words_of_tests(session: nox.Session) -> list[str]:
    """The words after `--`, where they choose what `wheels` builds: nox hands them to every session of a run."""
    asked = {str(s) for s in session._runner.global_config.sessions or ()}  # nox offers no other way to know
    return list(session.posargs) if asked and asked <= {"wheels", "tests"} else []


@nox.session
def codegen(session: nox.Session) -> None:
    """Write the generated files to generated/ for reading, and prove that the generator is deterministic.

    `-- --check` only proves, and writes nothing.
    """
    prepare(session)
    session.install("-q", *repository.by_name["flambeau-opgen"].requires)
    session.env["PYTHONPATH"] = str(ROOT / "tools/opgen/src")
    session.run("python", "tools/codegen.py", *(w for w in session.posargs if w == "--check"))


@nox.session
def wheels(session: nox.Session) -> None:
    """Build the wheels whose inputs changed: siblings from dist/ only, pinned tools, a size budget each.

    Words that name packages choose them with what they need. `-- --all` builds even current ones; `-- --isolated`
    gives each build an environment of its own (slow, for releases).
    """
    words = words_of_tests(session)  # other sessions need all wheels, whatever their words choose
    isolated = "--isolated" in words
    needed = repository.needed_for(repository.select([] if "cross" in words else words)[0])
    stale = [p for p in needed if isolated or "--all" in words or not dist.is_current(p)]
    if not stale:
        session.log(f"the wheels in dist/ are current: {', '.join(p.short for p in needed)}")
        return
    # The environment holds the build requirements and nothing else: whatever lies here leaks into CMake's search.
    prepare(session)
    session.install("-q", *(["pip"] if isolated else build_environment(dist, stale)))
    if shutil.which("ccache"):
        for name in ("CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER"):
            session.env[name] = os.environ.get(name, "ccache")
        session.env["CCACHE_BASEDIR"] = os.environ.get("CCACHE_BASEDIR", str(ROOT))
    for position, package in enumerate(stale, 1):
        session.log(f"[{position}/{len(stale)}] building {package.name}")
        try:
            line = dist.build(package, lambda *args, package=package: _pip_wheel(session, package, args, isolated))
        except WheelError as err:
            session.error(str(err))
        session.log(f"[{position}/{len(stale)}] {line}")


def _pip_wheel(session: nox.Session, package: Package, args: tuple[str, ...], isolated: bool) -> None:
    """Run `pip wheel` with siblings that can only be those of dist/."""
    if isolated:
        pinned = sibling_constraints(dist, CONSTRAINTS, ROOT / "build/constraints.txt")
        env = {"PIP_BUILD_CONSTRAINT": str(pinned), "PIP_CONSTRAINT": str(pinned)}
        session.run("python", "-m", "pip", *args, env=env, silent=True, log=False)
        return
    environment_of(session).add(repository.build_siblings(package))
    # One lasting environment keeps include paths the same from build to build, so ninja and ccache can do their part.
    # Its contents were pinned when they were installed; pip refuses a build constraint on top.
    flags = ("--no-build-isolation", "--check-build-dependencies")
    session.run("python", "-m", "pip", *args, *flags, env={"PIP_BUILD_CONSTRAINT": None}, silent=True, log=False)


@nox.session(requires=["wheels"])
def tests(session: nox.Session) -> None:
    """Each package's tests with only its declared dependencies, then the cross-package tests, all from the wheels.

    Words that name a package select it (`-- nn serialization`, `-- cross`); the rest goes to pytest (`-- nn -k softmax`).
    """
    words = [w for w in session.posargs if w != "cross"]
    chosen, words = repository.select(words)
    if "cross" in session.posargs and len(chosen) == len(repository.packages):
        chosen = []
    results: dict[str, Counts] = {}
    for package in chosen:
        if (package.folder / "tests").is_dir():
            hold_wheels(session, repository.run_siblings(package), *package.test_requires, "pytest-xdist")
            results[package.name] = run_pytest(session, package.folder / "tests", words)
    if "cross" in session.posargs or len(chosen) == len(repository.packages):
        reader = repository.by_name[
            "flambeau-opgen"
        ].requires  # the tests read schemas/ with the generator's own reader
        hold_wheels(session, everything(), *DEFAULT_TEST_TOOLS, *reader, "pytest-xdist")
        results["cross-package"] = run_pytest(session, ROOT / "ci/cross_package", words)
    print_totals(session, results)


def run_pytest(session: nox.Session, folder: Path, words: list[str]) -> Counts:
    """Run the tests of `folder` from an empty folder, so that nothing can be imported from the checkout."""
    session.log(f"tests of {folder.relative_to(ROOT)}")
    workers = max(1, min(4, os.cpu_count() or 1))
    env = {"FLAMBEAU_DIST": str(dist.folder), "FLAMBEAU_REPOSITORY": str(ROOT)}
    with tempfile.TemporaryDirectory() as empty, session.chdir(empty):
        junit = Path(empty) / "junit.xml"
        session.run(
            *("python", "-m", "pytest", "-c", str(ROOT / "ci/pytest.ini"), "--rootdir", str(ROOT)),
            *("-n", str(workers), "--dist", "worksteal", f"--junit-xml={junit}", str(folder), *words),
            env=env,
            log=False,
            success_codes=range(6),  # 1: failures, 5: no test found; the totals decide
        )
        return read_junit(junit)


def print_totals(session: nox.Session, results: dict[str, Counts]) -> None:
    print()
    for name, counts in results.items():
        print(f"  {name:24} {counts}, {counts.seconds:.0f} s")
    total = sum(results.values(), Counts())
    print(f"total: {total}")
    if total.failed:
        session.error(f"{total.failed} tests failed")
    if not total.passed:
        session.error("no test was executed")


@nox.session(requires=["wheels"], default=False)
def quickstart(session: nox.Session) -> None:
    """Train a network on real scanned digits; writes digits.pt, digits.safetensors and digits.png."""
    hold_wheels(session, everything(), "scikit-learn", "matplotlib")
    session.run("python", "docs/quickstart/digits.py", *session.posargs)


@nox.session(default=False)
def dev(session: nox.Session) -> None:
    """Build the contributors' tree in build/dev: Python edits are live, C++ edits need this session again.

    `-- --isa all` builds every instruction set (default: this machine's). Says at the end how to use the tree.
    """
    prepare(session)
    native = [p for p in repository.packages if p.is_native]
    tools = {t for p in repository.packages for t in (*repository.external(p.requires), *p.test_requires)}
    session.install("-q", *build_environment(dist, native), *sorted(tools))
    session.run("python", "tools/dev/build.py", *session.posargs)


@nox.session(requires=["wheels"])
def lint(session: nox.Session) -> None:
    """Style (ruff, clang-format), layers, versions, links; and what `import flambeau` loads. `-- --fix` mends style."""
    hold_wheels(session, everything(), "ruff", "clang-format")
    fix = "--fix" in session.posargs
    ruff = ("--config", "ci/ruff.toml", ".")
    session.run("ruff", "check", *(["--fix"] if fix else []), *ruff)
    session.run("ruff", "format", *([] if fix else ["--check"]), *ruff)
    sources = [
        str(p) for p in sorted(ROOT.glob("packages/*/*/**/*")) if p.suffix in {".h", ".cpp"} and "build" not in p.parts
    ]
    session.run(
        "clang-format",
        "--style=file:ci/clang-format",
        *(["-i"] if fix else ["--dry-run", "-Werror"]),
        *sources,
        log=False,
    )
    for check in ("layers", "versions", "links"):
        session.run("python", f"tools/check_{check}.py")
    session.run("python", "tools/check_import.py")


@nox.session
def typecheck(session: nox.Session) -> None:
    """mypy on the packages with their stubs, the generator and the tools; mypy and pyright on programs that use them.

    `ci/typing/accepted.py` must pass; in `ci/typing/refused.py` every marked line must be an error.
    """
    prepare(session)
    requires = repository.by_name["flambeau-opgen"].requires
    session.install("-q", "mypy", "basedpyright", "types-PyYAML", "nox", "numpy", *requires)
    generated = ROOT / "build/generated"
    session.run(
        *("python", "tools/codegen.py", "--out", str(generated)),
        env={"PYTHONPATH": str(ROOT / "tools/opgen/src")},
        silent=True,
    )
    merged = link_sources(repository.packages, ROOT / "build/typecheck", generated)
    mypy = ("mypy", "--config-file", str(ROOT / "ci/mypy.ini"))
    listed = ROOT / "build/typecheck-files.txt"
    listed.write_text("\n".join(str(f) for f in read_by_checkers(merged)))
    session.run(*mypy, f"@{listed}", env={"MYPYPATH": str(merged)})
    # Programs see the packages as pip installs them: what a typed library does not export is private there.
    installed = Path(str(session.run("python", "-c", SITE, silent=True)).strip()) / "flambeau"
    shutil.rmtree(installed, ignore_errors=True)
    core = link_sources([repository.by_name["flambeau-core-c10"]], ROOT / "build/typecheck-core", generated)
    session.run(*mypy, "--warn-unused-ignores", "ci/typing/core_alone.py", env={"MYPYPATH": str(core)})
    shutil.copytree(merged / "flambeau", installed)
    programs = ("ci/typing/accepted.py", "ci/typing/refused.py")
    session.run(*mypy, "--warn-unused-ignores", *programs)
    session.run("basedpyright", "-p", "ci/typing", "--pythonpath", str(Path(session.bin) / "python"))
    session.run(*mypy, "tools/opgen/src/opgen", env={"MYPYPATH": "tools/opgen/src"})
    session.run(*mypy, "tools/repo", "noxfile.py", env={"MYPYPATH": "tools"})


@nox.session(requires=["wheels"], default=False)
def oracle(session: nox.Session) -> None:
    """Compare with real torch: operators (a table in build/oracle.md), optimizers, schedulers, data loading, files."""
    hold_wheels(session, everything(), "numpy", "pytest", TORCH)
    session.run("python", "ci/oracle/compare.py", *session.posargs)
    if not session.posargs:
        session.run("python", "ci/oracle/training.py")
        files = ROOT / "packages/serialization/tests/test_with_torch.py"
        session.run("python", "-m", "pytest", "-c", "ci/pytest.ini", "--rootdir", str(ROOT), str(files))


@nox.session(requires=["wheels"], default=False)
def conformance(session: nox.Session) -> None:
    """Replay recorded checks of torch's behaviour, where that folder is present (FLAMBEAU_CONFORMANCE or ../shared)."""
    folder = Path(os.environ.get("FLAMBEAU_CONFORMANCE", ROOT.parent / "shared/conformance"))
    if not (folder / "run_goldens.py").exists():
        session.skip(f"{folder} holds no run_goldens.py: set FLAMBEAU_CONFORMANCE to the folder of recorded checks")
    hold_wheels(session, everything(), "numpy")
    session.run("python", "ci/conformance/report.py", str(folder), *session.posargs)


@nox.session(requires=["wheels"], default=False)
def bench(session: nox.Session) -> None:
    """Measure side by side with torch, as ratios: `-- dispatch matmul` runs a part, `-- --list` names the parts."""
    hold_wheels(session, everything(), "numpy", "scikit-learn", "matplotlib", TORCH)
    session.run("python", "benchmarks/run.py", *session.posargs)
