// Conversions shared by all glue code for spectra.
#pragma once

#include <Rcpp.h>

#include "core/spectra/site_reader.h"
#include "core/spectra/site_table.h"

// Returns list(spectrum = a column, bootstrap = a column for each of `draws`, sites =, used =,
// too_few =). A column of `draws` holds the number of draws of each window.
Rcpp::List spectra_of(const ancify::SiteTable& table, const Rcpp::IntegerMatrix& draws, int threads,
                      const Rcpp::Function& watch);

// Sets the source of haplotype counts: list(populations = each sample's population, from 0, or -1
// for none; copies =, called = for each population its fields of INFO, in place of samples;
// named = see SiteReaderOptions).
void take_counts(const Rcpp::List& source, ancify::SiteReaderOptions& options);
