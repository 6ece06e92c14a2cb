# Tables of words without types.

# list(columns =, line = of each row) of a table with `least` to `most` columns, after an optional
# first row `header`. `comments`: true if lines that begin with # are comments.
read_words <- function(path, least = 1, most = least, header = character(), commas = FALSE,
                       comments = FALSE) {
  with_watch("Reading", function(watch) {
    read_words_impl(
      path, core_list(
        "WordRows", least = least, most = most, header = header, commas = commas,
        comments = comments
      ), watch
    )
  })
}
