"""The built-in reason codes: a closed, versioned set shared by all suites.

A suite's own codes are namespaced with its name (``refund.false_promise``) and registered by declaring them. A code
that is in neither is an error, never a silent new category. Failure labels name who repairs: ``owner``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

__all__ = ["REASONS", "REGISTRY_VERSION", "Owner", "Reason", "is_known"]

REGISTRY_VERSION = "2"


class Owner(StrEnum):
    """Who mends what a code names."""

    AGENT = "agent"
    RIGHTS = "execution rights"
    SPEND = "calls and retries"
    INFRASTRUCTURE = "infrastructure"
    GRADER = "grader"


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """A code, what it means in one sentence, an example, and who repairs."""

    code: str
    meaning: str
    example: str
    owner: Owner


def _reasons(*rows: tuple[str, Owner, str, str]) -> Mapping[str, Reason]:
    return {
        code: Reason(code=code, owner=owner, meaning=meaning, example=example) for code, owner, meaning, example in rows
    }


REASONS: Mapping[str, Reason] = _reasons(
    ("missing", Owner.INFRASTRUCTURE, "a planned cell has no result", "run 2 of case R07 never started"),
    ("missing_row", Owner.AGENT, "an expected row isn't in the final state", "no refund for order A7"),
    ("unexpected_row", Owner.AGENT, "a row that nothing asked for is in the final state", "a second refund for A7"),
    ("unexpected_change", Owner.AGENT, "a table that the task didn't ask to change is not as it was", "an order gone"),
    ("wrong_answer", Owner.AGENT, "the final answer differs from the expected one", "refunded: false, expected true"),
    ("forbidden_action", Owner.RIGHTS, "a tool that the contract forbids was called", "delete_order was called"),
    ("over_call_limit", Owner.RIGHTS, "a tool was called more often than the contract allows", "issue_refund twice"),
    ("budget", Owner.SPEND, "a figure is over the cell's budget", "31,000 tokens, limit 20,000"),
    ("budget_unknown", Owner.SPEND, "a budget can't be judged, since the spend is unknown", "tokens not reported"),
    # the graders of a case that was to be taken in
    ("wrong_status", Owner.AGENT, "the case's final status is not the right one", "new, expected rejected"),
    ("false_complete", Owner.AGENT, "the case is complete while items are outstanding", "complete without the invoice"),
    ("false_incomplete", Owner.AGENT, "the case waits for documents though it lacks none", "all three are on file"),
    ("wrong_queue", Owner.AGENT, "the case was routed to another queue", "refunds, expected refunds_senior"),
    ("not_routed", Owner.AGENT, "the case was never routed", "no queue at the end, expected claims"),
    ("missing_item", Owner.AGENT, "an outstanding item was not noted", "repair_estimate isn't on the list"),
    ("extra_item", Owner.AGENT, "an item was noted that is not outstanding", "id_copy is on file and on the list"),
    ("missing_check", Owner.AGENT, "a required check was never made", "no search_cases for party P-0007"),
    ("late_check", Owner.AGENT, "a required check was made only after the routing", "routed in step 4, searched in 6"),
    (
        "failed_check_ignored",
        Owner.AGENT,
        "a required check failed, and the case went on as if it had not",
        "get_document gave not_found, and no other call of it succeeded",
    ),
    ("unknown_action", Owner.AGENT, "an action that doesn't exist was called", "approve_case is no tool"),
    ("missing_duplicate_link", Owner.AGENT, "the case it duplicates isn't linked", "no duplicate_of C-2041"),
    ("wrong_duplicate_link", Owner.AGENT, "a case is linked as duplicate that is none", "a namesake's case C-2042"),
    ("missing_prior_link", Owner.AGENT, "a prior case isn't linked", "no prior_case C-1033"),
    ("extra_link", Owner.AGENT, "a link that nothing asked for, or one made twice", "prior_case to an open case"),
    ("unsupported_claim", Owner.AGENT, "the note says what the record doesn't hold", "a passport that nobody sent"),
    ("contradicted_claim", Owner.AGENT, "the note says otherwise than the record", "1,260.00 EUR instead of 1,250.00"),
    ("omitted_item", Owner.AGENT, "the note leaves out what it must say", "the outstanding invoice isn't mentioned"),
    ("empty_note", Owner.AGENT, "there is no handover note", "the note is blank"),
    # the end of a cycle, a process or a world
    (
        "not_ended",
        Owner.AGENT,
        "the agent finished a cycle without the tool that ends it",
        "no finish_cycle in cycle 3",
    ),
    ("not_started", Owner.AGENT, "the agent's program could not be started", "the agent deleted its own program"),
    ("exited", Owner.AGENT, "the agent's process ended without finishing", "exit status 0, no finish"),
    ("crashed", Owner.AGENT, "the agent's process died", "exit status 1"),
    ("garbage", Owner.AGENT, "the agent wrote something that is no request", "a log line on stdout"),
    ("timeout", Owner.SPEND, "the cycle or cell ran out of time", "60 s"),
    ("output_limit", Owner.SPEND, "the agent wrote more than allowed", "64 MiB on stdout"),
    ("infra_error", Owner.INFRASTRUCTURE, "a process, disk or world failed; not the agent's fault", "the world broke"),
    ("world_broke", Owner.INFRASTRUCTURE, "a tool of the world raised what no tool may", "KeyError in get_order"),
    (
        "undeclared_access",
        Owner.INFRASTRUCTURE,
        "a tool of the world touched a table that it doesn't declare",
        "get_order wrote refunds",
    ),
    ("reset_mismatch", Owner.INFRASTRUCTURE, "the world did not start from its snapshot", "other bytes after reset"),
    ("grader_error", Owner.GRADER, "a grader broke, so this cell is not graded", "KeyError in told_the_truth"),
    ("unregistered_code", Owner.GRADER, "a grader gave a code that it didn't declare", "'oops' from told_the_truth"),
)


def is_known(code: str, declared: Iterable[str] = ()) -> bool:
    """Whether a code is built in or among a suite's declared (namespaced) ones."""
    return code in REASONS or code in set(declared)
