"""What the page on recorded results says is what the program does."""

from __future__ import annotations

from proctor.cli.score import score
from proctor.grade.record_checks import CHECKS
from proctor.suite.meta import CaseMeta, Relabel
from proctor.suite.records import FIRST_LABELS, RecordsSpec
from records_kit import ROOT

PAGE = (ROOT / "docs" / "scoring-recorded-results.md").read_text(encoding="utf-8")


def test_every_grader_option_key_and_label_is_on_the_page() -> None:
    options = [name for option in score.params for name in option.opts if name.startswith("--")]
    keys = set(RecordsSpec.__struct_fields__) - {"default"}
    sidecar = {*CaseMeta.__struct_fields__, *Relabel.__struct_fields__}
    for name in (*CHECKS, *keys, *FIRST_LABELS, *sidecar):
        assert f"`{name}`" in PAGE, name
    for name in options:
        assert name in PAGE, name
