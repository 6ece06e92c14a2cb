"""Products of genotypes as one would write them in PyTorch, on a GPU, timed beside a copy.

    python3 benchmarks/products_in_pytorch.py [samples] [variants]

Standardised genotypes are floats in the card's memory. Both halves of a pass, T = Z'V and Z T, are
matrix products in single precision, without TF32 and, to be informed, with it. The times of
`make -C tests/cpp/gpu time` on the same card are what to compare them with. Ends with 77 where there
is no PyTorch or no GPU.
"""

import statistics
import sys
import time

from beside_pytorch import need_gpu, torch

ROUNDS = 7
MOST_SECONDS = 2  # of rounds


def random_genotypes(variants, samples, device):
    """Z, a row for each variant, made by parts so that nothing else of its size is needed."""
    z = torch.empty(variants, samples, device=device)
    for part in z.split(1000):
        frequencies = 0.05 + 0.9 * torch.rand(len(part), 1, device=device)
        part.copy_((torch.rand_like(part) < frequencies).float())
        part += torch.rand_like(part) < frequencies
        part -= 2 * frequencies
        part /= torch.sqrt(2 * frequencies * (1 - frequencies))
    return z


def seconds(work):
    """The median of some rounds, after one to warm up."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    took = []
    work()
    torch.cuda.synchronize()
    begun = time.monotonic()
    while len(took) < ROUNDS and (len(took) < 3 or time.monotonic() - begun < MOST_SECONDS):
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        took.append(start.elapsed_time(end) / 1e3)
    return statistics.median(took)


def check():
    z = random_genotypes(3000, 500, "cpu")
    assert abs(z.mean().item()) < 0.01 and abs(z.square().mean().item() - 1) < 0.02


def main():
    check()
    need_gpu()
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    variants = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, "
          f"{samples} samples, {variants} variants")
    packed = torch.randint(256, (samples * variants // 4,), dtype=torch.uint8, device="cuda")
    copy_to = torch.empty_like(packed)
    copied = seconds(lambda: copy_to.copy_(packed))
    del packed, copy_to
    print(f"a copy of the packed genotypes {1e3 * copied:10.3f} ms "
          f"{samples * variants / 2 / copied / 1e9:8.1f} GB/s read and written")
    z = random_genotypes(variants, samples, "cuda")
    for columns in (128, 4):
        v = torch.randn(samples, columns, device="cuda")
        t = torch.empty(variants, columns, device="cuda")
        out = torch.empty_like(v)
        for tf32 in (False, True):
            torch.backends.cuda.matmul.allow_tf32 = tf32
            first = seconds(lambda: torch.mm(z, v, out=t))
            second = seconds(lambda: torch.mm(z.t(), t, out=out))
            print(f"{columns:3} columns, TF32 {'on' if tf32 else 'off':3}: "
                  f"Z'V {1e3 * first:10.3f} ms, Z U {1e3 * second:10.3f} ms, "
                  f"both {1e3 * (first + second):10.3f} ms, {(first + second) / copied:6.1f} copies")


main()
