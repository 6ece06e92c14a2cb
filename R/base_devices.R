#' List the GPUs that can be used
#'
#' `available_gpus()` lists the NVIDIA GPUs that this copy of the package can use.
#' `detect_backend()` reports whether one exists. The package touches no GPU before you call one of
#' these functions, or a job that may use a GPU.
#'
#' @details
#' | Case | Result |
#' | :--- | :--- |
#' | A forked process, such as in `parallel::mclapply()` | No GPU can be used. |
#' | The driver is missing, or older than the CUDA toolkit of the build | No GPU can be used. |
#' | The build has no code for the card (see [ancify_build_info()]) | The card is omitted. |
#' | Environment variable `ANCIFY_VIRTUAL_GPUS` is 1 to 16 | A card counts as that many devices. |
#'
#' The last case serves to try several devices on one card.
#'
#' @return `available_gpus()` returns a data frame with a row for each device:
#'
#' | Column | Content |
#' | :--- | :--- |
#' | `number` | Number of the device, from 0, as `gpu_devices` of a configuration takes it. |
#' | `name` | Name of the card. |
#' | `memory` | Memory in bytes, used or not. |
#' | `compute_capability` | Compute capability, such as `"9.0"`. |
#'
#' Its attribute `reason` states why no GPU is usable or why a card is omitted. It is absent if all
#' cards can be used.
#'
#' `detect_backend()` returns `"gpu"` if at least one GPU is usable, else `"cpu"`. In this version
#' jobs use a GPU only if `backend` is `"gpu"`.
#' @section Errors:
#' * `ancify_input_error`: `ANCIFY_VIRTUAL_GPUS` is not a whole number from 1 to 16.
#'
#' A machine without a GPU gives no error.
#' @seealso [ancify_build_info()] for the GPU code of the package
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

# `gpus`: the list of available_gpus_impl().
gpu_table <- function(gpus) {
  table <- data.frame(gpus[c("number", "name", "memory", "compute_capability")])
  if (nzchar(gpus$problem)) attr(table, "reason") <- gpus$problem
  table
}

# The number of devices that each card counts as.
gpus_per_card <- function() {
  text <- Sys.getenv("ANCIFY_VIRTUAL_GPUS", "1")
  number <- suppressWarnings(as.numeric(text))
  check_whole_number(if (is.na(number)) text else number, "ANCIFY_VIRTUAL_GPUS", 16)
}
