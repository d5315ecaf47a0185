"""From a Python function to the tool that agents see: name, description, JSON Schema, strict argument reading.

A parameter's annotation is its type. Arguments arrive as JSON text and are refused if a key comes twice, a name
is unknown or missing, or a value has another type; integers stay within ±(2^53−1), which every reader keeps exact.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jiter
import msgspec

from proctor.errors import SuiteError
from proctor.kinds import INTEGER_LIMIT

__all__ = ["BadArguments", "Parameters", "ToolSpec"]


class BadArguments(Exception):
    """The arguments don't fit the tool's parameters; the text says which one and why."""


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is told about a tool. ``parameters`` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of one tool: ``model`` is a struct with one field a parameter, in order."""

    names: tuple[str, ...]
    model: type[msgspec.Struct]
    schema: dict[str, Any]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Parameters:
        """Read a tool's signature; the first parameter is the database. Raises ``SuiteError``."""
        name = function.__name__
        if not name.isidentifier():
            raise SuiteError("a tool needs a name", expected="a function made with def", found=name, code="tool_name")
        signature = list(inspect.signature(function).parameters.values())
        if not signature:
            raise SuiteError(f"tool {name} takes no database", expected="a first parameter `db`", code="tool_signature")
        hints = _hints(function)
        fields: list[Any] = []
        for parameter in signature[1:]:
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise SuiteError(
                    f"tool {name}: parameter {parameter.name} can't be a JSON field",
                    expected="plain named parameters",
                    found=str(parameter),
                    code="tool_signature",
                )
            kind = hints.get(parameter.name, Any)
            if parameter.default is parameter.empty:
                fields.append((parameter.name, kind))
            else:
                fields.append((parameter.name, kind, parameter.default))
        try:
            model = msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True, frozen=True)
            schema = _inline_schema(model)
        except (TypeError, ValueError) as error:
            raise SuiteError(
                f"tool {name}: {error}",
                expected="annotations that JSON can express (str, int, float, bool, dict, list[...], None)",
                code="tool_signature",
            ) from error
        return cls(names=tuple(p.name for p in signature[1:]), model=model, schema=schema)

    def read(self, text: bytes) -> dict[str, Any]:
        """Arguments from JSON text. Raises ``BadArguments``."""
        try:
            raw = jiter.from_json(text, allow_inf_nan=False, catch_duplicate_keys=True)
        except ValueError as error:
            raise BadArguments(str(error)) from None
        if type(raw) is not dict:
            raise BadArguments("Expected `object` of named arguments")
        try:
            struct = msgspec.convert(raw, self.model, strict=True)
        except msgspec.ValidationError as error:
            raise BadArguments(str(error)) from None
        _check_numbers(raw, "$")
        return {name: getattr(struct, name) for name in self.names}


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception as error:
        raise SuiteError(
            f"tool {function.__name__}: an annotation can't be read: {error}",
            expected="types that are imported in world.py",
            code="tool_signature",
        ) from error


def _inline_schema(model: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON Schema of a parameters struct, as one object without a reference to itself."""
    whole = msgspec.json.schema(model)
    definitions: dict[str, Any] = dict(whole.get("$defs", {}))
    top = definitions.pop(model.__name__)
    schema = {
        "type": "object",
        "properties": top.get("properties", {}),
        "required": top.get("required", []),
        "additionalProperties": False,
    }
    if definitions:
        schema["$defs"] = definitions
    return schema


def _check_numbers(value: Any, path: str) -> None:
    kind = type(value)
    if kind is int:
        if not -INTEGER_LIMIT <= value <= INTEGER_LIMIT:
            raise BadArguments(f"Expected an integer within ±(2^53-1) - at `{path}`")
    elif kind is float:
        if value - value != 0.0:
            raise BadArguments(f"Expected a finite number - at `{path}`")
    elif kind is dict:
        for key, item in value.items():
            _check_numbers(item, f"{path}.{key}")
    elif kind is list:
        for item in value:
            _check_numbers(item, f"{path}[...]")
