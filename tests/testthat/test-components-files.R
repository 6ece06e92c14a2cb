# Components in files of NumPy, GPU_REML and R, and in csv.

set.seed(41)
case <- reml_case(40, 30)
g <- case$g
ids <- g$variants$id
fixture <- function(name) test_path("fixtures", "numpy", name)

file_of <- function(lines, extension) {
  path <- tempfile(fileext = extension)
  writeLines(lines, path)
  path
}

# The table of components on the genotypes.
table_on <- function(components, ...) as.data.frame(components_on(components, g, ...))

coding_and_other <- data.frame(
  variant = ids[c(1, 2, 3, 4, 6)], component = c("coding", "other")[c(1, 2, 1, 2, 2)], weight = 1
)

# A .npy of integers or doubles, of one dimension.
npy_bytes <- function(x) {
  header <- sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }\n",
                    if (is.integer(x)) "<i4" else "<f8", length(x))
  c(as.raw(c(0x93, utf8ToInt("NUMPY"), 1, 0, nchar(header), 0)), charToRaw(header),
    writeBin(x, raw(), endian = "little"))
}

npy_file <- function(bytes) {
  path <- file.path(new_folder(), "coding.npy")
  writeBin(bytes, path)
  path
}

test_that("components of GPU_REML are read as they are", {
  spec <- paste(
    '{"version": 1, "metadata": {"source": "x"}, "components": [',
    '{"name": "other", "variant_indices": [1, 3, 5], "annotation": {"path": ["a", 2]}},',
    '{"name": "coding", "variant_indices": [0, 2]}]}'
  )
  bare <- paste(
    '[{"variant_indices": [1, 3, 5], "name": "other"},',
    '{"name": "coding", "variant_indices": [2, 0]}]'
  )
  for (lines in c(spec, bare)) {
    components <- read_components(file_of(lines, ".json"))
    expect_identical(table_on(components), coding_and_other)
    expect_identical(components$names, c("other", "coding"))
    expect_output(print(components), "2 components, 5 variants")
    expect_identical(as.data.frame(components)$variant, c(1, 2, 3, 4, 6))
  }
  # The same components as R's list, in a fit
  fit <- quiet_fit(y ~ 1, case$data, g, components)
  expect_identical(
    fit$theta, quiet_fit(y ~ 1, case$data, g, list(other = c(2, 4, 6), coding = c(1, 3)))$theta
  )
  nameless <- read_components(file_of('[{"variant_indices": [0]}]', ".json"))
  expect_identical(nameless$names, "component1")
  # Indices are those of the genotypes that they are used with.
  expect_identical(as.data.frame(components_on(components, g[, 6:1]))$variant,
                   ids[c(6, 5, 4, 3, 1)])
  overlap <- read_components(file_of(
    '[{"name": "a", "variant_indices": [0, 1]}, {"name": "b", "variant_indices": [1]}]', ".json"
  ))
  expect_ancify_error(components_on(overlap, g), "input", quoted(ids[2]), "overlap = TRUE")
  expect_identical(nrow(table_on(overlap, TRUE)), 3L)
})

test_that("arrays of NumPy are indices or weights", {
  components <- read_components(fixture("indices.npz"))
  expect_identical(table_on(components), coding_and_other)
  expect_identical(components$names, c("other", "coding"))
  named <- read_components(fixture("named.npz"))
  expect_identical(named$names, c("other", "coding"))
  expect_identical(table_on(named), table_on(components))
  weights <- read_components(fixture("weights.npz"))
  expected <- cbind(coding = seq(0, 1, length.out = 30), other = seq(2, 1, length.out = 30))
  expect_equal(table_on(weights, TRUE), table_on(expected, TRUE), tolerance = 1e-7)
  expect_ancify_error(components_on(weights, g[, 1:29]), "input", "30 weights", "29 variants")
  one <- read_components(npy_file(npy_bytes(c(0L, 2L))))
  expect_identical(table_on(one), coding_and_other[c(1, 3), ], ignore_attr = "row.names")
  expect_equal(table_on(read_components(npy_file(npy_bytes(1:30 / 10))))$weight, 1:30 / 10)
})

test_that("csv has the columns of a table", {
  lines <- c("variant,component,weight", paste0("\"", ids[1:3], "\" , a,", c("0.5", 1, "\"2\"")))
  for (some in list(lines, lines[-1])) {
    expect_identical(table_on(read_components(file_of(some, ".csv"))),
                     data.frame(variant = ids[1:3], component = "a", weight = c(0.5, 1, 2)))
  }
  path <- tempfile(fileext = ".csv")
  utils::write.csv(coding_and_other, path, row.names = FALSE)
  expect_identical(table_on(read_components(path)), coding_and_other)
  expect_ancify_error(read_components(file_of("\"a,b", ".csv")), "format", "line 1", "quotes")
  expect_ancify_error(read_components(file_of(c("a,b", "c"), ".csv")), "format", "line 2")
})

test_that("RDS is read from R 4.4 on", {
  rds <- function(x, ...) {
    path <- tempfile(fileext = ".rds")
    saveRDS(x, path, ...)
    path
  }
  if (getRversion() < "4.4.0") {
    path <- rds(coding_and_other)
    condition <- expect_ancify_error(read_components(path), "file", path, "R 4.4", "readRDS")
    expect_identical(condition$file, path)
    expect_ancify_error(kernel_weighted(g, path), "file", "R 4.4")
  }
  # As in a later R
  is_safe <- rds_is_safe
  utils::assignInNamespace("rds_is_safe", function() TRUE, "ancify")
  on.exit(utils::assignInNamespace("rds_is_safe", is_safe, "ancify"))
  forms <- list(
    coding_and_other, coding_and_other[1:2], list(other = ids[c(2, 4, 6)], coding = ids[c(1, 3)]),
    list(other = c(2, 4, 6), coding = c(3L, 1L)), read_components(fixture("indices.npz"))
  )
  for (form in forms) {
    for (compress in c(TRUE, FALSE)) {
      expect_identical(table_on(read_components(rds(form, compress = compress))), coding_and_other)
    }
  }
  for (form in list(1:3, "a", list(1:3), mean, NULL)) {
    expect_ancify_error(read_components(rds(form)), "format", "named list")
  }
  for (compress in list("gzip", "xz", FALSE)) {
    path <- rds(forms[[1]], compress = compress)
    bytes <- file_bytes(path)
    for (n in c(0, 5, length(bytes) - 9, if (identical(compress, "xz")) length(bytes))) {
      writeBin(bytes[seq_len(n)], path)
      expect_ancify_error(read_components(path), "format", path)
    }
  }
  blocks <- list(a = diag(10), b = diag(20))
  expect_identical(kernel_weighted(g, rds(blocks))$blocks, kernel_weighted(g, blocks)$blocks)
})

test_that("bad files of indices and arrays are refused", {
  json <- function(components) file_of(sprintf('{"components": [%s]}', components), ".json")
  bad <- function(path, ...) expect_ancify_error(read_components(path), "format", path, ...)
  bad(json('{"name": "a", "variant_indices": [0, -1]}'), "'a' has the index -1", "from 0")
  bad(json('{"name": "a", "variant_indices": [0.5]}'), "'a' has the index 0.5")
  bad(json('{"name": "a", "variant_indices": ["rs1"]}'), "'a' has the index")
  bad(json('{"name": "a", "variant_indices": [3, 3]}'), "'a' has the index 3 twice")
  bad(json('{"name": "a", "variant_indices": [1]}, {"name": "a", "variant_indices": [2]}'),
      "'a' twice")
  bad(json('{"name": "a"}'), "list of ids")
  beyond <- read_components(json('{"name": "a", "variant_indices": [30]}'))
  expect_ancify_error(components_on(beyond, g), "input", "'a' has the variant 31", "30 variants")
  none <- read_components(json('{"name": "a", "variant_indices": []}'))
  expect_ancify_error(components_on(none, g), "input", "'a' has no variant")
  bad(fixture("matrix.npy"), "'matrix' has two dimensions")
  bad(npy_file(npy_bytes(c(1, NaN))), "'2' has the weight")
  bad(npy_file(npy_bytes(-1:2)), "'coding' has the index -1")
  bytes <- npy_bytes(1:3)
  for (n in seq_along(bytes) - 1) bad(npy_file(bytes[seq_len(n)]), "array")
  bytes <- file_bytes(fixture("indices.npz"))
  path <- file.path(new_folder(), "x.npz")
  for (n in seq(4, length(bytes) - 1, 7)) {
    writeBin(bytes[seq_len(n)], path)
    bad(path)
  }
  for (at in c(60, 80, 100)) {
    writeBin(replace(bytes, at, xor(bytes[at], as.raw(0x41))), path)
    bad(path)
  }
})

test_that("blocks of weights are read from files", {
  blocks <- kernel_weighted(g[, 1:13], fixture("blocks.npz"))$blocks
  sizes <- c(1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2)
  expect_identical(blocks, lapply(sizes, function(n) diag(1:n + 0, n)))
  near <- 0.8^abs(outer(1:10, 1:10, "-"))
  given <- kernel_weighted(g, list(near, near, near))
  csv <- tempfile(fileext = ".csv")
  utils::write.table(near, csv, sep = ",", row.names = FALSE, col.names = FALSE)
  blanks <- tempfile(fileext = ".txt")
  utils::write.table(near, blanks, row.names = FALSE, col.names = FALSE)
  expect_equal(kernel_weighted(g, c(csv, blanks, csv))$blocks, given$blocks, tolerance = 1e-14)
  expect_ancify_error(kernel_weighted(g, fixture("matrix.npy")), "input", "'matrix'", "3 x 4")
  expect_ancify_error(kernel_weighted(g, tempfile()), "file", "there is no such file")
})

test_that("matrices of NumPy keep their rows in either order of memory", {
  expected <- matrix(0:11 + 0.5, 3, byrow = TRUE)
  expect_identical(arrays_in(fixture("matrix.npy")), list(matrix = expected))
  expect_identical(arrays_in(fixture("fortran.npy")), list(fortran = expected))
})
