"""One raw rule per provider: which figures of its usage object mean what. Raw usage in, six counts out.

- ``openai.responses``: ``input_tokens`` with the cached inside; ``output_tokens`` with reasoning inside; the total is
  given and must agree; all five figures are required.
- ``openai.chat_completions``: ``prompt_tokens`` with the cached inside; ``completion_tokens`` with reasoning inside,
  unless the given total shows it beside them (x.ai); cached and reasoning may be unknown.
- ``anthropic.messages``: ``input_tokens`` comes *without* the cache, so cache reads and creations are added;
  ``output_tokens`` with thinking inside; no total is given: the sum; thinking may be unknown.
- ``google.gemini``: ``promptTokenCount`` with the cached inside, plus tool use; output is candidates plus thoughts; the
  total is given and must agree; cached and thoughts may be unknown.
- ``aws.bedrock_converse``: ``inputTokens`` comes *without* the cache, so reads and writes are added; the total is given
  and must agree; cached may be unknown, reasoning always is.
- ``cohere.chat``: ``tokens`` (processed), not ``billed_units``; no total is given: the sum; cached may be unknown,
  reasoning always is.

An absent figure is unknown: required ones are ``raw_unknown``, the two subset counts become None. Gemini and Bedrock
leave zeros out of their objects; a part that is absent counts nothing only because the required total confirms it.
Anthropic's top level leaves out compaction and advisor iterations; where ``iterations`` add up to more than the top
level, what was spent isn't the figure above and the object is refused (``aggregate_mismatch``), not guessed at.
Left out: money, and how a request was made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from proctor.usage.counts import Counts, check_sums
from proctor.usage.faults import AccountingError, Fault
from proctor.usage.plain import is_count

__all__ = ["ADAPTERS", "PROVIDERS", "detect_provider", "normalize", "normalize_openai_responses"]


def normalize(provider: str, raw: Any) -> Counts:
    """Counts of one request from the provider's own usage object; ``requests`` is 1.

    Raises ``AccountingError``: ``unsupported_provider``, then ``raw_unknown`` (a figure is missing or null),
    ``schema`` (a figure is no non-negative integer), ``token_total``, ``token_subset``, ``aggregate_mismatch``.
    """
    rule = PROVIDERS.get(provider)
    if rule is None:
        raise AccountingError(Fault.UNSUPPORTED_PROVIDER, f"no raw rule for provider {provider}")
    if type(raw) is not dict:
        raise AccountingError(Fault.RAW_UNKNOWN, "raw_usage is null or not an object")
    counts = rule(raw)
    check_sums(counts, "raw_usage")
    return counts


def normalize_openai_responses(raw: Any) -> Counts:
    """Counts of one OpenAI Responses request: all five figures must be present. Raises as ``normalize`` does."""
    return normalize("openai.responses", raw)


def detect_provider(raw: Any) -> str:
    """The provider whose shape a usage object has.

    Raises ``AccountingError``: ``raw_unknown`` where it is no object, ``unsupported_provider`` where not one fits.
    """
    if type(raw) is not dict:
        raise AccountingError(Fault.RAW_UNKNOWN, "raw_usage is null or not an object")
    found = sorted(name for name, is_shape in _SHAPES.items() if is_shape(raw))
    if len(found) != 1:
        why = f"fits {' and '.join(found)}" if found else "fits no known provider"
        raise AccountingError(Fault.UNSUPPORTED_PROVIDER, f"the usage object's shape {why}; name the provider")
    return found[0]


_ABSENT: Final = object()


def _get(raw: Mapping[str, Any], path: str) -> object:
    value: object = raw
    for key in path.split("."):
        value = value.get(key, _ABSENT) if type(value) is dict else _ABSENT
    return value


def _figures(raw: Mapping[str, Any], required: tuple[str, ...], optional: tuple[str, ...] = ()) -> list[Any]:
    """Figures by path, None for an optional one that is absent or null; unknown is found before wrong types."""
    values = [_get(raw, path) for path in required + optional]
    for path, value in zip(required, values, strict=False):
        if value is None or value is _ABSENT:
            raise AccountingError(Fault.RAW_UNKNOWN, f"raw_usage.{path} is {'null' if value is None else 'missing'}")
    known = [None if value is _ABSENT else value for value in values]
    for path, value in zip(required + optional, known, strict=True):
        if value is not None and not is_count(value):
            raise AccountingError(Fault.SCHEMA, f"raw_usage.{path}: expected a non-negative integer")
    return known


def _counts(given: int, made: int, total: int, cached: int | None, reasoning: int | None) -> Counts:
    return {
        "requests": 1,
        "input_tokens": given,
        "output_tokens": made,
        "total_tokens": total,
        "cached_tokens": cached,
        "reasoning_tokens": reasoning,
    }


_RESPONSES = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "input_tokens_details.cached_tokens",
    "output_tokens_details.reasoning_tokens",
)


def _openai_responses(raw: Mapping[str, Any]) -> Counts:
    return _counts(*_figures(raw, _RESPONSES))


def _chat_completions(raw: Mapping[str, Any]) -> Counts:
    given, made, total, cached, reasoning = _figures(
        raw,
        ("prompt_tokens", "completion_tokens", "total_tokens"),
        ("prompt_tokens_details.cached_tokens", "completion_tokens_details.reasoning_tokens"),
    )
    if reasoning and total != given + made and total == given + made + reasoning:
        made += reasoning  # the total proves that this server counts reasoning beside the completion
    return _counts(given, made, total, cached, reasoning)


_ANTHROPIC = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def _anthropic_messages(raw: Mapping[str, Any]) -> Counts:
    fresh, made, read, written, thinking = _figures(raw, _ANTHROPIC, ("output_tokens_details.thinking_tokens",))
    given = fresh + read + written
    iterations = raw.get("iterations")
    if iterations:
        if type(iterations) is not list:
            raise AccountingError(Fault.SCHEMA, "raw_usage.iterations: expected a list")
        rows = [_figures(row if type(row) is dict else {}, _ANTHROPIC) for row in iterations]
        spent = sum(row[0] + row[2] + row[3] for row in rows), sum(row[1] for row in rows)
        if spent != (given, made):
            detail = (
                f"raw_usage.iterations add up to {spent[0]} + {spent[1]} tokens, the top level says {given} + {made}"
            )
            raise AccountingError(Fault.AGGREGATE_MISMATCH, detail)
    return _counts(given, made, given + made, read, thinking)


def _gemini(raw: Mapping[str, Any]) -> Counts:
    prompt, total, tools, answer, thoughts, cached = _figures(
        raw,
        ("promptTokenCount", "totalTokenCount"),
        ("toolUsePromptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount"),
    )
    return _counts(prompt + (tools or 0), (answer or 0) + (thoughts or 0), total, cached, thoughts)


def _bedrock(raw: Mapping[str, Any]) -> Counts:
    fresh, made, total, read, written = _figures(
        raw, ("inputTokens", "outputTokens", "totalTokens"), ("cacheReadInputTokens", "cacheWriteInputTokens")
    )
    return _counts(fresh + (read or 0) + (written or 0), made, total, read, None)


def _cohere(raw: Mapping[str, Any]) -> Counts:
    given, made, cached = _figures(raw, ("tokens.input_tokens", "tokens.output_tokens"), ("cached_tokens",))
    return _counts(given, made, given + made, cached, None)


PROVIDERS: Final[Mapping[str, Callable[[Mapping[str, Any]], Counts]]] = MappingProxyType(
    {
        "openai.responses": _openai_responses,
        "openai.chat_completions": _chat_completions,
        "anthropic.messages": _anthropic_messages,
        "google.gemini": _gemini,
        "aws.bedrock_converse": _bedrock,
        "cohere.chat": _cohere,
    }
)
"""Raw rules by provider name."""

ADAPTERS: Final = frozenset(PROVIDERS) | {"openai.agents_sdk", "proctor.runner"}
"""What ``provenance.adapter`` may say in schema version 2."""

_SHAPES: Final[Mapping[str, Callable[[Mapping[str, Any]], bool]]] = MappingProxyType(
    {
        "openai.responses": lambda raw: "input_tokens" in raw and "total_tokens" in raw,
        "openai.chat_completions": lambda raw: "prompt_tokens" in raw or "completion_tokens" in raw,
        "anthropic.messages": lambda raw: "cache_read_input_tokens" in raw or "cache_creation_input_tokens" in raw,
        "google.gemini": lambda raw: "promptTokenCount" in raw or "totalTokenCount" in raw,
        "aws.bedrock_converse": lambda raw: "inputTokens" in raw or "totalTokens" in raw,
        "cohere.chat": lambda raw: "tokens" in raw and "billed_units" in raw,
    }
)
