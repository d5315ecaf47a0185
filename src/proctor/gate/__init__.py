"""What must hold before a change ships, and the decision. Pure; the rules are fixed before results are
read.
"""

from proctor.gate.cells import CellResult, PlannedCell, RunFacts, UsageFact
from proctor.gate.decide import Decision, RuleResult, decide
from proctor.gate.foresee import Chance, PolicyFinding, chance_of_passing, check_policy
from proctor.gate.model import Held, Layer, Policy
from proctor.gate.policy import default_policy, parse_policy

__all__ = [
    "CellResult",
    "Chance",
    "Decision",
    "Held",
    "Layer",
    "PlannedCell",
    "Policy",
    "PolicyFinding",
    "RuleResult",
    "RunFacts",
    "UsageFact",
    "chance_of_passing",
    "check_policy",
    "decide",
    "default_policy",
    "parse_policy",
]
