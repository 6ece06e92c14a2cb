"""Calling by vote as one would write it in PyTorch, on a GPU, timed beside a copy on the same card.

    python3 benchmarks/in_pytorch.py [positions] [species]

Bases are encoded as uint8; each base's votes are counted by comparing and summing over the species;
the maximum is the consensus, written base by base under a mask. The time of `make -C tests/cpp/gpu
time` on the same card is what to compare it with. Ends with 77 where there is no PyTorch or no GPU.
"""

import sys

from beside_pytorch import need_gpu, torch

ROUNDS = 20


def encode(text):
    """Character codes as they stand in a file to 1 to 4 for A, C, G, T in either case, else 0."""
    upper = text & 0xDF
    x = torch.zeros_like(text)
    for code, base in enumerate(b"ACGT", start=1):
        x[upper == base] = code
    return x


def call(x, fewest):
    """The most frequent base of each position, ties to the first; 0 if it has too few votes."""
    votes = torch.stack([(x == code).sum(0) for code in range(1, 5)])
    most = votes.max(0).values
    calls = torch.zeros_like(most, dtype=torch.uint8)
    for code in range(4, 0, -1):  # the first base is written last, and so wins a tie
        calls[(votes[code - 1] == most) & (most >= fewest)] = code
    return calls


def seconds(work):
    """The least of some rounds, after one to warm up."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    best = float("inf")
    for round_ in range(ROUNDS + 1):
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        if round_ > 0:
            best = min(best, start.elapsed_time(end) / 1e3)
    return best


def check():
    text = torch.tensor([list(b"AaNC"), list(b"ACNT"), list(b"CCNG")], dtype=torch.uint8)
    assert call(encode(text), 1).tolist() == [1, 2, 0, 2]
    assert call(encode(text), 2).tolist() == [1, 2, 0, 0]


def main():
    check()
    need_gpu()
    positions = int(sys.argv[1]) if len(sys.argv) > 1 else 248_000_000
    species = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, "
          f"{positions} positions, {species} species")
    letters = torch.tensor(list(b"ACGTacgtN"), dtype=torch.uint8, device="cuda")
    text = torch.stack([
        letters[torch.randint(len(letters), (positions,), dtype=torch.uint8, device="cuda").int()]
        for _ in range(species)
    ])
    moved = positions * (species + 1)  # what calling has to read and write at the least
    copy_from = torch.empty(moved // 2, dtype=torch.uint8, device="cuda")
    copy_to = torch.empty_like(copy_from)
    copied = seconds(lambda: copy_to.copy_(copy_from))
    encoded = seconds(lambda: encode(text))
    x = encode(text)
    del text
    called = seconds(lambda: call(x, 1))
    for what, took in [("a copy of as many bytes", copied), ("encoding", encoded),
                       ("calling", called), ("both", encoded + called)]:
        print(f"{what:26} {1e3 * took:10.3f} ms {moved / took / 1e9:8.1f} GB/s "
              f"{took / copied:8.1f} copies")


main()
