# Sets of Biostrings between R and the core, without a string of R for each sequence, which R would
# hash. A set is a pool of vectors of bytes, in Biostrings' own codes, and ranges in them.

# DNA as the core takes it: texts or paths as they are; of a DNAStringSet, where its sequences lie
# and the letter of each code.
core_sequences <- function(x) {
  if (is.character(x)) {
    return(x)
  }
  alphabet <- alphabet_of("DNAString")
  list(
    pool = lapply(seq_along(x@pool), function(i) x@pool[[i]]), group = x@ranges@group,
    start = BiocGenerics::start(x@ranges), width = BiocGenerics::width(x@ranges),
    letters = byte_table(alphabet$codes, alphabet$letters)
  )
}

# How the core shall join sequences for a set: list(codes = of letters, part_size =). `string`: the
# class of a sequence.
joined_as <- function(string) {
  alphabet <- alphabet_of(string)
  list(codes = byte_table(alphabet$letters, alphabet$codes), part_size = largest_part())
}

# Letters of a vector, unless it is of a single sequence. XVector has at most 2^31 - 1.
largest_part <- function() 2^24

# The set of what the core has joined.
set_of_joined <- function(joined, string, names) {
  ranges <- IRanges::IRanges(joined$start, width = joined$width, names = names)
  set_of_parts_impl(paste0(string, "Set"), string, joined$parts, joined$part, ranges)
}

# Letters that a string of this class may have, and their codes.
alphabet_of <- function(string) {
  is_dna <- string == "DNAString"
  letters <- paste(if (is_dna) Biostrings::DNA_ALPHABET else Biostrings::AA_ALPHABET, collapse = "")
  of <- if (is_dna) Biostrings::DNAString(letters) else Biostrings::AAString(letters)
  list(letters = charToRaw(letters), codes = as.raw(of))
}

# A table of all bytes: `to` at those of `from`, else 0.
byte_table <- function(from, to) {
  table <- raw(256)
  table[as.integer(from) + 1] <- to
  table
}
