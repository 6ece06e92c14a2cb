"""An epoch of training the classifier of embeddings in PyTorch, eager, fp32: what
ancify_bench_classifier is compared with.

    python3 benchmarks/classifier.py [rows width]     3200 3328

The best of 3, elapsed and of processors, and the same with torch's fused optimiser. Batches are
taken by index from one tensor, without a DataLoader. Ends with 77 where there is no PyTorch.
"""

import sys
import time

try:
    import torch
except ImportError as error:
    print(f"NOT RUN: {error}")
    sys.exit(77)

n, width = map(int, sys.argv[1:3] or (3200, 3328))
x = torch.randn(n, width)
labels = torch.arange(n) % 2
for threads in (1, 2):
    torch.set_num_threads(threads)
    for fused in (False, True):
        model = torch.nn.Sequential(
            torch.nn.Linear(width, 512), torch.nn.BatchNorm1d(512), torch.nn.ReLU(), torch.nn.Dropout(0.5),
            torch.nn.Linear(512, 2),
        )
        optimiser = torch.optim.SGD(model.parameters(), lr=2e-4, momentum=0.9, fused=fused)
        best = used = float("inf")
        for _ in range(3):
            start, before = time.perf_counter(), time.process_time()
            for rows in torch.randperm(n).split(32):
                optimiser.zero_grad()
                torch.nn.functional.cross_entropy(model(x[rows]), labels[rows]).backward()
                optimiser.step()
            best = min(best, time.perf_counter() - start)
            used = min(used, time.process_time() - before)
        print(f"PyTorch {torch.__version__}, fused {fused}, {threads} thread(s): {best:.3f} s an epoch, "
              f"{used:.3f} s of processors")
