# Confidences of calls as genome browser tracks.

export_bed <- function(files, out, sites, progress, ...) {
  out <- check_output_file(out, "out")
  counts <- 0
  write_whole(out, function(temporary) {
    connection <- file(temporary, "wb")
    on.exit(close(connection))
    counts <<- for_each_track(files, sites, progress, function(rows) {
      writeLines(
        paste(rows$chromosome, number_text(rows$start - 1), number_text(rows$end), rows$name,
              sep = "\t"),
        connection
      )
    })
  })
  exported(out, called = counts[["called"]], unknown = counts[["unknown"]])
}

export_bigbed <- function(files, out, sites, progress, ...) {
  need_bioconductor("rtracklayer", "bigBed files")
  out <- check_output_file(out, "out")
  tracks <- list(
    data.frame(chromosome = character(), start = numeric(), end = numeric(), name = character())
  )
  counts <- for_each_track(files, sites, progress, function(rows) {
    tracks[[length(tracks) + 1]] <<- rows
  })
  rows <- do.call(rbind, tracks)
  files <- with_lengths(files)
  ranges <- GenomicRanges::GRanges(
    rows$chromosome, IRanges::IRanges(rows$start, rows$end), name = rows$name,
    score = rep(0, nrow(rows)),
    seqinfo = seqinfo_of(files$chromosome, files$length)
  )
  write_whole(out, function(temporary) {
    rtracklayer::export(ranges, temporary, format = "bigBed")
  })
  exported(out, called = counts[["called"]], unknown = counts[["unknown"]])
}

# Calls take() with the rows of each chromosome: chromosome, start, end and name. Counts the
# positions with and without a call.
for_each_track <- function(files, sites, progress, take) {
  regions <- if (is.null(sites)) whole_chromosomes(files) else unique_sites(sites, files)
  check_fit_in_ranges(regions)
  counts <- c(called = 0, unknown = 0)
  for (i in unique(regions$file)) {
    here <- regions$file == i
    place <- core_regions(rep(1L, sum(here)), regions$start[here], regions$width[here])
    runs <- with_watch("Reading calls", function(watch) {
      confidence_runs_impl(regions$files$file[i], regions$files$chromosome[i], place, watch)
    }, progress)
    name <- confidences[runs$confidence]
    called <- name %in% c("high", "low")
    counts <- counts + c(sum(runs$width[called]), sum(runs$width[!called]))
    take(data.frame(
      chromosome = rep(regions$files$chromosome[i], length(name)), start = runs$start,
      end = runs$start + runs$width - 1, name = name
    ))
  }
  counts
}

whole_chromosomes <- function(files) {
  files <- with_lengths(files)
  list(
    files = files, file = seq_len(nrow(files)), start = rep(1, nrow(files)), width = files$length
  )
}

unique_sites <- function(sites, files) {
  regions <- site_regions(sites, files)
  # Regions are sorted, so repeats are adjacent.
  again <- c(FALSE, diff(regions$file) == 0 & diff(regions$start) == 0)[seq_along(regions$file)]
  columns <- c("file", "start", "width")
  regions[columns] <- lapply(regions[columns], `[`, !again)
  regions
}
