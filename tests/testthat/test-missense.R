# Scores of missense changes, against one pass a site.

set.seed(11)
weights <- random_esm2(layers = 1)
model <- sequence_model(write_esm2(weights))
tolerance <- 1e-5

example_changes <- function(n = 20, background = "ancestral") {
  require_htslib()
  require_package("rtracklayer")
  set.seed(12)
  changes_of(coding_example(n), background = background)
}

# As example_changes(), with genotypes of a random frequency.
with_frequencies <- function(changes) {
  set.seed(13)
  changes$called <- 20
  changes$copies <- sample(1:19, nrow(changes), TRUE)
  changes
}

test_that("scores are those of one pass a site, and of one pass a protein", {
  for (background in c("ancestral", "focal")) {
    changes <- example_changes(background = background)
    for (marginal in c("masked", "wildtype")) {
      found <- score_missense(changes, model, marginal, threads = 1)
      expected <- oracle_scores(changes, model, marginal)
      expect_identical(is.na(found$llr), is.na(expected))
      expect_lt(max(abs(found$llr - expected), na.rm = TRUE), tolerance)
      expect_identical(found$score, found$llr)
      expect_identical(as.data.frame(found)[setdiff(names(changes), "worst")],
                       as.data.frame(changes)[setdiff(names(changes), "worst")])
    }
  }
  # The forward in double precision
  x <- changes_in_protein("MKTAYIAKQR", 4L, "W")
  p <- oracle_log_probs(weights, "MKT<mask>YIAKQR")[4, match(c("A", "W"), esm2_tokens)]
  expect_lt(abs(score_missense(x, model)$score - (p[2] - p[1])), tolerance)
})

test_that("masked scores are antisymmetric and blind to the residue that stands there", {
  x <- changes_in_protein("MKTAYIAKQR", 4L, "W")
  exchanged <- changes_in_protein("MKTWYIAKQR", 4L, "A")
  expect_identical(score_missense(x, model)$score, -score_missense(exchanged, model)$score)
  by_protein <- function(x) score_missense(x, model, "wildtype")$score
  expect_gt(abs(by_protein(x) + by_protein(exchanged)), 100 * tolerance)
})

test_that("equal proteins and sites are read once, and threads change no byte", {
  changes <- example_changes()
  expect_identical(score_missense(changes, model, threads = 3),
                   score_missense(changes, model, threads = 1))
  x <- changes_in_protein("MKTAYIAKQR", c(4L, 4L, 7L), c("W", "V", "W"))
  twice <- x[c(1:3, 1:3), ]
  twice$protein <- rep(c("t1:1", "t2:1"), each = 3)
  attr(twice, "proteins") <- attr(x, "proteins")[c(1, 1), ]
  attr(twice, "proteins")$protein <- c("t1:1", "t2:1")
  found <- score_missense(twice, model)
  expect_identical(attr(found, "passes"), 2L)
  expect_identical(found$score[1:3], found$score[4:6])
  expect_identical(attr(score_missense(twice, model, "wildtype"), "passes"), 1L)
})

test_that("bound changes have the scores of each, though their proteins differ", {
  one <- changes_in_protein("MKTAYIAKQR", c(2L, 4L), c("W", "V"))
  other <- changes_in_protein("MKTWYIAKQR", c(4L, 7L), c("A", "W"))
  other$protein <- attr(other, "proteins")$protein <- "t1:2"
  for (marginal in c("masked", "wildtype")) {
    scores <- lapply(list(one, other), score_missense, model, marginal)
    bound <- score_missense(rbind(one, other), model, marginal)
    expect_equal(bound$score, c(scores[[1]]$score, scores[[2]]$score), tolerance = 1e-6)
    of_scores <- rbind(scores[[1]], scores[[2]])
    expect_equal(of_scores$score, bound$score, tolerance = 1e-6)
    expect_identical(attributes(of_scores)[c("marginal", "class")],
                     attributes(bound)[c("marginal", "class")])
    expect_identical(attr(of_scores, "passes"), attr(bound, "passes"))
  }
  # As dplyr::bind_rows() does it
  lost <- structure(rbind(one, other), proteins = attr(one, "proteins"))
  expect_ancify_error(score_missense(lost, model), "input", "by rbind()")
  expect_ancify_error(
    rbind(score_missense(one, model), score_missense(other, model, "wildtype")), "input",
    "the same `marginal`"
  )
})

test_that("long proteins are read in the window where the site is most central", {
  set.seed(14)
  long <- random_proteins(1300)
  x <- changes_in_protein(long, c(1L, 640L, 700L, 767L, 1300L), rep("W", 5))
  for (marginal in c("masked", "wildtype")) {
    found <- score_missense(x, model, marginal)
    expect_lt(max(abs(found$score - oracle_scores(x, model, marginal))), tolerance)
  }
})

test_that("an uncertain ancestor shrinks masked scores, and may turn them", {
  sure <- changes_in_protein("MKTAYIAKQR", 4L, "W")
  for (p in c(0.5, 0.9, 0.2, 1)) {
    x <- changes_in_protein("MKTAYIAKQR", 4L, "W", p)
    found <- score_missense(x, model)
    expect_identical(found$llr, score_missense(sure, model)$llr)
    expect_equal(found$score, (2 * p - 1) * found$llr)
  }
  found <- score_missense(x, model, "wildtype")
  expect_identical(found$score, found$llr)
})

test_that("rows without a score say why, and the worst row of a site is marked", {
  found <- score_missense(example_changes(150), model)
  missense <- found$consequence == "missense"
  expect_identical(is.na(found$not_scored), !is.na(found$score))
  expect_identical(found$not_scored[!missense], as.character(found$consequence[!missense]))
  expect_true(all(c("synonymous", "inner stop") %in% found$not_scored))
  grave <- match(found$consequence,
                 c("stop gained", "start lost", "stop lost", "missense", "synonymous"))
  for (rows in split(seq_len(nrow(found)), paste(found$chromosome, found$position,
                                                 found$derived))) {
    known <- rows[!is.na(grave[rows])]
    expected <- known[order(grave[known], found$score[known])][seq_len(min(1, length(known)))]
    expect_identical(rows[found$worst[rows]], expected)
  }
  x <- changes_in_protein("MKTAYIAKQR", c(4L, 5L, 11L), c("W", "J", "W"))
  x$ancestral_residue[3] <- "A"
  found <- score_missense(x, model)
  expect_identical(found$not_scored, c(NA, "no such residue", "beyond the stop"))
  expect_output(print(found), "not scored +1 beyond the stop, 1 no such residue")
  expect_output(print(found[0, ]), "scored +0 rows")
  expect_identical(nrow(score_missense(x[0, ], model)), 0L)
})

test_that("the bias compares sites by frequency and by what REF is", {
  scores <- score_missense(with_frequencies(example_changes(150)), model)
  breaks <- c(0, 0.3, 1)
  bias <- score_bias(scores, breaks)
  # Plain: a site's lowest score, then means of groups
  site <- paste(scores$chromosome, scores$position, scores$derived)
  lowest <- lapply(split(scores[!is.na(scores$score), ], site[!is.na(scores$score)]),
                   function(x) x[which.min(x$score), ])
  lowest <- do.call(rbind, lowest)
  for (i in seq_len(nrow(bias))) {
    frequency <- lowest$copies / 20
    here <- frequency >= bias$from[i] & (frequency < bias$to[i] | bias$to[i] == 1) &
      lowest$ref_is_ancestral == (bias$reference[i] == "ancestral")
    expect_identical(bias$sites[i], sum(here))
    expect_equal(bias$mean[i], mean(lowest$score[here]))
    expect_equal(bias$se[i], stats::sd(lowest$score[here]) / sqrt(sum(here)))
  }
  expect_identical(sum(bias$sites), nrow(lowest))
  expect_output(print(bias), "<score_bias> [0-9]+ sites")
  one <- score_bias(score_missense(changes_in_protein("MKTAYIAKQR", 4L, "W"), model))
  expect_identical(one$sites, c(0L, 0L, 1L, rep(0L, 5)))
  expect_true(all(is.na(one$se)))
  require_package("ggplot2")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_s3_class(plot(bias), "ggplot")
  expect_s3_class(plot(one), "ggplot")
})

test_that("classes divide missense sites by their lowest score, for spectra in one pass", {
  require_htslib()
  require_package("rtracklayer")
  set.seed(12)
  x <- coding_example(150)
  scores <- score_missense(changes_of(x), model)
  classes <- score_classes(scores, c(1, -1))
  expect_identical(levels(classes$class)[1:4], c(
    "missense, below -1", "missense, -1 to 1", "missense, 1 and above", "synonymous"
  ))
  key <- function(x) paste(x$chromosome, x$position, x$derived)
  worst <- scores[scores$worst, ]
  worst <- worst[match(key(classes), key(worst)), ]
  bin <- c("missense, below -1", "missense, -1 to 1", "missense, 1 and above")[
    1 + (worst$score >= -1) + (worst$score >= 1)
  ]
  expect_identical(as.character(classes$class),
                   ifelse(worst$consequence == "missense", bin, as.character(worst$consequence)))

  lines <- readLines(x$vcf)
  body <- !startsWith(lines, "#")
  lines[body] <- paste0(lines[body], "\tGT\t0/1\t0/0")
  lines <- sub("INFO$", "INFO\tFORMAT\ts1\ts2", lines)
  vcf <- tempfile(fileext = ".vcf")
  writeLines(lines, vcf)
  spectra <- sfs_from_vcf(vcf, c(s1 = "A", s2 = "A"), ancestral = x$ancestral, classes = classes,
                          threads = 1)
  expect_identical(names(spectra), levels(classes$class))
  # A position may be there twice.
  of_record <- classes$class[match(key(x$sites), key(classes))]
  expect_equal(vapply(spectra, function(x) sum(unclass(x)), 0), c(table(of_record)))
})

test_that("classes without sites are counted as 0", {
  scores <- score_missense(changes_in_protein("MKTAYI", 2:4, c("R", "S", "V")), model, threads = 1)
  classes <- score_classes(scores, c(-1000, 1000))
  expect_identical(c(table(classes$class)), c(
    "missense, below -1000" = 0L, "missense, -1000 to 1000" = 3L, "missense, 1000 and above" = 0L,
    "synonymous" = 0L, "stop gained" = 0L, "stop lost" = 0L, "start lost" = 0L
  ))
})

test_that("annotate_vcf() writes the lowest score of a site, and its transcript", {
  require_htslib()
  require_package("rtracklayer")
  set.seed(12)
  x <- coding_example(40)
  scores <- score_missense(changes_of(x), model)
  out <- tempfile(fileext = ".vcf")
  annotate <- function(scores, polarise = FALSE) {
    annotate_vcf(x$vcf, x$ancestral, out, threads = 1, verbose = FALSE, scores = scores,
                 polarise = polarise)
  }
  lines <- function() grep("^#", readLines(out), value = TRUE, invert = TRUE)
  value_of <- function(lines, tag) {
    found <- regmatches(lines, regexec(sprintf("[;\t]%s=([^;\t]*)", tag), lines))
    vapply(found, function(x) x[2], "")
  }
  # Plain: the scored row of each site with the lowest score
  record <- function(fields) {
    base <- toupper(value_of(fields, "AA"))
    columns <- strsplit(fields, "\t")
    derived <- vapply(seq_along(columns), function(i) {
      setdiff(columns[[i]][4:5], base[i])[1]
    }, "")
    paste(vapply(columns, `[`, "", 1), vapply(columns, `[`, "", 2), base, derived)
  }
  scored <- scores[!is.na(scores$score), ]
  site <- paste(scored$chromosome, scored$position, scored$ancestral, scored$derived)
  lowest <- scored[order(scored$score), ]
  for (polarise in c(FALSE, TRUE)) {
    report <- annotate(scores, polarise)
    key <- record(lines())
    expected <- lowest[match(key, site[order(scored$score)]), ]
    usable <- value_of(lines(), "AA_reason") %in% c("OK", "LOW")
    expected[!usable, ] <- NA
    expect_identical(value_of(lines(), "MLRT"), expected$transcript)
    expect_equal(as.numeric(value_of(lines(), "MLR")), expected$score, tolerance = 1e-5)
    expect_identical(attr(report, "scored"), as.numeric(sum(!is.na(expected$score))))
    expect_gt(attr(report, "scored"), 5)
  }
  # Tags of an earlier call are replaced, or removed
  annotate(scores)
  again <- tempfile(fileext = ".vcf")
  annotate_vcf(out, x$ancestral, again, threads = 1, verbose = FALSE,
               scores = scores[scores$chromosome == "chr1", ])
  expect_identical(grepl("MLR=", readLines(again)),
                   grepl("MLR=", readLines(out)) & startsWith(readLines(out), "chr1"))
  expect_ancify_error(annotate(3), "input", "`scores`")
  other <- scores
  other$chromosome <- "9"
  expect_ancify_error(annotate(other), "input", "no scored site")
  odd <- scores
  odd$transcript <- "a;b=c d,100%"
  annotate(odd)
  expect_identical(unique(stats::na.omit(value_of(lines(), "MLRT"))), "a%3Bb%3Dc%20d%2C100%25")
})

test_that("scores go to the chromosome of the same name, then to another spelling", {
  require_htslib()
  scored <- function(chromosome) {
    structure(
      data.frame(
        chromosome = chromosome, position = 2, ancestral = "C", derived = "T", score = -3.5,
        transcript = "t1", consequence = "missense", llr = -3.5
      ),
      class = c("missense_scores", "coding_changes", "data.frame")
    )
  }
  lines_with <- function(chromosome, names) {
    sequences <- stats::setNames(rep("CC", length(names)), names)
    fasta <- write_fasta(sequences, tempfile(fileext = ".fa"))
    out <- tempfile(fileext = ".vcf")
    annotate_vcf(write_vcf(vcf_records(names, 2, "C", "T")), fasta, out,
                 scores = scored(chromosome), verbose = FALSE)
    names[grepl("MLR=", records_of(out))]
  }
  for (names in list(c("chrM", "chrMT"), c("MT", "chrM"), c("chr1", "1"))) {
    for (name in names) expect_identical(lines_with(name, names), name)
  }
  expect_identical(lines_with("MT", c("chrM", "chr2")), "chrM")
})

test_that("bad input is named", {
  x <- changes_in_protein("MKTAYIAKQR", 4L, "W")
  expect_ancify_error(score_missense(as.data.frame(x), model), "input", "must be a result of")
  expect_ancify_error(score_missense(x[-1], model), "input", "must be a result of")
  expect_ancify_error(score_missense(x, "esm2"), "input", "must be a model")
  expect_ancify_error(score_missense(x, model, "both"), "input", "`marginal`")
  expect_ancify_error(score_missense(replace(x, "protein", "t2:1"), model), "input",
                      "by rbind()")
  x <- score_missense(changes_in_protein("MKTAYIAKQR", 4L, "W"), model)
  no_head <- weights[!startsWith(names(weights), "lm_head")]
  expect_ancify_error(score_missense(x, sequence_model(write_esm2(no_head))), "input",
                      "no language head")
  expect_ancify_error(score_classes(x, NA), "input", "`breaks`")
  expect_ancify_error(score_classes(x, numeric()), "input", "`breaks`")
  expect_ancify_error(score_classes(as.data.frame(x), 0), "input", "score_missense")
  expect_ancify_error(score_classes(x[0, ], 0), "input", "no site with a class")
  expect_ancify_error(score_bias(x, c(1, 0)), "input", "`breaks`")
  expect_ancify_error(score_bias(x, 0.5), "input", "`breaks`")
  x$called <- NA
  expect_ancify_error(score_bias(x), "input", "no frequency")
})

# Values of transformers' test of the same checkpoint
test_that("ESM-2 8M gives its known states, and scores that sum to 0 around a circle", {
  folder <- Sys.getenv("ANCIFY_TEST_WEIGHTS")
  if (!nzchar(folder)) {
    skip("needs weights of ESM-2 8M: name their folder in ANCIFY_TEST_WEIGHTS")
  }
  esm <- sequence_model(folder)
  states <- embed_sequences("GLDALQITV", esm, pool = "residue")[[1]]
  expected <- rbind(c(0.3034, 0.0053, 0.3108), c(0.3228, -0.2499, 0.3415))
  expect_lt(max(abs(states[1:2, 1:3] - expected)), 1e-4)
  score <- function(from, to) {
    score_missense(changes_in_protein(sprintf("GLD%sLQITV", from), 4L, to), esm)$score
  }
  expect_lt(abs(score("A", "W") + score("W", "V") + score("V", "A")), 1e-4)
})
