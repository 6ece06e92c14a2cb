# Two-locus statistics that models expect, by moments and by ancify on one thread:
#
#   python3 benchmarks/expected_ld.py
#
# with moments-popgen for Python, and Rscript with ancify. Both compute the statistics at the ends and
# middles of ten bins. Times are of the processor, the least of rounds, in which both take turns.
# moments has its own steps; errors are those of either against moments on steps a twentieth as long,
# extrapolated.
import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import subprocess
import sys
import time
import warnings

import numpy
from moments.LD import Demographics1D

warnings.filterwarnings("ignore")
rounds = 3
limits = numpy.concatenate([[0], 10 ** numpy.linspace(-1, 2, 10)])
rho = numpy.sort(numpy.concatenate([limits, (limits[:-1] + limits[1:]) / 2]))
own_steps = 0.02


def bottleneck(go, y):
    go(y, [0.1], 0.05)
    go(y, [3], 0.2)
    return y


def split(go, y):
    y = y.split(0)
    go(y, [2, 0.5], 0.2, m=[[0, 1], [0.3, 0]])
    return y


def out_of_africa(go, y):
    go(y, [1.685], 0.219)
    y = y.split(0)
    go(y, [1.685, 0.287], 0.325, m=[[0, 3.65], [3.65, 0]])
    y = y.split(1)
    span = 0.0581
    sizes = lambda t: [1.685, 0.14 * (4.07 / 0.14) ** (t / span), 0.07 * (7.41 / 0.07) ** (t / span)]
    go(y, sizes, span, m=[[0, 0.438, 0.277], [0.438, 0, 1.4], [0.277, 1.4, 0]])
    return y


def theirs(model, steps):
    def go(y, sizes, span, **more):
        y.integrate(sizes, span, rho=rho, theta=1.0, dt_fac=steps, **more)

    return model(go, Demographics1D.snm(rho=rho, theta=1.0))


R_CODE = """
library(ancify)
limits <- as.numeric(strsplit(commandArgs(TRUE)[1], ",")[[1]])
models <- list(
  bottleneck = list(event_equilibrium(), event_epoch(0.05, 0.1), event_epoch(0.2, 3)),
  split = list(
    event_equilibrium(), event_split(1), event_epoch(0.2, c(2, 0.5), m = rbind(c(0, 1), c(0.3, 0)))
  ),
  out_of_africa = list(
    event_equilibrium(), event_epoch(0.219, 1.685), event_split(1),
    event_epoch(0.325, c(1.685, 0.287), m = 3.65), event_split(2),
    event_epoch(0.0581, list(1.685, size_history(0.14, 4.07), size_history(0.07, 7.41)),
                m = rbind(c(0, 0.438, 0.277), c(0.438, 0, 1.4), c(0.277, 1.4, 0)))
  )
)
size <- 1e4
input <- file("stdin", "r")
while (length(name <- readLines(input, 1))) {
  populations <- c(bottleneck = 1, split = 2, out_of_africa = 3)[[name]]
  populations <- as.character(seq_len(populations) - 1)
  call <- function(bins) {
    expected_ld(models[[name]], NULL, populations, bins, size, threads = 1, progress = FALSE)
  }
  repeats <- 20
  spent <- proc.time()
  for (i in seq_len(repeats)) x <- call(limits / (4 * size))
  spent <- sum((proc.time() - spent)[1:2]) / repeats
  cat(spent, format(t(x$values), digits = 17), sep = " ")
  cat("\n")
  flush(stdout())
}
"""

limits_given = ",".join(repr(float(x)) for x in limits)
ours = subprocess.Popen(["Rscript", "-e", R_CODE, limits_given], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE, text=True)


def binned(y):
    values = numpy.array([list(map(float, row)) for row in y.LD()])
    return (values[:-2:2] + 4 * values[1:-1:2] + values[2::2]) / 6


print(f"{'model':<16}{'moments, s':>12}{'ancify, s':>12}{'ratio':>8}{'their error':>14}{'our error':>12}")
slow = False
for model in (bottleneck, split, out_of_africa):
    their_time = our_time = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        y = theirs(model, own_steps)
        their_time = min(their_time, time.process_time() - start)
        print(model.__name__, file=ours.stdin, flush=True)
        line = ours.stdout.readline().split()
        our_time = min(our_time, float(line[0]))
    fine = 2 * binned(theirs(model, own_steps / 20)) - binned(theirs(model, own_steps / 10))
    found = numpy.array(line[1:], dtype=float).reshape(fine.shape)
    error = lambda x: numpy.abs(x / fine - 1).max()
    print(f"{model.__name__:<16}{their_time:12.4f}{our_time:12.4f}{their_time / our_time:8.1f}"
          f"{error(binned(y)):14.1e}{error(found):12.1e}")
    slow = slow or their_time < 5 * our_time
ours.stdin.close()
ours.wait()
if slow:
    sys.exit("ancify is less than five times as fast.")
