"""A baseline against a candidate, paired by cell: worse, better, by how much, and how sure that is.

Pure but for ``rows`` and ``load``, which read files. Leaves out running anything, and rendering beyond plain
text.
"""

from proctor.comparison.measure import Method, compare_grids
from proctor.comparison.model import Comparison, Identity, ScoredCell, ScoredGrid

__all__ = ["Comparison", "Identity", "Method", "ScoredCell", "ScoredGrid", "compare_grids"]
