"""One candidate's figures: denominators are planned cells, unresolved ones are bounded, order doesn't
matter.
"""

from __future__ import annotations

import random

from proctor.stats.cluster import CannotTell
from proctor.stats.describe import CellFact, describe


def cells() -> list[CellFact]:
    return [
        CellFact(case=f"c{i}", passed=(i + r) % 4 > 0, unresolved=(i, r) == (9, 0), slice="odd" if i % 2 else "even")
        for i in range(10)
        for r in range(3)
    ]


def test_figures_name_their_denominators() -> None:
    found = describe(cells())
    assert (found.low.passed, found.low.cells, found.low.clusters) == (22, 30, 10)
    assert (found.high.passed, found.high.cells) == (23, 30)
    assert [(r.k, r.cases) for r in found.reliability] == [(1, 10), (2, 10), (3, 10)]
    assert found.reliability[0].all_of_k == 22 / 30
    assert found.reliability[2].all_of_k == 2 / 10
    assert found.reliability[2].any_of_k == 1.0
    assert (found.slices["odd"].cells, found.worst_slice) == (15, "even")


def test_order_changes_nothing() -> None:
    shuffled = cells()
    random.Random(1).shuffle(shuffled)
    assert describe(shuffled) == describe(cells())


def test_nothing_planned_has_no_figure() -> None:
    found = describe([])
    assert (found.low.rate, found.reliability, found.slices, found.worst_slice) == (None, (), {}, None)
    assert isinstance(found.low.interval, CannotTell)


def test_groups_are_the_clusters() -> None:
    grouped = [CellFact(case=c.case, passed=c.passed, group=c.slice) for c in cells()]
    assert describe(grouped).low.clusters == 2
