"""LoCoMo's development conversations as tokens, for what `train.py` prints. Nothing is learned from them.

    python training/evaluation.py --locomo locomo_dev.json --tokenizer tokenizer.json --out locomo.npz \
        --worded worded.npy

`worded.npy` says of each entry of the vocabulary whether it is a word or a number, and not a mark.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from assemble import BY_HAND, Data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name in ("locomo", "tokenizer", "out", "worded"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    given = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    known = tokenizer.get_vocab()
    worded = np.zeros(max(known.values()) + 1, np.bool_)
    for entry, number in known.items():
        worded[number] = any(map(str.isalnum, entry)) and not entry.startswith("[")
    np.save(given.worded, worded)
    data = Data(tokenizer)
    for sample in json.loads(given.locomo.read_text()):
        said = sample["conversation"]
        numbers = sorted(
            int(key.removeprefix("session_")) for key in said if re.fullmatch(r"session_\d+", key)
        )
        turns = [said[f"session_{number}"] for number in numbers]
        places = data.add_bank([[(one["speaker"], _text(one)) for one in session] for session in turns])
        by_id = {
            one["dia_id"]: at
            for session, own in zip(turns, places, strict=True)
            for one, at in zip(session, own, strict=True)
        }
        for question in sample["qa"]:
            right = [by_id[one] for one in dict.fromkeys(question.get("evidence", ())) if one in by_id]
            if right and question["category"] in (1, 2, 3, 4):
                data.add_question(question["question"], right, "", "", "span", "", BY_HAND)
    np.savez_compressed(given.out, **data.pack())
    print(f"{len(data.own)} turns, {len(data.asked)} questions")


def _text(turn: dict[str, str]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shares {caption}]" if caption else turn["text"]


if __name__ == "__main__":
    main()
