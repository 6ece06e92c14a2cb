# Folders of results that a later session can complete, from the same inputs and settings.

# The ledger of a locked folder, ready for work. `recorded`: a function that returns the fingerprint
# of the run recorded in a ledger. `argument`: the name of the folder's argument.
open_run <- function(out, of, recorded, resume, argument = "out") {
  unlink(c(leftovers_impl(out), leftovers_impl(file.path(out, ".ancify"))), expand = FALSE)
  ledger <- open_ledger(out, argument)
  refuse_other_run(ledger, recorded(ledger), of, resume)
  refuse_at_work(out)
  settle_earlier_tasks(out, "out", function(outcome) merge_outcome(list(out = ledger), outcome))
  release_claims(ledger)
  ledger
}

# Tasks of a failed run may still write their claimed files for a moment: keep the claims.
close_run <- function(ledger) {
  if (length(tasks_at_work(ledger$folder)) == 0) release_claims(ledger)
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

# ---- Parts ---------------------------------------------------------------------------------------

# A kind of folder with parts is a list:
# argument  the name of the folder's argument
# made_by   the function that writes it
# holds     its content, in the plural
# recorded  a function: the fingerprint on record in a ledger, or NULL
# files     a function: the files of the parts of a run with this fingerprint

# Completes a locked folder, and returns its ledger. make(left, ledger) makes and records the parts
# with these indices. `are_known`: a function of the ledger that says which parts have valid facts.
complete_parts <- function(kind, folder, of, resume, make, are_known = function(ledger) TRUE,
                           work = new_work(1)) {
  ledger <- open_run(folder, of, kind$recorded, resume, kind$argument)
  on.exit(close_run(ledger))
  files <- kind$files(of)
  # A user's file is reported before the work, not afterwards.
  refuse_others(ledger, files)
  whole <- whole_files(ledger, files, known_source(ledger, of), work = work)
  left <- which(!(whole & are_known(ledger)))
  claim_files(ledger, files[left])
  # Workers start only if they have work.
  if (length(left)) make(left, ledger)
  ledger
}

# A complete folder, to be read: list(ledger =, of =, files =), with the fingerprint of its run.
whole_folder <- function(kind, folder, argument = kind$argument) {
  ledger <- open_ledger(folder, argument)
  of <- kind$recorded(ledger)
  refuse_file_if(is.null(of), folder, "%s has no %s: give a folder that was the `%s` of %s.",
                 quoted(folder), kind$holds, kind$argument, kind$made_by)
  files <- kind$files(of)
  left <- sum(!are_complete(ledger, files, known_source(ledger, of)))
  refuse_if(left, "The run in %s is incomplete: %s of %d parts are missing. Call %s again.",
            quoted(folder), left, length(files), kind$made_by)
  damaged <- ledger_paths(ledger, files[!whole_files(ledger, files)])
  if (length(damaged)) {
    abort_ancify(
      sprintf("%s is damaged or was changed: call %s again.", quoted(damaged[1]), kind$made_by),
      "format", file = damaged[1], line = 0
    )
  }
  list(ledger = ledger, of = of, files = files)
}
