"""A gate is read strictly: each fault names the field, what was expected and the nearest right key."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from proctor.errors import Place, SuiteError
from proctor.gate import Layer, default_policy, parse_policy
from proctor.gate.model import CaseRule, EveryRunRule, MetricRule, ThresholdRule, ZeroRule
from proctor.gate.policy import Known

PLACE = Place("suite.toml", field="gate")
KNOWN = Known(
    codes=["forbidden_action", "refund.false_promise"],
    slices=["fraud", "late"],
    cases=["R07"],
    metrics=["recall"],
)


def read(text: str, known: Known | None = None) -> Any:
    return parse_policy(tomllib.loads(text), PLACE, known=known)


def test_all_forms_are_read() -> None:
    policy = read(
        """
        zero = ["missing", "false_promise", "limit"]
        overall = { rate = 0.95, lower_bound = 0.85 }
        slice.fraud = { every_run = true }
        slice."*" = { rate = 0.9 }
        case = { passes = 8, of = 10 }
        every_case = { every_run = true }
        metric.recall = { rate = 1.0 }
        integrity = "required"
        usage = { gate = "required", failed_attempts = "allow-infra" }
        infra_cap = 0.1
        compare = { margin = 0.02 }
        """,
        KNOWN,
    )
    assert policy.rules == (
        ZeroRule(what="missing", layer=Layer.INTEGRITY),
        ZeroRule(what="false_promise", layer=Layer.SAFETY),
        ZeroRule(what="limit", layer=Layer.COST),
        ThresholdRule(slice=None, figure="rate", at_least=0.95),
        ThresholdRule(slice=None, figure="lower_bound", at_least=0.85),
        ThresholdRule(slice="*", figure="rate", at_least=0.9),
        EveryRunRule(slice="fraud"),
        EveryRunRule(),
        CaseRule(case=None, passes=8, of=10),
        MetricRule(name="recall", at_least=1.0),
    )
    assert (policy.integrity, policy.usage, policy.failed_attempts) == ("required", "required", "allow-infra")
    assert (policy.infra_cap, policy.margin) == (0.1, 0.02)


def test_rules_by_case_and_zero_lists_by_layer() -> None:
    policy = read('zero = { state = ["x"], cost = ["y"] }\ncase.R07 = { every_run = true }', None)
    assert policy.rules == (
        ZeroRule(what="x", layer=Layer.STATE),
        ZeroRule(what="y", layer=Layer.COST),
        EveryRunRule(case="R07"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "suite.toml: gate: the gate has no rule, so nothing could pass it; expected at least one of"),
        (
            "overall = 0.95",
            "gate.overall: a bare number doesn't say what it bounds; expected { rate = … } or",
        ),
        ("slice.fraud = 1", "gate.slice.fraud: a bare number doesn't say"),
        ("metric.recall = 1.0", "write { rate = 1.0 }"),
        ("overal = { rate = 0.9 }", "gate.overal: unknown key"),
        ("overal = { rate = 0.9 }", "did you mean 'overall'?"),
        ("overall = { lowerbound = 0.9 }", "did you mean 'lower_bound'?"),
        ("overall = {}", "gate.overall: an empty rule"),
        ("overall = { rate = 95 }", "write 0.95 for 95%"),
        ("overall = { rate = true }", "gate.overall.rate: not a number"),
        ("overall = { rate = -0.1 }", "expected a number between 0 and 1; found -0.1"),
        ('zero = "missing"', "gate.zero: not a list"),
        ('zero = ["passed"]', "gate.zero[0]: zero passed cells is no aim"),
        ('zero = ["missing", "missing"]', "gate.zero[1]: named twice"),
        ('zero = ["forbiden_action"]', "did you mean 'forbidden_action'?"),
        ("zero = [3]", "gate.zero[0]: not a reason code"),
        ('zero = { stat = ["x"] }', "did you mean 'state'?"),
        ("slice.frod = { rate = 1 }", "did you mean 'fraud'?"),
        ("slice.fraud = { every_run = false }", "gate.slice.fraud.every_run: only true says something here"),
        ("case.R08 = { every_run = true }", "did you mean 'R07'?"),
        (
            "case = { passes = 11, of = 10 }",
            "gate.case.passes: more than there are runs; expected at most 10",
        ),
        ("case = { passes = 8 }", "gate.case.of: not there"),
        ("case.R07 = { every_run = true, of = 3 }", "two rules in one"),
        ("every_case = {}", "gate.every_case: an empty rule"),
        ("metric.recal = { rate = 1.0 }", "did you mean 'recall'?"),
        ("metric.recall = { lower_bound = 1.0 }", "gate.metric.recall.lower_bound: unknown key"),
        ('metric.recall = { rate = 1.0, nulls = "keep" }', 'expected "fail" or "skip"'),
        ("compare = { margin = 0 }", "gate.compare.margin: no margin"),
        ("compare = {}", "gate.compare.margin: not there"),
        (
            'integrity = "yes"\nzero = ["missing"]',
            'gate.integrity: unknown word; expected "report" or "required"',
        ),
        ('usage = { failed_attempts = "x" }\nzero = ["missing"]', "gate.usage.failed_attempts: unknown word"),
        ('infra_cap = 5\nzero = ["missing"]', "gate.infra_cap: not a share"),
    ],
)
def test_each_fault_says_where_and_what(text: str, message: str) -> None:
    with pytest.raises(SuiteError) as caught:
        read(text, KNOWN)
    assert message in caught.value.message
    assert caught.value.message.startswith("suite.toml: gate")


def test_the_digest_follows_the_rules_not_the_file() -> None:
    first = read('zero = ["missing"]\noverall = { rate = 1 }  # strict\n')
    same = read('overall = { rate = 1.0 }\nzero = ["missing"]\ninfra_cap = 0.05\n')
    other = read('zero = ["missing"]\noverall = { rate = 0.99 }\n')
    assert first.digest == same.digest != other.digest
    assert first.digest.startswith("sha256:")


def test_a_suite_without_a_gate_asks_for_everything() -> None:
    assert [type(rule) for rule in default_policy().rules] == [ZeroRule, EveryRunRule]
