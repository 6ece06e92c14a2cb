# Limits and names that R takes from the core.

# list(threads =, name_bytes =, temporary =, tabulated =, methods_always_on_devices =,
# populations =, haplotypes =, compared_runs =, coalescent_outgroups =). Counts are maxima.
# `temporary` marks names of temporary files. `tabulated`: the maximum number of outgroups for which
# devices support all methods; `methods_always_on_devices`: methods that devices support for any
# number of outgroups.
core_limits <- function() core_limits_impl()
