#' @keywords internal
"_PACKAGE"

#' @useDynLib ancify, .registration = TRUE
#' @importFrom Rcpp evalCpp
# Loading RcppParallel loads TBB, which the core's threads need.
#' @importFrom RcppParallel defaultNumThreads
NULL
