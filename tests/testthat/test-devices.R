# Backends and GPUs, without one.

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
  condition <- tryCatch(new_work(1, "gpu"), error = identity)
  expect_s3_class(condition, "ancify_device_error")
  expect_identical(conditionMessage(condition), paste0(attr(gpus, "reason"), "."))
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

test_that("a card may count as several devices", {
  with_virtual_gpus("3", {
    expect_identical(new_work(1)$gpus_per_card, 3)
    expect_identical(nrow(available_gpus()) %% 3L, 0L)
  })
  for (value in c("0", "two", "1.5", "-1", "17", "")) {
    with_virtual_gpus(
      value, expect_ancify_error(available_gpus(), "input", "ANCIFY_VIRTUAL_GPUS")
    )
  }
})

test_that("auto is the CPU", {
  expect_identical(new_work(1, "auto")$backend, "cpu")
  expect_identical(new_work(1, "auto", gpu_devices = 99)$backend, "cpu")
  expect_identical(new_work(1)$backend, "cpu")
})

test_that("a limit of memory is passed on", {
  expect_identical(new_work(1)$gpu_memory, 0)
  expect_identical(new_work(1, gpu_memory = 8e9)$gpu_memory, 8e9)
  expect_identical(new_work(1, gpu_memory = 0.5)$gpu_memory, 1)
  expect_identical(new_work(1, gpu_memory = 1e300)$gpu_memory, 2^52)
})

test_that("a run tells what stays on the CPU", {
  told <- function(method, species, phases) {
    lines <- character()
    config <- list(
      method = method, outgroups = data.frame(name = letters[seq_len(species)]), estimate = FALSE,
      keep_projected = FALSE, lengths = c(chr1 = 1), work_dir = "work", output_dir = "calls"
    )
    context <- with_ledgers(new_context(config, NULL))
    context$log <- function(line) lines <<- c(lines, line)
    log_what_stays_on_the_cpu(context, phases)
    lines
  }
  lines <- told("parsimony", 9, c("project", "call"))
  expect_match(lines[1], "Projection runs on the CPU")
  expect_match(lines[2], "it calls on the CPU")
  expect_identical(told("parsimony", 8, "call"), character())
  expect_identical(told("voting", 20, "call"), character())
  expect_identical(told("ml", 9, "call"), character())
  expect_length(told("likelihood", 9, "project"), 1)
  expect_identical(told("voting", 2, "project"), "Projection runs on the CPU")
  expect_match(told("voting", 2, c("project", "call")), "its bases go to the GPU as they come")
})
