"""`opgen --schemas schemas --out DIR --package core|aten|autograd`: writes one package's generated files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from opgen import autograd, register, stubs
from opgen.errors import RecordError
from opgen.scalar import emit as emit_scalar
from opgen.tables import load_tables

PACKAGES = ("core", "aten", "autograd")


def generate(package: str, schemas: Path, out: Path) -> list[Path]:
    """Write the generated files of a package; returns them."""
    tables = load_tables(schemas)
    records = list(tables.records)
    if package == "autograd":
        return autograd.emit(out, records, list(tables.derivatives))
    paths = register.emit(out, records, package)
    paths += stubs.emit(out, records, package, indexes(schemas))
    if package == "aten":
        paths += emit_scalar(out, schemas)
    return paths


def indexes(schemas: Path) -> dict[str, dict[str, str]]:
    """The lazy names of every package of the repository that the schemas are in."""
    found = sorted(schemas.resolve().parent.glob("packages/*/src/flambeau/_index/*.py"))
    return {path.stem: stubs.read_index(path) for path in found}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="opgen", description=__doc__)
    parser.add_argument("--schemas", type=Path, required=True, help="folder of the operator tables")
    parser.add_argument(
        "--out", type=Path, required=True, help="folder to write to; opgen owns what it wrote there before"
    )
    parser.add_argument("--package", choices=PACKAGES, help="default: all, each in a folder of its own")
    args = parser.parse_args(argv)
    try:
        for package in [args.package] if args.package else PACKAGES:
            out = args.out if args.package else args.out / package
            paths = generate(package, args.schemas, out)
            print(f"opgen: {len(paths)} files for {package} in {out}")
    except RecordError as error:
        print(f"opgen: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
