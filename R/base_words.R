# Numbers, values and names in messages.

quoted <- function(text) {
  paste0("'", text, "'")
}

# A list in words: at most six items, then the number of further items.
enumerate <- function(words) {
  more <- length(words) - 6
  if (more > 0) {
    words <- c(words[1:6], paste(more, "more"))
  }
  if (length(words) < 2) {
    return(paste(words))
  }
  paste(paste(utils::head(words, -1), collapse = ", "), "and", utils::tail(words, 1))
}

# Messages cut long texts, but show marked paths whole.
as_path <- function(path) structure(path, class = "shown_path")

show_value <- function(value) {
  if (inherits(value, "shown_path")) {
    quoted(unclass(value))
  } else if (length(value) == 0) {
    "empty"
  } else if (is.factor(value)) {
    "a factor"
  } else if (is.object(value) || !is.vector(value)) {
    class <- class(value)[1]
    paste(if (grepl("^[aeiou]", class)) "an" else "a", class)
  } else if (is.list(value) && !is.null(names(value))) {
    sprintf("a mapping (%s)", enumerate(names(value)))
  } else if (all(vapply(utils::head(value, most_shown), is_scalar, NA))) {
    show_scalars(value)
  } else {
    if (is.list(value)) "a nested list" else "missing (NA)"
  }
}

# Messages would cut further values, because each takes at least two of 60 characters.
most_shown <- 30

show_scalars <- function(values) {
  text <- vapply(utils::head(values, most_shown), function(item) {
    if (is.character(item)) quoted(cut_text(item)) else format(item, digits = 15)
  }, "")
  if (length(text) > 1) sprintf("[%s]", cut_text(paste(text, collapse = ", "))) else text
}

cut_text <- function(text, width = 60) {
  text <- iconv(enc2utf8(text), "UTF-8", "UTF-8", sub = "byte")
  ifelse(nchar(text) > width, paste0(substr(text, 1, width - 3), "..."), text)
}

closest <- function(word, candidates) {
  if (!validEnc(word)) {
    return(character())
  }
  distance <- utils::adist(word, candidates, ignore.case = TRUE)[1, ]
  # A permutation of the letters, such as a transposition, counts as one error.
  distance[sorted_letters(candidates) == sorted_letters(word)] <- 1
  candidates[which.min(distance)][min(distance) <= max(1, nchar(word) / 3)]
}

sorted_letters <- function(words) {
  vapply(strsplit(tolower(words), ""), function(letters) paste(sort(letters), collapse = ""), "")
}

# The end of a sentence about a word that is none of the candidates.
did_you_mean <- function(word, candidates, show = quoted) {
  guess <- closest(word, candidates)
  if (length(guess)) sprintf("; did you mean %s?", show(guess)) else "."
}

# ---- Numbers ------------------------------------------------------------------------------------

format_count <- function(n) {
  format(n, big.mark = ",", scientific = FALSE, trim = TRUE)
}

# Whole numbers in full, other numbers to four digits.
format_amount <- function(x) {
  if (x == round(x) && abs(x) < 1e12) format_count(x) else format(x, digits = 4, big.mark = ",")
}

count_of <- function(n, noun) {
  plural <- if (grepl("(s|x|ch|sh)$", noun)) "es" else "s"
  sprintf("%s %s%s", format_count(n), noun, if (n == 1) "" else plural)
}

# The beginning of a sentence: "One cell has", "2 cells have".
count_with_verb <- function(n, noun, one = "has", many = "have") {
  if (n == 1) paste("One", noun, one) else paste(count_of(n, noun), many)
}

# A number as text, with 100000 rather than 1e+05.
number_text <- function(value) {
  format(value, scientific = FALSE, digits = 15, trim = TRUE)
}

show_bytes <- function(bytes) {
  units <- c("bytes", "kB", "MB", "GB", "TB", "PB")
  bytes <- signif(bytes, 3)
  power <- min(floor(log(max(bytes, 1), 1000) + 1e-9), length(units) - 1)
  paste(format(bytes / 1000^power, digits = 3, scientific = FALSE), units[power + 1])
}

# A duration in the largest unit that it reaches: 5400 is "1.5 hours".
show_duration <- function(seconds) {
  units <- c(second = 1, minute = 60, hour = 3600, day = 86400)
  unit <- max(which(units <= max(seconds, 1)))
  n <- signif(seconds / units[[unit]], 2)
  count_of(if (unit == 1) ceiling(n) else n, names(units)[unit])
}

# ---- Chromosomes --------------------------------------------------------------------------------

without_chr <- function(chromosomes) sub("^chr", "", chromosomes, ignore.case = TRUE)

# Names that match chromosomes of two files: without a leading chr, and M for MT.
bare_names <- function(chromosomes) sub("^MT$", "M", without_chr(chromosomes))

# The positions of chromosomes in `table`: by exact name, or else by another spelling.
match_chromosomes <- function(chromosomes, table) {
  same <- match(chromosomes, table)
  ifelse(is.na(same), match(bare_names(chromosomes), bare_names(table)), same)
}

# All spellings of chromosomes in files: one row each, which begins with the name itself.
spellings <- function(chromosomes) {
  bare <- bare_names(chromosomes)
  long <- ifelse(bare == "M", "MT", bare)
  matrix(c(chromosomes, bare, paste0("chr", bare), long, paste0("chr", long)), ncol = 5)
}

has_placeholder <- function(path) {
  grepl("{chrom}", path, fixed = TRUE) || grepl("{chrom_id}", path, fixed = TRUE)
}

is_scalar <- function(value) {
  is.atomic(value) && length(value) == 1 && !is.na(value)
}

is_number <- function(x) is.numeric(x) && length(x) == 1 && is.finite(x)

# Cuts long lines in the middle, because the ends of a path are most informative.
cut_middle <- function(lines, width) {
  n <- nchar(lines)
  head <- width %/% 2 - 3
  cut <- paste0(substr(lines, 1, head), "...", substr(lines, n - (width - head - 4), n))
  ifelse(n > width, cut, lines)
}

utc_time <- function(time) format(time, "%Y-%m-%dT%H:%M:%SZ", tz = "UTC")

format_percent <- function(share) {
  sprintf("%.3g %%", 100 * share)
}
