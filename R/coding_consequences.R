# Consequences of changes in coding sequences, and the worst one of a site.

# In the core's order. From the sixth on, the change is unknown.
consequences <- c(
  "synonymous", "missense", "stop gained", "stop lost", "start lost", "no sequence",
  "partial codon", "inner stop", "unknown codon", "no genetic code"
)

# In decreasing order of severity
gravest <- c("stop gained", "start lost", "stop lost", "missense", "synonymous")

# The most severe change of each site, among the given rows: users may have chosen transcripts.
worst_changes <- function(changes) {
  site <- paste(changes$chromosome, changes$position, changes$derived)
  worst <- changes[first_of_least(match(changes$consequence, gravest), site), ]
  worst$class <- droplevels(factor(worst$consequence, consequences))
  worst
}

# True if an element is the first minimum of its group; never true for NA.
first_of_least <- function(values, group) {
  order <- order(values, na.last = NA)
  seq_along(values) %in% order[!duplicated(group[order])]
}
