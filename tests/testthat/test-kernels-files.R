# Kernels in files of GCTA, and of the package Matrix.

set.seed(31)
case <- reml_case(40, 30)
ids <- case$data$id
v <- matrix(rnorm(40 * 3), 40)

# Writes a kernel as GCTA does. Entries below `least` are left out of the sparse file.
write_gcta <- function(k, ids, sparse = FALSE, least = 0, header = NULL, stem = tempfile()) {
  k <- unname(k)
  writeLines(c(header, paste0("f\t", ids)), paste0(stem, ".grm.id"))
  if (sparse) {
    at <- which(lower.tri(k, TRUE) & (abs(k) >= least | row(k) == col(k)), arr.ind = TRUE)
    at <- at[order(at[, 1], at[, 2]), ]
    writeLines(paste(at[, 1] - 1, at[, 2] - 1, format(k[at], digits = 17), sep = "\t"),
               paste0(stem, ".grm.sp"))
  } else {
    # The lower triangle by rows is the upper one by columns.
    writeBin(k[upper.tri(k, TRUE)], paste0(stem, ".grm.bin"), size = 4, endian = "little")
  }
  stem
}

k <- oracle_kernel(case$calls)
families <- outer(rep(1:10, each = 4), rep(1:10, each = 4), "==") * 0.4 + diag(0.6, 40)
fit_of <- function(kernel, data = case$data, ...) {
  fit_reml(y ~ 1, data, kernels = list(k = kernel), threads = 1, verbose = FALSE, ...)
}

test_that("a kernel of GCTA is its matrix, by any of its paths", {
  stem <- write_gcta(k, ids)
  for (end in c("", ".grm", ".grm.bin", ".grm.id")) {
    kernel <- kernel_gcta(paste0(stem, end))
    expect_equal(kernel_times(kernel, v), k %*% v, tolerance = 1e-6, ignore_attr = TRUE)
    expect_identical(kernel$ids, ids)
  }
  expect_identical(kernel$matrix, t(kernel$matrix))
  expect_output(print(kernel), "<reml_kernel> a matrix, 40 samples\\s*$")
  writeBin(seq(8, 12, length.out = 820), paste0(stem, ".grm.N.bin"), size = 4)
  expect_output(print(kernel_gcta(stem)), "variants of a pair +8 to 12")
  expect_equal(fit_of(kernel)$theta, fit_of(kernel_matrix(k))$theta, tolerance = 1e-5,
               ignore_attr = TRUE)
})

test_that("samples of a kernel of GCTA are matched by IID, and those it lacks are named", {
  order <- sample(40)
  kernel <- kernel_gcta(write_gcta(k[order, order], ids[order], header = "#FID\tIID"))
  whole <- fit_of(kernel_matrix(k))
  expect_equal(fit_of(kernel)$theta, whole$theta, tolerance = 1e-5)
  some <- kernel_gcta(write_gcta(k[1:35, 1:35], ids[1:35]))
  lines <- testthat::capture_messages(
    fit <- fit_reml(y ~ 1, case$data, kernels = list(k = some), threads = 1)
  )
  expect_match(lines, "35 samples; left out: 5 not in kernels", all = FALSE, fixed = TRUE)
  expect_match(lines, paste0("Not in the kernels: '", ids[36], "', '"), all = FALSE, fixed = TRUE)
  expect_equal(fit$theta, fit_of(kernel_matrix(k[1:35, 1:35]), case$data[1:35, ])$theta,
               tolerance = 1e-5)
})

test_that("a sparse kernel has the products and fits of its matrix", {
  colnames(families) <- rownames(families) <- ids
  kernel <- kernel_gcta(write_gcta(families, ids, sparse = TRUE, least = 0.05))
  expect_output(print(kernel), "a sparse matrix, 40 samples.*entries of a triangle +100")
  expect_equal(kernel_times(kernel, v), unname(families %*% v), tolerance = 1e-14)
  expect_equal(fit_of(kernel)$theta, fit_of(kernel_matrix(families))$theta, tolerance = 1e-8)
  # In another order, without some samples
  some <- case$data[c(30:5, 33), ]
  expect_equal(fit_of(kernel, some)$theta, fit_of(kernel_matrix(families), some)$theta,
               tolerance = 1e-8)
  both <- function(kernel) {
    fit_reml(y ~ 1, case$data, case$g, kernels = list(family = kernel), threads = 1,
             method = "stochastic", control = reml_control(probes = 10), verbose = FALSE)$theta
  }
  expect_equal(both(kernel), both(kernel_matrix(families)), tolerance = 1e-6)
})

test_that("matrices of the package Matrix are kernels", {
  skip_if_not_installed("Matrix")
  dimnames(families) <- list(ids, ids)
  sparse <- Matrix::Matrix(families, sparse = TRUE)
  expect_s4_class(sparse, "dsCMatrix")
  forms <- list(sparse, methods::as(sparse, "generalMatrix"), methods::as(sparse, "TsparseMatrix"),
                methods::as(methods::as(sparse, "generalMatrix"), "RsparseMatrix"))
  for (form in forms) {
    kernel <- kernel_matrix(form)
    expect_identical(kernel$kind, "sparse")
    expect_identical(kernel$ids, ids)
    expect_equal(kernel_times(kernel, v), unname(families %*% v), tolerance = 1e-14)
  }
  for (form in list(Matrix::Matrix(families, sparse = FALSE),
                    methods::as(Matrix::Matrix(families, sparse = FALSE), "dpoMatrix"))) {
    expect_identical(kernel_matrix(form)[c("kind", "ids", "matrix")],
                     kernel_matrix(families)[c("kind", "ids", "matrix")])
  }
  unit <- kernel_matrix(Matrix::Diagonal(40))
  expect_null(unit$ids)
  expect_equal(kernel_times(unit, v), v)
  bad <- function(...) {
    Matrix::Matrix(c(...), 2, dimnames = list(c("a", "b"), c("a", "b")), sparse = TRUE)
  }
  expect_refusals(list(
    list(function() kernel_matrix(bad(1, NA, NA, 1)), "'b' and 'a'", "not finite"),
    list(function() kernel_matrix(bad(1, 0.5, 0, 1)), "'b' and 'a'", "symmetric"),
    list(function() kernel_matrix(bad(1, 0.5, 0.4, 1)), "'b' and 'a'", "symmetric"),
    list(function() kernel_matrix(bad(1, 0, 0, -1)), "'b' and 'b'", "below 0"),
    list(function() kernel_matrix(bad(1, 2, 2, 1)), "'b' and 'a'", "no negative eigenvalue"),
    list(function() kernel_matrix(bad(0, 0, 0, 0)), "is 0 on its diagonal"),
    list(function() kernel_matrix(bad(1, 0, 0, 1)[, 1, drop = FALSE]), "not 2 x 1")
  ))
})

test_that("files that are no kernel are refused", {
  stem <- write_gcta(k, ids)
  bin <- paste0(stem, ".grm.bin")
  bytes <- file_bytes(bin)
  refused <- function(class, ...) expect_ancify_error(kernel_gcta(stem), class, ...)
  for (n in c(0, 1, 4, length(bytes) - 1)) {
    writeBin(bytes[seq_len(n)], bin)
    refused("format", bin, sprintf("has %d bytes", n), "40 samples", "3280")
  }
  writeBin(c(bytes, as.raw(0)), bin)
  refused("format", "has 3281 bytes")
  values <- k[upper.tri(k, TRUE)]
  for (bad in c(NaN, Inf)) {
    writeBin(replace(values, 5, bad), bin, size = 4)
    refused("format", bin, quoted(ids[3]), quoted(ids[2]), "not finite")
  }
  writeBin(replace(values, 5, 99), bin, size = 4)
  refused("format", bin, quoted(ids[3]), quoted(ids[2]), "no negative eigenvalue")
  writeBin(values, bin, size = 4)
  writeBin(values[-1], paste0(stem, ".grm.N.bin"), size = 4)
  refused("format", ".grm.N.bin", "40 samples")
  unlink(paste0(stem, ".grm.N.bin"))
  writeLines(paste0("f\t", c(ids[-1], ids[2])), paste0(stem, ".grm.id"))
  refused("format", ".grm.id", "line 40", quoted(ids[2]))
  unlink(paste0(stem, ".grm.id"))
  refused("file", ".grm.id", "there is no such file")
  expect_ancify_error(kernel_gcta(tempfile()), "file", ".grm.bin", ".grm.sp")
  write_gcta(k, ids, stem = stem)
  write_gcta(k, ids, sparse = TRUE, stem = stem)
  refused("input", ".grm.bin", ".grm.sp", "extension")
  expect_identical(kernel_gcta(paste0(stem, ".grm.sp"))$kind, "sparse")
  writeLines(c("0 0 1", "1 0 2", "1 1 1"), paste0(stem, ".grm.sp"))
  expect_ancify_error(kernel_gcta(paste0(stem, ".grm.sp")), "format", ".grm.sp", quoted(ids[2]),
                      "no negative eigenvalue")
})

test_that("PLINK's kernels are ours where both standardise alike", {
  # Without missing calls and in Hardy-Weinberg proportions, the expected variance is the observed.
  counts <- rbind(c(16, 32, 16), c(36, 24, 4), c(4, 24, 36))
  calls <- sapply(1:400, function(j) sample(rep(0:2, counts[1 + j %% 3, ])))
  stem <- sub("[.]bed$", "", bed_fileset(calls))
  g <- open_genotypes(stem)
  data <- data.frame(id = g$samples$id, y = drop(calls %*% rnorm(400)) / 20 + rnorm(64))
  ours <- fit_reml(y ~ 1, data, g, threads = 1, verbose = FALSE)
  v <- rnorm(64)
  for (program in c("plink1.9", "plink2")) {
    kernel <- kernel_gcta(run_plink(program, "--bfile", stem, "--make-grm-bin"))
    expect_equal(kernel_times(kernel, v), kernel_times(kernel_grm(g), v), tolerance = 1e-6,
                 ignore_attr = TRUE)
    expect_identical(kernel$counts, c(400, 400))
    fit <- fit_of(kernel, data)
    expect_equal(heritability(fit)["h2", "share"], heritability(ours)["h2", "share"],
                 tolerance = 1e-5)
  }
})
