"""What a run really spent: manifest, records, reducer, provider adapters."""
