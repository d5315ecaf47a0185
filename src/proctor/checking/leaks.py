"""The suite's world, reset and used twice over its first case: whatever is left over from the first time is found."""

from __future__ import annotations

import contextlib

from proctor.checking.model import Mistakes
from proctor.checking.read import Draft
from proctor.errors import shorten
from proctor.worlds.leaks import find_leaks
from proctor.worlds.probe import WorldProbe
from proctor.worlds.remote import RemoteWorld

__all__ = ["check_leaks"]


def check_leaks(draft: Draft, probe: WorldProbe, mistakes: Mistakes) -> None:
    """Raises ``InfrastructureError`` where the world's process dies."""
    if not draft.cases or len(mistakes):
        return
    lines = {tool.name: tool.line for tool in probe.facts.tools}
    with contextlib.closing(RemoteWorld(draft.suite.folder, draft.spec.world)) as world:
        for leak in find_leaks(world, draft.cases[0][0].setup, "leaks"):
            place = draft.file_place(draft.spec.world, lines.get(leak.tool))
            if leak.second:
                problem = (
                    f"a reset doesn't reset {leak.tool or 'the tables'}: the same call is answered otherwise after it"
                )
                fix = "keep everything in the tables, nothing in variables of the module or in files"
                mistakes.add(
                    problem, place, code="reset_leak", expected=shorten(leak.first), found=leak.second, fix=fix
                )
            else:
                problem = f"the tool {leak.tool} touches tables that it doesn't declare"
                fix = "add the table to reads= or writes= of its decorator"
                mistakes.add(problem, place, code="undeclared_access", found=leak.first, fix=fix)
