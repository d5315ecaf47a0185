"""The same seed and agent twice: the same plan, traces (but times) and figures, byte for byte; and a changed byte
anywhere in a run's folder is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor.cli.verify import verify
from proctor.runner.run import RunRequest, run_suite
from proctor.suite.generate import generate_corpus
from proctor.suite.load import load_suite

SUITE = "call-import"
VOLATILE = ("run_id", "at")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs of the reference agent with one seed."""
    workspace = tmp_path_factory.mktemp("twice")
    made = []
    for name in ("one", "two"):
        request = RunRequest(suite=SUITE, agent="builtin:reference", seed=7, out=workspace / name)
        made.append(run_suite(request).folder)
    return made[0], made[1]


def _trace(run: Path) -> list[list[dict[str, object]]]:
    traces = []
    for path in sorted((run / "traces").iterdir()):
        rows = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
        traces.append([{k: v for k, v in row.items() if k not in VOLATILE} for row in rows])
    return traces


def _figures(run: Path) -> dict[str, object]:
    report = json.loads((run / "report.json").read_bytes())
    del report["run"]
    for cell in report["cells"]:
        del cell["usage"]["seconds"]
    return report


def test_the_plan_is_the_same_bytes(runs: tuple[Path, Path]) -> None:
    one, two = runs
    assert (one / "plan.json").read_bytes() == (two / "plan.json").read_bytes()


def test_the_traces_differ_in_times_alone(runs: tuple[Path, Path]) -> None:
    one, two = runs
    assert _trace(one) == _trace(two)
    assert _trace(one)[0], "the trace is empty"


def test_the_figures_are_the_same(runs: tuple[Path, Path]) -> None:
    one, two = runs
    assert json.dumps(_figures(one)) == json.dumps(_figures(two))


def test_the_final_states_are_the_same_files(runs: tuple[Path, Path]) -> None:
    one, two = runs
    assert sorted(p.name for p in (one / "states").iterdir()) == sorted(p.name for p in (two / "states").iterdir())


def test_the_corpus_is_the_same_bytes_for_a_seed_and_others_for_another() -> None:
    suite = load_suite(SUITE)
    assert suite.spec.corpus is not None
    one = generate_corpus(suite.folder, suite.spec.corpus, 7)
    assert one == generate_corpus(suite.folder, suite.spec.corpus, 7)
    assert one != generate_corpus(suite.folder, suite.spec.corpus, 8)


def _verify(run: Path) -> tuple[int, str]:
    result = CliRunner().invoke(verify, [str(run), "--no-code"], standalone_mode=False)
    code = result.return_value if isinstance(result.return_value, int) else 2
    return code, result.output + str(result.exception or "")


def test_every_file_of_a_run_is_watched(runs: tuple[Path, Path], tmp_path: Path) -> None:
    one, _ = runs
    shutil.copy(one.parent / "trust.json", tmp_path / "trust.json")
    copy = tmp_path / "run"
    shutil.copytree(one, copy)
    assert _verify(copy)[0] == 0
    files = [path for path in sorted(copy.rglob("*")) if path.is_file()]
    assert len(files) > 15
    for path in files:
        name = path.relative_to(copy).as_posix()
        data = path.read_bytes()
        if not data:
            continue
        for position in {0, len(data) // 2, len(data) - 1}:
            changed = bytearray(data)
            changed[position] ^= 0x01
            path.write_bytes(changed)
            code, output = _verify(copy)
            assert code == 2, f"a changed byte {position} of {name} went unseen:\n{output}"
            assert name.rsplit("/", 1)[-1] in output, f"{name} is not named:\n{output}"
        path.unlink()
        assert _verify(copy)[0] == 2, f"{name} was deleted unseen"
        path.write_bytes(data)
    (copy / "extra.txt").write_text("x")
    assert _verify(copy)[0] == 2
    (copy / "extra.txt").unlink()
    assert _verify(copy)[0] == 0
