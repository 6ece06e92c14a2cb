# Other processes, and a disk that is full.

# Takes more than some seconds. ANCIFY_LONG_TESTS = "no" leaves such tests out, as R CMD check does,
# and "only" leaves out the others.
long_test_that <- testthat::test_that
switch(Sys.getenv("ANCIFY_LONG_TESTS"),
  no = long_test_that <- function(desc, code) invisible(),
  only = test_that <- function(desc, code) invisible()
)

# The environment in which another R is the same as this one and finds its packages. (R CMD check
# puts an Rscript that only complains on the PATH.)
library_environment <- function() {
  c(
    paste0("PATH=", R.home("bin"), ":", Sys.getenv("PATH")),
    paste0("R_LIBS=", paste(.libPaths(), collapse = ":")), "R_TESTS="
  )
}

rscript <- file.path(R.home("bin"), "Rscript")

write_script <- function(...) {
  path <- tempfile(fileext = ".R")
  writeLines(c(...), path)
  path
}

# Runs a program to its end: status, and what it wrote to stdout and stderr.
run_program <- function(program, ..., env = library_environment(), timeout = 300) {
  out <- tempfile()
  err <- tempfile()
  status <- suppressWarnings(system2(
    "env", shQuote(c(env, program, ...)),
    stdout = out, stderr = err, timeout = timeout
  ))
  list(status = status, out = readLines(out, warn = FALSE), err = readLines(err, warn = FALSE))
}

# Starts a program beside R, in a process group of its own, as a shell does for its user.
start_program <- function(program, ..., env = library_environment()) {
  folder <- new_folder()
  at <- function(name) file.path(folder, name)
  command <- paste(shQuote(c("env", env, program, ...)), collapse = " ")
  writeLines(c(
    "set -m",
    sprintf("%s > %s 2> %s &", command, shQuote(at("out")), shQuote(at("err"))),
    sprintf("echo $! > %s", shQuote(at("pid"))),
    "wait $!",
    sprintf("echo $? > %s", shQuote(at("ending"))),
    sprintf("mv %s %s", shQuote(at("ending")), shQuote(at("status")))
  ), at("start.sh"))
  system2("sh", shQuote(at("start.sh")), stdout = FALSE, stderr = FALSE, wait = FALSE)
  # The program's own shell makes the other two, perhaps later.
  wait_for(all(file.exists(at(c("pid", "out", "err")))) && file.size(at("pid")) > 0)
  list(
    pid = as.integer(readLines(at("pid"))),
    status = function() if (file.exists(at("status"))) as.integer(readLines(at("status"))),
    out = function() readLines(at("out"), warn = FALSE),
    err = function() readLines(at("err"), warn = FALSE)
  )
}

# Ends a program that a failed test has left.
end_program <- function(job) {
  if (is.null(job$status())) tools::pskill(job$pid, tools::SIGKILL)
}

# Seconds of this process's processors for `code`; other work on the machine does not count.
processor_seconds <- function(code) {
  sum(system.time(code, gcFirst = FALSE)[c("user.self", "sys.self")])
}

# Seconds until `condition` holds; an error where it does not in time.
wait_for <- function(condition, at_most = 120) {
  condition <- substitute(condition)
  frame <- parent.frame()
  start <- proc.time()[["elapsed"]]
  waited <- function() proc.time()[["elapsed"]] - start
  while (!isTRUE(eval(condition, frame))) {
    if (waited() > at_most) stop("waited in vain for ", deparse1(condition))
    Sys.sleep(0.01)
  }
  waited()
}

# Runs code(folder) on a file system of this many bytes, which is then taken away.
with_small_disk <- function(bytes, code) {
  folder <- new_folder()
  mount <- c("-t", "tmpfs", "-o", sprintf("size=%.0f", bytes), "tmpfs", shQuote(folder))
  status <- suppressWarnings(system2("mount", mount, stdout = FALSE, stderr = FALSE))
  if (status != 0) lacking("the permission to mount a small tmpfs")
  on.exit(system2("umount", shQuote(folder)))
  code(folder)
}

# A card counts as so many devices.
with_virtual_gpus <- function(value, code) {
  old <- Sys.getenv("ANCIFY_VIRTUAL_GPUS", "1")
  on.exit(Sys.setenv(ANCIFY_VIRTUAL_GPUS = old))
  Sys.setenv(ANCIFY_VIRTUAL_GPUS = value)
  code
}
