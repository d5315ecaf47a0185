"""Strict reading of JSON, JSONL and CSV with the place of every fault; canonical bytes; digests. Pure."""
