"""An ESM-2 encoder of real shape with random weights in PyTorch, eager, fp32: what
ancify_bench_sequence_models is compared with.

    python3 benchmarks/sequence_models.py [layers width heads]     12 480 20, which is 35M

8 sequences of 256 tokens, by transformers' EsmModel with SDPA attention, the best of 3. Ends with 77
where there is no PyTorch or no transformers.
"""

import sys
import time

try:
    import torch
    from transformers import EsmConfig, EsmModel
except ImportError as error:
    print(f"NOT RUN: {error}")
    sys.exit(77)

layers, width, heads = map(int, sys.argv[1:4] or (12, 480, 20))
config = EsmConfig(
    vocab_size=33, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
    intermediate_size=4 * width, position_embedding_type="rotary", token_dropout=True,
    max_position_embeddings=1026, mask_token_id=32, pad_token_id=1, emb_layer_norm_before=False,
    attn_implementation="sdpa",
)
model = EsmModel(config, add_pooling_layer=False).eval()
tokens = torch.randint(4, 24, (8, 256))
for threads in (1, 2):
    torch.set_num_threads(threads)
    best = float("inf")
    with torch.inference_mode():
        for _ in range(3):
            start = time.perf_counter()
            model(tokens)
            best = min(best, time.perf_counter() - start)
    print(f"PyTorch {torch.__version__}, 8 x 256, {threads} thread(s): {best:.3f} s")
