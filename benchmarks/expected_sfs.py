# dadi's part of expected_sfs.R: prints the seconds of the processor that the spectrum of a Demes model takes, the least of
# three, and the largest cell.
#
#   python3 expected_sfs.py FILE.yaml HAPLOTYPES,... GRID,...
import sys, time
import demes
from dadi import Demes, Numerics

graph = demes.load(sys.argv[1])
sizes, grids = ([int(n) for n in text.split(",")] for text in sys.argv[2:])
sampled = [deme.name for deme in graph.demes if deme.end_time == 0][: len(sizes)]
spectrum_of = Numerics.make_extrap_log_func(lambda ns, pts: Demes.SFS(graph, sampled, ns, pts))
times = []
for _ in range(3):
    start = time.process_time()
    spectrum = spectrum_of(sizes, grids)
    times.append(time.process_time() - start)
print(min(times), float(spectrum.max()))
