"""Files in, one line of ASCII JSON out, whatever the files hold; imports; the exit codes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from proctor.cli.usage import usage
from usage_kit import pair, request, usual


def write(folder: Path, manifest: Any, records: Any) -> list[str]:
    paths = folder / "m.json", folder / "r.json"
    for path, value in zip(paths, (manifest, records), strict=True):
        path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return ["reduce", "--manifest", str(paths[0]), "--records", str(paths[1])]


def run(arguments: list[str]) -> tuple[int, dict[str, Any]]:
    result: Result = CliRunner().invoke(usage, arguments)
    assert result.stderr == ""
    assert result.stdout.isascii()
    assert result.stdout.count("\n") == 1
    return result.exit_code, json.loads(result.stdout)


def test_exit_codes_say_pass_gate_closed_and_broken(tmp_path: Path) -> None:
    manifest, records = usual()
    before = json.dumps([manifest, records])
    code, result = run(write(tmp_path, manifest, records))
    assert (code, result["totals"]["total_tokens"], result["gate_pass"]) == (0, 180, True)
    manifest["budget"]["total_tokens"] = 179
    assert run(write(tmp_path, manifest, records))[0] == 1
    manifest["budget"]["total_tokens"] = 10**9
    assert json.dumps([manifest, records]) == before
    code, result = run(write(tmp_path, manifest, records[1:]))
    assert (code, result["totals"], result["errors"][0]["code"]) == (2, None, "missing_record")


TEXTS = [
    (b"", "input_read"),
    (b"{", "input_read"),
    (b"[1] x", "input_read"),
    (b"\xff\xfe", "input_read"),
    (b'{"a": "\\ud800"}', "input_read"),
    (b"[" * 100_000, "input_read"),
    (b"[" * 100_000 + b"]" * 100_000, "input_read"),
    (b'{"a": ' * 100_000, "input_read"),
    (b'{"a": 1, "a": 1}', "duplicate_json_key"),
    (b'[{"b": {"a": 1, "a": 2}}]', "duplicate_json_key"),
    (b"NaN", "schema"),
    (b'{"a": -Infinity}', "schema"),
    (b'{"a": [1,\n  Infinity]}', "schema"),
    (b'{"a": 1e999}', "schema"),
    (b"[-x]", "input_read"),
    (b'["NaN", Nan]', "input_read"),
    (b"[" + b"9" * 5000 + b"]", "input_read"),
]


@pytest.mark.parametrize(("text", "code"), TEXTS, ids=range(len(TEXTS)))
def test_broken_text_in_either_file_is_answered_with_its_code(tmp_path: Path, text: bytes, code: str) -> None:
    manifest, records = usual()
    found = run(write(tmp_path, text, records))
    assert (found[0], found[1]["errors"][0]["code"]) == (2, code)
    found = run(write(tmp_path, manifest, text))
    assert (found[0], found[1]["errors"][0]["code"]) == (2, code)


def test_what_is_no_file_is_answered_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "none", Path("/dev/zero"), tmp_path / "a\udcff"):
        code, result = run(["reduce", "--manifest", str(path), "--records", str(path)])
        assert (code, result["errors"][0]["code"]) == (2, "input_read")


def test_a_doubled_key_inside_a_record_is_found_though_the_values_would_pass(tmp_path: Path) -> None:
    manifest, records = usual()
    text = json.dumps(records).replace('"sequence": 1', '"sequence": 1, "sequence": 1', 1).encode()
    assert run(write(tmp_path, manifest, text))[1]["errors"][0]["code"] == "duplicate_json_key"


def test_extra_fields_of_a_raw_usage_object_are_kept_and_counted_as_before(tmp_path: Path) -> None:
    for extra in ({"service_tier": "a b\t"}, {"cost": 0.00001, "x": {"y": [1.0, 1e300]}}, {"é": "\u2028\U0001f600"}):
        manifest, records = pair([[request("a", 60, 20, **extra)]])
        assert run(write(tmp_path, manifest, records))[1]["totals"]["total_tokens"] == 80


def test_a_chain_is_drawn_as_text(tmp_path: Path) -> None:
    result = CliRunner().invoke(usage, [*write(tmp_path, *usual()), "--chains"])
    assert "attempt-0 run-0: 80 → 130 tokens (2 checkpoints, 2 requests, succeeded)" in result.stderr
    assert "attempt-1 run-1: 50 tokens (1 checkpoint, 1 request, succeeded)" in result.stderr


ANTHROPIC = {"input_tokens": 3, "output_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 7}


def test_importing_a_providers_payloads_writes_records_that_reduce_to_the_same(tmp_path: Path) -> None:
    source = tmp_path / "payloads.json"
    source.write_text(json.dumps([{"model": "m", "usage": ANTHROPIC}, ANTHROPIC]))
    out = tmp_path / "out"
    code, outcome = run(["import", "--from", "anthropic.messages", "--out", str(out), str(source)])
    assert code == 0
    assert outcome["verified"]["input_tokens"] == 220
    assert (outcome["verified"]["cached_tokens"], outcome["verified"]["reasoning_tokens"]) == (200, None)
    files = [str(out / name) for name in ("usage.manifest.json", "usage.records.json")]
    code, result = run(["reduce", "--manifest", files[0], "--records", files[1]])
    assert (code, result["schema_version"], result["totals"]) == (0, 2, outcome["verified"])
    code, again = run(["import", "--from", "auto", "--out", str(out), str(source)])
    assert (code, again["errors"][0]["code"]) == (2, "input_read")


@pytest.mark.parametrize(
    ("source", "payload", "code"),
    [
        ("auto", {"input_tokens": 1, "output_tokens": 2}, "unsupported_provider"),
        ("auto", {**ANTHROPIC, "total_tokens": 120}, "unsupported_provider"),
        ("anthropic.messages", {"input_tokens": 1, "output_tokens": 2}, "raw_unknown"),
        ("openai.chat_completions", {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 9}, "token_total"),
        ("google.gemini", None, "raw_unknown"),
        ("openai.agents_sdk", {"x": 1}, "schema"),
    ],
)
def test_ambiguous_or_unknown_payloads_are_refused_with_a_code(
    tmp_path: Path, source: str, payload: Any, code: str
) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"usage": payload} if payload is None else payload))
    found = run(["import", "--from", source, str(path)])
    assert (found[0], found[1]["verified"], found[1]["errors"][0]["code"]) == (2, None, code)


def test_resumes_of_the_agents_sdk_are_not_added_up(tmp_path: Path) -> None:
    def state(requests: int, given: int) -> dict[str, Any]:
        spent = {"requests": requests, "input_tokens": given, "output_tokens": 10, "total_tokens": given + 10}
        return {"$schemaVersion": "1.13", "context": {"usage": spent}}

    paths = [tmp_path / f"{number}.json" for number in range(2)]
    for number, path in enumerate(paths):
        path.write_text(json.dumps(state(number + 1, 70 + 50 * number)))
    names = [str(path) for path in paths]
    code, outcome = run(["import", "--from", "openai.agents_sdk", *names])
    assert (code, outcome["verified"], outcome["sdk_reported"]["total_tokens"]) == (1, None, 130)
    code, outcome = run(["import", "--from", "openai.agents_sdk", "--independent", *names])
    assert outcome["sdk_reported"]["total_tokens"] == 210
    code, outcome = run(["import", "--from", "openai.agents_sdk", *reversed(names)])
    assert (code, outcome["errors"][0]["code"]) == (2, "cumulative_regression")


def test_nan_is_named_wherever_it_stands_in_a_large_file(tmp_path: Path) -> None:
    manifest, _ = usual()
    for n_lines in (0, 1, 65_535, 65_536, 65_537, 200_000):
        text = b"[" + b"\n" * n_lines + b"  NaN]"
        error = run(write(tmp_path, manifest, text))[1]["errors"][0]
        assert error["code"] == "schema"
        assert f"NaN or Infinity at line {n_lines + 1} column" in error["detail"]


def test_a_large_list_of_anything_else_is_answered_without_an_exception_for_each(tmp_path: Path) -> None:
    manifest, _ = usual()
    for text in (b"[" + b"1," * 500_000 + b"1]", b"[" + b"{}," * 300_000 + b"{}]"):
        error = run(write(tmp_path, manifest, text))[1]["errors"][0]
        assert (error["code"], "checkpoint_id" in error["detail"]) == ("schema", True)
