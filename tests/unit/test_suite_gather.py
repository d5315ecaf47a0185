"""All mistakes of a table at once."""

from __future__ import annotations

from typing import Any

from proctor.errors import InputError, Place
from proctor.suite.gather import gather_model
from proctor.suite.model import Case, SuiteSpec

GOOD: dict[str, Any] = {"name": "s", "version": "1", "cases": "c.jsonl", "world": "w.py", "graders": ["state"]}


def _gather(values: dict[str, Any], model: Any = SuiteSpec, **options: Any) -> tuple[Any, list[InputError]]:
    return gather_model(values, model, lambda field: Place("f", 1, field), **options)


def test_nothing_wrong_gives_the_model_and_no_mistake() -> None:
    spec, mistakes = _gather(GOOD)
    assert spec is not None
    assert (spec.name, mistakes) == ("s", [])


def test_each_mistake_is_told_once_and_the_rest_is_read() -> None:
    values = {**GOOD, "runs": "3", "colour": 1, "contract": {"forbid": "x", "max_calls": {"a": 0}}, "policy": "p.md"}
    spec, mistakes = _gather(values)
    assert sorted(m.place.field or "" for m in mistakes if m.place)[:3] == [
        "colour",
        "contract.forbid",
        "contract.max_calls[...]",
    ]
    assert len(mistakes) == 4
    assert (spec.runs, spec.policy) == (1, "p.md")
    assert values["runs"] == "3", "what is given is left alone"


def test_a_misspelt_key_is_read_as_the_one_that_was_meant() -> None:
    case, mistakes = _gather({"id": "a", "expects": {"t": [{"x": 1}]}}, Case)
    assert case.expect == {"t": ({"x": 1},)}
    assert [m.fix for m in mistakes] == ["did you mean 'expect'?"]


def test_a_key_that_must_be_there_is_filled_so_that_reading_goes_on() -> None:
    spec, mistakes = _gather({k: v for k, v in {**GOOD, "runs": 0}.items() if k != "version"}, fill={"version": "0"})
    assert spec.version == "0"
    assert sorted(m.code or "" for m in mistakes) == ["missing_key", "wrong_value"]


def test_nothing_readable_gives_none() -> None:
    spec, mistakes = _gather({})
    assert spec is None
    assert [m.code for m in mistakes] == ["missing_key"]
