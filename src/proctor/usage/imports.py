"""Import files of provider payloads or SDK output: what they report, what raw usage verifies, and records of it.

The edge that touches the disk for ``proctor usage import``. Left out: each format's conventions (``providers``,
``agents_sdk``), and judging the records (``reduce``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from proctor.usage.agents_sdk import (
    SdkUsage,
    last_of_resumes,
    read_result,
    read_run_state,
    read_spans,
    sum_of_runs,
)
from proctor.usage.collect import Collector, Coverage
from proctor.usage.counts import Counts, add_all
from proctor.usage.faults import AccountingError, Fault
from proctor.usage.load import parse_document, read_document
from proctor.usage.plain import canonical
from proctor.usage.providers import PROVIDERS, detect_provider, normalize

__all__ = ["FORMATS", "import_files", "read_sdk_dump"]

_SDK: Final = "openai.agents_sdk"
FORMATS: Final = ("auto", *sorted(PROVIDERS), _SDK)
"""Values of ``--from``; ``auto`` recognises a provider's shape and refuses what fits none or several."""


def import_files(
    source: str, files: Sequence[str | Path], *, independent: bool = False, out: Path | None = None
) -> dict[str, Any]:
    """What the files report: ``format``, ``sdk_reported``, ``verified``, ``doubts``, ``errors`` (empty).

    ``out`` also gets ``usage.manifest.json`` and ``usage.records.json``, for evidence that is verified; existing files
    are never overwritten. Raises ``AccountingError``.
    """
    values = [parse_document(read_document(file), file) for file in files]
    usage = _read_sdk(values, independent) if source == _SDK else _read_payloads(source, values)
    written: list[str] = []
    if out is not None:
        if usage.verified is None:
            raise AccountingError(Fault.RAW_UNKNOWN, f"nothing to write: {'; '.join(usage.doubts)}")
        written = _write(source, usage, out)
    return {
        "format": source,
        "sdk_reported": usage.sdk_reported,
        "verified": usage.verified,
        "doubts": list(usage.doubts),
        "written": written,
        "errors": [],
    }


def read_sdk_dump(value: Any) -> SdkUsage:
    """Usage of one JSON document: a ``RunState``, a result in plain form, a trace's spans, or several of them.

    Several are ``{"segments": […]}``, the resumes of one run in order, or ``{"runs": […]}``, independent runs. Raises
    ``AccountingError``.
    """
    if type(value) is list:
        return read_spans(value)
    if type(value) is dict:
        if "$schemaVersion" in value:
            return read_run_state(value)
        if type(value.get("segments")) is list:
            return last_of_resumes([read_sdk_dump(item) for item in value["segments"]])
        if type(value.get("runs")) is list:
            return sum_of_runs([read_sdk_dump(item) for item in value["runs"]])
        if "context_usage" in value or "raw_responses" in value:
            return read_result(value)
        if "trace_spans" in value and not value.keys() & {"segments", "runs"}:
            return _read_traced(value)
    raise AccountingError(Fault.SCHEMA, "not a RunState, a result, spans, segments or runs of the Agents SDK")


def _read_traced(value: dict[str, Any]) -> SdkUsage:
    """A run with its trace: its result or exception counts; the spans only where neither holds usage."""
    for key in ("result", "exception"):
        inner = value.get(key)
        if type(inner) is dict:
            found = read_result(inner)
            if found.sdk_reported is not None:
                return found
    return read_spans(value["trace_spans"])


def _read_sdk(values: list[Any], independent: bool) -> SdkUsage:
    parts = [read_sdk_dump(value) for value in values]
    return sum_of_runs(parts) if independent else last_of_resumes(parts)


def _read_payloads(source: str, values: list[Any]) -> SdkUsage:
    raws = [_usage_of(item) for value in values for item in (value if type(value) is list else [value])]
    if not raws:
        raise AccountingError(Fault.RAW_UNKNOWN, "the files hold no usage object")
    counts: list[Counts] = []
    for number, raw in enumerate(raws):
        try:
            counts.append(normalize(detect_provider(raw) if source == "auto" else source, raw))
        except AccountingError as error:
            raise AccountingError(error.code, f"payload {number}: {error.detail}") from None
    total = add_all(counts)
    return SdkUsage(sdk_reported=total, verified=total, raw_usages=tuple(raws))


def _usage_of(value: Any) -> Any:
    """The usage object of a response body, or the value itself."""
    if type(value) is dict:
        for key in ("usage", "usageMetadata"):
            if key in value:
                return value[key]
    return value


def _write(source: str, usage: SdkUsage, out: Path) -> list[str]:
    """One attempt with one run that holds all requests. Ids count the requests, as payloads carry none of their own."""
    collector = Collector(
        evaluation_id="import",
        candidate_id="imported",
        adapter="proctor.runner" if source == "auto" else source,
    )
    attempt = collector.open_attempt("imported", "0")
    for number, raw in enumerate(usage.raw_usages):
        provider = source if source in PROVIDERS else detect_provider(raw)
        attempt.add_request(f"request-{number}", provider, raw)
    attempt.close("succeeded", Coverage.ALL_PROXIED)
    manifest, records = collector.seal()
    paths = (out / "usage.manifest.json", out / "usage.records.json")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for path, value in zip(paths, (manifest, records), strict=True):
            with path.open("xb") as stream:
                stream.write(canonical(value) + b"\n")
    except OSError as error:
        raise AccountingError(Fault.INPUT_READ, f"can't write {error.filename}: {error.strerror}") from error
    return [str(path) for path in paths]
