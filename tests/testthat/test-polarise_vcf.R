# Polarising a VCF in one call.

polarise_quietly <- function(...) polarise(..., threads = 1, progress = FALSE, verbose = FALSE)

# A VCF of single-base records on the example's chr1, with the header's length
small_vcf <- function(lengths, positions = seq(1, 4000, 40)) {
  set.seed(7)
  bases <- c("A", "C", "G", "T")
  ref <- sample(bases, length(positions), TRUE)
  alt <- vapply(ref, function(base) sample(setdiff(bases, base), 1), "")
  records <- vcf_records("chr1", positions, ref, alt)
  contig <- sprintf("chr1,length=%.0f", lengths[["chr1"]])
  write_vcf(records, header = vcf_header(records, contig))
}

test_that("alignments give the alleles and reasons of a run with the same tree and method", {
  require_htslib()
  config <- ancify_example(new_folder())
  outgroups <- stats::setNames(config$outgroups$alignment, config$outgroups$name)
  vcf <- small_vcf(config$lengths)
  out <- tempfile(fileext = ".vcf")
  for (method in c("likelihood", "parsimony")) {
    result <- polarise_quietly(vcf, outgroups, out, method = method)
    polarised <- attr(result, "run")

    own <- config
    own$chromosomes <- "chr1"
    own$outgroups$tier <- "inner"
    own$method <- method
    if (method == "likelihood") {
      own[c("substitution_model", "estimate", "posterior")] <- list("HKY85", TRUE, TRUE)
    }
    own$tree <- attr(polarised, "config")$tree
    own$output_dir <- new_folder()
    run <- suppressWarnings(ancify_run(own, threads = 1, progress = FALSE, verbose = FALSE))
    staged <- tempfile(fileext = ".vcf")
    expected <- suppressWarnings(annotate_vcf(vcf, run, staged, polarise = TRUE, verbose = FALSE))
    expect_identical(result$records, expected$records)
    expect_gt(attr(result, "swapped"), 0)
    without_filter <- function(path) {
      sub("^(([^\t]*\t){6})[^\t]*\t", "\\1", records_of(path))
    }
    expect_identical(without_filter(out), without_filter(staged))
    expect_identical(attr(polarised, "fit")$log_likelihood, attr(run, "fit")$log_likelihood)
    expect_identical(attr(polarised, "alignments")$used, attr(run, "alignments")$used)
  }
})

test_that("alleles do not depend on the order of blocks", {
  require_htslib()
  config <- ancify_example(new_folder())
  outgroups <- stats::setNames(config$outgroups$alignment, config$outgroups$name)
  vcf <- small_vcf(config$lengths)
  backwards <- vapply(outgroups, function(path) {
    lines <- readLines(path)
    lines <- lines[nzchar(lines) & !startsWith(lines, "#")]
    blocks <- split(lines, (seq_along(lines) - 1) %/% 3)
    write_axt(unlist(lapply(rev(blocks), c, "")), tempfile(fileext = ".axt"))
  }, "")
  out <- c(tempfile(fileext = ".vcf"), tempfile(fileext = ".vcf"))
  polarise_quietly(vcf, outgroups, out[1])
  polarise_quietly(vcf, backwards, out[2])
  expect_identical(records_of(out[1]), records_of(out[2]))
})

test_that("a record beyond its chromosome is an error", {
  require_htslib()
  config <- ancify_example(new_folder())
  outgroups <- stats::setNames(config$outgroups$alignment, config$outgroups$name)
  lengths <- config$lengths
  vcf <- write_vcf(vcf_records("chr1", lengths[["chr1"]] + 1, "A", "G"))
  for (n in c(1, 3)) {
    out <- tempfile(fileext = ".vcf")
    expect_ancify_error(
      polarise_quietly(vcf, outgroups[seq_len(n)], out, chrom_lengths = lengths), "format",
      "is beyond the end of the chromosome"
    )
    expect_false(file.exists(out))
  }
})

test_that("a VCF without records stays one", {
  require_htslib()
  config <- ancify_example(new_folder())
  vcf <- write_vcf(character(), header = vcf_header("chr1\t1", "chr1,length=40000"))
  out <- tempfile(fileext = ".vcf")
  result <- polarise_quietly(vcf, c(near1 = config$outgroups$alignment[1]), out)
  expect_identical(sum(result$records), 0)
  expect_length(records_of(out), 0)
})

test_that("one outgroup gives its own bases", {
  require_htslib()
  config <- ancify_example(new_folder())
  vcf <- small_vcf(config$lengths)
  out <- tempfile(fileext = ".vcf")
  polarise_quietly(vcf, c(near1 = config$outgroups$alignment[1]), out)
  bases <- project_axt(config$outgroups$alignment[1], config$lengths["chr1"])
  staged <- tempfile(fileext = ".vcf")
  annotate_vcf(vcf, calls_folder(c(chr1 = as.character(bases[[1]]))), staged, polarise = TRUE,
               unpolarised = "flag", verbose = FALSE)
  expect_identical(records_of(out), records_of(staged))
})

test_that("records that cannot be polarised are flagged, dropped or kept", {
  require_htslib()
  records <- vcf_records("chr1", 1:6, "A", c("C", "C", "G", "G", "T", "C"))
  records[6] <- sub("\\.\t\\.$", "PASS\t.", records[6])
  vcf <- write_vcf(records)
  calls <- calls_folder(c(chr1 = "ACTnNa"))
  out <- tempfile(fileext = ".vcf")
  filters <- function(unpolarised) {
    polarise_quietly(vcf, calls, out, unpolarised = unpolarised)
    vapply(strsplit(grep("^#", readLines(out), invert = TRUE, value = TRUE), "\t"), `[`, "", 7)
  }
  polarised <- c(TRUE, TRUE, FALSE, FALSE, FALSE, TRUE)
  flagged <- filters("flag")
  expect_identical(flagged == "NOT_POLARISED", !polarised)
  expect_match(readLines(out), "##FILTER=<ID=NOT_POLARISED", all = FALSE, fixed = TRUE)
  expect_length(filters("drop"), sum(polarised))
  expect_warning(kept <- filters("keep"), class = "ancify_annotation_warning")
  expect_false("NOT_POLARISED" %in% kept)

  # A later call with a better source takes the flag away.
  again <- tempfile(fileext = ".vcf")
  filters("flag")
  polarise_quietly(out, calls_folder(c(chr1 = "ACGGTa")), again)
  expect_false(any(grepl("\tNOT_POLARISED\t", readLines(again))))
})

test_that("the tree is guessed by divergence", {
  patterns <- structure(
    data.frame(
      chromosome = "chr1", pattern = c("AAAA", "ACAA", "CAAC", "AACA", "ACCA"),
      count = c(900, 60, 10, 30, 40)
    ),
    species = c("near", "far", "middle", "focal"), focal = "focal",
    class = c("ancify_patterns", "data.frame")
  )
  tree <- ape::read.tree(text = guess_tree(patterns))
  expect_setequal(tree$tip.label, attr(patterns, "species"))
  expect_true(ape::is.monophyletic(tree, c("near", "focal")))
  expect_true(ape::is.monophyletic(tree, c("near", "focal", "middle")))
  pair <- patterns
  pair$pattern <- substring(pair$pattern, 3)
  attr(pair, "species") <- c("middle", "focal")
  expect_identical(guess_tree(pair), "(middle,focal);")
})

test_that("invalid sources are errors", {
  require_htslib()
  config <- ancify_example(new_folder())
  near <- c(near = config$outgroups$alignment[1])
  vcf <- write_vcf(vcf_records("chr1", 5, "A", "G"))
  expect_refused <- function(pattern, from = near, ..., class = "input") {
    out <- tempfile(fileext = ".vcf")
    expect_ancify_error(polarise_quietly(vcf, from, out, ...), class, pattern)
    expect_false(file.exists(out))
  }
  expect_refused("The length of 'chr1' is not in the VCF's header: give `chrom_lengths`")
  expect_refused("'chr1' is not in `chrom_lengths`", chrom_lengths = c(chr2 = 10))
  expect_refused("no.axt': there is no such file", c(near = "no.axt"))
  expect_refused("method", method = "voting")
  expect_refused("unpolarised", unpolarised = "delete")
  two <- c(near, far = config$outgroups$alignment[3])
  expect_refused("leaves of `tree` are 'human' and 'near', but the species are", two,
                 chrom_lengths = c(chr1 = 4e4), tree = "(human,near);")
  expect_ancify_error(
    annotate_vcf(vcf, calls_folder(c(chr1 = "ACGTA")), tempfile(fileext = ".vcf"),
                 unpolarised = "drop"),
    "input", "needs `polarise = TRUE`"
  )
  expect_ancify_error(polarise_quietly(vcf, "AA", "out.txt"), "input", "out.txt")
  alignment <- tempfile(fileext = ".vcf")
  file.copy(near, alignment)
  expect_ancify_error(polarise_quietly(vcf, c(near = alignment), alignment), "input", "one file")
})

# Outgroups of the region of a slice of 1000 Genomes: REF of each record, random bases between, an
# ancestral genome that has ALT at a quarter of the SNPs, and mutations of each outgroup.
slice_case <- function(vcf) {
  set.seed(22)
  fields <- do.call(rbind, strsplit(grep("^#", readLines(vcf), value = TRUE, invert = TRUE), "\t"))
  position <- as.numeric(fields[, 2])
  first <- min(position)
  n <- max(position) - first + 200
  focal <- sample(bases, n, TRUE)
  for (i in seq_along(position)) {
    ref <- strsplit(fields[i, 4], "")[[1]]
    focal[position[i] - first + seq_along(ref)] <- ref
  }
  snp <- nchar(fields[, 4]) == 1 & nchar(fields[, 5]) == 1
  at <- position[snp] - first + 1
  # An indel's REF may have replaced a SNP's.
  snps <- sum(snp & focal[position - first + 1] == fields[, 4])
  ancestor <- focal
  derived <- at[stats::runif(length(at)) < 0.25]
  ancestor[derived] <- fields[snp, 5][match(derived, at)]
  mutated <- function(share) {
    changed <- stats::runif(n) < share
    replace(ancestor, changed, sample(bases, sum(changed), TRUE))
  }
  rows <- list(near = mutated(0.01), middle = mutated(0.02), far = mutated(0.05))
  list(first = first, n = n, snps = snps, focal = focal, ancestor = ancestor, rows = rows,
       sites = data.frame(position, ref = fields[, 4])[snp, ])
}

as_text <- function(bases) paste(bases, collapse = "")

# An AXT of each outgroup in a folder
slice_axt <- function(case, folder) {
  end <- case$first + case$n - 1
  vapply(names(case$rows), function(name) {
    write_axt(c(
      sprintf("0 22 %.0f %.0f q 1 %.0f + 1", case$first, end, case$n), as_text(case$focal),
      as_text(case$rows[[name]]), ""
    ), file.path(folder, paste0(name, ".axt")))
  }, "")
}

# The outgroups as haploid samples of a VCF with all SNPs' positions
slice_samples <- function(case) {
  sites <- case$sites[!duplicated(case$sites$position), ]
  alts <- lapply(sites$ref, function(ref) setdiff(bases, ref))
  genotypes <- vapply(case$rows, function(row) {
    base <- row[sites$position - case$first + 1]
    mapply(match, base, Map(c, sites$ref, alts)) - 1
  }, numeric(nrow(sites)))
  records <- paste(
    vcf_records("22", sites$position, sites$ref, vapply(alts, paste, "", collapse = ",")), "GT",
    apply(genotypes, 1, paste, collapse = "\t"), sep = "\t"
  )
  header <- sub("s1\ts2\ts3", paste(names(case$rows), collapse = "\t"), vcf_header(records))
  write_vcf(records, header = header)
}

long_test_that("a slice of 1000 Genomes is polarised by one command from each source", {
  require_htslib()
  require_package("VariantAnnotation")
  vcf <- variant_annotation_vcf()
  case <- slice_case(vcf)
  size <- 51304566
  end <- case$first + case$n - 1
  folder <- new_folder()
  at <- paths_in(folder)
  axt <- as.list(slice_axt(case, folder))
  sources <- list(axt = axt, chain = lapply(names(case$rows), function(name) {
    chain <- at(paste0(name, ".chain"))
    writeLines(chain_lines(
      data.frame(target = case$first - 1, query = 0, size = case$n), c("22", "q", "+"),
      c(size, case$n), 1000, 1
    ), chain)
    c(chain, twobit = write_twobit(list(q = as_text(case$rows[[name]])), at(paste0(name, ".2bit"))))
  }))
  sources <- lapply(sources, stats::setNames, names(case$rows))
  row <- function(source, bases, start, length) {
    maf_row(source, start, bases, source_size = length)
  }
  maf <- maf_file("a score=0", row("focal.22", case$focal, case$first - 1, size),
                  vapply(names(case$rows), function(name) {
                    row(paste0(name, ".q"), case$rows[[name]], 0, case$n)
                  }, ""), "", path = at("all.maf"))
  sources$maf <- stats::setNames(rep(list(maf), 3), names(case$rows))
  genome <- at("genome.2bit")
  whole <- c(rep("N", case$first - 1), case$focal, rep("N", size - end))
  write_twobit(list("22" = as_text(whole)), genome)
  expect_error(polarise_quietly(vcf, sources$chain, at("no.vcf"), chrom_lengths = c("22" = size)),
               "has no focal bases.*as `reference`", class = "ancify_input_error")
  polarised <- lapply(names(sources), function(name) {
    out <- at(paste0(name, ".vcf"))
    result <- polarise_quietly(
      vcf, sources[[name]], out, chrom_lengths = c("22" = size),
      reference = if (name == "chain") genome
    )
    list(records = records_of(out), reasons = result$records, swapped = attr(result, "swapped"))
  })
  for (other in polarised[-1]) expect_identical(other, polarised[[1]])
  expect_gt(polarised[[1]]$swapped, 0.2 * case$snps)

  # An ancestral FASTA, as Ensembl's, in one command and in two
  epo <- at("epo.fa")
  writeLines(c(">22", paste0(strrep("N", case$first - 1), as_text(case$ancestor))), epo)
  result <- polarise_quietly(vcf, epo, at("epo.vcf"))
  annotated <- at("annotated.vcf")
  annotate_vcf(vcf, epo, annotated, threads = 1, progress = FALSE, verbose = FALSE)
  polarise_quietly(annotated, "AA", at("staged.vcf"))
  reasons <- stats::setNames(result$records, result$reason)
  # 9,969 SNPs of 10,376 records; a few are inside the REF of a deletion, and may not have its base.
  expect_identical(sum(reasons) - reasons[["INDEL"]], 9969)
  expect_gte(reasons[["OK"]], case$snps)
  allele <- function(path) {
    sub("^(([^\t]*\t){2})[^\t]*\t([^\t]*\t[^\t]*).*", "\\1\\3", records_of(path))
  }
  expect_identical(allele(at("epo.vcf")), allele(at("staged.vcf")))
})

# The slice of `vcf` as a chromosome of its own, in a file `vcf`. Samples tell nothing of positions
# between SNPs. As is then assumed, all species have the same bases there, in the shares of REF.
slice_of_snps <- function(vcf) {
  case <- slice_case(vcf)
  lines <- strsplit(readLines(vcf), "\t")
  case$vcf <- write_vcf(vapply(lines, function(fields) {
    if (length(fields) > 1 && fields[1] == "22") {
      fields[2] <- sprintf("%.0f", as.numeric(fields[2]) - case$first + 1)
    }
    paste(fields, collapse = "\t")
  }, ""), header = character())
  case$sites$position <- case$sites$position - case$first + 1
  case$first <- 1
  between <- setdiff(seq_len(case$n), case$sites$position)
  case$focal[between] <- sample(case$sites$ref, length(between), TRUE)
  case$rows <- lapply(case$rows, replace, between, case$focal[between])
  case
}

long_test_that("a slice of 1000 Genomes is polarised alike by alignments and by samples", {
  require_htslib()
  require_package("VariantAnnotation")
  case <- slice_of_snps(variant_annotation_vcf())
  sources <- list(slice_axt(case, new_folder()),
                  paste0("samples:near,middle,far@", slice_samples(case)))
  for (method in c("parsimony", "likelihood")) {
    results <- lapply(sources, function(source) {
      out <- tempfile(fileext = ".vcf")
      found <- polarise_quietly(case$vcf, source, out, method = method,
                                chrom_lengths = c("22" = case$n))
      list(records = sub("AA_prob=[^;\t]*", "", records_of(out)),
           reasons = stats::setNames(found$records, found$reason),
           swapped = attr(found, "swapped"))
    })
    expect_identical(results[[2]], results[[1]])
    reasons <- results[[1]]$reasons
    expect_identical(sum(reasons) - reasons[["INDEL"]], 9969)
    expect_gt(results[[1]]$swapped, 0.2 * case$snps)
  }
})
