"""``proctor corpus SUITE --out DIR``: the public corpus of a suite that has a generator."""

from __future__ import annotations

from pathlib import Path

import click

from proctor.cli.options import SEED
from proctor.errors import Place, UsageError
from proctor.suite.generate import generate_corpus
from proctor.suite.load import load_suite

__all__ = ["corpus"]


@click.command()
@click.argument("suite")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="A folder that doesn't exist yet, or is empty."
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="Same seed, same bytes.")
def corpus(suite: str, out: Path, seed: int) -> int:
    """Write the public corpus of SUITE: what anyone needs to try an agent without Proctor."""
    loaded = load_suite(suite)
    if loaded.spec.corpus is None:
        raise UsageError(
            f"the suite {loaded.spec.name} publishes no corpus",
            place=loaded.place(""),
            expected='corpus = "file.py:function" in suite.toml',
        )
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("the folder is not empty", place=Place(str(out)), fix="choose another --out")
    files = generate_corpus(loaded.folder, loaded.spec.corpus, seed)
    for name, data in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    click.echo(f"{len(files)} files in {out} (seed {seed})")
    return 0
