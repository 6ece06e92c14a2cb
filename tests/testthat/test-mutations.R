# Mutated files of all that R parses itself, and of small tables: each ends as a value or as an
# error of the package. Many more were tried by hand; see RELIABILITY.md.

expect_values_and_errors <- function(outcomes) {
  expect_identical(unique(outcomes[!outcomes %in% c("value", "error")]), character())
  expect_true(all(c("value", "error") %in% outcomes))
}

test_that("mutated spectra are spectra that are written as they are read, or errors", {
  outcomes <- outcomes_of_mutants(
    n_mutations(500),
    list(
      c("# a comment", "2 3 unfolded \"A\" \"B b\"", "1 3 5 2 4 6", "1 0 0 0 0 1"),
      c("3 3 folded", "0 2 1 4 1 0 0 0 0", "1 0 0 0 0 1 1 1 1"), c("4", "nan 1e-3 .5 2"),
      c("2 2 2 unfolded", "1 2 3 4 5 6 7 8", "1 0 0 0 0 0 0 1")
    ),
    c("folded", "unfolded", "\"A\"", "\"A\" \"A\"", "2", "3", "1000000", "nan", "-inf"), read_sfs,
    check = function(x) {
      if (!identical(read_sfs(write_sfs(x, tempfile())), x)) "another spectrum is read again"
    }
  )
  expect_values_and_errors(outcomes)
})

demes_texts <- list(
  c(
    "time_units: years", "generation_time: 25", "description: some", "doi: [a, b]",
    "defaults: {epoch: {start_size: 1000}, migration: {rate: 0.001}}", "demes:", "- name: X",
    "  epochs: [{end_time: 1000}]", "- {name: A, ancestors: [X]}", "- name: B",
    "  ancestors: [X]", "  epochs:", "  - {start_size: 10, end_size: 100, end_time: 250}",
    "  - {size_function: linear, end_size: 50}", "- name: C", "  ancestors: [A, B]",
    "  proportions: [0.3, 0.7]", "  start_time: 100", "migrations:", "- demes: [A, B]",
    "- {source: A, dest: C, start_time: 50, end_time: 25}", "pulses:",
    "- {sources: [A], dest: B, proportions: [0.1], time: 500}"
  ),
  c(
    "time_units: generations", "demes:", "  - {name: A, epochs: [{start_size: 100}]}",
    "  - &b {name: B, ancestors: [A], start_time: 10, epochs: [{start_size: 5}]}",
    "metadata: {ancify: {samples: [B, A]}}"
  )
)

test_that("mutated Demes files are models or errors", {
  outcomes <- outcomes_of_mutants(
    n_mutations(500), demes_texts,
    c("name", "epochs", "start_time", "end_time", "ancestors", "[A, B]", "{}", "[]", "generations",
      "size_function", "exponential", "cloning_rate: 1", "metadata: ", "samples", "pulses: "),
    read_demes,
    check = function(model) {
      core_events(events_at(model, NULL))
      if (!all(is.finite(attr(model, "reference_size")))) "a size that is none"
    }
  )
  expect_values_and_errors(outcomes)
})

test_that("mutated configurations are read, or errors", {
  folder <- new_folder()
  writeLines(c("chr1\t100", "chr2\t50"), file.path(folder, "sizes"))
  file.create(file.path(folder, c("a.axt", "b.axt", "c.axt.gz")))
  base <- c(
    "focal_species: focal", "chromosome_lengths: sizes", "chromosomes: [chr1, chr2]", "outgroups:",
    "  inner:", "  - {name: a, alignment: a.axt}", "  - {name: b, alignment: b.axt}", "  outer:",
    "  - name: c", "    alignment: c.axt.gz", "work_dir: work", "num_cpus: 2", "posterior: false"
  )
  texts <- list(
    c(base, "method: voting", "min_inner_freq: 2", "keep_projected: no", "on_bad_block: skip"),
    c(base, "method: likelihood", "tree: '((focal:0.1,a:0.1):0.1,b:0.1,c:0.3);'",
      "substitution_model: GTR", "model_rates: {AC: 1, AG: 4, AT: 1, CG: 1, CT: 4, GT: 1}",
      "model_base_freqs: {A: 0.3, C: 0.2, G: 0.2, T: 0.3}", "rate_alpha: 0.5", "invariant: 0.1"),
    c(base, "method: coalescent", "history:", "  splits: {a: 1000, b: 20000, c: 40000}",
      "  sizes: [20000, 30000, 30000]", "  focal_size: 10000", "  mutation_rate: 1.2e-8"),
    c(base, "cluster: {partition: p, time: \"04:00:00\", memory: 8G, cpus: 2}",
      "evaluation: {reference_dir: ., vcf_pattern: \"{chrom}.vcf\"}", "gpu_devices: [0]")
  )
  with_folder(folder, {
    outcomes <- outcomes_of_mutants(
      n_mutations(700), texts,
      c("focal_species", "tree", "likelihood", "ml", "outgroups: ", "inner", "[]", "{}", "chrom",
        "a.axt", "history: ", "evaluation: ", "estimate: true", "true", "0.5"),
      ancify_config,
      check = function(config) {
        again <- ancify_config(config)
        if (!identical(again$lengths, config$lengths)) "another configuration is read again"
      }
    )
  })
  expect_values_and_errors(outcomes)
})

test_that("mutated trees are trees that are written as they are read, or errors", {
  outcomes <- outcomes_of_mutants(
    n_mutations(700),
    list(
      "((a:0.1,b:0.2):0.05,(c:0.3,d:1e-3)x:0.1,e:0);", "(a,(b,(c,(d,'e e'))));",
      c("[a comment] ((a [x], 'b''c'):1,", "c:2)root;"), "((\u00e9:1,b:2)'n 1':0.5);"
    ),
    c("a", "b", "'a b'", "''", ":0.1", ":-1", "(a,b)", "()", "[&&NHX:x=1]", "):0.1"),
    function(path) input_faults(as_phylo(path)), # as call_ancestral() does
    check = function(tree) {
      # Trees are written where fits have given all lengths.
      again <- if (has_lengths(tree)) parse_newick(newick_text(tree, 15)) else tree
      if (!identical(again$tip.label, tree$tip.label)) "other leaves are read again"
    }
  )
  expect_values_and_errors(outcomes)
})

test_that("mutated tables of lengths and populations are tables or errors", {
  lengths <- outcomes_of_mutants(
    n_mutations(700),
    list(c("chr1\t100", "chr2\t50\t7\t8\t9", "", "# none", "chrX 10"), "\xef\xbb\xbfa\t1"),
    c("chr1", "chr2\t1\n", "\t", "1", "a/b"), read_chromosome_lengths,
    check = function(x) if (!all(x >= 1) || anyDuplicated(names(x))) "lengths that are none"
  )
  expect_values_and_errors(lengths)
  populations <- outcomes_of_mutants(
    n_mutations(700),
    list(c("s1\tYRI", "s2\tYRI\tx", "s 3\tCEU", "# none"), c("s1 A", "s2 B", "", "\u00e9 B")),
    c("s1", "\tYRI\n", "s4 C\n", "s5 D\n", "s6 E\n", "\"B\""), population_table,
    check = function(x) if (anyNA(x) || anyDuplicated(x$sample)) "a table that is none"
  )
  expect_values_and_errors(populations)
})

test_that("mutated masks are used or errors", {
  skip_if(is.na(ancify_build_info()$htslib))
  folder <- new_folder()
  vcf <- file.path(folder, "some.vcf")
  writeLines(c(
    "##fileformat=VCFv4.2", "##contig=<ID=1,length=30>",
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO",
    "1\t2\t.\tA\tC\t.\t.\t.", "1\t20\t.\tA\tG\t.\t.\t."
  ), vcf)
  calls <- file.path(folder, "calls.fa")
  writeLines(c(">1", strrep("A", 30)), calls)
  out <- file.path(folder, "out.vcf")
  annotated <- function(mask) {
    suppressMessages(
      annotate_vcf(vcf, calls, out, mask = mask, threads = 1, progress = FALSE)
    )
  }
  outcomes <- outcomes_of_mutants(
    n_mutations(300),
    list(
      c("track name=x", "1\t0\t5\tname\t0\t+", "# none", "1 3 10", "2 1 4", "", "browser x"),
      "1 5 9"
    ),
    c("1", "2", "track ", "\t0\t1\n", "30"), annotated
  )
  expect_values_and_errors(outcomes)
})
