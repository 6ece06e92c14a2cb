# Transfers Biostrings sets between R and the core without an R string for each sequence, which R
# would hash. A set consists of a pool of byte vectors, in Biostrings' own codes, and ranges in
# them.

# DNA in the core's form: texts or paths unchanged; for a DNAStringSet the locations of its
# sequences and the letter of each code.
core_sequences <- function(x) {
  if (is.character(x)) {
    return(x)
  }
  alphabet <- alphabet_of("DNAString")
  core_list(
    "SequenceSet",
    pool = lapply(seq_along(x@pool), function(i) x@pool[[i]]), group = x@ranges@group,
    start = BiocGenerics::start(x@ranges), width = BiocGenerics::width(x@ranges),
    letters = byte_table(alphabet$codes, alphabet$letters)
  )
}

# Settings for joining sequences into a set: list(codes = of letters, part_size =). `string`: the
# class of a sequence.
joined_as <- function(string) {
  alphabet <- alphabet_of(string)
  core_list(
    "JoinedAs",
    codes = byte_table(alphabet$letters, alphabet$codes), part_size = largest_part()
  )
}

# The maximum size of a vector, unless it holds a single sequence. XVector allows at most 2^31 - 1.
largest_part <- function() 2^24

# The set of sequences that the core has joined.
set_of_joined <- function(joined, string, names) {
  ranges <- IRanges::IRanges(joined$start, width = joined$width, names = names)
  set_of_parts_impl(paste0(string, "Set"), string, joined$parts, joined$part, ranges)
}

# The letters that a string of this class may have, and their codes.
alphabet_of <- function(string) {
  is_dna <- string == "DNAString"
  letters <- paste(if (is_dna) Biostrings::DNA_ALPHABET else Biostrings::AA_ALPHABET, collapse = "")
  of <- if (is_dna) Biostrings::DNAString(letters) else Biostrings::AAString(letters)
  list(letters = charToRaw(letters), codes = as.raw(of))
}

# A table of all bytes, which maps `from` to `to` and other bytes to 0.
byte_table <- function(from, to) {
  table <- raw(256)
  table[as.integer(from) + 1] <- to
  table
}
