test_that("GPUs are listed, or the reason why there are none", {
  gpus <- available_gpus()
  expect_s3_class(gpus, "data.frame")
  expect_named(gpus, c("number", "name", "memory", "compute_capability"))
  expect_identical(vapply(gpus, class, ""), c(
    number = "integer", name = "character", memory = "numeric", compute_capability = "character"
  ))
  expect_identical(detect_backend(), if (nrow(gpus)) "gpu" else "cpu")
  skip_if(nrow(gpus) > 0, "a GPU is here")
  expect_match(attr(gpus, "reason"), "GPU|driver|CUDA")
  condition <- tryCatch(choose_backend("gpu", 1), error = identity)
  expect_s3_class(condition, "ancify_device_error")
  expect_identical(conditionMessage(condition), attr(gpus, "reason"))
  if (is.na(ancify_build_info()$cuda)) expect_match(attr(gpus, "reason"), "no GPU code")
})

test_that("what the core lists becomes a table", {
  found <- list(
    number = c(1L, 3L), name = c("NVIDIA A", "NVIDIA B"), memory = c(8e9, 143e9),
    compute_capability = c("8.0", "9.0"), problem = "cuda:0 is too old"
  )
  table <- gpu_table(found)
  expect_identical(table$number, c(1L, 3L))
  expect_identical(table$memory, c(8e9, 143e9))
  expect_identical(attr(table, "reason"), "cuda:0 is too old")
  found$problem <- ""
  expect_null(attr(gpu_table(found), "reason"))
})

with_virtual_gpus <- function(value, code) {
  old <- Sys.getenv("ANCIFY_VIRTUAL_GPUS", "1")
  on.exit(Sys.setenv(ANCIFY_VIRTUAL_GPUS = old))
  Sys.setenv(ANCIFY_VIRTUAL_GPUS = value)
  code
}

test_that("a card may count as several devices", {
  with_virtual_gpus("3", {
    expect_identical(choose_backend("cpu", 1)$gpus_per_card, 3L)
    expect_identical(nrow(available_gpus()) %% 3L, 0L)
  })
  for (value in c("0", "two", "1.5", "-1", "17", "")) {
    with_virtual_gpus(
      value, expect_ancify_error(available_gpus(), "input", "ANCIFY_VIRTUAL_GPUS")
    )
  }
})

test_that("work is what a GPU could call", {
  expect_identical(gpu_work("voting", 4, 1000), 4000)
  expect_identical(gpu_work("voting", 20, 1000), 20000)
  expect_identical(gpu_work("likelihood", 8, 1000), 8000)
  expect_identical(gpu_work("voting", 4L, 2000000000L), 8e9)
  expect_identical(gpu_work("parsimony", 9, 1000), 0)
  expect_identical(gpu_work("ml", 3, 1000), 0)
})

test_that("auto stays on the CPU for small work, and where there is no GPU", {
  expect_identical(choose_backend("auto", 1, 1e6)$kind, "cpu")
  expect_identical(choose_backend("auto", 1, 1e12)$kind, detect_backend())
  expect_identical(choose_backend("auto", 1, 1e12, devices = 99)$kind, "cpu")
  expect_identical(choose_backend("cpu", 1, 1e12)$kind, "cpu")
})

test_that("a limit of memory is passed on", {
  expect_identical(choose_backend("cpu", 1)$gpu_memory, 0)
  expect_identical(choose_backend("cpu", 1, gpu_memory = 8e9)$gpu_memory, 8e9)
  expect_identical(choose_backend("cpu", 1, gpu_memory = 0.5)$gpu_memory, 1)
  expect_identical(choose_backend("cpu", 1, gpu_memory = 1e300)$gpu_memory, 2^52)
})

test_that("a run tells what stays on the CPU", {
  lines <- character()
  log <- function(line) lines <<- c(lines, line)
  log_what_stays_on_the_cpu("parsimony", 0, c("project", "call"), log)
  expect_match(lines[1], "Projection runs on the CPU")
  expect_match(lines[2], "it calls on the CPU")
  lines <- character()
  log_what_stays_on_the_cpu("voting", 1e9, "call", log)
  log_what_stays_on_the_cpu("ml", 0, "call", log)
  expect_identical(lines, character())
})
