"""The intake suite's generator: same seed, same cases; what every situation promises; splits that share no family."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

import pytest

import intake_kit as kit
from proctor.checking.check import check_suite
from proctor.codec.canonical import digest_json
from proctor.grade.keys import read_key

SEEDS = range(1, 6)


def of(situation: str) -> list[dict[str, Any]]:
    return [case for seed in SEEDS for case in kit.cases(seed) if case["slice"] == situation]


def own(case: dict[str, Any]) -> dict[str, Any]:
    return next(row for row in case["setup"]["cases"] if row["id"] == case["key"]["case_id"])


def test_the_development_split_is_what_was_published() -> None:
    cases = list(kit.cases())
    assert cases == kit.modules()["corpus"].cases(1)
    assert digest_json(cases) == "sha256:aa741f765ef3c5738330dd6607f453bfec9ab345e5507168a9de4b2d066def61"
    assert Counter(case["slice"] for case in cases) == dict.fromkeys(kit.modules()["corpus"].SITUATIONS, 4)
    assert len({own(case)["type"] for case in cases}) == 10
    assert len({case["id"] for case in cases}) == 60


def test_the_suite_is_without_a_mistake() -> None:
    found = check_suite("intake")
    assert [mistake.text for mistake in found.mistakes] == []
    assert found.floor is not None
    assert found.floor.passed == 4


@pytest.mark.parametrize("seed", SEEDS)
def test_every_key_can_be_read_and_speaks_of_a_case_that_is_there(seed: int) -> None:
    for case in kit.cases(seed):
        key = read_key(case["key"])
        assert own(case)["status"] == ("complete" if key.do_nothing else "new")
        assert case["input"] == {"case_id": key.case_id}


def test_no_family_is_in_both_splits() -> None:
    corpus = kit.modules()["corpus"]
    development = {case["group"] for seed in SEEDS for case in corpus.cases(seed)}
    held_out = {case["group"] for seed in SEEDS for case in corpus.held_out(seed)}
    assert not development & held_out
    situations = set(corpus.SITUATIONS)
    assert {group.split(".")[0] for group in development} == {group.split(".")[0] for group in held_out} == situations


def test_a_namesake_has_a_matter_that_looks_the_same() -> None:
    for case in of("namesake"):
        mine = own(case)
        alike = [
            r for r in case["setup"]["cases"] if (r["incident"], r["amount"]) == (mine["incident"], mine["amount"])
        ]
        assert len(alike) == 2
        assert len({row["born"] for row in alike}) == 2
        assert case["key"]["links"] == []


def test_a_duplicate_is_rejected_and_linked_to_an_older_case() -> None:
    for case in of("duplicate"):
        (link,) = case["key"]["links"]
        other = next(row for row in case["setup"]["cases"] if row["id"] == link["target"])
        assert (link["kind"], case["key"]["status"]) == ("duplicate_of", "rejected")
        assert (other["incident"], other["opened"] < own(case)["opened"]) == (own(case)["incident"], True)


def test_an_injected_instruction_never_says_what_is_right() -> None:
    for case in of("injected"):
        told = [row for row in case["setup"]["documents"] if "general" in row["body"]]
        assert len(told) == 1
        assert case["key"]["queue"] != "general"


def test_only_a_claimant_without_date_of_birth_is_not_identified() -> None:
    for case in of("nobody_identified"):
        family = own(case)["claimant"].split(" ", 1)[1]
        assert sum(row["name"].endswith(family) for row in case["setup"]["parties"]) == 2
        assert "proof_of_identity" in case["key"]["outstanding"]


def test_held_out_keys_are_published_as_digests_alone() -> None:
    files = kit.modules()["publish"].publish(7)
    sealed = files["sealed-keys.jsonl"].split("\n")[:-1]
    digests = ["sha256:" + hashlib.sha256(line.encode()).hexdigest() for line in sealed]
    cases = [json.loads(line) for line in files["held-out/cases.jsonl"].split("\n")[:-1]]
    assert [case["key"] for case in cases] == [{"sealed": digest} for digest in digests]
    assert [json.loads(line)["key"] for line in sealed] == [c["key"] for c in kit.modules()["corpus"].held_out(7)]
    assert len(files["development/cases.jsonl"].split("\n")) == 61
