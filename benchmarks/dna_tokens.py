"""Tokens of DNA by Hugging Face's tokenizers on one thread: what ancify_bench_sequence_models is compared with.

    python3 benchmarks/dna_tokens.py FOLDER     writes tokenizer.json and texts.txt there

Merges are trained: 4096 tokens, as DNABERT-S has. 2,000 texts of 500 bases, the best of 3. Ends with 77 where there is no
tokenizers.
"""

import os
import pathlib
import random
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
try:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
except ImportError as error:
    print(f"NOT RUN: {error}")
    sys.exit(77)

folder = pathlib.Path(sys.argv[1])
draw = random.Random(1)


def bases(n):
    return "".join(draw.choices("ACGT", k=n))


repeats = [bases(draw.randint(5, 40)) for _ in range(500)]


def text(n=500):
    result = ""
    while len(result) < n:
        result += draw.choice(repeats) if draw.random() < 0.5 else bases(draw.randint(1, 30))
    return result[:n]


tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
special = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
trainer = trainers.BpeTrainer(vocab_size=4096, special_tokens=special, show_progress=False)
tokenizer.train_from_iterator((text() for _ in range(3000)), trainer)
tokenizer.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
)
tokenizer.save(str(folder / "tokenizer.json"))
texts = [text() for _ in range(2000)]
(folder / "texts.txt").write_text("\n".join(texts) + "\n")
best = float("inf")
for _ in range(3):
    start = time.perf_counter()
    tokens = sum(len(tokenizer.encode(one).ids) for one in texts)
    best = min(best, time.perf_counter() - start)
print(f"{tokens} tokens of {len(texts)} texts: 1 thread {best:.4f} s")
