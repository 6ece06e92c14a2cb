# Our evaluation of a model against that of Python's lightgbm, on the same features and two threads
# each; benchmarks/run calls it with the benchmark program and the data's folder:
#
#   python3 benchmarks/in_python.py PROGRAM FOLDER
import os
import subprocess
import sys
import time

import lightgbm
import numpy

program, folder = sys.argv[1:]
random = numpy.random.default_rng(1)
n, species, threads, rounds = 200_000, 4, 2, 5

ancestor = random.integers(0, 4, n)
bases = numpy.empty((n, species))
for s, changed in enumerate((0.02, 0.03, 0.03, 0.08)):
    bases[:, s] = numpy.where(random.random(n) < changed, random.integers(0, 4, n), ancestor)
bases[random.random((n, species)) < 0.1] = -1
with_data = (bases >= 0).sum(axis=1)
share = random.integers(1, 5, n) / 4
consensus = random.integers(0, 5, (n, 2))
agree = random.integers(0, 2, n)
gc = random.integers(0, 102, n) / 101
cpg = random.integers(0, 2, n)
around = random.integers(0, 5, (n, 2))
features = numpy.column_stack([bases, with_data, share, consensus, agree, gc, cpg, around])
features = numpy.ascontiguousarray(features, dtype=numpy.float32)
labels = numpy.where(random.random(n) < 0.1, random.integers(0, 4, n), ancestor)

parameters = dict(objective="multiclass", num_class=4, num_leaves=31, num_threads=threads,
                  verbosity=-1)
model = lightgbm.train(parameters, lightgbm.Dataset(features, label=labels), num_boost_round=100)
path, data, result = (os.path.join(folder, name) for name in ("model.lgb", "features", "result"))
model.save_model(path)
features.T.tofile(data)

theirs = float("inf")
for _ in range(rounds):
    start = time.perf_counter()
    expected = model.predict(features, num_threads=threads)
    theirs = min(theirs, time.perf_counter() - start)
call = [program, path, data, str(n), str(threads), result]
ours = float(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
got = numpy.fromfile(result).reshape(n, 4)
for name in (path, data, result):
    os.remove(name)
if not numpy.abs(got - expected).max() <= 1e-9:
    sys.exit("The probabilities differ from those of Python's lightgbm.")
what = f"Python's lightgbm over our trees, {model.num_trees()} trees, {threads} threads"
print(f"{what:<66} {theirs / ours:6.2f}  at least 3")
