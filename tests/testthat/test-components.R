# Components of variants.

set.seed(11)
case <- reml_case()
g <- case$g
ids <- g$variants$id
m <- ncol(g)

# Weights as a matrix, a row for each variant.
weight_matrix <- function(components) {
  on <- components_on(components, g, overlap = TRUE)
  weights <- matrix(0, m, length(on$names), dimnames = list(NULL, on$names))
  weights[cbind(on$table$variant, on$table$component)] <- on$table$weight
  weights
}

test_that("all forms of the same components are equal", {
  labels <- factor(ifelse(seq_len(m) %% 3 == 0, NA, ifelse(seq_len(m) < 30, "b", "a")),
                   c("b", "a"))
  sets <- lapply(c(b = "b", a = "a"), function(one) which(labels == one))
  expected <- sapply(sets, function(set) as.numeric(seq_len(m) %in% set))
  table <- data.frame(variant = ids[unlist(sets)], component = rep(c("b", "a"), lengths(sets)))
  forms <- list(
    labels, sets, lapply(sets, function(set) ids[rev(set)]), table, expected,
    lapply(sets, function(set) seq_len(m) %in% set),
    transform(table, component = factor(component, c("b", "a")), weight = 1)
  )
  for (form in forms) expect_identical(weight_matrix(form), expected)
  # By ids as names, in any order
  by_id <- function(x, order) stats::setNames(x, ids)[order]
  for (order in list(seq_len(m), m:1, sample(m))) {
    expect_identical(weight_matrix(by_id(labels, order)), expected)
    expect_identical(unname(weight_matrix(by_id(as.character(labels), order))[, c("b", "a")]),
                     unname(expected))
    is_in <- lapply(sets, function(set) by_id(seq_len(m) %in% set, order))
    expect_identical(weight_matrix(is_in), expected)
    expect_identical(weight_matrix(lapply(is_in, which)), expected)
  }
  expect_one_warning(weight_matrix(c(by_id(as.character(labels), 1:m), other = "a")), "components",
                     "1 variant of `components` is not in the genotypes: 'other'")
  # The order of names is that of first appearance.
  expect_identical(colnames(weight_matrix(table[rev(seq_len(nrow(table))), ])), c("a", "b"))
  expect_identical(weight_matrix(NULL), matrix(1, m, 1, dimnames = list(NULL, "genotypes")))
  expect_identical(colnames(weight_matrix(as.character(labels))), c("a", "b"))
})

test_that("weights are kept, and a weight of 0 is none", {
  set.seed(1)
  weights <- matrix(round(runif(2 * m), 2) * rbinom(2 * m, 1, 0.7), m,
                    dimnames = list(NULL, c("x", "y")))
  expect_identical(weight_matrix(weights), weights)
  at <- which(weights > 0, arr.ind = TRUE)
  table <- data.frame(variant = ids[at[, 1]], component = c("x", "y")[at[, 2]],
                      weight = weights[at])
  expect_identical(weight_matrix(table)[, c("x", "y")], weights)
  expect_identical(colnames(weight_matrix(unname(weights))), c("component1", "component2"))
})

test_that("chromosomes are components in the order of the file", {
  expect_identical(
    weight_matrix(components_by_chromosome(g)),
    sapply(c("1" = "1", "2" = "2", "3" = "3", "4" = "4"), function(one) {
      as.numeric(g$variants$chromosome == one)
    })
  )
})

test_that("components made of a file serve its subsets, and those of others are found by id", {
  components <- components_by_chromosome(g)
  some <- g[, c(40, 3, 20, 55)]
  expect_one_warning(on <- components_on(components, some), "components", "56 variants")
  expect_identical(on$table$variant, 1:4)
  expect_identical(on$names[on$table$component], as.character(some$variants$chromosome))
})

test_that("frequencies are those of the rarer allele over observed calls", {
  # From counts, as 1 - 0.8 is below 0.2 in floating point
  copies <- colSums(case$calls, na.rm = TRUE)
  alleles <- 2 * colSums(!is.na(case$calls))
  rarer <- pmin(copies, alleles - copies) / alleles
  breaks <- c(0, 0.2, 0.35, 0.5)
  bins <- cut(rarer, breaks, include.lowest = TRUE)
  weights <- weight_matrix(components_by_frequency(g, breaks))
  expect_identical(colnames(weights), levels(bins))
  expect_identical(unname(weights), unname(sapply(levels(bins), function(one) {
    as.numeric(bins == one)
  })))
  left <- components_by_frequency(g, c(0.2, 0.5))
  expect_identical(left$left_out[["outside all bins or unknown"]], sum(rarer < 0.2))
  expect_output(print(left), "<ancify_components> 1 component, 60 variants")
})

test_that("the bin of an allele does not depend on which allele is counted", {
  n <- 200
  for (k in c(1:20, 33)) {
    counted <- rep(1:0, c(k, n - k))
    calls <- cbind(counted, 2L - counted, rep(1L, n), rep(0:1, c(n - k + 1, k - 1)))
    dimnames(calls) <- list(seq_len(n), paste0("v", 1:4))
    # A bin has its upper end.
    breaks <- c(0, k / (2 * n), 0.5)
    g <- open_genotypes(calls, data.frame(counted = rep("A", 4), other = "G"))
    first <- as.data.frame(components_by_frequency(g, breaks))
    bins <- levels(cut(0, breaks, include.lowest = TRUE, dig.lab = 6))
    expect_identical(first$component, bins[c(1, 1, 2, 1)])
    derived <- data.frame(A = c(0, 1, 1, 0), C = 0, G = c(1, 0, 0, 1), T = 0)
    expect_identical(as.data.frame(components_by_frequency(g, breaks, derived)), first)
  }
})

test_that("posteriors put a variant into two bins", {
  set.seed(2)
  frequency <- colMeans(case$calls, na.rm = TRUE) / 2
  # A is counted, G the other allele. The rest is for other bases.
  posterior <- data.frame(A = runif(m), C = 0.01, G = runif(m), T = 0.02)
  posterior[7, ] <- NA
  posterior[8, c("A", "G")] <- 0
  posterior[9, ] <- c(0, 0, 1, 0)
  breaks <- seq(0, 1, 0.25)
  derived <- posterior$G / (posterior$A + posterior$G)
  expected <- matrix(0, m, 4)
  for (j in setdiff(seq_len(m), 7:8)) {
    first <- findInterval(frequency[j], breaks, left.open = TRUE, all.inside = TRUE)
    second <- findInterval(1 - frequency[j], breaks, left.open = TRUE, all.inside = TRUE)
    expected[j, first] <- expected[j, first] + derived[j]
    expected[j, second] <- expected[j, second] + 1 - derived[j]
  }
  made <- components_by_frequency(g, breaks, posterior)
  expect_equal(unname(weight_matrix(made)), expected, tolerance = 1e-12)
  expect_identical(sum(made$table$variant == 9), 1L)
  expect_true(made$alternatives)
  expect_identical(made$left_out[["without an ancestral allele"]], 2L)
  expect_no_error(components_on(made, g))
  rownames(posterior) <- ids
  expect_identical(components_by_frequency(g, breaks, posterior), made)
  expect_ancify_error(components_by_frequency(g, breaks, posterior[m:1, ]), "input",
                      "Row 1 of `ancestral` is", quoted(ids[m]))
})

test_that("ancestral alleles come from a VCF, from FASTA and from a folder alike", {
  skip_if(is.na(ancify_build_info()$htslib))
  set.seed(3)
  known <- sample(c("A", "G", "g", "C", "N"), m, TRUE)
  folder <- new_folder()
  for (one in unique(g$variants$chromosome)) {
    bases <- rep("T", max(g$variants$position))
    here <- g$variants$chromosome == one
    bases[g$variants$position[here]] <- known[here]
    writeLines(c(paste0(">chr", one), paste(bases, collapse = "")),
               file.path(folder, paste0("chr", one, ".fa")))
  }
  one_file <- file.path(new_folder(), "all.fa")
  writeLines(unlist(lapply(list.files(folder, full.names = TRUE), readLines)), one_file)
  # Alleles in the other order, upper and lower case, more than one record at a position.
  vcf <- tempfile(fileext = ".vcf")
  info <- ifelse(known == "N", ".", paste0("AA=", known, "|||"))
  records <- paste(g$variants$chromosome, g$variants$position, ".", "A", "G", ".", ".", info,
                   sep = "\t")
  other <- paste(g$variants$chromosome, g$variants$position, ".", "A", "C", ".", ".", "AA=C",
                 sep = "\t")
  writeLines(c(
    "##fileformat=VCFv4.2", "##INFO=<ID=AA,Number=1,Type=String,Description=\"x\">",
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO", rbind(other, records)
  ), vcf)
  frequency <- colMeans(case$calls, na.rm = TRUE) / 2
  derived <- ifelse(known == "A", 1 - frequency, ifelse(toupper(known) == "G", frequency, NA))
  breaks <- c(0, 0.3, 0.7, 1)
  bins <- cut(derived, breaks, include.lowest = TRUE)
  expected <- sapply(levels(bins), function(one) as.numeric(bins %in% one))
  for (source in list(folder, one_file, file.path(folder, "chr{chrom_id}.fa"), vcf)) {
    expect_equal(weight_matrix(components_by_frequency(g, breaks, source)), expected)
  }
  # A variant without a position has no ancestral allele.
  g$variants$position[1] <- -2
  expected[1, ] <- 0
  expect_equal(weight_matrix(components_by_frequency(g, breaks, folder)), expected)
})

test_that("posteriors of a VCF weigh its alleles", {
  skip_if(is.na(ancify_build_info()$htslib))
  vcf <- tempfile(fileext = ".vcf")
  row <- g$variants[1:3, ]
  info <- c("AA=A;AA_post=0.6,0.1,0.2,0.1", "AA=G;AA_prob=0.9", "AA=g")
  writeLines(c(
    "##fileformat=VCFv4.2", "##INFO=<ID=AA,Number=1,Type=String,Description=\"x\">",
    "##INFO=<ID=AA_post,Number=4,Type=Float,Description=\"x\">",
    "##INFO=<ID=AA_prob,Number=1,Type=Float,Description=\"x\">",
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO",
    paste(row$chromosome, row$position, ".", "G", "A", ".", ".", info, sep = "\t")
  ), vcf)
  known <- counted_is_ancestral(vcf, g)
  expect_equal(known[1:3], c(0.75, 0.1, 0), tolerance = 1e-7)
  expect_true(all(is.na(known[-(1:3)])))
})

test_that("values come in the order of variants, by name, and from tables", {
  set.seed(4)
  values <- round(runif(m, 0, 100))
  values[3] <- NA
  breaks <- c(0, 40, 100)
  expected <- weight_matrix(cut(values, breaks, include.lowest = TRUE, dig.lab = 6))
  shuffled <- sample(m)
  for (form in list(
    values, setNames(values, ids)[shuffled],
    data.frame(variant = ids, value = values)[shuffled, ],
    rbind(data.frame(variant = ids, value = values), data.frame(variant = "else", value = 1))
  )) {
    expect_identical(weight_matrix(components_by_value(g, form, breaks)), expected)
  }
})

test_that("ages of another ancestral allele are left out and counted", {
  posterior <- data.frame(A = rep(c(0.9, 0.2), length.out = m), C = 0, G = 0.1, T = 0)
  ancestral <- rep(c("A", "a", "G"), length.out = m)
  ages <- data.frame(variant = ids, value = 1, ancestral = ancestral)
  made <- components_by_value(g, ages, c(0, 2), posterior)
  # All posteriors are for A.
  expect_identical(made$left_out[["with another ancestral allele"]], sum(ancestral == "G"))
  expect_identical(made$table$variant, which(ancestral != "G"))
  expect_identical(made$left_out[["outside all bins or unknown"]], 0L)
  # Neither ties nor unknown alleles tell, whichever allele is counted.
  tie <- data.frame(A = rep(0.25, m), C = 0.25, G = 0.25, T = 0.25)
  alleles <- ifelse(seq_len(m) %% 2, g$variants$counted, g$variants$other)
  made <- components_by_value(g, transform(ages, ancestral = alleles), c(0, 2), tie)
  expect_identical(made$left_out[["with another ancestral allele"]], 0L)
  for (unknown in c(".", "N", "-", "", NA)) {
    made <- components_by_value(g, transform(ages, ancestral = unknown), c(0, 2), posterior)
    expect_identical(made$left_out[["with another ancestral allele"]], 0L)
  }
})

test_that("PLINK's numbers of chromosomes are those of sequences and records", {
  calls <- matrix(sample(0:2, 120, TRUE), 10, dimnames = list(letters[1:10], NULL))
  g <- open_genotypes(calls, data.frame(
    chromosome = rep(c("1", "23", "25", "26"), each = 3), id = sprintf("v%d", 1:12),
    position = rep(1:3, 4), counted = "A", other = "C"
  ))
  folder <- new_folder()
  for (name in c("chr1", "chrX", "chrM")) {
    writeLines(c(paste0(">", name), "AAA"), file.path(folder, paste0(name, ".fa")))
  }
  require_htslib()
  made <- components_by_frequency(g, c(0, 1), folder)
  expect_identical(made$left_out[["without an ancestral allele"]], 0L)
  vcf <- write_vcf(vcf_records(rep(c("chr1", "chrX", "chrM"), each = 3), rep(1:3, 3), "C", "A",
                               "AA=A"))
  made <- components_by_frequency(g, c(0, 1), vcf)
  expect_identical(made$left_out[["without an ancestral allele"]], 0L)
})

test_that("files of components are read", {
  table <- data.frame(variant = ids[c(4, 1, 9)], component = c("b", "a", "b"))
  lines <- paste(table$variant, table$component, sep = "\t")
  json <- sprintf('{"b": ["%s", "%s"], "a": ["%s"]}', ids[4], ids[9], ids[1])
  path <- tempfile(fileext = c(".txt", ".json", ".txt", ".json.gz"))
  writeLines(c("", lines, " "), path[1])
  writeLines(json, path[2])
  writeLines(c("variant component weight", paste(lines, c("2", "0.5", "1e-1"))), path[3])
  connection <- gzfile(path[4], "w")
  writeLines(json, connection)
  close(connection)
  for (i in c(1, 2, 4)) {
    expect_identical(
      as.data.frame(components_on(read_components(path[i]), g)),
      data.frame(variant = ids[c(1, 4, 9)], component = c("a", "b", "b"), weight = 1)
    )
  }
  expect_identical(as.data.frame(components_on(read_components(path[3]), g))$weight,
                   c(0.5, 2, 0.1))
})

test_that("bad components are refused by name", {
  twice <- open_genotypes(oracle_write_bed(
    `colnames<-`(case$calls[, 1:4], c("a", "b", "a", "c"))
  ))
  on <- function(x, of = g, ...) components_on(x, of, ...)
  expect_refusals(list(
    list(function() on(list(a = 1:3, b = 3:5)), quoted(ids[3]), "'a' and 'b'", "overlap = TRUE"),
    list(function() on(factor(rep("a", m), c("a", "b"))), "'b' has no variant"),
    list(function() on(list(a = 1:2, b = integer())), "'b' has no variant"),
    list(function() on(rep("a", m - 1)), "59 values", "60 variants"),
    list(function() on(list(1:3)), "name"),
    list(function() on(list(a = c(1, 61))), "'a'", "61", "1 to 60"),
    list(function() on(list(a = 1.5)), "1.5"),
    list(function() on(list(a = c(2, 2))), quoted(ids[2]), "twice"),
    list(function() on(list(a = TRUE)), "'a' has 1 values"),
    list(function() on(list(a = "a"), twice), "'a' names several variants"),
    list(function() on(data.frame(variant = ids)), "'component'"),
    list(function() on(data.frame(variant = c("v1", NA), component = "a")), "Row 2"),
    list(function() on(data.frame(variant = c("v1", "v1"), component = "a")), "'v1' is twice"),
    list(function() on(data.frame(variant = "v1", component = "a", weight = -1)), "'v1'", "-1"),
    list(function() on(data.frame(variant = "v1", component = "a", weight = "x")), "'v1'"),
    list(function() on(matrix(1, 3, 1)), "3 rows", "60 variants"),
    list(function() on(matrix(c(Inf, rep(1, m - 1)))), "'v1'", "Inf"),
    list(function() on(matrix(1, m, 1, dimnames = list(rev(ids), NULL))), "'v60'", "'v1'"),
    list(function() on(mean), "`components`"),
    list(function() on(factor(rep(NA, m))), "`components` has no variant"),
    list(function() components_by_frequency(g, c(0.5, 0)), "`breaks`"),
    list(function() components_by_frequency(g, c(0, 1e-9, 0.5)), "has no variant"),
    list(function() components_by_frequency("x", c(0, 0.5)), "open_genotypes()"),
    list(function() components_by_frequency(g, c(0, 1), data.frame(A = 1)), "'C', 'G' and 'T'"),
    list(function() {
      components_by_frequency(g, c(0, 1), data.frame(A = rep(2, m), C = 0, G = 0, T = 0))
    }, "Row 1", "0 to 1"),
    list(function() {
      components_by_frequency(g, c(0, 1), data.frame(A = rep(0, m), C = 1, G = 0, T = 0))
    }, "no ancestral allele"),
    list(function() components_by_frequency(g, c(0, 1), "AA"), "give the VCF"),
    list(function() components_by_value(g, 1:3, c(0, 1)), "3 values"),
    list(function() components_by_value(g, rep("x", m), c(0, 1)), "must be numbers"),
    list(function() components_by_value(g, c(x = 1), c(0, 1)), "'x'", "'v1'"),
    list(function() components_by_value(g, c(v1 = 1, v1 = 2), c(0, 1)), "'v1' twice"),
    list(function() components_by_value(g, data.frame(variant = "v1"), c(0, 1)), "'value'"),
    list(function() components_by_value(g, rep(1, m), c(0, 1), data.frame()), "`ancestral`")
  ))
  expect_one_warning(on(list(a = c("v1", "x", "y"))), "components", "2 variants", "'x' and 'y'")
})

test_that("bad files of components are refused by line", {
  refused <- function(lines, ..., extension = ".txt", line = NULL) {
    path <- tempfile(fileext = extension)
    writeLines(lines, path)
    condition <- expect_ancify_error(read_components(path), "format", quoted(path), ...)
    expect_identical(condition$file, path)
    expect_identical(condition$line, line)
  }
  refused(c("v1 a", "v2", "v3 b"), "line 2", "1 column", line = 2)
  refused(c("v1 a 1", "", "v2 b"), "line 3", line = 3)
  refused(c("v1", "v2"), "line 1", "not 2 to 3", line = 1)
  refused(c("v1 a", "v\xff b"), "line 2", "UTF-8", line = 2)
  refused(c("variant component weight", "v1 a x"), "line 2", "'x'", line = 2)
  refused("variant component", "no variant")
  refused(character(), "no variant")
  refused(c("v1 a", "v1 a"), "'v1' is twice in the component 'a'")
  refused("{", "JSON", extension = ".json")
  refused("[1, 2]", "list of ids", extension = ".json")
  refused('{"a": "v1"}', "list of ids", extension = ".json")
  refused('{"a": [1]}', "list of ids", extension = ".json")
  refused('{"a": ["v1"], "b": ["v2"], "a": ["v3"]}', "'a' twice", extension = ".json")
  refused('{"b": [], "b": []}', "'b' twice", extension = ".json")
  expect_ancify_error(read_components(tempfile()), "file", "there is no such file")
})

test_that("variants without ids are known by their places", {
  set.seed(17)
  case <- reml_case(40, 20)
  dots <- case$g$variants
  dots$id <- "."
  g <- open_genotypes(case$calls, dots[c("chromosome", "id", "position", "counted", "other")])
  components <- components_by_chromosome(g)
  order <- sample(20)
  theta <- function(g, components) quiet_fit(y ~ 1, case$data, g, components)$theta
  expect_equal(theta(g[, order], components)[as.character(c(1:4))],
               theta(g, components)[as.character(1:4)], tolerance = 1e-4)
  expect_ancify_error(components_on(list(a = c(".", ".")), g), "input", "several variants")
  # Also where one of them is left, or other variants have ids
  expect_warning(
    expect_ancify_error(components_on(components_by_chromosome(g[, c(1, 2, 20)]), g[, 19:20]),
                        "input", "no variant of the genotypes"),
    "2 variants of `components` are not in the genotypes"
  )
  expect_warning(one <- components_on(components_by_chromosome(g[, 19:20]), g[, 20]),
                 "1 variant of `components` is not in the genotypes")
  expect_identical(one$table$variant, 1L)
  mixed <- case$g$variants
  mixed$id[c(2, 9)] <- "."
  g <- open_genotypes(case$calls, mixed[c("chromosome", "id", "position", "counted", "other")])
  expect_identical(components_on(components_by_chromosome(g), g[, 20:1])$table$variant, 1:20)
})

test_that("ids that are numbers have no exponent", {
  calls <- matrix(sample(0:2, 80, TRUE), 8, dimnames = list(letters[1:8], NULL))
  ids <- 1:10 * 1e5
  g <- open_genotypes(calls, data.frame(
    chromosome = 1, id = ids, position = 1:10, counted = "A", other = "G"
  ))
  expect_identical(g$variants$id, sprintf("%.0f", ids))
  bins <- components_by_value(g, data.frame(variant = ids, value = 1:10), breaks = c(0, 5, 10))
  expect_identical(nrow(bins$table), 10L)
  table <- components_on(data.frame(variant = ids, component = "all"), g)
  expect_identical(nrow(table$table), 10L)
  expect_no_warning(
    components_by_value(g, data.frame(variant = c(ids, 7), value = 1:11), breaks = c(0, 5, 20))
  )
})

test_that("an id stands for all ALT alleles of its record", {
  calls <- matrix(0:2, 3, 4, dimnames = list(letters[1:3], c("x", "rs2", "rs2", "y")))
  variants <- data.frame(chromosome = "1", id = c("x", "rs2", "rs2", "y"),
                         position = c(1, 5, 5, 9), other = "A", counted = c("C", "C", "G", "T"))
  g <- open_genotypes(calls, variants)
  for (sets in list(list(a = "rs2", b = c("y", "x")),
                    data.frame(variant = c("x", "y", "rs2"), component = c("b", "b", "a")))) {
    on <- components_on(sets, g)
    table <- on$table
    table$component <- on$names[table$component]
    expect_identical(table$variant, 1:4)
    expect_identical(table$component, c("b", "a", "a", "b"))
  }
  values <- c(rs2 = 5, x = 1, y = 9)
  by_value <- as.data.frame(components_by_value(g, values, c(0, 2, 6, 10)))
  expect_identical(nrow(by_value), 4L)
  variants$position[3] <- 6
  expect_ancify_error(components_on(list(a = "rs2"), open_genotypes(calls, variants)), "input",
                      "'rs2' names several variants")
})
