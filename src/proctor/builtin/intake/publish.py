"""The suite's two splits as files: development cases with their keys, held-out cases without.

A held-out case carries only the digest of its sealed key. The keys lie apart in ``sealed-keys.jsonl``, each with a
salt, so that a digest gives nothing away; the graders open them by digest, and nobody else needs them. Whoever knows
the seed can make them again: a seed that was published holds nothing out.
"""

import hashlib
import json
import random

from corpus import cases, held_out


def publish(seed: int) -> dict[str, str]:
    """File name → text."""
    withheld, keys = [], []
    for case in held_out(seed):
        salt = f"{random.Random(f'seal {seed} ' + case['id']).getrandbits(128):032x}"
        sealed = _line({"key": case.pop("key"), "salt": salt})
        digest = "sha256:" + hashlib.sha256(sealed.encode()).hexdigest()
        withheld.append(_line({**case, "key": {"sealed": digest}}))
        keys.append(sealed)
    return {
        "development/cases.jsonl": "".join(_line(case) + "\n" for case in cases(seed)),
        "held-out/cases.jsonl": "".join(line + "\n" for line in withheld),
        "sealed-keys.jsonl": "".join(line + "\n" for line in keys),
    }


def _line(value: dict) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
