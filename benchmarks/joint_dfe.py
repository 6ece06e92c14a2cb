# dadi's part of joint_dfe.R: prints the seconds of Cache2D and of a sum, then the sum's cells.
import sys, time
import numpy, dadi, dadi.DFE as DFE
from dadi import Integration, Numerics, PhiManip, Spectrum

def split_mig(params, ns, pts):
    nu1, nu2, T, m, gamma1, gamma2 = params
    xx = Numerics.default_grid(pts)
    phi = PhiManip.phi_1D_to_2D(xx, PhiManip.phi_1D(xx, gamma=gamma1))
    phi = Integration.two_pops(phi, xx, T, nu1, nu2, m12=m, m21=m, gamma1=gamma1, gamma2=gamma2)
    return Spectrum.from_phi(phi, ns, (xx, xx))

n = int(sys.argv[1])
start = time.perf_counter()
cache = DFE.Cache2D([2, 0.5, 0.05, 1], [20, 20], split_mig, [70, 90, 110], (1e-2, 100), n, cpus=1)
made = time.perf_counter() - start
start = time.perf_counter()
fs = cache.integrate([1, 1, 0.5], None, DFE.PDFs.biv_lognormal, 1.0, None)
print(made, time.perf_counter() - start)
print(*[repr(float(x)) for x in fs.data.ravel()])
