# Consequences of changes in coding sequences, and the worst of a site's.

# In the core's order. From the sixth on, nothing is said of a change.
consequences <- c(
  "synonymous", "missense", "stop gained", "stop lost", "start lost", "no sequence",
  "partial codon", "inner stop", "unknown codon", "no genetic code"
)

# From the gravest on
gravest <- c("stop gained", "start lost", "stop lost", "missense", "synonymous")

# The gravest change of each site, among the rows that there are: users may choose transcripts.
worst_changes <- function(changes) {
  site <- paste(changes$chromosome, changes$position, changes$derived)
  worst <- changes[first_of_least(match(changes$consequence, gravest), site), ]
  worst$class <- droplevels(factor(worst$consequence, consequences))
  worst
}

# Whether an element is the first of the least ones in its group; never where it is NA.
first_of_least <- function(values, group) {
  order <- order(values, na.last = NA)
  seq_along(values) %in% order[!duplicated(group[order])]
}
