# Figures of reports, among them those that need the run's files: calls and divergences along
# chromosomes, and posteriors.

# `words`: the caption, which is also the alternative text. `height` in inches, for a width of 8.
figure <- function(picture, words, height) list(picture = picture, words = words, height = height)

# The height in inches of a picture with this many panels, each with a row per chromosome.
height_of <- function(n_panels, n_chromosomes) {
  rows <- min(n_chromosomes, most_rows_drawn(n_panels)) + 2
  1.4 + ceiling(n_panels / 3) * (0.4 + 0.2 * rows)
}

in_percent <- function(share) ifelse(is.finite(share), sprintf("%.2f %%", 100 * share), "-")

# A figure of the share of called positions in windows.
along_section <- function(run) {
  windows <- call_windows(run)
  share <- (windows$high + windows$low) / (windows$end - windows$start + 1)
  windows <- data.frame(windows, share = share, panel = factor("all"))
  list(figure(
    along_chromosomes(windows, "Called, with high or low confidence"), along_in_words(windows),
    height_of(1, nrow(run))
  ))
}

most_windows <- 300

# A data frame of chromosome, start, end and counts of calls. Windows have equal lengths, at most
# 300 on the longest chromosome.
call_windows <- function(run) {
  files <- with_lengths(call_files(run))
  width <- round_up(max(files$length) / most_windows)
  windows <- windows_of(files$length, width)
  counts <- with_watch("Counting calls", function(watch) {
    regions <- core_regions(windows$chromosome, windows$start, windows$end - windows$start + 1)
    count_regions_impl(files$file, files$chromosome, regions, watch)
  })
  windows$chromosome <- files$chromosome[windows$chromosome]
  data.frame(windows, counts)
}

# Rounds up to 1, 2 or 5 times a power of ten.
round_up <- function(x) {
  power <- 10^floor(log10(max(x, 1)))
  Find(function(number) number >= x, c(1, 2, 5, 10) * power)
}

along_in_words <- function(windows) {
  words <- sprintf(
    "The share of called positions in windows of %s bases. The darker, the more are called.",
    format_count(max(windows$end - windows$start + 1))
  )
  least <- windows[which.min(windows$share), ]
  paste(words, sprintf(
    "The smallest share is %s, at %s:%s-%s.", in_percent(least$share), least$chromosome,
    format_count(least$start), format_count(least$end)
  ))
}

# A figure of the outgroups' divergence from the focal genome; NULL unless the run kept all their
# projected sequences.
divergence_section <- function(run) {
  config <- attr(run, "config")
  config$lengths <- stats::setNames(run$length, run$chromosome)
  species <- config$outgroups$name
  if (!has_focal(config) || !all(file.exists(projected_files(config, species)))) {
    return(NULL)
  }
  windows <- do.call(rbind, lapply(species, divergence_windows, config))
  list(figure(
    along_chromosomes(windows, "Differ where both have a base", lowest = 0) + panels("panel"),
    divergence_in_words(windows), height_of(length(species), nrow(run))
  ))
}

# Windows for windows_picture(), of an outgroup and the focal species.
divergence_windows <- function(species, config) {
  width <- round_up(max(config$lengths) / (most_windows / 3))
  check_projected(c(species, config$focal_species), config)
  counts <- with_watch("Comparing", function(watch) {
    compared_folders(
      projected_folder(config, c(species, config$focal_species)), config$lengths, width, TRUE,
      new_work(), watch
    )
  })
  pair <- data.frame(first = species, second = config$focal_species)
  windows <- window_table(counts, pair, config$lengths, width)
  data.frame(
    windows, panel = as_panels(windows$first, shorten(species)),
    share = ifelse(windows$both > 0, windows$differ / windows$both, NA_real_)
  )
}

divergence_in_words <- function(windows) {
  sums <- rowsum(windows[c("differ", "both")], windows$first, reorder = FALSE)
  sprintf(
    paste(
      "The share of positions at which an outgroup differs from the focal genome, in windows of %s",
      "bases. The darker, the more differ. In all windows together it is %s."
    ),
    format_count(max(windows$end - windows$start + 1)),
    enumerate(sprintf("%s for %s", in_percent(sums$differ / sums$both), rownames(sums)))
  )
}

# A figure of all posteriors; NULL for a run without them.
posterior_section <- function(run) {
  if (!isTRUE(attr(run, "config")$posterior)) {
    return(NULL)
  }
  files <- find_phred(folder_of_calls(run, "run"), run$chromosome)
  counts <- with_watch("Counting posteriors", function(watch) count_bytes_impl(files, watch))
  known <- counts[seq_len(no_posterior)]
  if (sum(known) == 0) {
    return(NULL)
  }
  list(figure(posterior_picture(known), posterior_in_words(known), 3.5))
}

# `counts`: numbers of the Phred values 0, 1, ..., 254.
posterior_picture <- function(counts) {
  most <- max(which(counts > 0)) - 1
  table <- data.frame(phred = 0:most, share = counts[seq_len(most + 1)] / sum(counts))
  ggplot2::ggplot(table, by_column(x = "phred", y = "share")) +
    ggplot2::geom_col(width = 1, fill = dark_colour) +
    ggplot2::scale_x_continuous(
      "Posterior of the call", breaks = function(limits) seq(0, limits[2], by = phred_step(most)),
      labels = function(phred) vapply(1 - 10^(-phred / 10), format, "", digits = 10)
    ) +
    ggplot2::scale_y_continuous("Share of positions", labels = percent) +
    picture_theme()
}

# Steps that are multiples of 10, because Phred 10, 20, ... are posteriors of 0.9, 0.99, ...
phred_step <- function(most) 10 * ceiling(most / 60)

posterior_in_words <- function(counts) {
  phred <- seq_along(counts) - 1
  at_least <- function(value) in_percent(sum(counts[phred >= value]) / sum(counts))
  sprintf(
    paste(
      "How sure the calls are, at the %s positions with a posterior. It is at least 0.9 at %s of",
      "them, 0.99 at %s, and 0.999 at %s. The axis is in steps of phred values, -10 log10 of the",
      "probability that the call is wrong."
    ),
    format_count(sum(counts)), at_least(10), at_least(20), at_least(30)
  )
}
