"""Random chains reduce to their tips' sum; a changed pair is refused or totals the same; fast and careful agree."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.usage import reduce_usage
from proctor.usage.fast import reduce_fast, reduce_fast_bytes
from proctor.usage.reduce import reduce_careful
from usage_kit import pair, rehash, request, usual

FIGURES = st.tuples(st.integers(0, 5000), st.integers(0, 900), st.integers(0, 10), st.integers(0, 10))
SPENT = st.lists(st.lists(st.lists(FIGURES, max_size=3), min_size=1, max_size=4), min_size=1, max_size=4)
EXTRAS = st.sampled_from([{}, {}, {"service_tier": "a b"}, {"é\u2028": ["\\", None, True]}, {"cost": 1e-7}])


def build(spent: list[list[list[tuple[int, int, int, int]]]], extra: dict[str, Any]) -> tuple[Any, Any, int, int]:
    total = n_requests = 0
    chains = []
    for chain in spent:
        points = []
        for added in chain:
            rows = []
            for given_tokens, made, cached, reasoning in added:
                n_requests += 1
                total += given_tokens + made
                rows.append(
                    request(
                        f"q-{n_requests}", given_tokens, made, min(cached, given_tokens), min(reasoning, made), **extra
                    )
                )
            points.append(rows)
        chains.append(points)
    manifest, records = pair(*chains)
    return manifest, records, total, n_requests


@settings(max_examples=60, deadline=None)
@given(spent=SPENT, extra=EXTRAS, seed=st.integers(0, 10**6))
def test_chains_shuffled_and_delivered_twice_reduce_to_the_sum_of_their_tips(spent: Any, extra: Any, seed: int) -> None:
    manifest, records, total, n_requests = build(spent, extra)
    rng = random.Random(seed)
    again = [copy.deepcopy(record) for record in records if rng.random() < 0.5]
    delivered = records + again
    rng.shuffle(delivered)
    before = copy.deepcopy((manifest, delivered))
    result = reduce_usage(manifest, delivered)
    assert (manifest, delivered) == before
    assert result["accounting_valid"], result
    assert (result["totals"]["total_tokens"], result["totals"]["requests"]) == (total, n_requests)
    assert result["exact_duplicates_ignored"] == len(again)
    assert result == reduce_careful(manifest, delivered)
    for indent in (None, 1):
        texts = [
            json.dumps(value, indent=indent, ensure_ascii=bool(seed % 2)).encode() for value in (manifest, delivered)
        ]
        assert reduce_fast_bytes(*texts) in (None, result)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    if isinstance(value, dict):
        found += [place for key in value for place in places(value[key], (*path, key))]
    elif isinstance(value, list):
        found += [place for number, item in enumerate(value) for place in places(item, (*path, number))]
    return found


WRONG = [
    None, True, False, 0, 1, -1, 2, 1.0, 0.0, "", "x", "run-0", "cp-0-0", "failed", "checkpoint", [], {}, 10**30,
    "a\n", float("nan"), float("inf"), "\ud800", 2**63, "attempt-1", "q-1",
]  # fmt: skip


def mutate(root: list[Any], place: tuple[Any, ...], how: str, new: Any) -> None:
    owner: Any = root
    for step in place[:-1]:
        owner = owner[step]
    last = place[-1]
    if how == "remove":
        del owner[last]
    elif how == "double" and isinstance(owner, list):
        owner.insert(last, copy.deepcopy(owner[last]))
    elif how == "add" and isinstance(owner[last], dict):
        owner[last]["unknown"] = new
    else:
        owner[last] = new


@settings(max_examples=400, deadline=None)
@given(data=st.data(), how=st.sampled_from(["set", "set", "set", "remove", "double", "add"]), forge=st.booleans())
def test_any_single_change_is_refused_or_leaves_the_total(data: st.DataObject, how: str, forge: bool) -> None:
    root: list[Any] = list(usual())
    place = data.draw(st.sampled_from([path for path in places(root) if len(path) > 1]))
    mutate(root, place, how, data.draw(st.sampled_from(WRONG)))
    manifest, records = root
    if forge:
        with contextlib.suppress(KeyError, TypeError, UnicodeEncodeError, AttributeError):
            rehash(manifest, records)
    result, careful = reduce_usage(manifest, records), reduce_careful(manifest, records)
    assert result == careful or json.dumps(result) == json.dumps(careful)
    if result["accounting_valid"]:
        assert result["totals"]["total_tokens"] == 180, (place, how)
    else:
        assert result["totals"] is None
    assert len(result["errors"]) == (0 if result["accounting_valid"] else 1)
    json.dumps(result).encode("ascii")


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_the_order_of_records_never_changes_the_answer_even_when_much_is_broken(seed: int) -> None:
    rng = random.Random(seed)
    root: list[Any] = list(usual())
    root[1] += copy.deepcopy(root[1])
    for _ in range(3):
        mutate(
            root,
            rng.choice([path for path in places(root) if len(path) > 2 and path[0] == 1]),
            "set",
            rng.choice(WRONG),
        )
    manifest, records = root
    first = json.dumps(reduce_usage(manifest, records))
    for _ in range(3):
        rng.shuffle(records)
        assert json.dumps(reduce_usage(manifest, records)) == first


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_bytes_that_say_more_than_the_structs_are_never_taken_the_fast_way(data: st.DataObject) -> None:
    """A doubled key, an escape or a float spelling inserted into the text: the fast way gives up."""
    manifest, records = usual()
    text = json.dumps(records)
    old, new = data.draw(
        st.sampled_from(
            [
                ('"sequence": 0', '"sequence": 0, "sequence": 0'),
                ('"input_tokens": 60', '"input_tokens": 1, "input_tokens": 60'),
                ('"cached_tokens": 0', '"cached_tokens": 0.0'),
                ('"state": "checkpoint"', '"st\\u0061te": "checkpoint"'),
                ('"input_tokens": 37', '"input_tokens": 37e0'),
                ('"reasoning_tokens": 0', '"reasoning_tokens": -0'),
            ]
        )
    )
    assert old in text
    assert reduce_fast_bytes(json.dumps(manifest).encode(), text.encode()) is not None
    assert reduce_fast_bytes(json.dumps(manifest).encode(), text.replace(old, new, 1).encode()) is None
    assert reduce_fast(manifest, records) is not None
