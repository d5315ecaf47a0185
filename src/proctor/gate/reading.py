"""Values of a parsed table, checked one by one, with faults that name the field and the nearest right key.

Leaves out what the fields mean (``policy``).
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, NoReturn

from proctor.errors import Place, SuiteError

__all__ = ["TableReader"]


class TableReader:
    """Knows where a table stands, and raises ``SuiteError`` at the field that is wrong."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def at(self, field: str) -> Place:
        """The place of a field of the table."""
        prefix = self.place.field
        path = f"{prefix}.{field}" if prefix and field else field or prefix
        return Place(self.place.file, self.place.line, path)

    def fault(
        self, field: str, problem: str, *, expected: str, found: object = None, fix: str | None = None
    ) -> NoReturn:
        """Raise ``SuiteError`` at a field."""
        raise SuiteError(problem, place=self.at(field), expected=expected, found=found, fix=fix, code="gate_policy")

    def table(self, value: Any, field: str, keys: Iterable[str] | None) -> Mapping[str, Any]:
        """A table whose keys are all allowed (None: any)."""
        if not isinstance(value, Mapping):
            self.fault(field, "not a table", expected=self._shape(keys), found=value)
        for key in value:
            if not isinstance(key, str) or not key.strip():
                self.fault(field, "a blank key", expected="a name", found=key)
            if keys is not None and key not in keys:
                self.unknown(f"{field}.{key}" if field else key, key, keys, "unknown key")
        return value

    def _shape(self, keys: Iterable[str] | None) -> str:
        return "a table" if keys is None else "a table of " + ", ".join(keys)

    def unknown(self, field: str, name: str, names: Iterable[str], problem: str) -> NoReturn:
        """Raise the fault of a name that isn't one of ``names``, with the nearest one."""
        names = sorted(names)
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        listed = ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
        self.fault(
            field,
            problem,
            expected=f"one of {listed}" if names else "nothing here",
            found=name,
            fix=f"did you mean {near[0]!r}?" if near else None,
        )

    def known_name(self, name: str, names: Collection[str] | None, field: str, kind: str) -> None:
        """A name that must be one of ``names``, where those are known."""
        if names is not None and name not in names:
            self.unknown(field, name, names, f"no {kind} of this name")

    def share(self, value: Any, field: str) -> float:
        """A number from 0 to 1."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.fault(field, "not a number", expected="a share between 0 and 1", found=value)
        if not 0 <= value <= 1:
            fix = f"write {value / 100:g} for {value:g}%" if 1 < value <= 100 else None
            self.fault(field, "not a share", expected="a number between 0 and 1", found=value, fix=fix)
        return float(value)

    def count(self, value: Any, field: str) -> int:
        """An integer from 1 to 1,000,000."""
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1_000_000:
            self.fault(field, "not a count", expected="an integer from 1 to 1,000,000", found=value)
        return value

    def true(self, value: Any, field: str) -> None:
        """``true``, and nothing else."""
        if value is not True:
            self.fault(field, "only true says something here", expected="true", found=value, fix="leave the key out")

    def word(self, value: Any, field: str) -> Literal["report", "required"]:
        """The word ``report`` or ``required``."""
        if value == "report":
            return "report"
        if value != "required":
            self.fault(field, "unknown word", expected='"report" or "required"', found=value)
        return "required"
