"""Case, contract, budget, plan; loading a suite folder and explaining its mistakes."""
