# Blocks by species, of which some touch, some overlap and some leave gaps.
random_alignments <- function(genome, species) {
  lapply(stats::setNames(nm = species), function(name) {
    cuts <- sort(sample(2:(nchar(genome) - 2), 3))
    ranges <- rbind(
      c(1, cuts[1]), c(cuts[1] + sample(c(1, 1, 3), 1), cuts[2]),
      c(max(2, cuts[2] - 3), nchar(genome)), c(cuts[3], min(cuts[3] + 20, nchar(genome)))
    )
    ranges <- ranges[ranges[, 2] - ranges[, 1] > 1, ]
    lapply(seq_len(nrow(ranges)), function(i) random_rows(genome, ranges[i, 1], ranges[i, 2]))
  })
}

# Changes of several bases, many of them in repeats, with one or two ALTs: a list of position, ref
# and alts.
random_changes <- function(genome, n) {
  lapply(sort(sample(nchar(genome) - 4, n, replace = TRUE)), function(position) {
    ref <- substr(genome, position, position + sample(0:4, 1))
    alts <- replicate(sample(1:2, 1, prob = c(4, 1)), {
      base <- substr(ref, 1, 1)
      switch(
        sample(4, 1),
        base,
        paste0(base, substr(genome, position + 1, position + sample(3, 1)), substring(ref, 2)),
        paste0(base, random_bases(sample(2, 1)), substring(ref, 2)), random_bases(nchar(ref))
      )
    })
    list(position = position, ref = ref, alts = unique(setdiff(alts, ref)))
  })
}

test_that("states of indels are those of the plain implementation", {
  require_htslib()
  set.seed(801)
  seen <- NULL
  for (round in 1:3) {
    genome <- paste(replicate(30, {
      unit <- random_bases(sample(1:4, 1))
      strrep(unit, sample(1:4, 1))
    }), collapse = "")
    alignments <- random_alignments(genome, c("near1", "near2", "far1", "far2"))
    run <- run_of_alignments(genome, alignments, 2)
    changes <- Filter(function(change) {
      length(change$alts) > 0 && any(nchar(c(change$ref, change$alts)) > 1)
    }, random_changes(genome, 120))
    columns <- lapply(alignments, oracle_gapped_row, nchar(genome))
    expected <- lapply(changes, function(change) {
      carried <- vapply(columns, function(species) {
        as.character(oracle_carried(species, genome, change$position, change$ref, change$alts))
      }, "")
      oracle_allele_vote(carried[1:2], carried[3:4])
    })
    records <- vapply(changes, function(change) {
      vcf_records("1", change$position, change$ref, paste(change$alts, collapse = ","))
    }, "")
    reference <- write_fasta(c(chr1 = tolower(genome)), tempfile(fileext = ".fa"))
    vcf <- write_vcf(records)
    found <- annotate(vcf, run, reference = reference, also = c("indels", "multiallelic"))
    reasons <- vapply(expected, `[`, "", 1)
    seen <- c(seen, reasons)
    lines <- records_of(found$out)
    expect_identical(info_of(lines, "AA_reason"), reasons)
    aa <- vapply(seq_along(changes), function(i) {
      allele <- expected[[i]][2]
      if (is.na(allele)) {
        return(".")
      }
      alts <- changes[[i]]$alts
      text <- c(REF = changes[[i]]$ref, stats::setNames(alts, seq_along(alts)))
      if (expected[[i]][1] == "LOW") tolower(text[[allele]]) else text[[allele]]
    }, "")
    expect_identical(info_of(lines, "AA"), aa)

    # With one ALT alone
    one <- annotate(vcf, attr(run, "config")$output_dir, reference = reference, also = "indels")
    several <- lengths(lapply(changes, `[[`, "alts")) > 1
    expect_identical(
      info_of(records_of(one$out), "AA_reason"), ifelse(several, "MULTIALLELIC", reasons)
    )
  }
  expect_true(all(c("OK", "LOW", "UNRESOLVED", "NEITHER_ALLELE", "NO_COVERAGE") %in% seen))
  expect_gt(sum(seen == "OK"), 25)
})

test_that("the ancestral alleles of simulated indels are the true ones", {
  require_htslib()
  set.seed(802)
  case <- simulated_indels(150, c("near1", "near2", "far"))
  run <- run_of_alignments(case$genome, case$rows, 2)
  reference <- write_fasta(c(chr1 = case$genome), tempfile(fileext = ".fa"))
  records <- paste0(
    vcf_records("chr1", case$position, case$ref, case$alt), "\tGT:AD\t0|1:5,6"
  )
  header <- vcf_header(records, more = c(
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">",
    "##FORMAT=<ID=AD,Number=R,Type=Integer,Description=\"a\">"
  ))
  vcf <- write_vcf(records, header = header)
  found <- annotate(vcf, run, reference = reference, also = "indels")
  lines <- records_of(found$out)
  reasons <- info_of(lines, "AA_reason")
  called <- reasons %in% c("OK", "LOW")
  expect_identical(toupper(info_of(lines, "AA"))[called], case$ancestral[called])
  expect_gt(mean(reasons == "OK"), 0.9)

  # Placed as far to the left as possible
  require_tool("bcftools")
  normal <- tempfile(fileext = ".vcf")
  run_program("bcftools", "norm", "-f", reference, "-o", normal, vcf)
  expect_false(identical(sub("\tGT.*", "", records_of(normal)), sub("\tGT.*", "", records)))
  at_left <- annotate(normal, run, reference = reference, also = "indels")
  expect_identical(info_of(records_of(at_left$out), "AA_reason"), reasons)

  # Exchanged
  polarised <- annotate(vcf, run, reference = reference, also = "indels", polarise = TRUE)
  fields <- do.call(rbind, strsplit(records_of(polarised$out), "\t"))
  expect_identical(fields[called, 4], case$ancestral[called])
  swapped <- called & case$ref != case$ancestral
  expect_identical(fields[, 5], ifelse(swapped, case$ref, case$alt))
  expect_identical(fields[, 10], ifelse(swapped, "1|0:6,5", "0|1:5,6"))
  expect_identical(info_of(records_of(polarised$out), "AA_old_ref"), ifelse(swapped, case$ref, "."))
  expect_equal(attr(polarised$counts, "swapped"), sum(swapped))
})

# A genome with the repeat TTTT, and outgroups' rows to it.
test_that("an outgroup's allele is found by the length of the repeat, wherever its gap stands", {
  require_htslib()
  genome <- "GACCTTTTGACAGGCA"
  cases <- rbind(
    c("GACCTTTTGACAGGCA", "GACCTTTTGACAGGCA", "OK", "CT"),
    c("GACCTTTTGACAGGCA", "GACC-TTTGACAGGCA", "OK", "C"),
    c("GACCTTTTGACAGGCA", "GACCTTT-GACAGGCA", "OK", "C"),
    c("GACCTTTTGACAGGCA", "GACCTTA-GACAGGCA", "OK", "C"),
    c("GACCTTTTGACAGGCA", "GACCTT--GACAGGCA", "NEITHER_ALLELE", "."),
    c("GACCTTTT-GACAGGCA", "GACCTTTTTGACAGGCA", "NEITHER_ALLELE", "."),
    c("GACCTTTTGACAGGCA", "GACCT----ACAGGCA", "NEITHER_ALLELE", "."),
    c("GACCTTTTGACAGGCA", "GACCTTNTGACAGGCA", "NO_COVERAGE", ".")
  )
  reference <- write_fasta(c(chr1 = genome), tempfile(fileext = ".fa"))
  vcf <- write_vcf(vcf_records("chr1", 4, "CT", "C"))
  for (i in seq_len(nrow(cases))) {
    block <- list(list(start = 1, focal = cases[i, 1], outgroup = cases[i, 2]))
    run <- suppressWarnings(run_of_alignments(genome, list(near = block, far = block), 1))
    line <- records_of(annotate(vcf, run, reference = reference, also = "indels")$out)
    expect_identical(c(info_of(line, "AA_reason"), info_of(line, "AA")), unname(cases[i, 3:4]))
  }
  # In two blocks nobody knows what is between them.
  halves <- list(
    list(start = 1, focal = "GACCTT", outgroup = "GACCTT"),
    list(start = 7, focal = "TTGACAGGCA", outgroup = "TTGACAGGCA")
  )
  run <- suppressWarnings(run_of_alignments(genome, list(near = halves, far = halves), 1))
  line <- records_of(annotate(vcf, run, reference = reference, also = "indels")$out)
  expect_identical(info_of(line, "AA_reason"), "NO_COVERAGE")

  # Masked, and with another REF
  bed <- tempfile_of("chr1\t4\t5")
  line <- records_of(annotate(vcf, run, reference = reference, also = "indels", mask = bed)$out)
  expect_identical(info_of(line, "AA_reason"), "MASKED")
  wrong <- write_vcf(vcf_records("chr1", 4, "CTTTA", "C"))
  line <- records_of(annotate(wrong, run, reference = reference, also = "indels")$out)
  expect_identical(info_of(line, "AA_reason"), "REF_MISMATCH")
})

test_that("with a tree the allele is called by parsimony, and a tie is unresolved", {
  require_htslib()
  genome <- "GACCTTTTGACAGGCA"
  rows <- function(outgroup) list(list(start = 1, focal = genome, outgroup = outgroup))
  has <- rows(genome)
  lacks <- rows("GACC-TTTGACAGGCA")
  reference <- write_fasta(c(chr1 = genome), tempfile(fileext = ".fa"))
  vcf <- write_vcf(vcf_records("chr1", 4, "CT", "C"))
  reason <- function(a, b, c) {
    run <- suppressWarnings(run_of_alignments(
      genome, list(a = a, b = b, c = c), 3, method = "parsimony",
      tree = "(((focal,a),b),c);"
    ))
    line <- records_of(annotate(vcf, run, reference = reference, also = "indels")$out)
    c(info_of(line, "AA_reason"), info_of(line, "AA"))
  }
  expect_identical(reason(has, lacks, lacks), c("UNRESOLVED", "."))
  expect_identical(reason(lacks, lacks, has), c("OK", "C"))
  expect_identical(reason(has, has, lacks), c("OK", "CT"))
})

test_that("files that split an alignment give its states, and chains those of AXT files", {
  require_htslib()
  set.seed(803)
  case <- simulated_indels(40, c("near1", "near2", "far"))
  reference <- write_fasta(c(chr1 = case$genome), tempfile(fileext = ".fa"))
  vcf <- write_vcf(vcf_records("chr1", case$position, case$ref, case$alt))
  whole <- run_of_alignments(case$genome, case$rows, 2)
  expected <- records_of(annotate(vcf, whole, reference = reference, also = "indels")$out)

  folder <- new_folder()
  # Blocks of a species: the columns, and where they start in both sequences.
  pieces <- lapply(case$rows, function(blocks) {
    columns <- strsplit(unlist(blocks[[1]][c("focal", "outgroup")]), "")
    # Each block has a focal base.
    cuts <- sort(sample(which(columns$focal != "-"), 60))
    number <- findInterval(seq_along(columns$focal), cuts)
    starts <- lapply(columns, function(row) c(0, cumsum(tapply(row != "-", number, sum))))
    lapply(seq_len(max(number) + 1), function(i) {
      list(rows = lapply(columns, `[`, number == i - 1), focal = starts$focal[[i]] + 1,
           outgroup = starts$outgroup[[i]] + 500)
    })
  })
  as_text <- list(
    maf = function(piece, name) {
      c("a", maf_row("hg.chr1", piece$focal, piece$rows$focal, source_size = nchar(case$genome)),
        maf_row(paste0(name, ".chr9"), piece$outgroup, piece$rows$outgroup, source_size = 1e5), "")
    },
    axt = function(piece, name) {
      n <- lapply(piece$rows, function(row) sum(row != "-"))
      c(sprintf("0 chr1 %.0f %.0f chr9 %.0f %.0f - 5", piece$focal + 1, piece$focal + n$focal,
                piece$outgroup + 1, piece$outgroup + n$outgroup),
        vapply(piece$rows, paste, "", collapse = ""), "")
    }
  )
  writeLines(paste0("chr1\t", nchar(case$genome)), file.path(folder, "chrom.sizes"))
  for (kind in names(as_text)) {
    entries <- lapply(names(pieces), function(name) {
      lines <- unlist(lapply(pieces[[name]], as_text[[kind]], name))
      path <- file.path(folder, paste0(name, ".", kind))
      write_axt(c(if (kind == "maf") "##maf version=1", lines), path)
      c(list(name = name, alignment = path), if (kind == "maf") list(maf_name = name))
    })
    run <- run_quietly(list(
      focal_species = "focal", chromosome_lengths = file.path(folder, "chrom.sizes"),
      focal_maf_name = "hg", outgroups = list(inner = entries[1:2], outer = entries[3]),
      work_dir = file.path(folder, kind), output_dir = file.path(folder, kind, "calls"),
      num_cpus = 1
    ))
    found <- annotate(vcf, run, reference = reference, also = "indels")
    expect_identical(records_of(found$out), expected)
  }

  lengths <- c(chr1 = 3000, chr2 = 700)
  writeLines(sprintf("%s\t%.0f", names(lengths), lengths), file.path(folder, "chrom.sizes"))
  cases <- lapply(1:2, function(i) random_chain_case(lengths, folder = new_folder()))
  genome <- vapply(lengths, random_bases, "", letters = c("A", "T"))
  reference <- write_fasta(genome, tempfile(fileext = ".fa"))
  vcf <- vcf_of_many_indels(genome)
  reasons <- lapply(c("chain", "axt"), function(kind) {
    entries <- lapply(1:2, function(i) {
      entry <- list(name = paste0("s", i), alignment = cases[[i]][[kind]])
      if (kind == "chain") c(entry, list(twobit = cases[[i]]$twobit)) else entry
    })
    run <- run_quietly(list(
      focal_species = "focal", chromosome_lengths = file.path(folder, "chrom.sizes"),
      outgroups = list(inner = entries[1], outer = entries[2]), work_dir = folder,
      output_dir = file.path(folder, kind), num_cpus = 2
    ))
    found <- annotate(vcf, run, reference = reference, also = "indels")
    info_of(records_of(found$out), "AA_reason")
  })
  expect_identical(reasons[[1]], reasons[[2]])
  expect_true(all(c("OK", "LOW", "NEITHER_ALLELE") %in% reasons[[1]]))
})

test_that("records of several ALTs have the state of the site", {
  require_htslib()
  calls <- c(chr1 = "ACgTnNA")
  folder <- calls_folder(calls)
  vcf <- write_vcf(vcf_records("1", 1:7, "A", c("C,G", "C,G", "G,T", "C,G", "C,G", "C,G", "C")))
  found <- annotate(vcf, folder, also = "multiallelic")
  expect_identical(
    info_of(records_of(found$out), "AA_reason"),
    c("OK", "OK", "LOW", "NEITHER_ALLELE", "UNRESOLVED", "NO_COVERAGE", "OK")
  )
  expect_identical(sum(found$counts$records), 7)
  # They are not exchanged.
  polarised <- annotate(vcf, folder, also = "multiallelic", polarise = TRUE)
  expect_identical(records_of(polarised$out), records_of(found$out))
  expect_match(readLines(polarised$out), "is LOW or OK and there is one ALT", all = FALSE)
  # Without `also` all is as ever.
  plain <- records_of(annotate(vcf, folder)$out)
  expect_identical(info_of(plain, "AA_reason"), c(rep("MULTIALLELIC", 6), "OK"))
})

test_that("AA of an indel can be the file's own", {
  require_htslib()
  records <- vcf_records(
    "1", 1:8, c("AC", "A", "A", "AC", "AC", "AC", "AC", "AC,G"),
    c("A", "ATG", "ATG", "A", "A", "A", "<DEL>", "A"),
    c("AA=AC|||", "AA=atg", "AA=aTG", "AA=ACC", "AA=.", ".", "AA=A", "AA=A")
  )[1:7]
  header <- vcf_header(records, more = "##INFO=<ID=AA,Number=1,Type=String,Description=\"a\">")
  vcf <- write_vcf(records, header = header)
  found <- annotate(vcf, "AA", also = "indels", polarise = TRUE)
  lines <- records_of(found$out)
  expect_identical(
    info_of(lines, "AA_reason"),
    c("OK", "LOW", "NO_COVERAGE", "NEITHER_ALLELE", "NO_COVERAGE", "NO_COVERAGE", "INDEL")
  )
  expect_identical(info_of(lines, "AA")[1:4], c("AC|||", "atg", "aTG", "ACC"))
  expect_match(lines[2], "\tATG\tA\t")
})

test_that("what indels need is said", {
  require_htslib()
  genome <- strrep("ACGTTGCA", 5)
  block <- list(list(start = 1, focal = genome, outgroup = genome))
  run <- suppressWarnings(run_of_alignments(genome, list(near = block, far = block), 1))
  reference <- write_fasta(c(chr1 = genome), tempfile(fileext = ".fa"))
  vcf <- write_vcf(vcf_records("chr1", 4, "TT", "T"))
  refused <- function(class, ..., out = tempfile(fileext = ".vcf"), ancestral = run,
                      genome = reference, also = "indels") {
    expect_ancify_error(
      annotate_vcf(vcf, ancestral, out, reference = genome, also = also, verbose = FALSE),
      class, ...
    )
    expect_false(file.exists(out))
  }
  refused("input", "reference", genome = NULL)
  refused("input", "multiallelic", also = "snps")
  refused("input", "record", ancestral = calls_folder(c(chr1 = genome)))
  alignment <- attr(run, "config")$outgroups$alignment[2]
  file.rename(alignment, paste0(alignment, ".away"))
  refused("file", "far", "no such file")
  writeLines("0 chr1 1 50 other 1 50 + 5", alignment)
  refused("file", "far", "changed after the run read it")
  refused("file", "far", ancestral = attr(run, "config")$output_dir)
  # A copy with another time of change is the same file.
  file.copy(paste0(alignment, ".away"), alignment, overwrite = TRUE)
  Sys.setFileTime(alignment, "2020-01-01")
  expect_identical(
    info_of(records_of(annotate(vcf, run, reference = reference, also = "indels")$out), "AA"), "TT"
  )
})

test_that("fields that tell the length of REF are removed where alleles are exchanged", {
  require_htslib()
  records <- vcf_records(
    "1", 1:3, c("A", "AC", "A"), c("ATG", "A", "C"),
    c("AA=ATG;END=1;SVLEN=2;X=3", "AA=AC;END=5;SVLEN=-1", "AA=C;END=3;SVLEN=0")
  )
  header <- vcf_header(records, more = c(
    "##INFO=<ID=AA,Number=1,Type=String,Description=\"a\">",
    sprintf("##INFO=<ID=%s,Number=1,Type=Integer,Description=\"l\">", c("END", "SVLEN", "X"))
  ))
  found <- annotate(write_vcf(records, header = header), "AA", also = "indels", polarise = TRUE)
  lines <- records_of(found$out)
  expect_identical(
    sub("AA_[^\t]*", "", vapply(strsplit(lines, "\t"), `[`, "", 8)),
    c("AA=ATG;X=3;", "AA=AC;END=5;SVLEN=-1;", "AA=C;END=3;SVLEN=0;")
  )
  expect_identical(attr(found$counts, "dropped")$field, c("INFO/END", "INFO/SVLEN"))
})
