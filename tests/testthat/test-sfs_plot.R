# The picture's size; a plot that draws nothing makes an empty page of about 1 kB.
picture_of <- function(code) {
  path <- tempfile(fileext = ".svg")
  grDevices::svg(path)
  on.exit(unlink(path))
  tryCatch(force(code), finally = grDevices::dev.off())
  paste(readLines(path, warn = FALSE), collapse = "\n")
}

count_in <- function(text, pattern) lengths(regmatches(text, gregexpr(pattern, text)))

test_that("one population has a bar for each unmasked cell", {
  picture <- picture_of(plot(sfs(c(99, 12, 5, 3, 2, 99), "YRI")))
  expect_identical(count_in(picture, "rgb\\(23.[0-9]*%,41.[0-9]*%,61.[0-9]*%\\)"), 4L)
})

test_that("cells without sites are grey, and masked ones are not drawn", {
  expect_identical(
    colours_of(c(0, NA, 1, 1e4, 1e-3), list(from = 0, to = 4, colours = c("a", "b", "c"))),
    c("grey90", NA, "a", "c", "a")
  )
  x <- random_sfs(c(3, 4), mask = array(1:20 == 1, 4:5)) + 1
  x["2", "2"] <- 0
  picture <- picture_of(plot(x, main = "A title"))
  expect_identical(count_in(picture, "rgb\\((89.[0-9]*%,?){3}\\)"), 1L)
})

test_that("three to five populations, folded too, have all pairs", {
  for (size in list(c(2, 3, 4), c(2, 2, 2, 2), c(1, 2, 1, 2, 3))) {
    for (folded in c(FALSE, TRUE)) {
      expect_gt(nchar(picture_of(plot(random_sfs(size, folded = folded)))), 10000)
    }
  }
})

test_that("the ticks are within the scale", {
  for (to in c(0.1, 1, 4.3)) {
    scale <- colour_scale(list(10^c(0, to)))
    ticks <- scale_ticks(scale)
    expect_gt(length(ticks), 1)
    expect_true(all(log10(ticks) >= scale$from - 1e-6 & log10(ticks) <= scale$to + 1e-6))
  }
  expect_equal(colour_scale(list(10^c(-7, 4)))$from, 0)
})

test_that("a picture without room is an error, and a small one is drawn", {
  draw <- function(x, width, height) {
    grDevices::pdf(NULL, width, height)
    on.exit(grDevices::dev.off())
    before <- graphics::par("mar")
    found <- tryCatch(plot(x), error = identity)
    expect_identical(graphics::par("mar"), before)
    found
  }
  for (size in list(3, c(3, 4), c(3, 4, 5))) {
    x <- random_sfs(size)
    expect_ancify_error(stop(draw(x, 1, 1.5)), "input", "The device (1.0 x 1.5 inches)", "larger")
    expect_s3_class(draw(x, 4.5, 2.6), "sfs")
  }
  expect_s3_class(draw(random_sfs(c(3, 4)), 2.2, 1.5), "sfs")
})

test_that("plots restore graphical parameters, and an empty plot is an error", {
  picture_of({
    before <- graphics::par(c("mar", "las", "mfrow"))
    plot(random_sfs(c(2, 3, 4)))
    expect_identical(graphics::par(c("mar", "las", "mfrow")), before)
  })
  expect_ancify_error(plot(sfs(c(5, 0, 0, 5))), "input", "nothing to plot")
})
