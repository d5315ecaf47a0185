"""What tokens cost, by a versioned table that ships as data: one rate per class of token. Unknown costs "unknown".

The table names its source and date; its digest goes into the result. Left out, as the counts don't show them: cache
writes, tiers by prompt length, tool fees, discounts, invoices. A model that has such tiers isn't in the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib import resources
from typing import Final

import msgspec

from proctor.codec.canonical import digest_bytes
from proctor.usage.counts import Counts

__all__ = ["Cost", "PriceTable", "Rates", "cost_of", "load_prices", "parse_prices"]

_MILLION: Final = Decimal(1_000_000)


class Rates(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """US dollars per million tokens: ``input_usd`` fresh, ``cached_usd`` read from the cache, ``output_usd``."""

    input_usd: Decimal
    cached_usd: Decimal
    output_usd: Decimal


class PriceTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One edition of the prices. ``digest`` is that of the file's bytes; ``source_date`` is the day they were read."""

    version: str
    source: str
    source_date: str
    models: dict[str, Rates]
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """US dollars by class of token, exact; None where the model, or the count, is unknown."""

    input_usd: Decimal | None
    cached_usd: Decimal | None
    output_usd: Decimal | None
    total_usd: Decimal | None
    table_version: str
    table_digest: str

    def as_json(self) -> dict[str, str | None]:
        """The same as JSON: amounts as decimal text, null for unknown."""
        amounts = ("input_usd", "cached_usd", "output_usd", "total_usd")
        row: dict[str, str | None] = {}
        for name in amounts:
            amount = getattr(self, name)
            row[name] = None if amount is None else format(amount.normalize(), "f")
        return {**row, "table_version": self.table_version, "table_digest": self.table_digest}


def load_prices() -> PriceTable:
    """The table that ships with Proctor."""
    return parse_prices(resources.files("proctor.usage").joinpath("data", "prices.json").read_bytes())


def parse_prices(data: bytes) -> PriceTable:
    """A table from its bytes. Raises ``msgspec.ValidationError`` or ``msgspec.DecodeError``."""
    table = msgspec.json.decode(data, type=PriceTable)
    return msgspec.structs.replace(table, digest=digest_bytes(data))


def cost_of(counts: Counts | None, model: str | None, table: PriceTable) -> Cost:
    """What counts of one model cost. An unknown model, total or cached share costs unknown, never 0."""
    rates = table.models.get(model) if model is not None else None
    amounts: Mapping[str, Decimal | None] = dict.fromkeys(("input_usd", "cached_usd", "output_usd", "total_usd"))
    if rates is not None and counts is not None:
        given, cached, made = counts["input_tokens"], counts["cached_tokens"], counts["output_tokens"]
        fresh_usd = None if given is None or cached is None else rates.input_usd * (given - cached) / _MILLION
        cached_usd = None if cached is None else rates.cached_usd * cached / _MILLION
        output_usd = None if made is None else rates.output_usd * made / _MILLION
        whole = None
        if fresh_usd is not None and cached_usd is not None and output_usd is not None:
            whole = fresh_usd + cached_usd + output_usd
        amounts = {"input_usd": fresh_usd, "cached_usd": cached_usd, "output_usd": output_usd, "total_usd": whole}
    return Cost(**amounts, table_version=table.version, table_digest=table.digest)
