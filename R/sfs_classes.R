# Spectra of classes of sites, such as synonymous and missense sites.

# The core's form of `classes`: list(names =, by_chromosome = lists of position, derived and
# class).
site_classes <- function(classes, kind, window) {
  refuse_if(!is.null(window), "`classes` and `window` exclude each other: leave one out.")
  table <- plain_table(classes)
  of_changes <- c("chromosome", "position", "derived", "consequence")
  if (inherits(classes, "coding_changes") && all(of_changes %in% names(table))) {
    table <- worst_changes(as.data.frame(classes))
  }
  columns <- c("chromosome", "position", "class")
  refuse_if(!is.data.frame(table) || !all(columns %in% names(table)) || nrow(table) == 0,
            paste(
              "`classes` must be a result of coding_changes(), or a data frame of `chromosome`,",
              "`position`, `class` and, if wanted, `derived`, with a row a site."
            ))
  class <- factor(table$class, unique_levels(table$class))
  derived <- if (kind == "snps" && "derived" %in% names(table)) table$derived
  check_class_values(table, derived)
  table <- unique(data.frame(
    chromosome = as.character(table$chromosome), position = table$position,
    derived = match(toupper(derived %||% ""), c("A", "C", "G", "T"), 0L) - 1L,
    class = as.integer(class) - 1L
  ))
  check_class_rows(table, levels(class))
  table <- table[order(table$position), ]
  by_chromosome <- lapply(split(table, table$chromosome), function(x) {
    core_list("SiteClasses", position = x$position, derived = x$derived, class = x$class)
  })
  # The VCF may spell chromosome names differently.
  others <- spellings(names(by_chromosome))
  by_chromosome <- stats::setNames(rep(by_chromosome, ncol(others)), c(others))
  by_chromosome <- by_chromosome[!duplicated(names(by_chromosome))]
  list(names = levels(class), by_chromosome = by_chromosome)
}

unique_levels <- function(x) if (is.factor(x)) levels(x) else unique(x[!is.na(x)])

check_class_values <- function(table, derived) {
  position <- table$position
  good <- is.numeric(position) & !is.na(table$class) & !is.na(table$chromosome)
  if (is.numeric(position)) {
    good <- good & is.finite(position) & position %in% floor(position) & position >= 1 &
      position < 2^31
  }
  if (!is.null(derived)) good <- good & toupper(derived) %in% c("A", "C", "G", "T")
  bad <- which(!good)[1]
  refuse_if(
    !is.na(bad),
    paste("`classes` has a row, number %d, without a chromosome, a class, a whole number as the",
          "position, or one of A, C, G and T as `derived`: correct it, or leave it out."), bad
  )
}

check_class_rows <- function(table, names) {
  twice <- which(duplicated(table[c("chromosome", "position", "derived")]))[1]
  if (!is.na(twice)) {
    row <- table[twice, ]
    first <- table$class[table$chromosome == row$chromosome & table$position == row$position][1]
    refuse_input("`classes` has %s, position %s, in two classes, %s and %s: choose one.",
                 row$chromosome, format_count(row$position), quoted(names[first + 1]),
                 quoted(names[row$class + 1]))
  }
}

# An sfs of each class. `counts`: a column of cells for each.
spectra_of_classes <- function(counts, classes, sizes, populations) {
  spectra <- lapply(seq_along(classes), function(i) {
    new_sfs(array(counts[, i], sizes + 1), populations, as_mask(NULL, sizes + 1), FALSE)
  })
  stats::setNames(spectra, classes)
}
