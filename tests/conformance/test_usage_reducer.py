"""The reducer's known answers: every result matches but for the wording of details."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.usage import reduce_usage
from proctor.usage.load import reduce_files
from proctor.usage.reduce import reduce_careful


def without_details(result: dict[str, Any]) -> dict[str, Any]:
    for error in result["errors"]:
        assert error.pop("detail")
    return result


def test_every_known_pair_gives_its_known_result(conformance: Path) -> None:
    folders = sorted(path.parent for path in (conformance / "usage").glob("*/result.json"))
    assert len(folders) >= 20
    for folder in folders:
        manifest, records, expected = (
            json.loads((folder / f"{name}.json").read_bytes()) for name in ("manifest", "records", "result")
        )
        expected = without_details(expected)
        for reduce in (reduce_usage, reduce_careful):
            assert without_details(reduce(manifest, records)) == expected, folder.name
        got = reduce_files(folder / "manifest.json", folder / "records.json")
        assert without_details(got) == expected, folder.name


def test_stopping_at_80_and_resuming_to_130_is_130_and_so_are_two_independent_runs(conformance: Path) -> None:
    for name, n_runs in (("resumed", 1), ("independent", 2)):
        folder = conformance / "usage" / name
        result = reduce_files(folder / "manifest.json", folder / "records.json")
        assert result["totals"]["total_tokens"] == 130
        assert result["counted_top_level_runs"] == n_runs


@pytest.mark.parametrize("wrong", ["manifest", "records"])
def test_a_wrong_pair_is_not_accepted(conformance: Path, wrong: str) -> None:
    one, other = conformance / "usage" / "resumed", conformance / "usage" / "retry"
    manifest = (other if wrong == "manifest" else one) / "manifest.json"
    records = (other if wrong == "records" else one) / "records.json"
    assert reduce_files(manifest, records)["totals"] is None
