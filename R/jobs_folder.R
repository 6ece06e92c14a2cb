# Folders of results that a later session can complete, from the same inputs and settings.

# The ledger of a locked folder, ready for work. `recorded`: a function that returns the fingerprint
# of the run recorded in a ledger. `argument`: the name of the folder's argument.
open_run <- function(out, of, recorded, resume, argument = "out") {
  unlink(c(leftovers_impl(out), leftovers_impl(file.path(out, ".ancify"))), expand = FALSE)
  ledger <- open_ledger(out, argument)
  refuse_other_run(ledger, recorded(ledger), of, resume)
  release_claims(ledger)
  ledger
}

close_run <- function(ledger) {
  release_claims(ledger)
  save_ledger(ledger, at_once = TRUE)
}

# `of`: the recorded fingerprint, or NULL; `now`: this run's fingerprint.
refuse_other_run <- function(ledger, of, now, resume) {
  if (is.null(of)) {
    return(invisible())
  }
  refuse_if(!resume,
            "`%s` is %s, which has a run: remove it, choose another, or set `resume = TRUE`.",
            ledger$argument, quoted(ledger$folder))
  if (!are_lists(of)) refuse_run_record(ledger)
  differs <- unlist(lapply(names(now), function(what) {
    keys <- union(names(now[[what]]), names(of[[what]]))
    same <- vapply(keys, function(key) same_json(of[[what]][[key]], now[[what]][[key]]), NA)
    sprintf("%s: %s", what, keys[!same])
  }))
  refuse_if(length(differs),
            "The run in %s differs (%s): choose another `%s`, or give all as it was then.",
            quoted(ledger$folder), enumerate(differs), ledger$argument)
}

refuse_run_record <- function(ledger) {
  abort_ancify(
    sprintf("%s: its record of the run is damaged. Remove %s, or choose another `%s`.",
            quoted(ledger_file(ledger$folder)), quoted(ledger$folder), ledger$argument),
    "format", file = ledger_file(ledger$folder), line = 0
  )
}

are_lists <- function(of) is.list(of) && all(vapply(of, is.list, NA))

is_whole_from <- function(x, least) {
  is.numeric(x) && length(x) == 1 && isTRUE(is.finite(x) & x >= least & x %% 1 == 0)
}
