# The registry of readers: each door through which a user's file comes into the package. Every
# reader here is tried on cut, damaged and huge files (test-readers.R), and has a fuzz harness.
# `./check` compares the registry with fuzz/readers.txt (.ci/readers).

# `lines`: a small file, whose text `read` takes by its path. `row`: a line that a bomb repeats.
# `extension`: of the file.
reader <- function(harness, lines, read, row = lines[length(lines)], extension = "") {
  list(harness = harness, lines = lines, read = read, row = row, extension = extension)
}

watched <- function(read) with_watch("Reading", read)

readers <- function() {
  lengths <- c(chr1 = 12)
  list(
    axt = reader(
      "axt", c("0 chr1 2 5 chrA 1 4 + 10", "ACGT", "ACGA", ""),
      function(path) project_axt(path, lengths), extension = ".axt"
    ),
    maf = reader(
      "maf", c("##maf version=1", "a score=1", "s hg.chr1 1 4 + 12 ACGT", "s near.x 0 4 + 9 ACGA",
               ""),
      function(path) project_axt(path, lengths, maf_name = "near", focal_maf_name = "hg"),
      row = "s hg.chr1 1 4 + 12 ACGT", extension = ".maf"
    ),
    paf = reader(
      "paf", paste("q", 9, 1, 5, "+", "chr1", 12, 2, 6, 3, 4, 60, "cs:Z:=AC*ga=T", sep = "\t"),
      function(path) project_axt(path, lengths), extension = ".paf"
    ),
    taf = reader(
      "taf", c("#taf version:1", "AA ; i 0 hg.chr1 1 + 12 i 1 near.x 0 + 9", "CC", "G-", "TA"),
      function(path) project_axt(path, lengths, maf_name = "near", focal_maf_name = "hg"),
      extension = ".taf"
    ),
    axt_pairs = reader(
      "axt_pairs", c("0 chr1 2 5 chrA 1 4 + 10", "ACGT", "ACGA", ""),
      function(path) read_axt(path), extension = ".axt"
    ),
    lengths = reader("lengths", c("chr1\t12", "chr2\t7"), read_chromosome_lengths),
    aliases = reader("lengths", c("chr1\t1", "chr2\tNC_2"), function(path) {
      read_chromosome_aliases(path, c("chr1", "chr2"))
    }),
    mask = reader("bed", c("chr1\t0\t5", "chr1\t7\t9"), function(path) {
      calls <- new_folder()
      writeBin(fasta_bytes(c(chr1 = "ACGTACGTACGT"))[[1]], file.path(calls, "chr1.fa"))
      as.vector(count_contexts(calls, mask = path))
    }),
    fasta = reader("fasta", c(">a", "ACGTACGTAC", ">b", "GGTACA"), function(path) {
      as.data.frame(count_kmers(path, 3))
    }, extension = ".fa"),
    reference = reader("fasta", c(">chr1", "ACGTACGTAC"), function(path) {
      vcf <- write_vcf(vcf_records("chr1", 2, "C", "T"))
      out <- tempfile(fileext = ".vcf")
      annotate_vcf(vcf, path, out, progress = FALSE)
      grep("^[^#]", readLines(out), value = TRUE)
    }, extension = ".fa"),
    fastq = reader("fastq", c("@a", "ACGTACGTAC", "+", "IIIIIIIIII"), function(path) {
      as.data.frame(count_kmers(path, 3))
    }, row = "ACGTACGTACGTACGTACGT", extension = ".fq"),
    kmer_text = reader("kmer_text", c("AAC 2", "ACG 1"), function(path) {
      as.data.frame(read_kmers(path))
    }, extension = ".txt"),
    populations = reader("populations", c("s1\tA", "s2\tB"), read_populations_impl),
    spectrum = reader(
      "spectrum", c("5 unfolded \"A\"", "0 3 2 1 0", "1 0 0 0 1"), read_sfs, row = "1 2 3 4",
      extension = ".fs"
    ),
    demes = reader(
      "text", c("time_units: generations", "demes:", "- {name: A, epochs: [{start_size: 10}]}"),
      read_demes, extension = ".yaml"
    ),
    tree = reader("tree", "((a:1,b:2):1,c:3);", function(path) {
      input_faults(parse_newick(read_tree(path, "tree", new_origin())))
    }, extension = ".nwk"),
    recombination_map = reader(
      "recombination_map", c("chr1\trs1\t0\t1", "chr1\trs2\t0.001\t1000"),
      read_recombination_map
    ),
    genes = reader("gff", c(
      "##gff-version 3", "chr1\tx\tmRNA\t1\t9\t.\t+\t.\tID=t",
      "chr1\tx\tCDS\t1\t9\t.\t+\t0\tID=c;Parent=t"
    ), function(path) watched(function(watch) coding_parts(path, watch)), extension = ".gff3"),
    phenotypes = reader("genotype_tables", c("FID IID y", "f a 1", "f b 2.5"), read_phenotypes),
    variants = reader(
      "genotype_tables", c("1 rs1 0 10 A C", "1 rs2 0 20 G T"),
      function(path) {
        bed <- tempfile(fileext = ".bed")
        writeBin(as.raw(c(0x6c, 0x1b, 1, 0, 0)), bed)
        watched(function(watch) read_variants_impl(path, bed, 4L, watch))
      }
    ),
    sparse_grm = reader("grm", c("0\t0\t1", "1\t0\t0.5", "1\t1\t1.25"), function(path) {
      ids <- tempfile()
      writeLines(c("f a", "f b"), ids)
      watched(function(watch) read_sparse_grm_impl(ids, path, watch))
    }, row = "1\t1\t1"),
    oxford_samples = reader(
      "oxford_samples", c("ID_1 ID_2 missing sex", "0 0 0 D", "f a 0 1", "f b 0 2"),
      function(path) watched(function(watch) read_oxford_samples_impl(path, 2, watch)),
      extension = ".sample"
    ),
    components = reader("rows", c("variant component", "rs1 a", "rs2 b"), read_components,
                        row = "rs3 c"),
    component_csv = reader("rows", c("variant,component", "rs1,a", "\"rs2\",b"), read_components,
                           row = "rs3,c", extension = ".csv"),
    component_sets = reader("text", "{\"a\": [\"rs1\"], \"b\": [\"rs2\", \"rs3\"]}",
                            read_components, extension = ".json"),
    shares = reader("rows", c("0.25 0.75", "1 0"), function(path) {
      watched(function(watch) read_numbers_impl(path, FALSE, watch))
    })
  )
}

# Writes a file whose name ends as the reader wants it.
reader_file <- function(reader, bytes, end = "") {
  path <- tempfile(fileext = paste0(reader$extension, end))
  writeBin(bytes, path)
  path
}

reader_text <- function(lines, end = "\n") charToRaw(paste0(lines, end, collapse = ""))

gzip_bytes <- function(bytes) {
  path <- tempfile()
  connection <- gzfile(path, "wb")
  writeBin(bytes, connection)
  close(connection)
  file_bytes(path)
}

# A frame of Zstandard that keeps its text, of fewer than 256 bytes, as it is.
zstd_bytes <- function(bytes) {
  n <- length(bytes)
  block <- writeBin(8L * n + 1L, raw(), endian = "little")[1:3]
  c(as.raw(c(0x28, 0xb5, 0x2f, 0xfd, 0x20, n)), block, bytes)
}

# A frame to skip, as pzstd writes it first.
skipped_frame <- as.raw(c(0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4))

# A text of `lines`, then of `row` again and again, which inflates a thousandfold to `size` bytes.
bomb_bytes <- function(lines, row, size) {
  piece <- reader_text(rep(row, ceiling(2^20 / (nchar(row) + 1))))
  member <- gzip_bytes(piece)
  c(gzip_bytes(reader_text(lines)), rep(member, ceiling(size / length(piece))))
}

# Peak memory in bytes that `code` adds to what this process has; NA where Linux does not tell.
added_memory <- function(code) {
  field <- function(name) {
    line <- grep(name, readLines("/proc/self/status"), value = TRUE)
    1024 * as.numeric(gsub("[^0-9]", "", line))
  }
  gc()
  if (!file.exists("/proc/self/clear_refs")) {
    force(code)
    return(NA_real_)
  }
  writeLines("5", "/proc/self/clear_refs")
  before <- field("^VmRSS")
  force(code)
  field("^VmHWM") - before
}
