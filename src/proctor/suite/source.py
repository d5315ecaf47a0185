"""What can be told of a suite's own code by reading it: uses of the machine's clock, dice, files and network, and the
SQL that its tools run. Pure: source text in, values out; nothing is executed.

A world's clock and dice are the suite's; a tool or grader that reads the machine's makes runs that can't be repeated.
This finds what is written plainly, not what is hidden.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import msgspec

__all__ = ["SourceNote", "SqlCall", "machine_uses", "sql_calls"]

_CLOCK = "db.now() is the world's instant, clock= in world(...) sets it"
_DICE = "db.random() is the world's own die, seeded for every cell"
_OUTSIDE = "keep what is needed in the world's tables, or in the case"
_MODULES: Mapping[str, tuple[str, str]] = {
    "random": ("the machine's dice", _DICE),
    "secrets": ("the machine's dice", _DICE),
    "uuid": ("ids that differ in every run", "make ids from what the case holds, or count rows"),
    "time": ("the machine's clock", _CLOCK),
    "os": ("the machine", _OUTSIDE),
    "subprocess": ("other programs", _OUTSIDE),
    "socket": ("the network", _OUTSIDE),
    "ssl": ("the network", _OUTSIDE),
    "urllib": ("the network", _OUTSIDE),
    "http": ("the network", _OUTSIDE),
    "requests": ("the network", _OUTSIDE),
    "httpx": ("the network", _OUTSIDE),
    "aiohttp": ("the network", _OUTSIDE),
    "threading": ("threads", "a tool is one transaction, from begin to end"),
    "multiprocessing": ("other processes", _OUTSIDE),
    "tempfile": ("files", _OUTSIDE),
    "shutil": ("files", _OUTSIDE),
}
_HARMLESS = frozenset(
    {"urllib.parse", "time.strftime", "time.gmtime", "time.strptime", "uuid.UUID", "uuid.uuid5", "uuid.NAMESPACE_URL"}
)
_CALLS: Mapping[str, tuple[str, str]] = {
    "datetime.datetime.now": ("the machine's clock", _CLOCK),
    "datetime.datetime.utcnow": ("the machine's clock", _CLOCK),
    "datetime.datetime.today": ("the machine's clock", _CLOCK),
    "datetime.date.today": ("the machine's clock", _CLOCK),
    "open": ("files", _OUTSIDE),
    "eval": ("code made at run time", "write the code itself"),
    "exec": ("code made at run time", "write the code itself"),
    "input": ("the keyboard", _OUTSIDE),
}
_SEEDED = frozenset({"random.Random"})
_VERBS = frozenset({"one", "first", "all", "run"})


class SourceNote(msgspec.Struct, frozen=True, kw_only=True):
    """A use of something that isn't the suite's: its name as imported, what it is, what to do instead."""

    line: int
    name: str
    what: str
    fix: str


class SqlCall(msgspec.Struct, frozen=True, kw_only=True):
    """A statement written out in a tool or event. ``n_parameters`` is None where they are spread from a list."""

    line: int
    operation: str
    sql: str
    n_parameters: int | None


def machine_uses(source: str) -> list[SourceNote]:
    """Every plain use of the machine's clock, dice, files or network, by line. Raises ``SyntaxError``."""
    tree = ast.parse(source)
    names = dict(_imported(tree))
    notes: dict[tuple[int, str], SourceNote] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load):
            note = _note(node, names)
            if note is not None:
                notes.setdefault((note.line, note.what), note)
        elif isinstance(node, ast.Global):
            notes[node.lineno, "global"] = SourceNote(
                line=node.lineno,
                name=f"global {', '.join(node.names)}",
                what="a value that outlives the cell",
                fix="keep it in the world's tables: those are reset, this isn't",
            )
    return [notes[key] for key in sorted(notes)]


def sql_calls(source: str) -> list[SqlCall]:
    """Every statement given as a plain text to ``db.one``, ``first``, ``all``, ``run`` or ``insert`` inside a
    top-level function, with the number of its parameters. Raises ``SyntaxError``."""
    calls = []
    for function in ast.parse(source).body:
        if isinstance(function, ast.FunctionDef) and function.args.args and function.decorator_list:
            db = function.args.args[0].arg
            calls += [call for node in ast.walk(function) if (call := _sql_call(node, db, function.name)) is not None]
    return sorted(calls, key=lambda call: call.line)


def _sql_call(node: ast.AST, db: str, operation: str) -> SqlCall | None:
    if not (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == db
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    ):
        return None
    text, verb = node.args[0].value, node.func.attr
    if verb in _VERBS:
        spread = any(isinstance(argument, ast.Starred) for argument in node.args)
        n_parameters = None if spread else len(node.args) - 1
        return SqlCall(line=node.lineno, operation=operation, sql=text, n_parameters=n_parameters)
    if verb == "insert" and all(keyword.arg is not None for keyword in node.keywords):
        columns = ", ".join(f'"{keyword.arg}"' for keyword in node.keywords)
        marks = ", ".join("?" for _ in node.keywords)
        sql = f'INSERT INTO "{text}" ({columns}) VALUES ({marks})'  # noqa: S608 - only prepared, to see if it would run
        return SqlCall(line=node.lineno, operation=operation, sql=sql, n_parameters=len(node.keywords))
    return None


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Local name → what it was imported as."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (
                    alias.asname or alias.name.partition(".")[0],
                    alias.name if alias.asname else alias.name.partition(".")[0],
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _note(node: ast.Attribute | ast.Name, names: Mapping[str, str]) -> SourceNote | None:
    name = _full_name(node, names)
    if name is None or name in _SEEDED or any(name == h or name.startswith(h + ".") for h in _HARMLESS):
        return None
    known = _CALLS.get(name)
    module = name.partition(".")[0]
    if known is None and module in _MODULES and "." in name:
        known = _MODULES[module]
    if known is None:
        return None
    return SourceNote(line=node.lineno, name=name, what=known[0], fix=known[1])


def _full_name(node: ast.AST, names: Mapping[str, str]) -> str | None:
    """``dt.now`` → ``datetime.datetime.now`` after ``from datetime import datetime as dt``; builtins by their name."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id if node.id in _CALLS and "." not in node.id else None)
    if isinstance(node, ast.Attribute):
        owner = _full_name(node.value, names)
        return f"{owner}.{node.attr}" if owner in names.values() or (owner and "." in owner) else None
    return None
