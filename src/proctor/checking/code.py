"""The suite's own code: does it load, which tools and events does it have, can their SQL run, and does it use what
isn't its own (the machine's clock, dice, files, network)?"""

from __future__ import annotations

import ast
from pathlib import Path

from proctor.checking.model import Mistakes
from proctor.checking.read import Draft
from proctor.codec.models import nearest
from proctor.errors import Place, ProctorError
from proctor.grade.host import CodeEntry, GraderProcess
from proctor.grade.key_graders import KEY_GRADERS
from proctor.grade.standard import STANDARD_GRADERS
from proctor.suite.source import machine_uses, sql_calls
from proctor.worlds.probe import WorldProbe

__all__ = ["check_graders", "check_sources", "check_tools", "open_probe"]

_GRADERS = {*STANDARD_GRADERS, *KEY_GRADERS}


def open_probe(draft: Draft, mistakes: Mistakes) -> WorldProbe | None:
    """The world, ready to be asked; None where it doesn't load."""
    if not (draft.suite.folder / draft.spec.world).is_file():
        return None
    try:
        return WorldProbe(draft.suite.folder, draft.spec.world)
    except ProctorError as error:
        fix = f"mend {draft.spec.world}: it must load by itself, in a process without network or files"
        mistakes.take(error, draft.file_place(draft.spec.world, _world_line(draft)), fix=fix)
        return None


def _world_line(draft: Draft) -> int | None:
    """The line of ``world(…)``, for faults of its schema."""
    for node in ast.walk(_tree(draft.suite.folder / draft.spec.world)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "world":
            return node.lineno
    return None


def _tree(path: Path) -> ast.Module:
    """A file's syntax, empty where it has none (that is a mistake of its own)."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return ast.Module(body=[], type_ignores=[])


def check_tools(draft: Draft, probe: WorldProbe, mistakes: Mistakes) -> None:
    """What the world offers, and what ``suite.toml`` says of it."""
    spec, facts = draft.spec, probe.facts
    tools = [tool.name for tool in facts.tools]
    for tool in facts.tools:
        if not tool.described:
            mistakes.add(
                f"the tool {tool.name} has no docstring",
                draft.file_place(spec.world, tool.line),
                code="tool_description",
                expected="a docstring: it is the description that agents see",
                fix='write one as the first line of its body: "Look up one order."',
            )
    for operation in (*facts.tools, *facts.events):
        for table in (*operation.reads, *operation.writes):
            if table not in facts.columns:
                place = draft.file_place(spec.world, operation.line)
                mistakes.unknown("table", table, list(facts.columns), place, code="unknown_table")
    for number, name in enumerate(spec.contract.forbid):
        if name not in tools:
            mistakes.unknown("tool", name, tools, draft.place(f"contract.forbid[{number}]"), code="unknown_tool")
    for name in spec.contract.max_calls:
        place = draft.place(f"contract.max_calls.{name}")
        if name not in tools:
            mistakes.unknown("tool", name, tools, place, code="unknown_tool")
        elif name in spec.contract.forbid:
            fix = f"take {name} out of one of the two"
            mistakes.warn(f"{name} is forbidden, so its ceiling says nothing", place, code="contract", fix=fix)
    end = spec.cycle.ends_with
    if end is not None and end not in tools:
        mistakes.unknown("tool", end, tools, draft.place("cycle.ends_with"), code="unknown_tool")
    elif end is not None and end in spec.contract.forbid:
        mistakes.add(
            "the tool that ends a cycle is forbidden, so no cycle can end",
            draft.place("cycle.ends_with"),
            code="contract",
            expected="a tool that agents may call",
            found=end,
            fix="take it out of contract.forbid",
        )
    _unreached(draft, probe, mistakes)


def _unreached(draft: Draft, probe: WorldProbe, mistakes: Mistakes) -> None:
    """Tools that only read, and whose tables hold nothing in any case; events that no case schedules."""
    facts, spec = probe.facts, draft.spec
    filled = set(facts.filled)
    filled.update(table for case, _ in draft.cases for table, rows in case.setup.items() if rows)
    for operation in (*facts.tools, *facts.events):
        if operation.name not in spec.contract.forbid:
            filled.update(operation.writes)
    for tool in facts.tools:
        reads_only = tool.reads and not tool.writes and tool.name not in spec.contract.forbid
        if reads_only and not filled.intersection(tool.reads) and draft.cases:
            mistakes.warn(
                f"nothing reaches the tool {tool.name}: {', '.join(tool.reads)} holds no row in any case",
                draft.file_place(spec.world, tool.line),
                code="unreached_tool",
                fix="give a case such rows in its setup, or remove the tool",
            )
    scheduled = {event.do for case, _ in draft.cases for event in case.events}
    for event in facts.events:
        if event.name not in scheduled and draft.cases:
            mistakes.warn(
                f"no case schedules the event {event.name}",
                draft.file_place(spec.world, event.line),
                code="unreached_event",
                fix='schedule it: "events": [{"cycle": 1, "do": "…", "args": {…}}], or remove it',
            )


def check_sources(draft: Draft, probe: WorldProbe | None, mistakes: Mistakes) -> None:
    """What can be told by reading the suite's Python files."""
    folder = draft.suite.folder
    for path in draft.suite.files():
        if path.suffix == ".py":
            name = path.relative_to(folder).as_posix()
            source = _source(path, mistakes)
            if source is not None:
                for note in machine_uses(source):
                    problem = f"{note.name} is {note.what}: runs of this suite can't be repeated exactly"
                    mistakes.warn(problem, draft.file_place(name, note.line), code="machine", fix=note.fix)
                if probe is not None and name == draft.spec.world:
                    _check_sql(draft, probe, source, mistakes)


def _source(path: Path, mistakes: Mistakes) -> str | None:
    try:
        source = path.read_text(encoding="utf-8")
        ast.parse(source)
    except UnicodeDecodeError as error:
        mistakes.add("not UTF-8", Place(str(path)), code="encoding", found=str(error), fix="save the file as UTF-8")
        return None
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        fix = "mend the line"
        mistakes.add(
            str(getattr(error, "msg", error)),
            Place(str(path), line),
            code="suite_code",
            expected="valid Python",
            fix=fix,
        )
        return None
    return source


def _check_sql(draft: Draft, probe: WorldProbe, source: str, mistakes: Mistakes) -> None:
    known = {operation.name for operation in (*probe.facts.tools, *probe.facts.events)}
    for call in sql_calls(source):
        if call.operation in known:
            problem = probe.sql_problem(call.operation, call.sql, call.n_parameters)
            if problem is not None:
                undeclared = "declare" in problem
                mistakes.add(
                    problem,
                    draft.file_place(draft.spec.world, call.line),
                    code="undeclared_access" if undeclared else "sql",
                    expected="tables that the tool declares" if undeclared else "SQL that fits the schema",
                    found=call.sql,
                    fix="add the table to reads= or writes= of its decorator" if undeclared else "mend the statement",
                )


def check_graders(draft: Draft, mistakes: Mistakes) -> tuple[CodeEntry, ...] | None:
    """The codes that the suite's graders declare; None where they can't be loaded."""
    known = sorted(_GRADERS)
    seen: set[str] = set()
    unloadable = False
    for number, name in enumerate(draft.spec.graders):
        place = draft.place(f"graders[{number}]")
        if name in seen:
            mistakes.add("named twice", place, code="grader", expected="each grader once", found=name, fix="remove one")
        seen.add(name)
        if ".py:" in name:
            unloadable |= not _names_function(draft, name, place, mistakes)
        elif name not in known:
            unloadable = True
            guess = nearest(name, known)
            mistakes.add(
                f"there is no grader {name!r}",
                place,
                code="grader",
                expected=f"{', '.join(known)}, or file.py:function",
                found=name,
                fix=f"did you mean {guess!r}?" if guess else "write file.py:function for one of your own",
            )
    if unloadable or len(mistakes.of_file("suite.toml")) > 0:
        return None
    try:
        graders = GraderProcess(draft.suite.folder)
    except ProctorError as error:
        mistakes.take(error, draft.place("graders"), fix="mend the grader")
        return None
    try:
        return graders.codes
    except ProctorError as error:
        mistakes.take(error, draft.place("graders"), fix="mend the grader: declare it with @grader(codes={…})")
        return None
    finally:
        graders.close()


def _names_function(draft: Draft, reference: str, place: Place, mistakes: Mistakes) -> bool:
    """Whether ``file.py:function`` is there, as far as the file can be read."""
    file, _, function = reference.partition(":")
    path = draft.suite.folder / file
    body = _tree(path).body
    if not path.is_file() or not body:
        return False
    functions = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    others = [a.asname or a.name for node in body if isinstance(node, (ast.Import, ast.ImportFrom)) for a in node.names]
    if function in functions or function in others or any(isinstance(node, ast.Assign) for node in body):
        return True
    mistakes.unknown(f"function in {file}", function, functions, place, code="reference")
    return False
