#' Classes of sites by their neighbours
#'
#' Identifies sites that can be part of a CpG, whose mutation rates differ from those of other
#' sites: `cpg_class(before = "CCC", after = "AAT")` is `"CpN"`. [polarise_sites()] needs these
#' classes for a model by CpG; runs and other functions determine them on their own.
#'
#' | Class | Neighbours |
#' | --- | --- |
#' | `"other"` | neither of the following |
#' | `"NpG"` | the next base is G, so the site can be the C of a CpG |
#' | `"CpN"` | the previous base is C, so the site can be the G of a CpG |
#' | `"CpNpG"` | both |
#'
#' A neighbour is G, or C, if at least half of the outgroups with a base there have this base. The
#' site's own bases have no influence, nor have the focal species' bases.
#'
#' @param before,after The outgroups' bases at the positions before and after each site, in any
#'   order of the outgroups: texts such as `"ACN"`, or a character matrix with a column for each
#'   outgroup. Case has no influence; letters other than A, C, G and T are missing data.
#' @return The class of each site, as text.
#' @section Errors:
#' * `ancify_input_error`: arguments differ in the number of sites or outgroups.
#' @seealso [substitution_model()] for models by class, [polarise_sites()], [count_patterns()]
#' @export
#' @examples
#' cpg_class(before = c("CCC", "CCA", "TTT"), after = c("AAA", "GGT", "NNG"))
cpg_class <- function(before, after) {
  check_given()
  before <- states_beside(before, "before")
  after <- states_beside(after, "after")
  check_same_sites(before = ncol(before), after = ncol(after))
  refuse_if(nrow(before) != nrow(after) && ncol(before) > 0,
            "`before` has %s and `after` %d: give the bases of the same outgroups in both.",
            count_of(nrow(before), "outgroup"), nrow(after))
  class_of_states(before, after)
}

states_beside <- function(bases, name) {
  if (length(bases) == 0) bases <- matrix(character(), 0, 1)
  species <- if (is.matrix(bases)) ncol(bases) else nchar(as.character(bases[1]), "bytes")
  pattern_states(bases, species, name)
}

# Classes from base codes, which have a row for each species and a column for each site.
class_of_states <- function(before, after) {
  is_common <- function(states, code) {
    with_base <- colSums(states < 4)
    with_base > 0 & 2 * colSums(states == code) >= with_base
  }
  neighbour_classes[1 + is_common(after, 2) + 2 * is_common(before, 1)]
}
