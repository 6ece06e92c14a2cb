# Polarising by outgroups that are samples of a VCF.

polarise_samples <- function(vcf, from, out = tempfile(fileext = ".vcf"), ...) {
  result <- polarise(vcf, from, out, threads = 1, progress = FALSE, verbose = FALSE, ...)
  list(result = result, records = records_of(out))
}

# A genome of equal shares of bases, and a VCF of sites on it with three focal samples. Outgroups
# near, middle and far have one haploid sample each; their bases at sites are in `bases`.
case_of_samples <- function(sites = 400) {
  set.seed(11)
  bases <- c("A", "C", "G", "T")
  genome <- rep(sample(bases), length.out = 20 * sites)
  position <- seq(5, by = 19, length.out = sites)  # the same number of sites of each base
  ref <- genome[position]
  alt <- vapply(ref, function(base) sample(setdiff(bases, base), 1), "")
  derived <- stats::runif(sites) < 0.3
  ancestral <- ifelse(derived, alt, ref)
  mutated <- function(share) {
    ifelse(stats::runif(sites) < share, sample(bases, sites, TRUE), ancestral)
  }
  outgroups <- list(near = mutated(0.05), middle = mutated(0.1), far = mutated(0.2))
  third <- vapply(seq_len(sites), function(i) {
    setdiff(c(vapply(outgroups, `[`, "", i), "A"), c(ref[i], alt[i]))[1]
  }, "")
  fourth <- vapply(seq_len(sites), function(i) setdiff(bases, c(ref[i], alt[i], third[i]))[1], "")
  genotypes <- vapply(outgroups, function(base) {
    paste(ifelse(base == ref, 0, ifelse(base == alt, 1, ifelse(base == third, 2, 3))))
  }, rep("", sites))
  alts <- ifelse(is.na(third), alt, paste(alt, third, fourth, sep = ","))
  list(genome = paste(genome, collapse = ""), position = position, ref = ref, alts = alts,
       outgroups = outgroups, genotypes = genotypes)
}

write_case <- function(case, genotypes = case$genotypes, rows = seq_along(case$position),
                       names = colnames(genotypes), chromosome = "chr1",
                       path = tempfile(fileext = ".vcf")) {
  records <- paste(
    vcf_records(chromosome, case$position, case$ref, case$alts), "GT",
    apply(genotypes, 1, paste, collapse = "\t"), sep = "\t"
  )
  header <- vcf_header(records, sprintf("%s,length=%d", chromosome, nchar(case$genome)))
  header[length(header)] <- sub("FORMAT.*", paste(c("FORMAT", names), collapse = "\t"),
                                header[length(header)])
  writeLines(c(header, records[rows]), path)
  path
}

alignments_of_case <- function(case) {
  vapply(names(case$outgroups), function(name) {
    row <- strsplit(case$genome, "")[[1]]
    row[case$position] <- case$outgroups[[name]]
    write_axt(c(
      sprintf("0 chr1 1 %d q 1 %d + 1", nchar(case$genome), nchar(case$genome)), case$genome,
      paste(row, collapse = ""), ""
    ), tempfile(fileext = ".axt"))
  }, "")
}

# AA_prob of alignments is rounded to a Phred score.
expect_equal_errors <- function(found, expected, given) {
  errors <- lapply(list(found, expected), function(records) {
    text <- ifelse(grepl("AA_prob=", records), sub(".*AA_prob=([^;\t]*).*", "\\1", records), NA)
    1 - as.numeric(text)
  })
  expect_identical(any(!is.na(errors[[1]])), given)
  expect_identical(is.na(errors[[1]]), is.na(errors[[2]]))
  expect_lt(max(c(0, abs(errors[[1]] - errors[[2]]) / (errors[[1]] + 1e-6)), na.rm = TRUE), 0.13)
}

test_that("samples give the records that alignments with the same bases give", {
  require_htslib()
  case <- case_of_samples()
  vcf <- write_case(case)
  alignments <- alignments_of_case(case)
  for (method in c("likelihood", "parsimony")) {
    expected <- tempfile(fileext = ".vcf")
    polarise(vcf, alignments, expected, method = method, also = "multiallelic", threads = 1,
             progress = FALSE, verbose = FALSE)
    found <- polarise_samples(vcf, "samples:near,middle,far", method = method,
                              also = "multiallelic")
    without <- function(records) sub(";?AA_prob=[^;\t]*", "", records)
    expect_identical(without(found$records), without(records_of(expected)))
    expect_equal_errors(found$records, records_of(expected), method == "likelihood")
  }
  expect_gt(attr(found$result, "swapped"), 0)
})

long_test_that("by the coalescent, samples and alignments give the same calls", {
  require_htslib()
  case <- case_of_samples(200)
  # An outgroup's third base is not among the focal alleles.
  copies <- sample(0:4, length(case$position), TRUE, c(6, 4, 3, 2, 1))
  haplotypes <- t(vapply(copies, function(n) as.character(rep(1:0, c(n, 6 - n))), rep("", 6)))
  colnames(haplotypes) <- paste0("h", 1:6)
  alone <- case
  alone$alts <- sub(",.*", "", case$alts)
  polymorphic <- write_case(alone, haplotypes, which(copies > 0))
  called <- function(vcf, from) {
    found <- suppressWarnings(
      polarise_samples(vcf, from, method = "coalescent", also = "multiallelic"),
      classes = "ancify_fit_warning"
    )
    fields <- strsplit(found$records, "\t")
    stats::setNames(vapply(fields, `[`, "", 8), vapply(fields, `[`, "", 2))
  }
  expected <- called(polymorphic, alignments_of_case(case)[c("near", "far")])
  found <- called(write_case(case, cbind(haplotypes, case$genotypes[, c("near", "far")])),
                  "samples:near,far")
  ancestral <- function(info) sub(".*AA=([^;]*).*", "\\1", info)
  expect_identical(ancestral(found[names(expected)]), ancestral(expected))
  expect_equal_errors(found[names(expected)], expected, TRUE)
})

test_that("the coalescent takes a single focal sample", {
  require_htslib()
  case <- case_of_samples(100)
  focal <- matrix(rep(c("0/1", "0/0"), length.out = 100), 100, 1, dimnames = list(NULL, "h1"))
  vcf <- write_case(case, cbind(focal, case$genotypes[, c("near", "far")]))
  found <- suppressWarnings(
    polarise_samples(vcf, "samples:near,far", method = "coalescent", also = "multiallelic"),
    classes = "ancify_fit_warning"
  )
  expect_length(found$records, 100)
})

test_that("a history begins at the tree's splits", {
  patterns <- new_patterns(
    list(all = list(
      pattern = c("AAAAA", "CAAAA", "ACAAA", "ACCAA", "AAACA", "AAAAC"),
      count = c(9000, 50, 100, 200, 100, 100)
    )), c("a", "b", "c", "d", "focal"), "focal", NULL
  )
  start <- start_of_history("(((focal,a),d),(b,c));", patterns)
  expect_identical(start$into, c(a = "0", b = "0", c = "b", d = "0"))
  expect_true(all(diff(start$splits[c("a", "d", "b")]) > 0))
  expect_lt(start$splits[["c"]], start$splits[["b"]])
  expect_no_error(suppressMessages(
    coalescent_history(start$splits, start$sizes, into = start$into)
  ))
})

test_that("samples of another VCF, in other words, give the same", {
  require_htslib()
  case <- case_of_samples()
  focal <- matrix("0/1", length(case$position), 1, dimnames = list(NULL, "h1"))
  both <- write_case(case, cbind(case$genotypes, focal))
  alone <- write_case(case, focal)
  apes <- write_case(case, chromosome = "1")
  expected <- polarise_samples(both, "samples:near,far", also = "multiallelic")
  words <- list(
    paste0("samples:near,far@", apes), c(near = "samples:near", far = "samples:far"),
    c("samples:near", paste0("samples:far@", apes))
  )
  for (from in words) {
    found <- polarise_samples(if (length(from) == 1) alone else both, from, also = "multiallelic")
    expect_equal(found$result$records, expected$result$records)
  }

  # Sites without a record there are unknown.
  some <- write_case(case, rows = seq(1, 400, 2))
  found <- polarise_samples(alone, paste0("samples:near@", some), also = "multiallelic")
  expect_identical(found$result$records[found$result$reason == "NO_COVERAGE"], 200)
})

# A gVCF of one outgroup, with reference blocks of random lengths between its variants, and the
# records of its sites in plain words. Of some blocks nothing is known, in several ways.
gvcf_of <- function(case, name) {
  base <- case$outgroups[[name]]
  varies <- base != case$ref
  variants <- case$position[varies]
  from <- sort(unique(c(1, variants, variants + 1, sample(nchar(case$genome), 300))))
  to <- c(from[-1] - 1, nchar(case$genome))
  is_variant <- from %in% variants
  values <- c(called = "0/0:20:9:7", uncalled = "./.:20:9:7", unsure = "0/0:0:9:7",
              uncovered = "0/0:20:0:.", partly = "0/0:20:9:0", absent = "")
  state <- ifelse(is_variant, "called",
                  sample(names(values), length(from), TRUE, c(5, 1, 1, 1, 1, 1)))
  site <- match(from, case$position)
  lines <- vcf_records(
    "1", from, substring(case$genome, from, from),
    ifelse(is_variant, paste0(base[site], ",<NON_REF>"), "<NON_REF>"),
    ifelse(is_variant, ".", paste0("END=", to))
  )
  lines <- paste(lines, "GT:GQ:DP:MIN_DP", ifelse(is_variant, "1/1:50:9:7", values[state]),
                 sep = "\t")[state != "absent"]
  declared <- c(
    "##INFO=<ID=END,Number=1,Type=Integer,Description=\"e\">",
    sprintf("##FORMAT=<ID=%s,Number=1,Type=Integer,Description=\"n\">", c("GQ", "DP", "MIN_DP")),
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">",
    "##ALT=<ID=NON_REF,Description=\"any\">"
  )
  header <- vcf_header(lines, sprintf("1,length=%d", nchar(case$genome)), declared)
  header[length(header)] <- sub("s1$", name, header[length(header)])
  known <- state[findInterval(case$position, from)] == "called"
  case$alts <- ifelse(varies, base, ".")
  genotypes <- matrix(ifelse(varies, "1/1", "0/0"), dimnames = list(NULL, name), ncol = 1)
  plain <- write_case(case, genotypes, which(known))
  unsupported <- state[findInterval(case$position, from)] %in% c("unsure", "uncovered", "partly")
  list(path = write_vcf(lines, header = header), plain = plain, unsupported = sum(unsupported))
}

test_that("reference blocks of a gVCF give REF at each of their positions", {
  require_htslib()
  case <- case_of_samples()
  vcf <- write_case(case, matrix("0/1", 400, 1, dimnames = list(NULL, "h1")))
  files <- lapply(stats::setNames(nm = names(case$outgroups)), gvcf_of, case = case)
  from <- function(part) {
    vapply(names(files), function(name) paste0("samples:", name, "@", files[[name]][[part]]), "")
  }
  for (method in c("parsimony", "likelihood")) {
    expected <- polarise_samples(vcf, from("plain"), method = method, also = "multiallelic")
    found <- polarise_samples(vcf, from("path"), method = method, also = "multiallelic")
    expect_identical(found, expected)
  }
  reasons <- stats::setNames(found$result$records, found$result$reason)
  expect_gt(reasons[["OK"]], 200)
  unsupported <- sum(vapply(files, `[[`, 0, "unsupported"))
  told <- sprintf("GQ, DP or MIN_DP is 0: %s", format_count(unsupported))
  expect_message(
    polarise(vcf, from("path"), tempfile(fileext = ".vcf"), threads = 1, progress = FALSE), told,
    fixed = TRUE
  )

  # As expanded by bcftools
  require_tool("bcftools")
  genome <- tempfile(fileext = ".fa")
  writeLines(c(">1", case$genome), genome)
  expanded <- vapply(names(files), function(name) {
    lines <- bcftools_lines("convert", files[[name]]$path, "--gvcf2vcf", "--fasta-ref", genome)
    paste0("samples:", name, "@", write_vcf(lines, header = character()))
  }, "")
  expect_identical(polarise_samples(vcf, expanded, also = "multiallelic"), expected)
})

test_that("a block whose END is no position is refused", {
  require_htslib()
  case <- case_of_samples(40)
  vcf <- write_case(case)
  lines <- readLines(gvcf_of(case, "near")$path)
  changed <- function(from, to) write_vcf(sub(from, to, lines), header = character())
  for (apes in list(changed("END=[0-9]*", "END=0"), changed("END,Number=1,Type=Integer",
                                                            "END,Number=1,Type=String"))) {
    out <- tempfile(fileext = ".vcf")
    expect_ancify_error(polarise_samples(vcf, paste0("samples:near@", apes), out), "format", "END")
    expect_false(file.exists(out))
  }
})

test_that("one outgroup gives the base of most of its haplotypes", {
  require_htslib()
  genotypes <- c("0/0\t0/0", "1/1\t0/1", "0/1\t./.", "0/1\t0/1", "./.\t.", "1|1\t.")
  records <- paste(vcf_records("chr1", 1:6, "A", "C"), "GT", genotypes, sep = "\t")
  vcf <- write_vcf(records, header = vcf_header(records, "chr1,length=10"))
  found <- polarise_samples(vcf, c(chimp = "samples:s1,s2"))
  letters <- sub(".*AA=([^;\t]*).*", "\\1", found$records)
  letters[!grepl("AA=", found$records)] <- "N"
  expect_identical(letters, c("A", "C", "N", "N", "N", "C"))
  expect_identical(grepl("NOT_POLARISED", found$records), letters == "N")
})

test_that("names may have characters of Newick, and one file several names", {
  require_htslib()
  case <- case_of_samples(80)
  vcf <- write_case(case)
  expected <- polarise_samples(vcf, "samples:near,far")
  named <- c("pan (t)" = "samples:near", "P:1" = "samples:far")
  found <- polarise_samples(vcf, named, focal = "Homo sapiens")
  expect_identical(found$records, expected$records)
  other <- file.path(dirname(vcf), ".", basename(vcf))
  expect_identical(sample_outgroups(paste0("samples:near@", other), vcf)$path, vcf)
  listed <- polarise_samples(vcf, list("samples: near", "samples:far"))
  expect_identical(listed$records, expected$records)
})

test_that("a tree may lack the focal species, except for a history", {
  require_htslib()
  vcf <- write_case(case_of_samples(80))
  called <- function(...) polarise_samples(vcf, "samples:near,middle,far", ...)$records
  expect_length(called(tree = "((near,middle),far);", method = "parsimony"), 80)
  expect_ancify_error(called(tree = "((near,middle),far);", method = "coalescent"), "input",
                      "leaves of `tree`")
})

test_that("the log tells bases, method, tree and what was assumed", {
  require_htslib()
  vcf <- write_case(case_of_samples())
  lines <- character()
  withCallingHandlers(
    polarise(vcf, "samples:near,far", tempfile(fileext = ".vcf"), threads = 1, progress = FALSE),
    ancify_message = function(line) {
      lines <<- c(lines, conditionMessage(line))
      invokeRestart("muffleMessage")
    }
  )
  expect_match(lines, "Sites with a base, of 400: near 400, far 400", all = FALSE)
  expect_match(lines, "equal in all species: 7,600 of 8,000", all = FALSE)
  expect_match(lines, "by likelihood from 2 outgroups", all = FALSE)
  expect_match(lines, "guessed by divergence: .*near", all = FALSE)
})

test_that("invalid words and files are errors", {
  require_htslib()
  case <- case_of_samples(40)
  vcf <- write_case(case)
  expect_refused <- function(pattern, from, ..., class = "input") {
    out <- tempfile(fileext = ".vcf")
    expect_ancify_error(polarise_samples(vcf, from, out, ...), class, pattern)
    expect_false(file.exists(out))
  }
  expect_refused("no sample 'chimp'", "samples:chimp")
  expect_refused("name samples", "samples:")
  expect_refused("name samples", "samples:near,,far")
  expect_refused("name samples", "samples:near,")
  expect_refused("the sample 'near' twice", "samples:near,near")
  expect_refused("the sample 'near' twice", c(a = "samples:near", b = "samples:near"))
  expect_refused("the outgroup 'near' twice", c(near = "samples:far", "samples:near"))
  expect_refused("give all outgroups as samples", list("samples:near", far = "far.axt"))
  expect_refused("another name", "samples:near,far", focal = "far")
  expect_refused("focal", "samples:near,far", focal = NA)
  for (method in c("likelihood", "coalescent")) {
    expect_refused("leaves of `tree`", "samples:near,far", tree = "((focal,x),far);",
                   method = method)
    expect_refused("tree", "samples:near,far", tree = "((focal,", method = method)
  }
  expect_refused("no such file", "samples:near@none.vcf")
  expect_refused("needs alignments", "samples:near", also = "indels", reference = vcf)
  missing <- write_case(case, matrix("./.", 40, 1, dimnames = list(NULL, "near")))
  expect_refused("no base of 'near' is known", paste0("samples:near@", missing))
  other <- case
  other$ref <- chartr("ACGT", "CGTA", case$ref)
  other$alts <- other$ref
  expect_refused("of one genome build", paste0("samples:near@", write_case(other)),
                 class = "format")
  expect_ancify_error(polarise_samples(vcf, paste0("samples:near@", missing), missing), "input",
                      "one file")
})
