"""What changed, cell by cell and case by case, and McNemar's test where cells are independent."""

from __future__ import annotations

import numpy as np

from proctor.comparison.model import CaseChange, CaseTable, Flips
from proctor.comparison.pairing import Pairs
from proctor.stats.paired import McNemar, mcnemar_exact

__all__ = ["count_flips", "mcnemar_of"]


def count_flips(pairs: Pairs) -> tuple[Flips, CaseTable, CaseTable]:
    """The table of flips, the cases with a fixed cell and those with a broken one.

    Cells whose end one side doesn't know are counted apart and flip nothing.
    """
    known = (pairs.old.low == pairs.old.high) & (pairs.new.low == pairs.new.high)
    fixed = known & (pairs.new.low > pairs.old.low)
    broken = known & (pairs.new.low < pairs.old.low)
    both = known & (pairs.new.low == 1) & (pairs.old.low == 1)
    flips = Flips(
        fixed=int(fixed.sum()),
        broken=int(broken.sum()),
        both=int(both.sum()),
        neither=int((known & ~fixed & ~broken & ~both).sum()),
        unresolved=int((~known).sum()),
    )
    n = len(pairs.case_names)
    counts = {
        "runs": np.bincount(pairs.cases, minlength=n),
        "fixed": np.bincount(pairs.cases[fixed], minlength=n),
        "broken": np.bincount(pairs.cases[broken], minlength=n),
        "before": np.bincount(pairs.cases, weights=pairs.old.low, minlength=n),
        "after": np.bincount(pairs.cases, weights=pairs.new.low, minlength=n),
    }
    slices = dict(zip((case for case, _ in pairs.keys), pairs.slices, strict=True))
    changes = [
        CaseChange(
            case=name,
            slice=slices[name],
            runs=int(counts["runs"][i]),
            before=float(counts["before"][i]),
            after=float(counts["after"][i]),
            fixed=int(counts["fixed"][i]),
            broken=int(counts["broken"][i]),
        )
        for i, name in enumerate(pairs.case_names)
        if counts["fixed"][i] or counts["broken"][i]
    ]
    up = sorted((c for c in changes if c.fixed), key=lambda c: (c.before - c.after, -c.fixed, c.case))
    down = sorted((c for c in changes if c.broken), key=lambda c: (c.after - c.before, -c.broken, c.case))
    return flips, CaseTable(rows=tuple(up)), CaseTable(rows=tuple(down))


def mcnemar_of(pairs: Pairs, flips: Flips) -> McNemar | None:
    """McNemar's exact test, only where each case has one run, no group and a known end."""
    if pairs.grouped or flips.unresolved or len(pairs.keys) != len(pairs.case_names):
        return None
    return mcnemar_exact(flips.fixed, flips.broken)
