"""A suite's typed answer: ``{refunded = "bool"}`` becomes a check and a JSON Schema, so that no grader greps prose.

Types: ``bool``, ``int``, ``number``, ``text``, ``list[TYPE]``, ``TYPE?`` (may be null), or a list of allowed texts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from proctor.errors import Place, SuiteError

__all__ = ["AnswerType"]

_PLAIN: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "bool": ("boolean", lambda v: isinstance(v, bool)),
    "int": ("integer", lambda v: isinstance(v, int) and not isinstance(v, bool)),
    "number": ("number", lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v)),
    "text": ("string", lambda v: isinstance(v, str)),
}
_EMPTY: dict[str, Any] = {"boolean": False, "integer": 0, "number": 0, "string": "", "array": [], "null": None}
_ALIASES = {"str": "text", "string": "text", "float": "number", "boolean": "bool", "integer": "int"}


class AnswerType:
    """What an answer must look like. Raises ``SuiteError`` for a type that doesn't exist."""

    def __init__(self, fields: Mapping[str, Any], place: Callable[[str], Place]) -> None:
        self._fields = {name: _compile(spec, place(f"answer.{name}")) for name, spec in fields.items()}

    def schema(self) -> dict[str, Any]:
        """The JSON Schema that agents are given."""
        return {
            "type": "object",
            "properties": {name: schema for name, (schema, _) in self._fields.items()},
            "required": list(self._fields),
            "additionalProperties": False,
        }

    def empty(self) -> dict[str, Any]:
        """The answer of an agent that has nothing to say: false, 0, an empty text, null."""
        return {name: _EMPTY[kind] if "enum" not in s else s["enum"][0] for name, s, kind in self._kinds()}

    def _kinds(self) -> list[tuple[str, dict[str, Any], str]]:
        return [
            (name, schema, "null" if isinstance(schema["type"], list) else schema["type"])
            for name, (schema, _) in self._fields.items()
        ]

    def problem(self, answer: Any) -> str | None:
        """What is wrong with an answer, or None."""
        if not isinstance(answer, dict):
            return f"expected an object with {', '.join(self._fields)}"
        for name, (schema, fits) in self._fields.items():
            if name not in answer:
                return f"the field {name!r} is missing"
            if not fits(answer[name]):
                return f"{name}: expected {_words(schema)}, found {answer[name]!r:.80}"
        unknown = [name for name in answer if name not in self._fields]
        return f"unknown field {unknown[0]!r:.80}" if unknown else None


def _words(schema: Mapping[str, Any]) -> str:
    return f"one of {schema['enum']}" if "enum" in schema else str(schema["type"])


def _compile(spec: Any, place: Place) -> tuple[dict[str, Any], Callable[[Any], bool]]:
    if isinstance(spec, list) and spec and all(isinstance(item, str) for item in spec):
        allowed = tuple(spec)
        return {"type": "string", "enum": list(allowed)}, lambda v: isinstance(v, str) and v in allowed
    if isinstance(spec, str):
        text = spec.strip()
        if text.endswith("?"):
            schema, fits = _compile(text[:-1], place)
            kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            return {**schema, "type": [*kinds, "null"]}, lambda v: v is None or fits(v)
        if text.startswith("list[") and text.endswith("]"):
            schema, fits = _compile(text[5:-1], place)
            return {"type": "array", "items": schema}, lambda v: isinstance(v, list) and all(map(fits, v))
        text = _ALIASES.get(text, text)
        if text in _PLAIN:
            kind, fits = _PLAIN[text]
            return {"type": kind}, fits
    raise SuiteError(
        "this is no answer type",
        place=place,
        expected="bool, int, number, text, list[…], a trailing ? for null, or a list of texts",
        found=spec,
        code="answer_type",
    )
