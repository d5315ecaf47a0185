"""``proctor score-final-state EXPECTED.csv CANDIDATE.csv``: one JSON object on stdout, and an exit code."""

from __future__ import annotations

import json
import os

import click

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no linear algebra here: start no threads for it

from proctor.score.final_state_files import score_final_state as score_files

__all__ = ["score_final_state"]


@click.command("score-final-state")
@click.argument("expected", metavar="EXPECTED.csv", type=click.Path())
@click.argument("candidate", metavar="CANDIDATE.csv", type=click.Path())
def score_final_state(expected: str, candidate: str) -> int:
    """Compare the final table CANDIDATE.csv with EXPECTED.csv and print the figures as one JSON object.

    Both are CSV in UTF-8 with a header row and a column file_id; the other columns of EXPECTED are compared as
    text. It looks at the final state alone, so pilot_pass is always null.

    Exit codes: 0 all figures are 1, 1 they are not, 2 configuration error or unreadable input.
    """
    state = score_files(expected, candidate)
    click.echo(json.dumps(state.to_dict(), indent=2))
    return state.verdict.exit_code
