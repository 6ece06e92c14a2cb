"""The autoencoder of distance maps in PyTorch, eager, beside `gpu_driver time autoencoders` on the
same card, or beside fit_autoencoder() on a CPU.

    python3 benchmarks/autoencoder.py [cpu [THREADS]]      1

An epoch of 8,192 maps of 64 points (512 on a CPU) by Adam in batches of 64, with the layers of
src/core/autoencoder/network.h. All maps are there before the epoch, and none is corrupted; a loss is
read once an epoch. Each task has the faster of two epochs, after some batches to warm up: in fp32,
and on a card with TF32, which PyTorch takes by itself. On a CPU times are of the processor. Needs
torch alone; ends within 40 seconds on a card, and with 77 where there is no PyTorch or no GPU.
"""

import sys
import time

from beside_pytorch import need_gpu, torch
from torch import nn
from torch.nn import functional

SECONDS = 30
ON_CPU = sys.argv[1:2] == ["cpu"]
MAPS, POINTS, BATCH = 512 if ON_CPU else 8192, 64, 64


class Autoencoder(nn.Module):
    def __init__(self, channels, code, corrects):
        super().__init__()
        self.corrects = corrects
        widths = [channels, 16, 32, 64, 64]
        self.encoder = nn.ModuleList(
            nn.Conv2d(a, b, 3, padding=1) for a, b in zip(widths, widths[1:])
        )
        self.side = POINTS // 16
        inner = 64 * self.side**2
        self.to_code = nn.Linear(inner, code)
        self.from_code = nn.Linear(code, inner)
        widths = [64, 64, 32, 16, 8]
        self.decoder = nn.ModuleList(
            nn.Conv2d(a, b, 3, padding=1) for a, b in zip(widths, widths[1:])
        )
        self.correction = nn.Conv2d(8 + channels, 16, 3, padding=1) if corrects else None
        self.last = nn.Conv2d(16 if corrects else 8, 1, 3, padding=1)

    def forward(self, images):
        x = images
        for layer in self.encoder:
            x = functional.max_pool2d(functional.relu(layer(x)), 2)
        x = self.from_code(self.to_code(x.flatten(1))).view(-1, 64, self.side, self.side)
        for layer in self.decoder:
            x = functional.relu(layer(functional.interpolate(x, scale_factor=2)))
        if self.corrects:
            x = functional.relu(self.correction(torch.cat([x, images], 1)))
        z = self.last(x)
        if self.corrects:
            d = images[:, :1].clamp(min=1e-3)
            z = z + d + torch.log(-torch.expm1(-d))
        x = functional.softplus(z)
        return (x + x.transpose(2, 3)) / 2 * self.beside_diagonal(x)

    @staticmethod
    def beside_diagonal(x):
        return 1 - torch.eye(POINTS, device=x.device)


def random_maps(device):
    walks = torch.randn(MAPS, POINTS, 3, device=device).cumsum(1)
    maps = torch.cdist(walks, walks)[:, None]
    return maps / maps.mean()


def epoch(model, optimiser, images, targets, batches):
    order = torch.randperm(MAPS, device=images.device)
    total = torch.zeros((), device=images.device)
    for batch in range(batches):
        chosen = order[batch * BATCH : (batch + 1) * BATCH]
        out = model(images[chosen])
        target = targets[chosen]
        known = ~target.isnan()
        loss = (torch.where(known, out - target, 0.0) ** 2).sum() / known.sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        total += loss.detach()
    return total.item() / batches


def now():
    if ON_CPU:
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


def seconds(model, images, targets):
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    epoch(model, optimiser, images, targets, 2 if ON_CPU else 10)
    best = float("inf")
    for _ in range(2):
        start = now()
        epoch(model, optimiser, images, targets, MAPS // BATCH)
        best = min(best, now() - start)
    return best


def main():
    if not ON_CPU:
        need_gpu()
    begun = time.perf_counter()
    device = torch.device("cpu" if ON_CPU else "cuda")
    torch.set_num_threads(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    maps = random_maps(device)
    targets = maps.masked_fill(torch.eye(POINTS, dtype=torch.bool, device=device), float("nan"))
    print(f"PyTorch {torch.__version__}, {'CPU' if ON_CPU else torch.cuda.get_device_name()}")
    for tf32 in (False,) if ON_CPU else (False, True):
        torch.backends.cudnn.allow_tf32 = tf32
        for task, channels, code in (("cluster", 1, 32), ("denoise", 1, 512), ("inpaint", 2, 512)):
            if not ON_CPU and time.perf_counter() - begun > SECONDS:
                print("the rest is left out, as time is over")
                return
            images = torch.cat([maps] + [torch.ones_like(maps)] * (channels - 1), 1)
            model = Autoencoder(channels, code, task != "cluster").to(device)
            took = seconds(model, images, targets)
            print(
                f"an epoch to {task} 64 points, {'TF32' if tf32 else 'fp32'}: {took:.3f} s, "
                f"{MAPS / took:.0f} images a second"
            )


main()
