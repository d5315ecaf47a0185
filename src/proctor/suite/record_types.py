"""The types of rows that a ``[records]`` section declares, compiled once, so that each row is checked in one go.

Types of fields: ``text`` (not blank), ``text_or_empty``, ``int``, ``number`` (finite), ``bool``, ``list[TYPE]``,
``any`` (in ``input`` only), a trailing ``?`` for null, a list of allowed texts, a table of fields (an object with
exactly these), or ``{ each = TABLE }`` (a list of such objects). A boolean is never a number.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from proctor.errors import Place, SuiteError
from proctor.suite.records import RecordsSpec

__all__ = ["CEILING", "NOT_BLANK", "RowTypes", "attribute", "compile_row_types", "has_no_blank_text"]

CEILING = 10**12
"""No budget and no usage figure is larger."""

Where: TypeAlias = Callable[[str], Place]
_LARGEST = 1.7976931348623157e308
NOT_BLANK = "text that is not blank"
_Text = Annotated[str, msgspec.Meta(pattern=r"\S", description=NOT_BLANK)]
_PLAIN: Mapping[str, Any] = {
    "text_or_empty": str,
    "int": int,
    "number": int | Annotated[float, msgspec.Meta(ge=-_LARGEST, le=_LARGEST)],
    "bool": bool,
}
_QUICK_TEXT = Annotated[str, msgspec.Meta(min_length=1)]
_USAGE: Mapping[str, Any] = {
    "int": Annotated[int, msgspec.Meta(ge=0, le=CEILING)],
    "number": Annotated[int, msgspec.Meta(ge=0, le=CEILING)] | Annotated[float, msgspec.Meta(ge=0, le=float(CEILING))],
}
_LIMIT: Mapping[str, Any] = {
    "int": Annotated[int, msgspec.Meta(gt=0, le=CEILING)],
    "number": Annotated[int, msgspec.Meta(gt=0, le=CEILING)] | Annotated[float, msgspec.Meta(gt=0, le=float(CEILING))],
}
_DEEPEST = 8


def attribute(name: str) -> str:
    """The attribute under which a field stands in a compiled row (``unit price`` is no Python name)."""
    plain = name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")
    return name if plain else "field_" + "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in name)


@dataclass(frozen=True)
class RowTypes:
    """Compiled types. ``case`` is a whole row of a dataset; ``body`` the judged part of a result's row.

    ``quick_case`` and ``quick_result`` are the same but take a text of spaces for a text: only for rows that
    ``has_no_blank_text`` vouches for. ``is_closed``: no field takes just anything, so that no number in a row escapes
    its type's limits.
    """

    case: type[msgspec.Struct]
    quick_case: type[msgspec.Struct]
    body: type[msgspec.Struct]
    is_closed: bool
    version: str
    body_fields: tuple[tuple[str, Any], ...]
    quick_fields: tuple[tuple[str, Any], ...]

    @property
    def case_keys(self) -> tuple[str, ...]:
        """The keys of a dataset's row."""
        return tuple(self.case.__struct_encode_fields__)

    @property
    def body_keys(self) -> tuple[str, ...]:
        """The judged keys of a result's row."""
        return tuple(self.body.__struct_encode_fields__)

    @property
    def result_keys(self) -> tuple[str, ...]:
        """The keys of a result's row."""
        return ("version", "candidate", "case_id", "run", *self.body_keys)

    def result(self, candidate: str, repeats: int, *, quick: bool = False) -> type[msgspec.Struct]:
        """The type of a whole row of ``candidate``'s results."""
        identity: list[tuple[str, Any]] = [
            ("version", Literal[self.version]),
            ("candidate", Literal[candidate]),
            ("case_id", str),
            ("run", Annotated[int, msgspec.Meta(ge=1, le=repeats)]),
        ]
        return _struct("Result", [*identity, *(self.quick_fields if quick else self.body_fields)])


def has_no_blank_text(raw: bytes) -> bool:
    """Whether a line of JSON without escapes surely holds no text of white space alone.

    In ASCII such a text can only be spaces, right after a quotation mark. Lines that are merely written widely
    (``"a" : 1``) are not vouched for either.
    """
    return raw.isascii() and b'" ' not in raw


def compile_row_types(spec: RecordsSpec, where: Where) -> RowTypes:
    """The types that a section declares. Raises ``SuiteError`` for a type that doesn't exist, with its line."""
    case, body = _Compiler(where, _Text).rows(spec)
    quick_case, quick_body = _Compiler(where, _QUICK_TEXT).rows(spec)
    return RowTypes(
        case=_struct("Case", case),
        quick_case=_struct("Case", quick_case),
        body=_struct("Body", body),
        is_closed=not _has_any(spec.input),
        version=spec.version,
        body_fields=tuple(body),
        quick_fields=tuple(quick_body),
    )


def _struct(name: str, fields: list[tuple[str, Any]], names: Any = None) -> type[msgspec.Struct]:
    rename = {attribute(n): n for n in names or () if attribute(n) != n}
    return msgspec.defstruct(
        name, fields, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False, rename=rename or None
    )


class _Compiler:
    """Compiles fields, with one meaning of ``text``."""

    def __init__(self, where: Where, text: Any) -> None:
        self._where, self._text = where, text

    def rows(self, spec: RecordsSpec) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
        """The fields of a case's row, and of the judged part of a result's."""
        answer = self._object(spec.answer, "records.answer", 0, allow_any=False)
        given = self._object(spec.input, "records.input", 0, allow_any=True)
        case: list[tuple[str, Any]] = [
            ("version", Literal[spec.version]),
            ("id", self._text),
            ("slice", Literal[tuple(spec.slices)]),
            ("input", given),
            ("expected", answer),
        ]
        body: list[tuple[str, Any]] = [("status", Literal["ok", "error"]), ("answer", answer)]
        if spec.contract is not None:
            action = _struct("Action", [("tool", self._text), ("target", self._text)])
            case.append(("allowed", list[action]))  # type: ignore[valid-type]
            body.append(("actions", list[action]))  # type: ignore[valid-type]
        if spec.rows_have_budgets:
            limits = [(attribute(name), _LIMIT[kind]) for name, kind in spec.usage.items()]
            case.append(("budget", _struct("Budget", limits, spec.usage)))
        if spec.usage:
            figures = [(attribute(name), _USAGE[kind]) for name, kind in spec.usage.items()]
            body.append(("usage", _struct("Usage", figures, spec.usage)))
        return case, body

    def _object(self, fields: Mapping[str, Any], path: str, depth: int, *, allow_any: bool) -> Any:
        seen: dict[str, str] = {}
        for name in fields:
            if seen.setdefault(attribute(name), name) != name or not name.strip():
                raise SuiteError(
                    "this name can't be told from another field's",
                    place=self._where(f"{path}.{name}"),
                    expected="letters, digits and _",
                    found=name,
                    code="record_field",
                )
        typed = [
            (attribute(name), self._compile(kind, f"{path}.{name}", depth + 1, allow_any=allow_any))
            for name, kind in fields.items()
        ]
        return _struct("Fields", typed, list(fields))

    def _compile(self, kind: Any, path: str, depth: int, *, allow_any: bool) -> Any:
        if depth <= _DEEPEST:
            if isinstance(kind, list) and kind and all(isinstance(item, str) for item in kind):
                return Literal[tuple(kind)]
            if isinstance(kind, dict) and kind:
                if set(kind) == {"each"} and isinstance(kind["each"], dict):
                    return list[self._object(kind["each"], path, depth, allow_any=allow_any)]  # type: ignore[misc]
                return self._object(kind, path, depth, allow_any=allow_any)
            if isinstance(kind, str):
                return self._named(kind.strip(), kind, path, depth, allow_any=allow_any)
        raise self._no_type(kind, path)

    def _named(self, text: str, kind: Any, path: str, depth: int, *, allow_any: bool) -> Any:
        if text == "any" and allow_any:
            return Any
        if text.endswith("?"):
            return self._compile(text[:-1], path, depth + 1, allow_any=allow_any) | None
        if text.startswith("list[") and text.endswith("]"):
            return list[self._compile(text[5:-1], path, depth + 1, allow_any=allow_any)]  # type: ignore[misc]
        if text == "text":
            return self._text
        if text in _PLAIN:
            return _PLAIN[text]
        raise self._no_type(kind, path)

    def _no_type(self, kind: Any, path: str) -> SuiteError:
        names = ", ".join(("text", *_PLAIN))
        return SuiteError(
            "this is no type of a field",
            place=self._where(path),
            expected=f"{names}, list[…], a trailing ? for null, a list of texts, a table, or {{ each = … }}",
            found=kind,
            code="record_type",
        )


def _has_any(kind: Any) -> bool:
    if isinstance(kind, dict):
        return any(_has_any(item) for item in kind.values())
    return isinstance(kind, str) and "any" in kind
