# Blocks of an alignment that cover a position together, and rows of one species in a block.

scored_block <- function(score, start, outgroup, focal = strrep("A", nchar(outgroup))) {
  block <- axt_block("chr1", start, focal, outgroup)
  c(sub("5$", score, block[1]), block[-1])
}

# The projection of blocks in each of their orders, at a chunk size each; one, if all are the same.
in_all_orders <- function(blocks, path_of, lengths, ...) {
  orders <- expand.grid(rep(list(seq_along(blocks)), length(blocks)))
  orders <- orders[apply(orders, 1, function(order) !anyDuplicated(order)), ]
  found <- lapply(seq_len(nrow(orders)), function(i) {
    file <- path_of(unlist(blocks[unlist(orders[i, ])]))
    with_chunk_size(sample(c(1, 7, 60, 2^20), 1), {
      expect_one_warning(project_axt(file, lengths, threads = 1, ...), "projection", "overlap")
    })
  })
  shared <- unique(vapply(found, function(x) x$warning$shared, 0))
  list(sequence = unique(lapply(found, `[[`, "value")), shared = shared)
}

test_that("the best of overlapping AXT blocks wins, whatever their order", {
  blocks <- list(
    scored_block("9000", 3, "cccccccc"), scored_block("10", 1, "GGGG"),
    scored_block("", 9, "TTTT"), scored_block("9.5e3", 5, "a-N")
  )
  found <- in_all_orders(blocks, axt_file, c(chr1 = 14))
  expect_identical(found, list(sequence = list(c(chr1 = "GGcca-NcccTTNN")), shared = 7))
  agreed <- in_all_orders(blocks, axt_file, c(chr1 = 14), overlaps = "missing")
  expect_identical(agreed, list(sequence = list(c(chr1 = "GGNNNNNcNNTTNN")), shared = 7))
  last <- suppressWarnings(project_axt(axt_file(unlist(blocks)), c(chr1 = 14), overlaps = "last"))
  expect_identical(last, c(chr1 = "GGGGa-NcTTTTNN"))
})

test_that("blocks of one score have their common letters", {
  blocks <- list(
    scored_block("5", 1, "ACGTacgt"), scored_block("5", 1, "aCGAACg-"),
    scored_block("5.0", 3, "gRNC-t"), scored_block("4", 1, "TTTTTTTT")
  )
  found <- in_all_orders(blocks, axt_file, c(chr1 = 8))
  expect_identical(found, list(sequence = list(c(chr1 = "aCgNNcNN")), shared = 8))
})

test_that("the best of overlapping MAF blocks wins, whatever their order", {
  block <- function(score, start, near) {
    c(sprintf("a%s", score), maf_block(
      list("hg.chr1", start, strrep("A", nchar(near)), "+", 12), list("near.c", 0, near)
    )[-1])
  }
  blocks <- list(
    block(" score=9000.0", 0, "CCCCCCCC"), block(" pass=2 score=-10", 2, "TTTT"),
    block("", 6, "GGGG")
  )
  found <- in_all_orders(
    blocks, maf_file, c(chr1 = 12), maf_name = "near", focal_maf_name = "hg"
  )
  expect_identical(found, list(sequence = list(c(chr1 = "CCCCCCCCGGNN")), shared = 6))
})

test_that("the best of overlapping chains wins, whatever their order", {
  twobit <- write_twobit(c(q = "ACGTACGTACTTTTTTTTTTGGGGGGGGGG"))
  chain <- function(score, start, end, query, lines) {
    c(sprintf("chain %s chr1 20 + %d %d q 30 + %d %d 1", score, start, end, query,
              query + end - start), lines, "")
  }
  blocks <- list(
    chain("20000000001", 0, 10, 0, c("4 2 2", "4")), chain("20000000000", 2, 12, 10, "10"),
    chain("7", 0, 20, 10, "20")
  )
  found <- in_all_orders(blocks, function(lines) write_axt(lines, tempfile()), c(chr1 = 20),
                         twobit = twobit)
  expect_identical(found, list(sequence = list(c(chr1 = "ACGTTTGTACTTGGGGGGGG")), shared = 12))
})

test_that("the row of a species that is nearest to the focal one counts", {
  project <- function(..., focal = "ACGTACGT", overlaps = "score") {
    rows <- lapply(c(...), function(row) list(paste0("near.", row), 3, row))
    focal <- list("hg.chr1", 0, focal, "+", 8)
    found <- lapply(list(c(list(focal), rows), c(rev(rows), list(focal))), function(all) {
      expect_one_warning(
        project_maf(maf_file(do.call(maf_block, all)), c(chr1 = 8), overlaps = overlaps),
        "projection", "of a species that its block has already"
      )
    })
    expect_identical(found[[1]]$value, found[[2]]$value)
    expect_identical(found[[1]]$warning$duplicates, length(rows) - 1)
    found[[1]]$value[["chr1"]]
  }
  expect_identical(project("ACGTACGA", "TTTTTTTT"), "ACGTACGA")
  # Gaps and unknown bases are not near.
  expect_identical(project("ACGTNNN-", "ACGTATTT"), "ACGTATTT")
  # As near: what they have in common
  expect_identical(project("ACGTACGA", "acgtaggt"), "acgtaNgN")
  expect_identical(project("ACGTACGA", "ACGTACTT", "ACGAACGT", "CCCCCCCC"), "ACGNACNN")
  expect_identical(project("ACGTACGA", "TTTTTTTT", overlaps = "missing"), "NNNTNNNN")
  # All rows are checked.
  bad <- maf_file(maf_block(
    list("hg.chr1", 0, "ACG", "+", 8), list("near.a", 0, "ACG"), list("near.b", 0, "AC")
  ))
  expect_ancify_error(project_maf(bad, c(chr1 = 8)), "format", "differ in length (3 and 2)")
})

overlapping_config <- function(...) {
  folder <- new_folder()
  path <- function(name) file.path(folder, name)
  writeLines("chr1\t3000", path("chrom.sizes"))
  axt <- function(name, ...) axt_file(..., path = path(paste0(name, ".axt")))
  axt("near", scored_block(90, 1001, strrep("C", 1500)), scored_block(10, 1, strrep("G", 2000)))
  axt("far", scored_block(5, 1, strrep("C", 2500)))
  list(
    focal_species = "focal", chromosome_lengths = path("chrom.sizes"),
    outgroups = list(
      inner = list(list(name = "near", alignment = path("near.axt"))),
      outer = list(list(name = "far", alignment = path("far.axt")))
    ),
    work_dir = path("work"), output_dir = path("calls"), ...
  )
}

test_that("all ways of a run have the same rule, and record the shared positions", {
  rules <- list(
    score = c(1000, 1500, 0), missing = c(1000, 500, 1000), last = c(2000, 500, 0)
  )
  for (rule in names(rules)) {
    for (keep in c(TRUE, FALSE)) {
      config <- overlapping_config(overlaps = rule, keep_projected = keep)
      expect_one_warning(
        run <- run_quietly(config, threads = 1), "projection", "overlap at 1,000 positions"
      )
      expect_identical(attr(run, "alignments")$shared, c(1000, 0))
      calls <- strsplit(readLines(file.path(config$output_dir, "chr1.fa"))[2], "")[[1]]
      counts <- vapply(c("n", "C", "c"), function(letter) sum(calls == letter), 0)
      expect_identical(unname(counts), rules[[rule]])
    }
  }
})

test_that("another rule makes projections again", {
  config <- overlapping_config(keep_projected = TRUE)
  suppressWarnings(run_quietly(config))
  again <- suppressWarnings(run_quietly(config))
  expect_identical(attr(again, "alignments")$shared, c(1000, 0))
  config$overlaps <- "last"
  expect_one_warning(run_quietly(config), "projection", "the last one in the file counts")
  projected <- readLines(file.path(config$work_dir, "projected", "near", "chr1.fa"))[2]
  expect_identical(substr(projected, 1001, 1001), "G")
})
