"""What the scripts that time PyTorch share: they end with 77 where it, or a GPU, is not there."""

import sys


def not_run(why):
    print(f"NOT RUN: {why}")
    sys.exit(77)


try:
    import torch
except ImportError:
    not_run("there is no PyTorch")


def need_gpu():
    if not torch.cuda.is_available():
        not_run("there is no GPU that PyTorch can use")
