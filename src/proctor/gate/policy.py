"""Reads a gate: the table of ``gate.toml``, or ``[gate]`` of a ``suite.toml``, already parsed to plain
values.

Every fault names the field, what was expected and the nearest right key. Leaves out reading the file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal

import msgspec

from proctor.errors import Place
from proctor.gate.model import (
    CaseRule,
    EveryRunRule,
    Layer,
    MetricRule,
    Policy,
    Rule,
    ThresholdRule,
    ZeroRule,
)
from proctor.gate.reading import TableReader
from proctor.kinds import Outcome

__all__ = ["Known", "default_policy", "parse_policy"]

_KEYS: Final = (
    "case",
    "compare",
    "every_case",
    "infra_cap",
    "integrity",
    "metric",
    "overall",
    "slice",
    "usage",
    "zero",
)
_OUTCOMES: Final = tuple(o.value for o in Outcome if o is not Outcome.PASSED)
_LAYER_OF: Final = {
    "missing": Layer.INTEGRITY,
    "withheld": Layer.INTEGRITY,
    "infra_error": Layer.INTEGRITY,
    "grader_error": Layer.INTEGRITY,
    "unexpected_change": Layer.STATE,
    "failed": Layer.STATE,
    "schema": Layer.PROCESS,
    "agent_error": Layer.PROCESS,
    "limit": Layer.COST,
    "budget": Layer.COST,
    "over_budget": Layer.COST,
    "budget_unknown": Layer.COST,
}
_MAX_RULES: Final = 10_000


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """The names that a suite has; None where they aren't known and so can't be checked."""

    codes: Collection[str] | None = None
    slices: Collection[str] | None = None
    cases: Collection[str] | None = None
    metrics: Collection[str] | None = None


def default_policy() -> Policy:
    """What holds for a suite that writes no gate: no cell missing, every case passes in every run."""
    return parse_policy({"zero": ["missing"], "every_case": {"every_run": True}}, Place("the default gate"))


def parse_policy(
    table: Mapping[str, Any],
    place: Place,
    *,
    known: Known | None = None,
    layers: Mapping[str, Layer] | None = None,
) -> Policy:
    """The policy that a table says; raises ``SuiteError`` at the first fault.

    ``place`` is where the table stands: its ``field`` is the table's own path (``gate``), or None for a whole
    file. ``known`` holds the suite's names, so that a misspelt one is found. ``layers`` gives the layers of
    reason codes; a code that is in no list belongs to safety.
    """
    reader = _Reader(place, known or Known(), layers or {})
    reader.table(table, "", _KEYS)
    rules: list[Rule] = [
        *reader.zero(table.get("zero", [])),
        *reader.overall(table.get("overall")),
        *reader.slices(table.get("slice", {})),
        *reader.every_case(table.get("every_case")),
        *reader.cases(table.get("case", {})),
        *reader.metrics(table.get("metric", {})),
    ]
    compare = reader.compare(table.get("compare"))
    if not rules and compare is None:
        reader.fault(
            "",
            "the gate has no rule, so nothing could pass it",
            expected="at least one of zero, overall, slice, case, every_case, metric or compare",
            fix='write for example: zero = ["missing"] and overall = { lower_bound = 0.85 }',
        )
    if len(rules) > _MAX_RULES:
        reader.fault("", "too many rules", expected=f"at most {_MAX_RULES:,}", found=f"{len(rules):,}")
    usage, failed_attempts = reader.usage(table.get("usage", "report"))
    return Policy(
        rules=tuple(rules),
        integrity=reader.word(table.get("integrity", "report"), "integrity"),
        usage=usage,
        failed_attempts=failed_attempts,
        infra_cap=reader.share(table.get("infra_cap", 0.05), "infra_cap"),
        margin=compare,
    )


class _Reader(TableReader):
    """Turns plain values into rules."""

    def __init__(self, place: Place, known: Known, layers: Mapping[str, Layer]) -> None:
        super().__init__(place)
        self.known = known
        self.layers = layers

    def zero(self, value: Any) -> list[Rule]:
        """A list of codes and outcomes, or lists by layer."""
        if isinstance(value, Mapping):
            names = tuple(layer.value for layer in Layer)
            table = self.table(value, "zero", names)
            return [rule for name in names for rule in self._zeros(table.get(name, []), f"zero.{name}", Layer(name))]
        return self._zeros(value, "zero", None)

    def _zeros(self, value: Any, field: str, layer: Layer | None) -> list[Rule]:
        if not isinstance(value, (list, tuple)):
            self.fault(
                field,
                "not a list",
                expected='a list of reason codes and outcomes, as in ["missing", "forbidden_action"]',
                found=value,
            )
        rules: list[Rule] = []
        for index, code in enumerate(value):
            here = f"{field}[{index}]"
            if not isinstance(code, str) or not code.strip():
                self.fault(here, "not a reason code", expected="a text", found=code)
            if code == Outcome.PASSED.value:
                self.fault(here, "zero passed cells is no aim", expected="another outcome or a code", found=code)
            if any(isinstance(rule, ZeroRule) and rule.what == code for rule in rules):
                self.fault(here, "named twice", expected="each code once", found=code)
            self._check_code(code, here)
            chosen = layer or self.layers.get(code) or _LAYER_OF.get(code, Layer.SAFETY)
            rules.append(ZeroRule(what=code, layer=chosen))
        return rules

    def _check_code(self, code: str, field: str) -> None:
        codes = self.known.codes
        if codes is None or code in _OUTCOMES or code in codes:
            return
        short = {c.rpartition(".")[2] for c in codes}
        if code not in short:
            self.unknown(field, code, {*codes, *short, *_OUTCOMES}, "no reason code or outcome of this name")

    def overall(self, value: Any) -> list[Rule]:
        return [] if value is None else list(self._thresholds(value, "overall", None, ("rate", "lower_bound")))

    def _thresholds(self, value: Any, field: str, name: str | None, keys: tuple[str, ...]) -> list[Rule]:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            self.fault(
                field,
                "a bare number doesn't say what it bounds",
                expected=" or ".join(f"{{ {key} = … }}" for key in keys if key != "every_run"),
                found=value,
                fix=f"write {{ rate = {value} }} for the share itself, "
                f"{{ lower_bound = {value} }} for the lower end of its interval",
            )
        table = self.table(value, field, keys)
        if not table:
            self.fault(field, "an empty rule", expected="one of " + ", ".join(keys), found="{}")
        rules: list[Rule] = []
        if "rate" in table:
            share = self.share(table["rate"], f"{field}.rate")
            rules.append(ThresholdRule(slice=name, figure="rate", at_least=share))
        if "lower_bound" in table:
            share = self.share(table["lower_bound"], f"{field}.lower_bound")
            rules.append(ThresholdRule(slice=name, figure="lower_bound", at_least=share))
        if "every_run" in table:
            self.true(table["every_run"], f"{field}.every_run")
            rules.append(EveryRunRule(slice=name))
        return rules

    def slices(self, value: Any) -> list[Rule]:
        rules: list[Rule] = []
        for name in sorted(self.table(value, "slice", None)):
            field = f'slice."{name}"' if name == "*" else f"slice.{name}"
            if name != "*":
                self.known_name(name, self.known.slices, field, "slice")
            rules.extend(self._thresholds(value[name], field, name, ("rate", "lower_bound", "every_run")))
        return rules

    def every_case(self, value: Any) -> list[Rule]:
        if value is None:
            return []
        table = self.table(value, "every_case", ("every_run",))
        if not table:
            self.fault("every_case", "an empty rule", expected="{ every_run = true }", found="{}")
        self.true(table["every_run"], "every_case.every_run")
        return [EveryRunRule()]

    def cases(self, value: Any) -> list[Rule]:
        """``{passes, of}`` for each case, or a table of such rules by case."""
        table = self.table(value, "case", None)
        if not table:
            return []
        if not all(isinstance(item, Mapping) for item in table.values()):
            return [self._case(table, "case", None)]
        rules: list[Rule] = []
        for name in sorted(table):
            field = f"case.{name}"
            if name != "*":
                self.known_name(name, self.known.cases, field, "case")
            rules.append(self._case(table[name], field, None if name == "*" else name))
        return rules

    def _case(self, value: Any, field: str, case: str | None) -> Rule:
        table = self.table(value, field, ("passes", "of", "every_run"))
        if "every_run" in table:
            if len(table) > 1:
                self.fault(field, "two rules in one", expected="either every_run or passes and of", found=value)
            self.true(table["every_run"], f"{field}.every_run")
            return EveryRunRule(case=case)
        for key in ("passes", "of"):
            if key not in table:
                self.fault(f"{field}.{key}", "not there", expected="{ passes = 8, of = 10 }")
        passes = self.count(table["passes"], f"{field}.passes")
        of = self.count(table["of"], f"{field}.of")
        if passes > of:
            self.fault(f"{field}.passes", "more than there are runs", expected=f"at most {of}", found=passes)
        return CaseRule(case=case, passes=passes, of=of)

    def metrics(self, value: Any) -> list[Rule]:
        rules: list[Rule] = []
        for name in sorted(self.table(value, "metric", None)):
            field, item = f"metric.{name}", value[name]
            self.known_name(name, self.known.metrics, field, "metric")
            if isinstance(item, (int, float)) and not isinstance(item, bool):
                self.fault(
                    field,
                    "a bare number doesn't say what it bounds",
                    expected="{ rate = … }",
                    found=item,
                    fix=f"write {{ rate = {item} }}",
                )
            table = self.table(item, field, ("rate", "nulls"))
            if "rate" not in table:
                self.fault(f"{field}.rate", "not there", expected="{ rate = 1.0 }")
            share = self.share(table["rate"], f"{field}.rate")
            nulls = table.get("nulls", "fail")
            if nulls not in ("fail", "skip"):
                self.fault(f"{field}.nulls", "unknown word", expected='"fail" or "skip"', found=nulls)
            rules.append(MetricRule(name=name, at_least=share, nulls=nulls))
        return rules

    def usage(self, value: Any) -> tuple[Literal["report", "required"], Literal["block", "allow-infra"]]:
        if not isinstance(value, Mapping):
            return self.word(value, "usage"), "block"
        table = self.table(value, "usage", ("gate", "failed_attempts"))
        failed = table.get("failed_attempts", "block")
        if failed not in ("block", "allow-infra"):
            self.fault("usage.failed_attempts", "unknown word", expected='"block" or "allow-infra"', found=failed)
        return self.word(table.get("gate", "report"), "usage.gate"), failed

    def compare(self, value: Any) -> float | None:
        if value is None:
            return None
        table = self.table(value, "compare", ("margin",))
        if "margin" not in table:
            self.fault("compare.margin", "not there", expected="{ margin = 0.02 }")
        margin = self.share(table["margin"], "compare.margin")
        if not 0 < margin < 1:
            self.fault("compare.margin", "no margin", expected="more than 0, less than 1", found=margin)
        return margin
