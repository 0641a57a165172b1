"""What does not hold for an operator, with a reason: strict, an entry that holds after all fails its test."""

from __future__ import annotations

from typing import Any

import pytest
from records import Operator

# check (see the names in test_records.py) -> operator -> reason
FAULTS: dict[str, dict[str, str]] = {
    "gradient": {
        "linalg_eig": "the phase of complex eigenvectors is not defined",
        "_linalg_eig": "the phase of complex eigenvectors is not defined",
        "_linalg_lstsq": "the rows below the solution are scratch and have no gradient",
    },
}


def marked(check: str, operators: list[Operator]) -> list[Any]:
    """The operators as parameters, with a strict xfail on those listed for this check."""
    faults = FAULTS.get(check, {})
    unknown = faults.keys() - {o.name for o in operators}
    assert not unknown, f"known_faults.py lists for {check!r} what is not tested: {', '.join(sorted(unknown))}"
    return [
        pytest.param(o, marks=pytest.mark.xfail(strict=True, reason=faults[o.name])) if o.name in faults else o
        for o in operators
    ]
