# Limits and names that R and the core both know: the core tells them.

# list(threads =, name_bytes =, temporary =, tabulated =, methods_always_on_devices =,
# populations =, haplotypes =, compared_runs =): the most of each; how temporary files are marked;
# and the core's methods whose calls devices make of any number of outgroups, not only `tabulated`.
core_limits <- function() core_limits_impl()
