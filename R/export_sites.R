# Ancestral states at sites.

# A table of `chromosome`, `position` and `single`, true for alleles of single bases; NULL without
# sites.
read_sites <- function(sites, progress) {
  if (is.null(sites)) {
    return(NULL)
  }
  if (is_variant_path(sites)) {
    check_htslib()
    path <- check_path(sites, "sites")
    table <- with_watch("Reading", function(watch) variant_places_impl(path, watch), progress)
    attr(table, "path") <- path
    return(table)
  }
  table <- site_table(sites)
  refuse_if(
    is.null(table),
    paste("`sites` must be the path of a VCF or BCF, a data frame of `chromosome` and `position`,",
          "a GRanges or other regions, not %s."), show_value(sites)
  )
  table
}

site_table <- function(sites) {
  sites <- plain_table(sites)
  if (is.data.frame(sites) && all(c("chromosome", "position") %in% names(sites))) {
    good <- is.numeric(sites$position) && !anyNA(sites[c("chromosome", "position")])
    return(if (good) {
      data.frame(
        chromosome = as.character(sites$chromosome), position = sites$position,
        single = rep(TRUE, nrow(sites))
      )
    })
  }
  regions <- as_region_table(sites)
  if (!is.null(regions)) {
    data.frame(
      chromosome = regions$chromosome, position = regions$start,
      single = regions$start == regions$end
    )
  }
}

# The sites' rows in `files`; NA without calls. Names may differ by a leading chr.
rows_of_sites <- function(sites, files) {
  names <- unique(sites$chromosome)
  rows <- match_chromosomes(names, files$chromosome)
  row <- rows[match(sites$chromosome, names)]
  without <- names[is.na(rows)]
  refuse_if(length(names) && length(without) == length(names),
            "`sites` has %s, but there are only calls of %s.", enumerate(quoted(without)),
            enumerate(quoted(files$chromosome)))
  if (length(without)) {
    warn_ancify(
      sprintf("There are no calls of %s: %s without a state.", enumerate(quoted(without)),
              count_of(sum(is.na(row)), "site")),
      "annotation"
    )
  }
  row
}

# The regions of single-base sites with calls, for the core: list(files =, file =, start =, width =,
# site =).
site_regions <- function(sites, files) {
  row <- rows_of_sites(sites, files)
  used <- sort(unique(row))
  files <- with_lengths(files[used, ])
  row <- match(row, used)
  position <- sites$position
  outside <- position != round(position) | position < 1 | position > files$length[row]
  beyond <- which(sites$single & outside)[1]
  refuse_if(!is.na(beyond),
            "Site %s of `sites`, %s:%s, is not inside its chromosome of %s bases: %s.",
            format_count(beyond), sites$chromosome[beyond], number_text(position[beyond]),
            format_count(files$length[row[beyond]]), "compare the genome builds")
  site <- which(sites$single & !is.na(row))
  site <- site[order(row[site], position[site])]
  list(
    files = files, file = row[site], start = position[site], width = rep(1, length(site)),
    site = site
  )
}

# A, C, G, T, or N for each site.
states_at <- function(sites, files, low_confidence, progress) {
  regions <- site_regions(sites, files)
  calls <- read_places(read_regions_impl, regions, progress)
  states <- rep("N", nrow(sites))
  known <- calls %in% c("A", "C", "G", "T", if (low_confidence) c("a", "c", "g", "t"))
  states[regions$site[known]] <- toupper(calls[known])
  states
}

export_tsinfer <- function(files, out, sites, low_confidence, progress, ...) {
  out <- check_output_file(out, "out")
  states <- states_at(sites, files, low_confidence, progress)
  columns <- paste("chromosome", "position", "ancestral_state", sep = "\t")
  rows <- paste(sites$chromosome, number_text(sites$position), states, sep = "\t")
  write_text(out, c(columns, if (length(states)) rows))
  exported(out, called = sum(states != "N"), unknown = sum(states == "N"))
}

# A row of the result of export_states().
exported <- function(file, called, unknown, filled = 0, chromosome = NA_character_) {
  data.frame(
    chromosome = chromosome, file = file, called = called, filled = filled, unknown = unknown,
    row.names = NULL
  )
}
