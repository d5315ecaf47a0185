"""A dataset over time: relabels that say why, disputes that stop a score, splits by group, a holdout that wears out."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.suite.split import is_held_out, place_of_group
from records_kit import case, proctor, result, write_jsonl

CASES = [case(n, severity) for n, severity in enumerate(("normal", "urgent", "?", "normal"), 1)]


@pytest.fixture(autouse=True)
def _own_key(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path_factory.getbasetemp() / "home"))


def relabelled() -> list[dict[str, Any]]:
    rows = copy.deepcopy(CASES)
    rows[0]["input"]["severity"] = "urgent"
    rows[0]["expected"] = CASES[1]["expected"]
    del rows[3]
    return [*rows, case(5)]


def reason(before: Any, after: Any, text: str = "the customer's plan changed") -> dict[str, Any]:
    return {"before": before, "after": after, "reason": text, "annotator": "ana", "at": "2026-11-30"}


def test_a_relabel_must_say_why(tmp_path: Path) -> None:
    old, new = write_jsonl(tmp_path / "v1.jsonl", CASES), write_jsonl(tmp_path / "v2.jsonl", relabelled())
    bare = proctor("dataset", "diff", old, new)
    assert bare.returncode == 1
    assert bare.stdout.splitlines() == [
        "added       C05",
        "removed     C04",
        "edited      C01: input",
        "relabelled  C01 (unreviewed, by unknown)",
        "    from    {'label': 'normal', 'sla_hours': 24, 'evidence': ['policy-v1']}",
        "    to      {'label': 'urgent', 'sla_hours': 4, 'evidence': ['policy-v1']}",
        "    reason  none was given, and a relabel needs one",
        "1 added, 1 removed, 1 edited, 1 relabelled (1 without a reason)",
    ]
    before, after = CASES[0]["expected"], CASES[1]["expected"]
    for chain, code in (
        ([reason(before, after)], 0),
        ([reason(before, "x"), reason("x", after, "back again")], 0),
        ([reason(before, "x")], 1),
        ([reason("x", after)], 1),
    ):
        meta = {"id": "C01", "annotator": "ana", "review": "reviewed", "relabels": chain}
        write_jsonl(tmp_path / "v2.meta.jsonl", [meta])
        done = proctor("dataset", "diff", old, new, "--json")
        assert done.returncode == code, chain
        document = json.loads(done.stdout)
        assert document["unexplained"] == ([] if code == 0 else ["C01"])
        assert document["relabelled"][0]["review"] == "reviewed"
        if code == 0:
            assert document["relabelled"][0]["reason"] == chain[-1]["reason"]
            assert document["relabelled"][0]["annotator"] == "ana"
    same = proctor("dataset", "diff", old, old)
    assert (same.returncode, same.stdout) == (0, "no difference\n")


def test_a_disputed_case_stops_the_score_until_it_is_settled(tmp_path: Path) -> None:
    dataset = write_jsonl(tmp_path / "d.jsonl", CASES)
    results = write_jsonl(tmp_path / "r.jsonl", [result(of) for of in CASES])
    write_jsonl(tmp_path / "d.meta.jsonl", [{"id": "C01"}, {"id": "C02", "review": "disputed"}])
    refused = proctor("score", dataset, results, "cand", "--repeats", 1)
    assert refused.returncode == 2
    assert f"{tmp_path / 'd.meta.jsonl'}:2: review: the case C02 is disputed" in refused.stderr
    assert proctor("dataset", "diff", dataset, dataset).returncode == 1
    write_jsonl(tmp_path / "d.meta.jsonl", [{"id": "C01", "group": "g"}, {"id": "C02", "group": "g"}])
    done = proctor("score", dataset, results, "cand", "--repeats", 1, "--json")
    assert done.returncode == 0
    statistics = json.loads(done.stdout)["statistics"]
    assert (statistics["clusters_are"], statistics["low"]["clusters"]) == ("groups", 3)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "C01", "grup": "x"}, "did you mean 'group'?"),
        ({"id": "C01", "review": "maybe"}, "review"),
        ({"id": "C01", "relabels": [{"before": 1, "after": 2, "annotator": "a"}]}, "reason"),
        ({"id": "C01", "source": {"document": "policy", "sha256": "short"}}, "source.sha256"),
        ({"id": "C99"}, "unknown case in the sidecar"),
    ],
)
def test_a_sidecar_is_read_strictly(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    dataset = write_jsonl(tmp_path / "d.jsonl", CASES)
    write_jsonl(tmp_path / "d.meta.jsonl", [row])
    done = proctor("score", dataset, write_jsonl(tmp_path / "r.jsonl", []), "cand")
    assert done.returncode == 2
    assert f"{tmp_path / 'd.meta.jsonl'}:1" in done.stderr
    assert message in done.stderr


def test_a_holdout_is_split_off_by_group_and_wears_out(tmp_path: Path) -> None:
    cases = [case(n) for n in range(1, 41)]
    dataset = write_jsonl(tmp_path / "d.jsonl", cases)
    groups = {of["id"]: f"customer-{n // 2}" for n, of in enumerate(cases)}
    write_jsonl(tmp_path / "d.meta.jsonl", [{"id": name, "group": group} for name, group in groups.items()])
    out = tmp_path / "parts"
    arguments = ["dataset", "split", dataset, "--salt", "spring", "--holdout", "0.3", "--budget", "2"]
    done = proctor(*arguments, "--out", out, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    parts = {
        name: [json.loads(line)["id"] for line in (out / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        for name in ("development", "holdout")
    }
    assert sorted(parts["development"] + parts["holdout"]) == sorted(groups)
    assert not {groups[name] for name in parts["development"]} & {groups[name] for name in parts["holdout"]}
    again = proctor(*arguments, "--out", tmp_path / "again", cwd=tmp_path)
    assert again.returncode == 0
    for name in ("development.jsonl", "holdout.jsonl", "holdout.meta.jsonl", "split.json"):
        assert (out / name).read_bytes() == (tmp_path / "again" / name).read_bytes()

    holdout = out / "holdout.jsonl"
    rows = write_jsonl(tmp_path / "r.jsonl", [result(of) for of in cases if of["id"] in parts["holdout"]])
    renamed = tmp_path / "innocent.jsonl"
    renamed.write_bytes(holdout.read_bytes())
    for use, (path, spent) in enumerate(((holdout, False), (renamed, False), (holdout, True)), 1):
        scored = proctor("score", path, rows, "cand", "--repeats", 1, "--json", cwd=tmp_path)
        assert scored.returncode == 0, scored.stderr
        assert json.loads(scored.stdout)["holdout"] == {"uses": use, "budget": 2, "spent": spent}
    shown = proctor("score", holdout, rows, "cand", "--repeats", 1, cwd=tmp_path)
    assert "holdout: use 4 of 2; it is spent" in shown.stdout
    elsewhere = proctor("score", holdout, rows, "cand", "--repeats", 1, "--workspace", tmp_path / "other")
    assert elsewhere.returncode == 64
    assert "this workspace doesn't count its uses" in elsewhere.stderr
    development = write_jsonl(tmp_path / "r2.jsonl", [result(of) for of in cases if of["id"] in parts["development"]])
    free = proctor("score", out / "development.jsonl", development, "cand", "--repeats", 1, "--json", cwd=tmp_path)
    assert json.loads(free.stdout)["holdout"] is None


def test_a_split_without_two_sides_is_refused(tmp_path: Path) -> None:
    dataset = write_jsonl(tmp_path / "d.jsonl", CASES[:1])
    done = proctor("dataset", "split", dataset, "--salt", "s", "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 64
    assert "part would be empty" in done.stderr
    assert not (tmp_path / "out").exists()


@given(st.text(max_size=20), st.text(max_size=20), st.floats(0, 1), st.floats(0, 1))
def test_where_a_group_goes_depends_on_salt_and_name_alone(salt: str, group: str, one: float, two: float) -> None:
    assert 0 <= place_of_group(salt, group) < 1
    small, large = sorted((one, two))
    assert not is_held_out(salt, group, small) or is_held_out(salt, group, large)


def test_a_share_of_the_groups_is_held_out() -> None:
    held = sum(is_held_out("salt", f"group {n}", 0.2) for n in range(10_000))
    assert 1_850 < held < 2_150
    assert place_of_group("a", "b") != place_of_group("ab", "") != place_of_group("", "ab")
