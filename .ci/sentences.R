# Rscript .ci/sentences.R [FOLDER]: fails on sentences of help pages in FOLDER (R) of more than 25
# words. Examples, tables, code and names of arguments do not count. A colon or semicolon ends a
# sentence here.
folder <- c(commandArgs(TRUE), "R")[1]
most_words <- 25
unsaid <- c("examples", "examplesIf", "usage", "references", "seealso", "importFrom", "eval")

# The paragraphs of a file's help: each tag and each item of a list begins one.
paragraphs <- function(file) {
  lines <- readLines(file)
  help <- grepl("^#'", lines)
  text <- sub("^#' ?", "", lines)
  tag <- ifelse(grepl("^@", text), sub("^@(\\w+).*", "\\1", text), NA)
  # The tag that a line belongs to: none before the first tag of its block
  block <- cumsum(!help)
  within <- ave(seq_along(lines), block, FUN = function(i) cummax(ifelse(is.na(tag[i]), 0, i)))
  tag_of <- ifelse(within == 0, "", tag[pmax(within, 1)])
  said <- help & !tag_of %in% unsaid
  fence <- said & startsWith(text, "```")
  said <- said & !grepl("^ *\\|", text) & !fence & cumsum(fence) %% 2 == 0
  begins <- !said | grepl("^@|^ *([*-] |$)", text)
  text <- sub("^@(param|field) \\S+|^@\\w+", "", text)
  text <- gsub("\\\\eqn.*", "x", text)
  text <- gsub("`[^`]*`", "x", gsub("\\[[^]]*\\](\\([^)]*\\))?", "x", text))
  vapply(split(text[said], cumsum(begins)[said]), paste, "", collapse = " ")
}

count_words <- function(sentences) lengths(gregexpr("[[:alpha:]][[:alnum:]'-]*", sentences))

found <- 0
for (file in Sys.glob(file.path(folder, "*.R"))) {
  sentences <- unlist(strsplit(paragraphs(file), "(?<=[.:;!?])\\s+", perl = TRUE))
  long <- sentences[count_words(sentences) > most_words]
  for (one in long) cat(sprintf("%s: %d words: %s\n", file, count_words(one), trimws(one)))
  found <- found + length(long)
}
quit(status = found > 0)
