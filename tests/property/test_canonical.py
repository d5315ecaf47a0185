"""The fast encoder gives the bytes of RFC 8785 wherever it is used, and nothing that JSON can't say gets through."""

from __future__ import annotations

import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from proctor.codec.canonical import canonical_bytes

scalars = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text()
floats = st.floats(allow_nan=False, allow_infinity=False)


def nested(leaves: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30)


@given(nested(scalars))
def test_equal_to_the_reference_without_floats(value: object) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


@given(nested(scalars | floats))
def test_equal_to_the_reference_with_floats(value: object) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


@given(nested(scalars))
def test_reading_it_back_gives_the_same_value(value: object) -> None:
    assert json.loads(canonical_bytes(value)) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, "\ud800", {1: 2}, {"a": {"b": "\udc00"}}])
def test_what_json_cannot_say_exactly_is_refused(value: object) -> None:
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical_bytes(value)
