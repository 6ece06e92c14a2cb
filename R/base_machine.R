# The memory of this machine, as the system reports it.

# The bytes that this process can still allocate, or NA if the system does not report them.
available_memory <- function(root = "") {
  info <- field_values(file.path(root, "/proc/meminfo"))
  machine <- 1024 * (info["MemAvailable"] + max(info["SwapFree"], 0, na.rm = TRUE))
  groups <- grep("^0::", lines_of(file.path(root, "/proc/self/cgroup")), value = TRUE)
  left <- vapply(parent_folders(sub("^0::", "", groups)), function(group) {
    folder <- file.path(root, "/sys/fs/cgroup", group)
    number <- function(name) suppressWarnings(as.numeric(lines_of(file.path(folder, name))))[1]
    cached <- max(field_values(file.path(folder, "memory.stat"))["inactive_file"], 0, na.rm = TRUE)
    number("memory.max") - number("memory.current") + cached
  }, 0)
  least <- suppressWarnings(min(c(machine, left), na.rm = TRUE))
  if (is.finite(least)) max(least, 0) else NA_real_
}

# The path and its parents, because a control group's limits also apply to all groups inside it.
parent_folders <- function(path) {
  while (length(path) && !utils::tail(path, 1) %in% c("/", ".")) {
    path <- c(path, dirname(utils::tail(path, 1)))
  }
  path
}

lines_of <- function(path) {
  tryCatch(suppressWarnings(readLines(path)), error = function(condition) character())
}

# The values of lines such as "MemFree: 12 kB", by name.
field_values <- function(path) {
  fields <- strsplit(lines_of(path), "[: ]+")
  values <- vapply(fields, function(field) suppressWarnings(as.numeric(field[2])), 0)
  stats::setNames(values, vapply(fields, `[`, "", 1))
}
