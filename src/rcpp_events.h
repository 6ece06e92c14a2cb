// Makes events of demographic models from R's lists.
#pragma once

#include <Rcpp.h>

#include "core/diffusion/events.h"

// Takes lists with the events' `kind` and fields. R's own thread must plan the model, as it may
// have R functions of time.
ancify::diffusion::Model as_demography(const Rcpp::List& events);
