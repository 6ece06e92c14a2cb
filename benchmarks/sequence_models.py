"""Times an ESM-2 encoder of real shape with random weights beside PyTorch's, eager, fp32, on the CPU.

    python3 benchmarks/sequence_models.py PROGRAM [layers width heads]     12 480 20, which is 35M

PROGRAM is ancify_bench_sequence_models. PyTorch runs transformers' EsmModel with SDPA attention. Both
take turns, and ratios are of medians of processor time: 8 sequences of 256 tokens, and 16 of usual
lengths, which PyTorch pads to the longest. Ends with 77 where there is no PyTorch or no transformers.
"""

import statistics
import subprocess
import sys
import time

from beside_pytorch import not_run, torch

try:
    from transformers import EsmConfig, EsmModel
except ImportError as error:
    not_run(error)

ROUNDS = 5


def random_model(layers, width, heads):
    return EsmModel(EsmConfig(
        vocab_size=33, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
        intermediate_size=4 * width, position_embedding_type="rotary", token_dropout=True,
        max_position_embeddings=1026, mask_token_id=32, pad_token_id=1, emb_layer_norm_before=False,
        attn_implementation="sdpa",
    ), add_pooling_layer=False).eval()


def processor_seconds(model, sequences, tokens, threads):
    """The least of three, as PROGRAM does."""
    torch.set_num_threads(threads)
    ids = torch.randint(4, 24, (sequences, tokens))
    best = float("inf")
    with torch.inference_mode():
        for _ in range(3):
            start = time.process_time()
            model(ids)
            best = min(best, time.process_time() - start)
    return best


def ours(program, shape):
    """The program's lines "name: number"."""
    said = subprocess.run([program, *map(str, shape)], check=True, capture_output=True, text=True)
    pairs = (line.rsplit(": ", 1) for line in said.stdout.splitlines() if ": " in line)
    return {name: float(number) for name, number in pairs}


def main():
    program = sys.argv[1]
    shape = list(map(int, sys.argv[2:5] or (12, 480, 20)))
    model = random_model(*shape)
    rounds = []
    for _ in range(ROUNDS):
        row = ours(program, shape)
        longest = int(row["tokens of the longest"])
        row["PyTorch, equal, 1 thread"] = processor_seconds(model, 8, 256, 1)
        row["PyTorch, equal, 2 threads"] = processor_seconds(model, 8, 256, 2)
        row["PyTorch, usual, 1 thread"] = processor_seconds(model, 16, longest, 1)
        rounds.append(row)
    median = {name: statistics.median(row[name] for row in rounds) for name in rounds[0]}
    for name, number in median.items():
        print(f"{name}: {number:.4g}")
    for what in ("equal, 1 thread", "equal, 2 threads", "usual, 1 thread"):
        print(f"PyTorch {torch.__version__} over ours, {what}: "
              f"{median['PyTorch, ' + what] / median[what]:.2f}")


main()
