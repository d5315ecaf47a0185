"""The project speaks of itself truthfully: exports, links, commands, and no word about where it was made."""

from __future__ import annotations

import importlib
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import proctor
from proctor.cli.main import COMMANDS, cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def _tracked() -> list[Path]:
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout: there is no list of the project's own files")
    return [ROOT / name for name in listed.stdout.split("\n") if name]


def test_every_exported_name_exists_and_nothing_shadows_it() -> None:
    modules = {path.stem for path in (ROOT / "src" / "proctor").iterdir()}
    for name in proctor.__all__:
        assert getattr(proctor, name) is not None
        assert name not in modules, f"a module is named like the export {name}"
    assert dir(proctor) == sorted(proctor.__all__)
    with pytest.raises(AttributeError, match="module 'proctor' has no attribute 'nothing'"):
        _ = proctor.nothing


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself(name: str) -> None:
    result = CliRunner().invoke(cli, [name, "--help"])
    assert result.exit_code == 0, result.output
    assert "Usage:" in result.output


def test_the_help_of_the_whole_names_every_command() -> None:
    result = CliRunner().invoke(cli, ["--help"])
    for name in COMMANDS:
        assert name in result.output


def test_commands_named_in_the_docs_exist() -> None:
    used = {
        match
        for page in PAGES
        for block in re.findall(r"```(?:\w*)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        for match in re.findall(r"^\s*(?:\$ )?proctor ([a-z][a-z-]*)", block, re.MULTILINE)
    }
    assert used
    assert used <= set(COMMANDS), f"the docs name commands that don't exist: {sorted(used - set(COMMANDS))}"


def test_suites_are_named_in_their_own_folders_only() -> None:
    source = ROOT / "src" / "proctor"
    names = [path.parent.name for path in (source / "builtin").glob("*/suite.toml")]
    assert names
    for path in source.rglob("*.py"):
        if (source / "builtin") in path.parents:
            continue
        text = path.read_text(encoding="utf-8")
        for name in names:
            assert not re.search(rf"\b{re.escape(name)}\b", text), f"{path.relative_to(ROOT)} names the suite {name}"


def test_shipped_agents_import_nothing_from_proctor() -> None:
    agents = list((ROOT / "src" / "proctor" / "builtin").glob("*/agents/*.py"))
    assert agents
    for path in agents:
        assert not re.search(r"^\s*(?:from|import) proctor\b", path.read_text(), re.MULTILINE), path.name


def test_pins_have_hashes_and_no_addresses() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text()
        assert "://" not in text
        entries = re.split(r"\n(?=\S)", text.strip())
        assert all("--hash=sha256:" in entry for entry in entries if "==" in entry)


def test_the_core_dependencies_are_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    locked = (ROOT / "requirements.lock").read_text().lower()
    for requirement in project["dependencies"]:
        name = re.match(r"[A-Za-z0-9_-]+", requirement)
        assert name is not None
        assert f"{name[0].lower()}==" in locked, f"{name[0]} is not pinned"


def test_nothing_tells_where_it_was_made() -> None:
    hosts = (
        "".join(("python", "hosted")),
        ".".join(("registry", "npmjs")),
        ".".join(("deb", "debian")),
        ".".join(("pypi", "org")),
    )
    folders = [f"/{name}/" for name in ("work", "farm")]
    words = re.compile("|".join(map(re.escape, (*hosts, *folders))), re.IGNORECASE)
    for path in _tracked():
        if not path.is_file() or path.suffix in (".sqlite", ".parquet", ".png"):
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found = words.search(text)
        assert not found, f"{path.relative_to(ROOT)} names {found[0] if found else ''}"


def test_every_module_says_what_it_is_for() -> None:
    for path in (ROOT / "src" / "proctor").rglob("*.py"):
        first = path.read_text(encoding="utf-8").lstrip()
        if first:
            assert first.startswith(('"""', "#!")), f"{path.relative_to(ROOT)} has no docstring"


def test_every_module_of_the_package_can_be_imported() -> None:
    source = ROOT / "src"
    for path in (source / "proctor").rglob("*.py"):
        relative = path.relative_to(source).with_suffix("")
        if "builtin" in relative.parts or relative.name in ("__main__", "probe"):
            continue
        name = ".".join(part for part in relative.parts if part != "__init__")
        assert importlib.import_module(name).__name__ == name
