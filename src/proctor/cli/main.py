"""The ``proctor`` command: finds the subcommand's module only when it is called, and turns faults into exit
codes.

Exit codes, everywhere: 0 PASS, 1 BLOCK, 2 INVALID or unusable input, 3 UNDECIDED, 64 wrong usage, 130
interrupted.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

import click

from proctor._version import __version__
from proctor.errors import ProctorError

__all__ = ["LazyGroup", "cli", "main"]

EXIT_INVALID = 2
EXIT_USAGE = 64
EXIT_INTERRUPTED = 130

_FIXES: Mapping[int, str] = {
    errno.ENOTDIR: "a part of the path is a file; name another folder",
    errno.ENOENT: "check the path",
    errno.EISDIR: "name a file",
    errno.EEXIST: "name another path",
    errno.EACCES: "choose a place that you may read and write",
    errno.EPERM: "choose a place that you may read and write",
    errno.EROFS: "choose a place that can be written",
    errno.ENOSPC: "make room on the disk, or choose another",
    errno.EDQUOT: "make room on the disk, or choose another",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
}

COMMANDS: Mapping[str, tuple[str, str]] = {
    "demo": ("proctor.cli.demo:demo", "See Proctor at work: a good agent passes, defective ones are caught."),
    "run": ("proctor.cli.run:run", "Run an agent over a suite's cells and say whether it may ship."),
    "show": ("proctor.cli.show:show", "From a run to the event that decided it: findings, transcript, changes."),
    "trace": ("proctor.cli.trace:trace", "Everything that happened in a cell, step by step."),
    "report": ("proctor.cli.report:report", "A finished run's report as html, json, junit, markdown, csv or text."),
    "score": ("proctor.cli.score:score", "Score recorded results against a planned set of cells."),
    "dataset": ("proctor.cli.dataset:dataset", "Versions of a dataset, and holdouts whose uses are counted."),
    "compare": ("proctor.cli.compare:compare", "Is a candidate better or worse than a baseline, or can't we tell?"),
    "gate": ("proctor.cli.gate:gate", "Hold recorded outcomes against a gate: a table, a report, or a run."),
    "corpus": ("proctor.cli.corpus:corpus", "Write a suite's public corpus."),
    "verify": ("proctor.cli.verify:verify", "Check a run's record byte by byte: intact? complete? whose word?"),
    "seal": ("proctor.cli.seal:seal", "Sign a statement about a run that is intact and complete."),
    "keys": ("proctor.cli.keys:keys", "Make, show, rotate and trust signing keys."),
    "witness": ("proctor.cli.witness:witness", "Sign the head of somebody else's log, if it only grew."),
    "suite": ("proctor.cli.suite:suite", "Make, check, show and extend suites."),
    "usage": ("proctor.cli.usage:usage", "What a run really spent: reduce records, import provider usage."),
    "grade": ("proctor.cli.grade:grade", "Grade a finished run again, offline, from its record."),
    "doctor": ("proctor.cli.doctor:doctor", "What this machine offers: isolation tiers, packages, key, workspace."),
    "reasons": ("proctor.cli.reasons:reasons", "The reason codes: what each means and who mends it."),
    "score-final-state": (
        "proctor.cli.score_final_state:score_final_state",
        "Score a final table against the expected one.",
    ),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when called; their one-line help stands in a table."""

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the table's order."""
        return [*self._lazy, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module."""
        if cmd_name not in self._lazy:
            return super().get_command(ctx, cmd_name)
        module, _, name = self._lazy[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._lazy.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command where there is none of that name."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in self.list_commands(ctx):
            import difflib  # noqa: PLC0415 - only a mistyped name needs it

            near = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else f" See '{ctx.command_path} --help'."
            raise click.UsageError(f"there is no command {name!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 PASS, 1 BLOCK, 2 INVALID, 3 UNDECIDED, 64 wrong usage.",
)
@click.version_option(__version__, prog_name="proctor", message="%(prog)s %(version)s")
def cli() -> None:
    """Evaluate AI agents that act in stateful worlds, with verdicts that stand up.

    \b
    proctor demo                                      see it work
    proctor run SUITE --agent cmd:'python agent.py'   evaluate your agent
    proctor show RUN                                  see why a run was blocked
    """


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with the code of its outcome."""
    try:
        code = cli.main(args=arguments, prog_name="proctor", standalone_mode=False)
    except click.exceptions.Abort:
        _exit("interrupted", EXIT_INTERRUPTED)
    except KeyboardInterrupt:
        _exit("interrupted", EXIT_INTERRUPTED)
    except click.UsageError as error:
        where = f"{error.ctx.command_path}: " if error.ctx else ""
        _exit(f"{where}{error.format_message()}", EXIT_USAGE)
    except click.ClickException as error:
        _exit(error.format_message(), EXIT_USAGE)
    except ProctorError as error:
        _exit(error.message, error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        _exit(_system_message(error), EXIT_INVALID)
    sys.exit(code if isinstance(code, int) else 0)


def _system_message(error: OSError) -> str:
    """What the system refused, where, and what to do about it."""
    where = f"{error.filename}: " if error.filename is not None else ""
    what = (error.strerror or str(error) or type(error).__name__).lower()
    return f"{where}{what}; {_FIXES.get(error.errno or 0, 'nothing that was recorded before is lost')}"


def _exit(message: str, code: int) -> NoReturn:
    clear = "\r\x1b[2K" if sys.stderr.isatty() else ""  # a progress line may stand there
    click.echo(f"{clear}proctor: {message}", err=True)
    sys.exit(code)
