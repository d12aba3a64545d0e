"""Answer chat prompts with a local language model on a GPU, in large batches.

    python training/generate.py MODEL.gguf JOB …

A job is `PROMPTS.json.gz:OUT.json.gz:TOKENS[:TEMPERATURE]`, or `!` and a shell command. Prompts are a list of
{"id", "system", "user"}, answers a list of {"id", "text"}. Jobs run one after the other, so that the model is loaded
once; a command between two of them makes the next prompts from the last answers: `!python training/questions.py …`.
Needs torch, transformers and gguf.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

BATCH = 1536
ROOM = 1_000_000
"""Tokens of a batch with what is written: 28 KB of keys and values each."""


def main() -> None:
    model = Path(sys.argv[1]).resolve()
    start = time.time()
    tokenizer = AutoTokenizer.from_pretrained(model.parent, gguf_file=model.name)
    tokenizer.padding_side, tokenizer.pad_token = "left", tokenizer.pad_token or tokenizer.eos_token
    network = (
        AutoModelForCausalLM.from_pretrained(model.parent, gguf_file=model.name, dtype=torch.bfloat16)
        .cuda()
        .eval()
    )
    print(f"loaded in {time.time() - start:.0f} s", flush=True)
    for job in sys.argv[2:]:
        if job.startswith("!"):
            subprocess.run(job[1:], shell=True, check=True)
            continue
        source, target, tokens, *heat = job.split(":")
        answers = answer(
            network,
            tokenizer,
            json.loads(gzip.decompress(Path(source).read_bytes())),
            int(tokens),
            float(heat[0]) if heat else 0.0,
        )
        with gzip.open(target, "wt", compresslevel=5) as file:
            json.dump(answers, file, ensure_ascii=False)


def answer(
    network: Any, tokenizer: Any, prompts: list[dict[str, str]], tokens: int, heat: float
) -> list[dict[str, str]]:
    """Longest first, so that what does not fit fails at once and padding is little."""
    torch.manual_seed(1)
    texts = [
        tokenizer.apply_chat_template(
            [{"role": "system", "content": one["system"]}, {"role": "user", "content": one["user"]}],
            tokenize=False,
            add_generation_prompt=True,
        )
        for one in prompts
    ]
    lengths = [len(ids) for ids in tokenizer(texts)["input_ids"]]
    order = sorted(range(len(prompts)), key=lambda i: -lengths[i])
    how = (
        {"do_sample": True, "temperature": heat, "top_p": 0.95, "top_k": 0} if heat else {"do_sample": False}
    )
    done: list[dict[str, str]] = []
    start = time.time()
    while len(done) < len(order):
        longest = lengths[order[len(done)]]
        batch = order[len(done) : len(done) + min(BATCH, max(1, ROOM // (longest + tokens)))]
        inputs = tokenizer([texts[i] for i in batch], return_tensors="pt", padding=True).to("cuda")
        with torch.no_grad():
            made = network.generate(
                **inputs, max_new_tokens=tokens, pad_token_id=tokenizer.pad_token_id, **how
            )
        said = tokenizer.batch_decode(made[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
        done += [{"id": prompts[i]["id"], "text": text.strip()} for i, text in zip(batch, said, strict=True)]
        print(f"{len(done)} of {len(order)}, {time.time() - start:.0f} s", flush=True)
    return done


if __name__ == "__main__":
    main()
