"""Step 6, quantise: a trained network becomes one fused int8 ONNX file that the package carries.

    python training/quantise.py embedder12 --weights FOLDER --words arctic.onnx --tokenizer tokenizer.json \
        [--out FOLDER]
    python training/quantise.py reader6 --weights FOLDER --words reranker.onnx --tokenizer tokenizer.json [--out FOLDER]

`--words` is what training started from: it has the word vectors, which stay as they were published. The graph is
written node by node, not traced, so that every choice is visible:

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
depends on the machine. The word vectors are 8-bit too, one scale for each word; positions end at the window.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import torch
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

from networks import GLANCING, TOLD, Embedder, Reader
from weights import published, saved

HIDDEN, HEADS, WINDOW = 384, 12, 256
EPSILON = 1e-12
GELU_FLOOR = 0.17  # the minimum of GELU is -0.16997
SMOOTHING = 0.5
CONTRIB = "com.microsoft"
MODELS = Path(__file__).resolve().parents[1] / "src/everwhen/models"
FOLDERS = {"embedder": MODELS / "conversation_1", "reader": MODELS / "reader_2"}

Weights = dict[str, np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("network", choices=[f"{kind}{layers}" for kind in FOLDERS for layers in (3, 6, 12)])
    for name in ("weights", "words", "tokenizer"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    kind = given.network.rstrip("0123456789")
    layers = int(given.network.removeprefix(kind))
    folder = given.out or FOLDERS[kind]
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(given.tokenizer, folder / "tokenizer.json")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    network = load(given.network, layers, given.weights, given.words)
    weights = {name.removeprefix("bert."): value.numpy() for name, value in network.state_dict().items()}
    examples = example_inputs(kind, tokenizer, calibration_texts())
    peaks = channel_peaks(network, lambda: [exact(network, one) for one in examples])
    graph = Graph(weights, peaks, layers, kind).build()
    (folder / "model.onnx").write_bytes(graph.SerializeToString(deterministic=True))
    if kind == "embedder":
        write_comparison(folder / "compare.npz", weights)
        write_reference(folder / "reference.json", reference_vectors(network, tokenizer))
    write_sums(folder, sorted(one.name for one in folder.iterdir() if one.name != "SHA256SUMS"))
    report(kind, folder, network, tokenizer)


def load(name: str, layers: int, folder: Path, words: Path) -> Embedder | Reader:
    """The trained network, with the word vectors that it started from."""
    network = Embedder(layers, "first") if name.startswith("embedder") else Reader(layers)
    state = network.state_dict()
    trained = saved(folder, name)
    state |= {key: torch.tensor(value) for key, value in trained.items()}
    words_of = published(words)["embeddings.word_embeddings.weight"]
    state["bert.embeddings.word_embeddings.weight"] = torch.tensor(words_of)
    network.load_state_dict(state)
    if isinstance(network, Reader) and not any(key.startswith("glancing.") for key in trained):
        network.glance_as_it_reads()
    return network.eval()


def example_inputs(kind: str, tokenizer: Tokenizer, texts: list[str]) -> list[dict[str, np.ndarray]]:
    """Texts as the network meets them: as questions and as turns, or each as a turn that the one before asks about."""
    tokens = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    made = []
    for number, ids in enumerate(tokens):
        if kind == "embedder":
            row, types = [101, *ids, 102], [0] + [number % 2] * (len(ids) + 1)
        else:
            asked = tokens[number - 1][:30]
            row, types = [101, *asked, 102, *ids, 102], [0] * (len(asked) + 2) + [1] * (len(ids) + 1)
        made.append({"input_ids": np.array([row[:WINDOW]]), "segments": np.array([types[:WINDOW]])})
    return made


class Graph:
    """The encoder in ONNX. Tokens are kept flat, (batch * length, width), except inside attention."""

    def __init__(self, weights: Weights, peaks: Weights, layers: int, kind: str) -> None:
        self.weights = weights
        self.peaks = peaks
        self.layers = layers
        self.kind = kind
        self.name = f"everwhen-{kind}"
        self.inputs = ["input_ids", "attention_mask", "segments"]
        self.smoothings: Weights = {}
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def build(self) -> onnx.ModelProto:
        self.shapes()
        states = [self.embeddings()]
        for layer in range(self.layers):
            states.append(self.layer(states[-1], f"encoder.layer.{layer}"))
        outputs = self.pool(states[-1]) if self.kind == "embedder" else self.heads(states)
        tokens = ["batch", "length"]
        graph = helper.make_graph(
            self.nodes,
            self.name,
            [helper.make_tensor_value_info(name, TensorProto.INT64, tokens) for name in self.inputs],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                for name, shape in outputs.items()
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
        self.position_constants()
        self.node("Gather", ["words", "input_ids"], "word_codes")
        self.node("Cast", ["word_codes"], "word_floats", to=TensorProto.FLOAT)
        self.node("Gather", ["word_scales", "input_ids"], "word_scale")
        self.node("Mul", ["word_floats", "word_scale"], "word")
        self.node("Shape", ["input_ids"], "length", start=1, end=2)
        zero = self.constant("zero", np.array([0]))
        self.node("Slice", ["positions", zero, "length", zero], "position")
        self.add_positions()
        norm = [self.weight(f"embeddings.LayerNorm.{part}") for part in ("weight", "bias")]
        self.node("LayerNormalization", ["embedded", *norm], "normed", axis=-1, epsilon=EPSILON)
        return self.node("Reshape", ["normed", "flat"], "hidden.0")

    def position_constants(self) -> None:
        self.constant("positions", self.weights["embeddings.position_embeddings.weight"][:WINDOW])
        self.constant("kinds", self.weights["embeddings.token_type_embeddings.weight"])

    def add_positions(self) -> None:
        """Word, position and segment become one vector."""
        self.node("Gather", ["kinds", "segments"], "kind_of")
        self.node("Add", ["word", "position"], "placed")
        self.node("Add", ["placed", "kind_of"], "embedded")

    def layer(self, hidden: str, at: str) -> str:
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

    def pool(self, hidden: str) -> dict[str, list[Any]]:
        """The first token, normalised; and the projection of each token, normalised too."""
        self.first(hidden)
        self.node("LpNormalization", ["first"], "sentence", axis=-1, p=2)
        self.linear("hidden_states", "project", "projected")
        self.node("LpNormalization", ["projected"], "token_vectors", axis=-1, p=2)
        width = len(self.weights["project.bias"])
        return {"sentence": ["batch", HIDDEN], "token_vectors": ["batch", "length", width]}

    def heads(self, states: list[str]) -> dict[str, list[Any]]:
        """Relevance, kind, status and renews from the first token; from each token, to begin and to end the answer; and
        the vectors of the glance, which has layers of its own at the end."""
        self.first(states[-1])
        self.linear("first", "pooler", "pooler.raw")
        self.node("Tanh", ["pooler.raw"], "pooled")
        for head in ("relevance", "kind", "status", "renews"):
            self.linear("pooled", head, head)
        self.linear("hidden_states", "span", "span")
        glance = self.node("Identity", [states[-1 - GLANCING]], "glance.0")
        for layer in range(GLANCING):
            glance = self.layer(glance, f"glancing.{layer}")
        self.linear(self.node("Reshape", [glance, "cube"], "glance"), "tells", "tells")
        self.linear("first", "asks", "asks")
        return {
            "relevance": ["batch", 1], "kind": ["batch", 4], "status": ["batch", 7], "renews": ["batch", 1],
            "span": ["batch", "length", 2], "tells": ["batch", "length", 2 * TOLD], "asks": ["batch", 2 * TOLD + 2],
        }  # fmt: skip

    def first(self, hidden: str) -> str:
        """The hidden states by text and token, and of each text the first."""
        self.node("Reshape", [hidden, "cube"], "hidden_states")
        zero = self.constant("zero_scalar", np.array(0))
        return self.node("Gather", ["hidden_states", zero], "first", axis=1)

    def linear(self, tensor: str, name: str, output: str) -> str:
        """A small layer in full precision."""
        matrix = self.constant(f"{name}.matrix", self.weights[f"{name}.weight"].T)
        self.node("MatMul", [tensor, matrix], f"{output}.product")
        return self.node("Add", [f"{output}.product", self.weight(f"{name}.bias")], output)

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


def channel_peaks(network: torch.nn.Module, read_examples: Callable[[], object]) -> Weights:
    """The largest magnitude seen in each input channel of each linear layer while the network reads its examples."""
    peaks: Weights = {}

    def watch(name: str) -> Any:
        def record(_module: torch.nn.Module, inputs: tuple[torch.Tensor]) -> None:
            seen = inputs[0].abs().amax(dim=(0, 1)).numpy()
            peaks[name] = np.maximum(peaks.get(name, 0), seen)

        return record

    linear = {
        name.removeprefix("bert."): module
        for name, module in network.named_modules()
        if isinstance(module, torch.nn.Linear) and name.startswith(("bert.encoder.", "glancing."))
    }
    hooks = [module.register_forward_pre_hook(watch(name)) for name, module in linear.items()]
    read_examples()
    for hook in hooks:
        hook.remove()
    return peaks


def exact(network: torch.nn.Module, one: dict[str, np.ndarray]) -> list[np.ndarray]:
    """What float32 gives for one input."""
    ids, segments = torch.tensor(one["input_ids"]), torch.tensor(one["segments"])
    mask = torch.ones_like(ids)
    with torch.no_grad():
        made = (
            network(ids, mask, segments, mask)
            if isinstance(network, Embedder)
            else (*network(ids, mask, segments), *network.told(ids, mask, segments))
        )
    return [part.numpy() for part in made]


def write_tokenizer(source: Path, target: Path) -> None:
    """The published tokenizer without its padding and truncation: the embedder pads, and nothing is cut."""
    tokenizer = json.loads(source.read_text(encoding="utf-8"))
    tokenizer |= {"truncation": None, "padding": None}
    target.write_text(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def write_comparison(path: Path, weights: Weights) -> None:
    """The learned late interaction: a few small matrices in half precision."""
    own = {
        name.removeprefix("compare."): value.astype(np.float16)
        for name, value in weights.items()
        if name.startswith("compare.")
    }
    np.savez(path, **own)


def reference_vectors(network: torch.nn.Module, tokenizer: Tokenizer) -> list[np.ndarray]:
    """A few texts as turns, with full precision."""
    vectors = []
    for text in REFERENCE_TEXTS:
        ids = tokenizer.encode(text).ids
        segments = [0] + [1] * (len(ids) - 1)
        vectors.append(exact(network, {"input_ids": np.array([ids]), "segments": np.array([segments])})[0][0])
    return vectors


def write_reference(path: Path, vectors: Iterable[np.ndarray]) -> None:
    """The reference texts with the vectors that full precision gives them."""
    rows = [
        json.dumps({"text": text, "vector": [round(float(x), 5) for x in vector]}, ensure_ascii=False)
        for text, vector in zip(REFERENCE_TEXTS, vectors, strict=True)
    ]
    path.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


def write_sums(folder: Path, names: Iterable[str]) -> None:
    sums = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}" for name in names]
    (folder / "SHA256SUMS").write_text("\n".join(sums) + "\n")


def open_graph(path: Path) -> ort.InferenceSession:
    """As it is written, without what onnxruntime would change in it."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def report(kind: str, folder: Path, network: torch.nn.Module, tokenizer: Tokenizer) -> None:
    """How near the file is to full precision, on texts that calibration has not seen."""
    session = open_graph(folder / "model.onnx")
    print(f"model.onnx {(folder / 'model.onnx').stat().st_size / 1e6:.1f} MB")
    far = []
    for one in example_inputs(kind, tokenizer, evaluation_texts()):
        inputs = one | {"attention_mask": np.ones_like(one["input_ids"])}
        if kind == "embedder":
            far.append(float((session.run(["sentence"], inputs)[0] * exact(network, one)[0]).sum()))
        else:
            far.append(float(abs(session.run(["relevance"], inputs)[0][0, 0] - exact(network, one)[0][0])))
    what = "cosine to" if kind == "embedder" else "logits away from"
    print(f"{what} float32: mean {np.mean(far):.4f}, min {min(far):.4f}, max {max(far):.4f}")
    if kind == "embedder" and np.mean(far) < 0.985:
        raise SystemExit("the quantised network is too far from the original")


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
    main()
