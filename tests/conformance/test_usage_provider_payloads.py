"""Real usage payloads: shape → flavour → expected group, pinned first; at least 95% normalise, none silently wrong."""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from proctor.usage import AccountingError
from proctor.usage.prices import load_prices
from proctor.usage.providers import detect_provider, normalize

# The flavour whose expected group holds for a shape. x.ai's group counts reasoning beside the completion.
PINS = {
    "openai.responses": ("openai", "responses"),
    "openai.chat_completions": ("openai", "chat"),
    "anthropic.messages": ("anthropic", "default"),
    "google.gemini": ("google", "default"),
    "aws.bedrock_converse": ("aws", "default"),
    "cohere.chat": ("cohere", "tokens"),
}


def pin(raw: Any) -> str | None:
    """The provider by the shape alone, written independently of the code under test."""
    keys = set(raw) if isinstance(raw, dict) else set()
    if "promptTokenCount" in keys:
        return "google.gemini"
    if "inputTokens" in keys:
        return "aws.bedrock_converse"
    if "completion_tokens" in keys or "prompt_tokens" in keys:
        return "openai.chat_completions"
    if {"tokens", "billed_units"} <= keys:
        return "cohere.chat"
    if "cache_read_input_tokens" in keys:
        return "anthropic.messages"
    return "openai.responses" if {"input_tokens", "total_tokens"} <= keys else None


def expected_group(entry: dict[str, Any], flavour: tuple[str, str]) -> dict[str, int] | None:
    for group in entry["extracted"]:
        if any((item["provider_id"], item["api_flavor"]) == flavour for item in group["extractors"]):
            return group["usage"]
    return None


def difference(counts: dict[str, Any], group: dict[str, int]) -> str | None:
    """The first count that contradicts the group, in which an absent figure is zero or unknown."""
    for ours, theirs in (
        ("input_tokens", "input_tokens"),
        ("output_tokens", "output_tokens"),
        ("cached_tokens", "cache_read_tokens"),
        ("reasoning_tokens", "output_reasoning_tokens"),
    ):
        if (counts[ours] or 0) != group.get(theirs, 0):
            return f"{ours} {counts[ours]} is not {group.get(theirs, 0)}"
    return None


def payloads(conformance: Path) -> list[dict[str, Any]]:
    return json.loads((conformance / "usage" / "provider-payloads" / "genai_prices_usages.json").read_bytes())


def test_pinned_payloads_normalise_or_are_refused_with_a_code(
    conformance: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table: dict[str, Counter[str]] = defaultdict(Counter)
    wrong: list[str] = []
    for entry in payloads(conformance):
        body = entry["body"]
        raw = body.get("usage", body.get("usageMetadata", body.get("meta")))
        provider = pin(raw)
        group = expected_group(entry, PINS[provider]) if provider else None
        row = table[provider or "(no pin)"]
        try:
            found = detect_provider(raw)
            counts = normalize(found, raw)
        except AccountingError as error:
            row[f"refused: {error.code}"] += 1
            continue
        fault = (
            f"detected as {found}" if found != provider else "no group" if group is None else difference(counts, group)
        )
        row["as expected" if fault is None else "WRONG"] += 1
        if fault is not None:
            wrong.append(f"{body['file']}: {fault}")
    pinned = sum(sum(row.values()) for name, row in table.items() if name != "(no pin)")
    right = sum(row["as expected"] for row in table.values())
    lines = [f"{'shape':<26}{'payloads':>9}{'as expected':>13}  refused"]
    for name, row in sorted(table.items()):
        refused = ", ".join(f"{key[9:]} {n}" for key, n in sorted(row.items()) if key.startswith("refused"))
        lines.append(f"{name:<26}{sum(row.values()):>9}{row['as expected']:>13}  {refused}")
    lines.append(f"{'all pinned':<26}{pinned:>9}{right:>13}  {right / pinned:.1%}")
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(lines) + "\n")
    assert wrong == []
    assert right >= 0.95 * pinned


def test_the_price_table_agrees_with_the_costs_recorded_for_real_payloads(conformance: Path) -> None:
    table = load_prices()
    seen = set()
    for entry in payloads(conformance):
        rates = table.models.get(entry.get("model", ""))
        for group in entry["extracted"] if rates else []:
            usage = group["usage"]
            if any("cache" in key or "audio" in key or "image" in key for key in usage) or not usage.get(
                "output_tokens"
            ):
                continue
            for item in group["extractors"]:
                flavour = (item["provider_id"], item["api_flavor"])
                if flavour in PINS.values() and "input_price" in item and "output_price" in item:
                    seen.add(entry["model"])
                    assert float(item["input_price"]) == pytest.approx(
                        float(rates.input_usd) * usage["input_tokens"] / 1e6
                    )
                    assert float(item["output_price"]) == pytest.approx(
                        float(rates.output_usd) * usage["output_tokens"] / 1e6
                    )
    assert len(seen) >= 10
