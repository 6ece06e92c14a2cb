"""Encoders of ESM-2's and DNABERT-S's shapes with random weights in PyTorch on a GPU, fp16: what the
encoders of `gpu_driver time encoders` are compared with.

    python3 benchmarks/sequence_models_gpu.py

ESM-2 650M by transformers' EsmModel with SDPA attention, DNABERT-S's shape by plain layers around
scaled_dot_product_attention. Sequences are sorted by length and padded in batches; each is embedded
as the mean of its states, which comes to the host. The best of two passes, for several sizes of
batches. Lengths are those of tests/cpp/gpu/encoders.cpp. Parts that fail say why, and the others go
on. Ends with 77 where there is no PyTorch, no transformers or no GPU.
"""

import math
import statistics
import sys
import time
import traceback

from beside_pytorch import need_gpu, not_run, torch
from torch import nn

try:
    import transformers
    from torch.nn.functional import gelu, linear, scaled_dot_product_attention
    from transformers import EsmConfig, EsmModel
except ImportError as error:
    not_run(error)
need_gpu()

MOST_SECONDS = 50
PAD = 1
started = time.perf_counter()


def best_seconds(work, rounds=2):
    """The fastest of some rounds, after one to warm up."""
    best = math.inf
    for i in range(rounds + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        if i > 0:
            best = min(best, time.perf_counter() - start)
    return best


def protein_lengths(n):
    """Log-normal quantiles with a median of 300 residues, up to 1022."""
    normal = statistics.NormalDist()
    return [
        min(math.floor(300 * math.exp(0.65 * normal.inv_cdf((i + 0.5) / n)) + 0.5), 1022)
        for i in range(n)
    ]


def batches(lengths, size):
    """Tokens of padded batches, and which of them count: None if all do."""
    ordered = sorted(lengths, reverse=True)
    result = []
    for first in range(0, len(ordered), size):
        here = torch.tensor(ordered[first : first + size])
        longest = int(here[0])
        mask = torch.arange(longest)[None, :] < here[:, None]
        tokens = torch.randint(4, 24, mask.shape).masked_fill(~mask, PAD)
        result.append((tokens, None if bool(mask.all()) else mask.long()))
    return result


def embed(states_of, parts):
    """Mean embeddings, on the host."""
    means = []
    for tokens, mask in parts:
        tokens = tokens.cuda(non_blocking=True)
        if mask is None:
            means.append(states_of(tokens, None).mean(1, dtype=torch.float32))
            continue
        mask = mask.cuda(non_blocking=True)
        weights = mask[:, :, None].float()
        means.append((states_of(tokens, mask) * weights).sum(1) / weights.sum(1))
    return torch.cat(means).cpu()


def time_embeddings(what, states_of, lengths, sizes):
    best = None
    for size in sizes:
        if time.perf_counter() - started > MOST_SECONDS:
            print(f"  {what}: no time for batches of {size}")
            continue
        try:
            parts = batches(lengths, size)
            took = best_seconds(lambda: embed(states_of, parts))
        except Exception as error:  # such as too little memory
            print(f"  {what}, batches of {size}: {error}")
            continue
        print(f"  {what}, batches of {size}: {len(lengths) / took:.1f} sequences a second")
        best = min(best, (took, size)) if best else (took, size)
    if best:
        took, size = best
        print(
            f"{what}: {len(lengths) / took:.1f} a second, {sum(lengths) / took:.0f} tokens a "
            f"second, best in batches of {size}"
        )


def esm(layers, width, heads):
    config = EsmConfig(
        vocab_size=33, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
        intermediate_size=4 * width, position_embedding_type="rotary", token_dropout=True,
        max_position_embeddings=1026, mask_token_id=32, pad_token_id=PAD,
        emb_layer_norm_before=False,
    )
    config._attn_implementation = "sdpa"
    torch.set_default_dtype(torch.float16)
    try:
        with torch.device("cuda"):
            model = EsmModel(config, add_pooling_layer=False).eval()
    finally:
        torch.set_default_dtype(torch.float32)
    model = model.cuda().half()
    print(f"attention: {model.config._attn_implementation}")
    return lambda tokens, mask: model(input_ids=tokens, attention_mask=mask).last_hidden_state


class Layer(nn.Module):
    """A layer of DNABERT-S: norms after sums, slopes by distance, a gate."""

    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.query_key_value = nn.Linear(width, 3 * width)
        self.attention_out = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=1e-12)
        self.up = nn.Linear(width, 2 * hidden, bias=False)
        self.down = nn.Linear(hidden, width)
        self.feed_forward_norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x, bias):
        n, length, width = x.shape
        parts = self.query_key_value(x).view(n, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = scaled_dot_product_attention(*parts, attn_mask=bias)
        mixed = mixed.transpose(1, 2).reshape(n, length, width)
        x = self.attention_norm(x + self.attention_out(mixed))
        gate, other = self.up(x).chunk(2, dim=-1)
        return self.feed_forward_norm(x + self.down(gelu(gate) * other))


class Dnabert(nn.Module):
    def __init__(self, layers=12, width=768, heads=12, hidden=3072, vocabulary=4096):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(width, heads, hidden) for _ in range(layers))
        self.register_buffer("slopes", 2.0 ** -(8 * torch.arange(1, heads + 1) / heads))

    def forward(self, tokens, mask):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        distances = (places[None, :] - places[:, None]).abs()
        bias = -self.slopes.float()[:, None, None] * distances
        x = self.norm(self.embedding(tokens))
        bias = bias[None].to(x.dtype)
        if mask is not None:
            bias = bias.masked_fill(mask[:, None, None, :] == 0, -math.inf)
        for layer in self.layers:
            x = layer(x, bias)
        return x


def time_products(what, layers, shapes, tokens):
    """Products with weights alone, as PyTorch does them."""
    pairs = [
        (
            torch.randn(tokens, depth, device="cuda", dtype=torch.float16),
            torch.randn(columns, depth, device="cuda", dtype=torch.float16),
        )
        for columns, depth in shapes
    ]

    def work():
        for _ in range(layers):
            for x, weight in pairs:
                linear(x, weight)

    print(f"{what}, products alone: {1e3 * best_seconds(work, 10):.3f} ms")


def time_forward(what, states_of, sequences, length):
    tokens = torch.randint(4, 24, (sequences, length), device="cuda")
    took = best_seconds(lambda: states_of(tokens, None), 10)
    print(f"{what}, {sequences} x {length}: {1e3 * took:.3f} ms")


def guarded(what, *arguments):
    try:
        return what(*arguments)
    except Exception:
        traceback.print_exc(file=sys.stdout)
        return None


print(
    f"PyTorch {torch.__version__}, transformers {transformers.__version__}, "
    f"{torch.cuda.get_device_name()}, fp16"
)
with torch.inference_mode():
    d = 1280
    guarded(time_products, "650M, 16 x 256", 33,
            [(3 * d, d), (d, d), (4 * d, d), (d, 4 * d)], 4096)
    states_of = guarded(esm, 33, d, 20)
    if states_of:
        guarded(time_forward, "650M", states_of, 16, 256)
        marks = 2
        proteins = [n + marks for n in protein_lengths(512)]
        guarded(time_embeddings, "650M, proteins", states_of, proteins, (8, 16, 32, 64))
        frames = [50 + marks] * 4096
        guarded(time_embeddings, "650M, frames of 50", states_of, frames, (64, 256, 1024))
    dnabert = guarded(lambda: Dnabert().cuda().half().eval())
    if dnabert:
        guarded(time_forward, "DNABERT-S's shape", dnabert, 128, 32)
        reads = [32] * 8192
        guarded(time_embeddings, "DNABERT-S's shape, reads of 150", dnabert, reads,
                (128, 512, 2048))
print(f"{time.perf_counter() - started:.0f} s")
