# Records at which no ancestral allele may stand: masked ones, and those of another reference.

calls <- calls_folder(list(chr1 = "AAAAAAAA"))

annotated <- function(records, calls, ...) {
  out <- tempfile(fileext = ".vcf")
  suppressWarnings(annotate_vcf(write_vcf(records), calls, out, verbose = FALSE, ...))
  lines <- readLines(out)
  lines[!startsWith(lines, "#")]
}

test_that("masked records lose an earlier AA, and are in no spectrum", {
  require_htslib()
  records <- vcf_records("chr1", c(2, 4, 6), "A", "C", "AA=A")
  vcf <- genotype_vcf(records, matrix("0|1", 3, 2, dimnames = list(NULL, c("s1", "s2"))))
  mask <- tempfile(fileext = ".bed")
  writeLines("chr1\t3\t4", mask)
  for (ancestral in list(calls, "AA")) {
    out <- tempfile(fileext = ".vcf")
    suppressWarnings(annotate_vcf(vcf, ancestral, out, mask = mask, verbose = FALSE))
    lines <- grep("^chr1", readLines(out), value = TRUE)
    expect_identical(grepl("AA=A", lines), c(TRUE, FALSE, TRUE))
    expect_match(lines[2], "AA_reason=MASKED")
    x <- sfs_from_vcf(out, c(s1 = "P", s2 = "P"), threads = 1)
    expect_identical(sum(plain_array(x)), 2)
    expect_identical(records_of_reason(x)[["MASKED"]], 1)
  }
})

# Records of sites that vary, whose AA_reason is this.
with_reason <- function(reason, position, ref, alt, info = "") {
  records <- vcf_records("chr1", position, ref, alt, paste0("AA_reason=", reason, info))
  write_vcf(records, header = vcf_header(records, more = sprintf(
    "##INFO=<ID=%s,Number=%s,Type=%s,Description=\"x\">", c("AA_reason", "AC", "AN"),
    c("1", "A", "1"), c("String", "Integer", "Integer")
  )))
}

test_that("excluded records are no sites that vary in a run", {
  require_htslib()
  config <- ancify_example(tempfile())
  config[c("method", "chromosomes")] <- c("coalescent", "chr1")
  config$history <- list(
    splits = c(near1 = 240000, near2 = 320000, far = 1100000), sizes = rep(50000, 3)
  )
  calls <- function(variants) {
    config$variants <- variants
    config$output_dir <- tempfile()
    run <- NULL
    told <- log_lines(run <- ancify_run(config, threads = 1, progress = FALSE))
    list(calls = strsplit(as.character(read_ancestral(run)[[1]]), "")[[1]], told = told)
  }
  without <- calls(NULL)$calls
  position <- which(without %in% c("A", "C", "G", "T"))[seq(100, 2000, 100)]
  # No outgroup has these alleles.
  vcf <- function(reason) {
    ref <- without[position]
    with_reason(reason, position, chartr("ACGT", "CGTA", ref), chartr("ACGT", "GTAC", ref),
                ";AC=5;AN=10")
  }
  used <- calls(vcf("OK"))
  expect_identical(which(used$calls != without), position)
  expect_no_match(used$told, "Left out")
  for (reason in c("MASKED", "REF_MISMATCH")) {
    left_out <- calls(vcf(reason))
    expect_identical(left_out$calls, without)
    expect_match(left_out$told, "Left out, .* 20 of their sites", all = FALSE)
  }
  expect_identical(calls(vcf(rep(c("OK", "MASKED"), 10)))$calls[position],
                   ifelse(rep(c(TRUE, FALSE), 10), used$calls[position], without[position]))
})

test_that("excluded records have no states, and no depths", {
  require_htslib()
  out <- tempfile()
  vcf <- with_reason(c("OK", "MASKED", "REF_MISMATCH", "LOW"), 2:5, "A", "C")
  exported <- export_states(calls, "tsinfer", out, sites = vcf)
  expect_identical(utils::read.delim(out)$ancestral_state, c("A", "N", "N", "A"))
  expect_identical(exported$unknown, 2L)
  export_states(calls, "bed", out, sites = vcf)
  expect_identical(readLines(out), c("chr1\t1\t2\thigh", "chr1\t4\t5\thigh"))

  records <- paste(vcf_records("chr1", 1:3, "A", "C", paste0("AA_reason=", c(
    "OK", "MASKED", "REF_MISMATCH"
  ))), "GT:DP", sprintf("0/1:%d", 3:5), sep = "\t")
  deep <- write_vcf(records, header = vcf_header(records, more = c(
    "##INFO=<ID=AA_reason,Number=1,Type=String,Description=\"x\">",
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"x\">",
    "##FORMAT=<ID=DP,Number=1,Type=Integer,Description=\"x\">"
  )))
  found <- read_coverage(deep, c(s1 = "P"))
  expect_identical(found$sites, 1)
  expect_equal(found$depths$P, c(0, 0, 0, 1))
})

test_that("a chromosome's name never leads out of the folder of calls", {
  require_htslib()
  calls <- file.path(new_folder(), "calls")
  dir.create(calls)
  writeLines(c(">evil", "GGGGGGGG"), file.path(dirname(calls), "evil.fa"))
  writeLines(c(">chr1", "AAAAAAAA"), file.path(calls, "chr1.fa"))
  for (name in c("../evil", "..", ".", "./../evil", "a/b", file.path(dirname(calls), "evil"))) {
    records <- vcf_records(c("chr1", name), 2, "A", "G")
    lines <- annotated(records, calls)
    expect_match(lines[2], "NO_COVERAGE", info = name)
    expect_no_match(lines[2], "AA=", info = name)
  }
})

test_that("counts of one allele go where alleles are exchanged; the rest is told", {
  require_htslib()
  records <- c(
    vcf_records("chr1", 2, "G", "A", "RO=7;AO=3"), vcf_records("chr1", 4, "A", "G", "RO=7;AO=3"),
    vcf_records("chr1", 6, "C", "T", "RO=7;AO=3")
  )
  header <- vcf_header(records, more = c(
    "##INFO=<ID=RO,Number=1,Type=Integer,Description=\"r\">",
    "##INFO=<ID=AO,Number=A,Type=Integer,Description=\"a\">"
  ))
  out <- tempfile(fileext = ".vcf")
  vcf <- write_vcf(records, header = header)
  expect_warning(
    annotate_vcf(vcf, calls, out, polarise = TRUE, verbose = FALSE),
    "1 of 3 records keep", class = "ancify_annotation_warning"
  )
  lines <- grep("^chr1", readLines(out), value = TRUE)
  expect_identical(grepl("RO=7", lines), c(FALSE, TRUE, TRUE))
})

test_that("fields of one allele go, but not another program's of the same name", {
  require_htslib()
  of_allele <- c("RO", "AO", "SRF", "SRR", "QR", "BaseQRankSum", "AB", "RD", "TR", "NV", "NF")
  other <- c("AB", "RD", "TR", "NV", "NF", "FREQ")
  polarised <- function(ids, description) {
    record <- vcf_records("chr1", 2, "G", "A", paste0(ids, "=1", collapse = ";"))
    header <- vcf_header(record, more = sprintf(
      "##INFO=<ID=%s,Number=1,Type=Float,Description=\"%s\">", ids, description
    ))
    out <- tempfile(fileext = ".vcf")
    annotate_vcf(write_vcf(record, header = header), calls, out, polarise = TRUE,
                 verbose = FALSE)
    info <- strsplit(strsplit(tail(readLines(out), 1), "\t")[[1]][8], ";")[[1]]
    intersect(ids, sub("=.*", "", info))
  }
  expect_identical(polarised(of_allele, "Reads of the Reference or ALTERNATE allele"), character())
  expect_identical(polarised(other, "Depth of all reads, or repeats"), other)
  expect_identical(polarised(c("RO", "BaseQRankSum"), "x"), character())

  # Descriptions of VarScan, STITCH, QUILT and GLIMPSE
  expect_identical(polarised("WT", "Number of samples called reference (wild-type)"), character())
  expect_identical(polarised(c("HOM", "HET"), "Number of samples called homozygous-variant"), "HET")
  expect_identical(
    polarised(c("EAF", "EAC", "ERC", "PAF"), "Copies of the alternate allele from the pileup"),
    character()
  )
  expect_identical(polarised(c("HD", "OHD"), "Haploid dosages"), character())
  expect_identical(polarised("HS", "Sampled haplotype pairs packed into integers"), character())
  others <- c("HD", "HS", "HOM", "PAF")
  expect_identical(polarised(others, "Haplotype depth, or homogeneity score"), others)
})

test_that("strands of both alleles change places", {
  require_htslib()
  records <- paste(vcf_records("chr1", c(2, 4), c("G", "A"), c("A", "G")), "GT:SB:SRF:AO",
                   "0/1:1,2,3,4:5:6", sep = "\t")
  header <- vcf_header(records, more = c(vcf_info, paste0("##FORMAT=<ID=", c(
    "SB,Number=4,Type=Integer", "SRF,Number=1,Type=Integer", "AO,Number=A,Type=Integer"
  ), ",Description=\"x\">")))
  out <- tempfile(fileext = ".vcf")
  annotate_vcf(write_vcf(records, header = header), calls, out, polarise = TRUE,
               verbose = FALSE)
  cells <- do.call(rbind, strsplit(grep("^chr1", readLines(out), value = TRUE), "\t"))[, 9:10]
  expect_identical(cells[1, ], c("GT:SB", "1/0:3,4,1,2"))
  expect_identical(cells[2, ], c("GT:SB:SRF:AO", "0/1:1,2,3,4:5:6"))
})

# INFO of a record whose alleles are exchanged, by field. `types` and `numbers` of its fields.
exchanged_info <- function(values, types, numbers = "1") {
  record <- vcf_records("chr1", 2, "G", "A", paste0(names(values), "=", values, collapse = ";"))
  header <- vcf_header(record, more = sprintf(
    "##INFO=<ID=%s,Number=%s,Type=%s,Description=\"x\">", names(values), numbers, types
  ))
  out <- tempfile(fileext = ".vcf")
  annotate_vcf(write_vcf(record, header = header), calls, out, polarise = TRUE, verbose = FALSE)
  fields <- strsplit(strsplit(tail(readLines(out), 1), "\t")[[1]][8], ";")[[1]]
  fields <- setdiff(fields, c("AA=A", "AA_reason=OK", "AA_old_ref=G"))
  stats::setNames(sub(".*=", "", fields), sub("=.*", "", fields))
}

test_that("names of frequencies and counts mean the same in either case", {
  require_htslib()
  shares <- c(AF_EAS = "0.25", gnomad_af = "0.25", Eur_Af = "0.25")
  for (number in c("1", "A", ".")) {
    expect_identical(exchanged_info(shares, "Float", number), replace(shares, 1:3, "0.75"))
  }
  counts <- c(AC_AFR = "9", AN_AFR = "10", ac_eas = "2", an_eas = "10")
  expect_identical(exchanged_info(counts, "Integer"), replace(counts, c(1, 3), c("1", "8")))
  # Maxima and minima are those of other populations then.
  extremes <- c("AF_POPMAX", "AF_popmax", "MAX_AF", "gnomAD_max_af", "Min_AF", "POPMAX_AF")
  for (number in c("1", "A", ".")) {
    values <- c(stats::setNames(rep("0.9", length(extremes)), extremes), AF = "0.25")
    expect_identical(exchanged_info(values, "Float", number), c(AF = "0.75"))
  }
  expect_identical(exchanged_info(c(AC_POPMAX = "9", AN_POPMAX = "10", DP = "3"), "Integer"),
                   c(DP = "3"))
  texts <- c(POPMAX = "AFR", MAX_AF_POPS = "gnomAD_AFR", AS_SB_TABLE = "1,2|20,21", AF_src = "x")
  expect_identical(exchanged_info(texts, "String", "."), texts["AF_src"])
  bounds <- c(faf95_afr = "0.5", FAF99 = "0.5", nhomalt_XX = "2", MAF = "0.1")
  expect_identical(exchanged_info(bounds, "Float"), bounds["MAF"])
})

test_that("fields of samples follow the table of INFO", {
  require_htslib()
  values <- c(
    GT = "1/1", AF = "0.9", VAF1 = "0.9", SAC = "1,2,20,7", AC = "2", AF_max = "0.9", DP = "30"
  )
  types <- c("String", "Float", "Float", "Integer", "Integer", "Float", "Integer")
  for (number in c("1", ".", "A")) {
    record <- paste(vcf_records("chr1", 2, "G", "A", "I16=1,2,20,21"), paste(names(values),
      collapse = ":"
    ), paste(values, collapse = ":"), sep = "\t")
    header <- vcf_header(record, more = c(
      "##INFO=<ID=I16,Number=16,Type=Float,Description=\"x\">",
      sprintf("##FORMAT=<ID=%s,Number=%s,Type=%s,Description=\"x\">", names(values),
              c("1", number, "1", ".", number, number, "1"), types)
    ))
    vcf <- write_vcf(record, header = header)
    out <- tempfile(fileext = ".vcf")
    found <- annotate_vcf(vcf, calls, out, polarise = TRUE, verbose = FALSE)
    expect_identical(strsplit(tail(readLines(out), 1), "\t")[[1]][9:10],
                     c("GT:AF:SAC:DP", "0/0:0.1:20,7,1,2:30"))
    expect_identical(attr(found, "dropped")$field,
                     c("FORMAT/AC", "FORMAT/AF_max", "FORMAT/VAF1", "INFO/I16"))
    annotate_vcf(vcf, calls, out, polarise = TRUE, verbose = FALSE, keep_fields = "FORMAT/AF")
    expect_match(tail(readLines(out), 1), "\t0/0:0.9:", fixed = TRUE)
  }
})

test_that("one rule says which names are those of files", {
  good <- c("chr1", "HLA-A*01:01", "a\u00e4", "...", "-", strrep("x", 200))
  bad <- c("", ".", "..", "../x", "a/b", "/etc/x", "a b", " ", "a\tb", "a\nb", "\x01", "\x7f",
           "\xe4", strrep("x", 201), NA)
  expect_identical(names_a_path(good), rep(TRUE, length(good)))
  expect_identical(names_a_path(bad), rep(FALSE, length(bad)))
  expect_identical(names_a_path(character()), logical())
  for (name in setdiff(bad, NA)) {
    expect_ancify_error(chromosome_file(c("chr1", name), ".fa"), "input", "cannot name a file")
  }
})
