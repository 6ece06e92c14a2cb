# Configurations as the Python tool takes them, for the package's example.

python_lines <- c(
  "# \u2500\u2500 Configuration \u2500\u2500",
  "focal_species: focal   # a label",
  "chromosome_lengths: chrom.sizes",
  "outgroups:",
  "  inner:",
  "    - name: near1",
  "      alignment: near1.axt.gz",
  "    - name: near2",
  "      alignment: near2.axt.gz",
  "  outer:",
  "    - name: far",
  "      alignment: far.axt.gz",
  "work_dir: .",
  "output_dir: ./calls/"
)

python_file <- function(..., lines = python_lines) {
  folder <- new_folder()
  ancify_example(folder)
  writeLines(enc2utf8(c(lines, ...)), file.path(folder, "python.yaml"), useBytes = TRUE)
  folder
}

python_config <- function(...) with_folder(python_file(...), ancify_config("python.yaml"))

# The calls' checksums of a run in the folder of its configuration.
python_calls <- function(...) {
  with_folder(python_file(...), {
    run_quietly("python.yaml")
    tools::md5sum(file.path("calls", c("chr1.fa", "chr2.fa", "chrX.fa")))
  })
}

test_that("values may be written in each way that YAML has", {
  read <- function(line, key) python_config(line)[[key]]
  expect_identical(read("num_cpus: 2.0", "num_cpus"), 2L)
  expect_identical(read("num_cpus: \"2\"", "num_cpus"), 2L)
  expect_identical(read("min_inner_freq: 2", "min_inner_freq"), 2L)
  expect_identical(read("backend: \"auto\"   # or \"cpu\"", "backend"), "auto")
  expect_identical(read("backend: 'cpu'", "backend"), "cpu")
  expect_identical(read("gpu_devices: [0, 1, 2]", "gpu_devices"), 0:2)
  expect_identical(read("gpu_devices:\n  - 0\n  - 2", "gpu_devices"), c(0L, 2L))
  expect_identical(read("gpu_devices: []", "gpu_devices"), integer())
  expect_identical(read("substitution_model: hky85", "substitution_model"), "HKY85")
  expect_identical(read("model_kappa: 4", "model_kappa"), 4)
  expect_identical(read("ml_high_threshold: 9e-1", "ml_high_threshold"), 0.9)
  expect_identical(read("likelihood_low_threshold: .5", "likelihood_low_threshold"), 0.5)
  expect_identical(read("model_base_freqs: [0.3, 0.2, 0.2, 0.3]", "model_base_freqs"),
                   c(A = 0.3, C = 0.2, G = 0.2, T = 0.3))
  expect_named(read("chromosomes:\n  - chrX\n  - chr1   # the longest", "lengths"),
               c("chrX", "chr1"))
  expect_named(read("chromosomes: [chrX,\n              chr1]", "lengths"), c("chrX", "chr1"))
})

test_that("a key without a value, or null, has its default", {
  keys <- setdiff(names(config_keys()), sub(":.*", "", python_lines))
  expected <- python_config()
  for (value in c("", " null", " ~")) {
    expect_identical(python_config(paste0(keys, ":", value))[keys], expected[keys])
  }
})

test_that("an evaluation has both, one or none of its parts", {
  evaluation <- function(...) python_config("evaluation:", ...)$evaluation
  expect_null(python_config("evaluation:")$evaluation)
  defaults <- list(reference_dir = NULL, reference_pattern = "{chrom}.fa", vcf_dir = NULL,
                   vcf_pattern = "{chrom}.vcf.gz")
  expect_identical(python_config("evaluation: {}")$evaluation, defaults)
  expect_identical(evaluation("  reference_dir:", "  vcf_dir: null"), defaults)
  expect_identical(
    evaluation("  reference_pattern: \"anc_{chrom_id}.fa\"", "  vcf_pattern: 'x{chrom}.vcf'"),
    utils::modifyList(defaults, list(reference_pattern = "anc_{chrom_id}.fa",
                                     vcf_pattern = "x{chrom}.vcf"))
  )
  expect_identical(fill_pattern("{chrom}/{chrom_id}", c("chr1", "Chr2", "CHR3", "2L", "chr")),
                   c("chr1/1", "Chr2/2", "CHR3/3", "2L/2L", "chr/"))
})

test_that("a tree needs no ';', in one line, in many and in a file", {
  written <- python_calls("method: parsimony", "tree: ((near1,near2),far);")
  expect_calls_of <- function(...) {
    expect_identical(python_calls("method: parsimony", ...), written)
  }
  expect_calls_of("tree: \"((near1,near2),far)\"")
  expect_calls_of("tree: >", "  ((near1:0.1,near2:0.1)", "  ancestor:1e-2 , far:.3) : 0")
  expect_calls_of("tree: |", "  ((near1,", "  near2), far)")

  folder <- python_file("method: parsimony", "tree: species.nwk")
  writeLines(c("((near1,near2),", "far)", ""), file.path(folder, "species.nwk"))
  with_folder(folder, run_quietly("python.yaml"))
  found <- tools::md5sum(file.path(folder, "calls", basename(names(written))))
  expect_identical(unname(found), unname(written))
})

test_that("one tier may be empty where the method has a tree", {
  one_tier <- python_lines[-(11:12)]
  for (outer in c("  outer: []", "  outer:")) {
    folder <- python_file("method: parsimony", "tree: (near1,near2)",
                          lines = replace(one_tier, 10, outer))
    run <- with_folder(folder, run_quietly("python.yaml"))
    expect_length(list.files(file.path(folder, "calls"), "\\.fa$"), 3)
  }
})

test_that("all keys of the tool together run", {
  folder <- python_file(
    "chromosomes:", "  - chr1", "  - chrX", "min_inner_freq: 1", "min_outer_freq: 1", "num_cpus: 2",
    "backend: auto", "gpu_devices: [0, 1]", "method: likelihood",
    "tree: ((near1:0.02,near2:0.03):0.05,far:0.08)", "substitution_model: gtr", "model_kappa: 2.0",
    "model_base_freqs: [0.3, 0.2, 0.2, 0.295]", "model_rates: [1, 4, 1, 1, 4, 1]",
    "likelihood_high_threshold: 0.8", "likelihood_low_threshold: 0.5", "ml_model_path: model.lgb",
    "ml_training_reference: ./reference/", "ml_high_threshold: 0.8", "ml_low_threshold: 0.5",
    "evaluation:", "  reference_dir: ./reference/",
    "  reference_pattern: \"ancestor_{chrom_id}.fa\""
  )
  dir.create(file.path(folder, "reference"))
  run <- with_folder(folder, {
    run_quietly("python.yaml", "project")
    for (i in c("1", "X")) {
      projected <- sprintf("projected/far/chr%s.fa", i)
      file.copy(projected, sprintf("reference/ancestor_%s.fa", i))
    }
    run_quietly("python.yaml")
  })
  expect_identical(run$chromosome, c("chr1", "chrX"))
  lines <- readLines(file.path(folder, "calls", "evaluation", "chrX.evaluation.txt"))
  expect_true(all(c("[coverage]", "[reference_comparison]") %in% lines))
})

test_that("no device is a contradiction only where GPUs are asked for", {
  expect_identical(with_folder(python_file("gpu_devices: []"), class(run_quietly("python.yaml"))),
                   c("ancify_run", "data.frame"))
  folder <- python_file("backend: gpu", "gpu_devices: []")
  expect_ancify_error(with_folder(folder, run_quietly("python.yaml")), "device", "`gpu_devices`",
                      "'gpu'", "'cpu'")
  expect_false(dir.exists(file.path(folder, "calls")))
})
