#' List the GPUs that can be used
#'
#' `available_gpus()` lists the NVIDIA GPUs that this copy of the package can use;
#' `detect_backend()` tells whether there are any. Nothing touches a GPU before one
#' of these is called, or a job that may run there.
#'
#' @details
#' A GPU cannot be used in a forked process, such as those of
#' `parallel::mclapply()`, nor where the driver is missing or older than the CUDA
#' toolkit of the build, nor where the build has no code for the card:
#' [ancify_build_info()] has the architectures that it is for. With the environment
#' variable `ANCIFY_VIRTUAL_GPUS` set to a number (1 to 16) each card counts as so
#' many devices, so that several can be tried on one card.
#'
#' @return For `available_gpus()` a data frame with a row for each device: its
#'   `number`, from 0, as `gpu_devices` of a configuration takes it; its `name`; its
#'   `memory` in bytes, used or not; its `compute_capability`, such as `"9.0"`. The
#'   attribute `reason` says why there is none, or why a card is left out; it is
#'   missing where all can be used.
#'
#'   For `detect_backend()` `"gpu"` where there is at least one, else `"cpu"`. In this
#'   version jobs take it only if `backend` is `"gpu"`.
#' @section Errors:
#' `ancify_input_error` where `ANCIFY_VIRTUAL_GPUS` is not such a number. That there
#' is no GPU is none.
#' @seealso [ancify_build_info()] for what the package was built with
#' @export
#' @examples
#' gpus <- available_gpus()
#' gpus
#' attr(gpus, "reason")
#' detect_backend()
available_gpus <- function() {
  gpu_table(available_gpus_impl(gpus_per_card()))
}

#' @rdname available_gpus
#' @export
detect_backend <- function() {
  if (nrow(available_gpus()) > 0) "gpu" else "cpu"
}

# From the list that available_gpus_impl() gives.
gpu_table <- function(gpus) {
  table <- data.frame(gpus[c("number", "name", "memory", "compute_capability")])
  if (nzchar(gpus$problem)) attr(table, "reason") <- gpus$problem
  table
}

# Devices that each card counts as.
gpus_per_card <- function() {
  text <- Sys.getenv("ANCIFY_VIRTUAL_GPUS", "1")
  number <- suppressWarnings(as.numeric(text))
  check_whole_number(if (is.na(number)) text else number, "ANCIFY_VIRTUAL_GPUS", 16)
}
