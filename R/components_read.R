# Components in files.

#' @rdname components
#' @export
read_components <- function(file) {
  check_args(file = file_in())
  read <- switch(
    ending_of(file), json = components_in_json, npy = , npz = components_in_arrays,
    rds = components_in_rds, components_in_table
  )
  tryCatch(read(file), ancify_input_error = function(condition) {
    abort_ancify(paste0(quoted(file), ": ", conditionMessage(condition)), "format", file = file)
  })
}

refuse_components <- function(file, line, problem) {
  place <- if (is.na(line)) "" else sprintf(", line %s", number_text(line))
  abort_ancify(
    sprintf("%s%s: %s.", quoted(file), place, problem), "format", file = file,
    line = if (!is.na(line)) line
  )
}

components_in_json <- function(file) {
  sets <- tryCatch(read_json_file(file), error = function(condition) {
    if (inherits(condition, "ancify_error")) stop(condition)
    refuse_components(file, NA, paste("it is not JSON:", trimws(conditionMessage(condition))))
  })
  specs <- if (is.null(names(sets))) sets else sets[["components"]]
  if (is.list(sets) && is_specs(specs)) {
    return(components_of_specs(specs))
  }
  if (!is_sets(sets)) {
    refuse_components(
      file, NA, 'it must be a list of ids for each component, such as {"coding": ["rs1", "rs2"]}'
    )
  }
  components_of_sets(sets)
}

# True if a list has a list of ids for each component.
is_sets <- function(sets) {
  is_id <- function(id) is.character(id) && length(id) == 1
  is_set <- function(set) is.list(set) && all(vapply(set, is_id, NA))
  is.list(sets) && !is.null(names(sets)) && all(vapply(sets, is_set, NA))
}

# Sets of ids, by component.
components_of_sets <- function(sets) {
  refuse_repeated_set(names(sets))
  components_of_table(data.frame(
    variant = as.character(unlist(sets)),
    component = factor(rep(names(sets), lengths(sets)), unique(names(sets)))
  ))
}

refuse_repeated_set <- function(names) {
  twice <- anyDuplicated(names)
  refuse_if(twice, "it has the component %s twice: join its lists.", quoted(names[twice]))
}

# True if a list has the components of GPU_REML: an object for each, with the indices of its
# variants, from 0. Other members, such as annotations, describe it.
is_specs <- function(specs) {
  is.list(specs) && length(specs) > 0 &&
    all(vapply(specs, function(spec) is.list(spec) && !is.null(spec[["variant_indices"]]), NA))
}

components_of_specs <- function(specs) {
  names <- vapply(seq_along(specs), function(i) {
    as.character(specs[[i]][["name"]] %||% paste0("component", i))[1]
  }, "")
  components_of_indices(stats::setNames(lapply(specs, `[[`, "variant_indices"), names), 0)
}

# Components by the indices of variants in the genotypes. `first`: the index of the first variant.
components_of_indices <- function(sets, first) {
  refuse_repeated_set(names(sets))
  rows <- Map(function(set, name) {
    is_number <- vapply(set, function(x) is.numeric(x) && length(x) == 1, NA)
    index <- suppressWarnings(as.numeric(unlist(ifelse(is_number, set, NA))))
    wrong <- which(!(is.finite(index) & index >= first & index == round(index)))
    refuse_if(length(wrong),
              "The component %s has the index %s: indices are whole numbers from %d.", quoted(name),
              show_value(set[[wrong[1]]]), first)
    twice <- anyDuplicated(index)
    refuse_if(twice, "The component %s has the index %s twice.", quoted(name),
              number_text(index[twice]))
    index - first + 1
  }, sets, names(sets))
  rows_as_components(rows, lapply(lengths(rows), rep, x = 1))
}

# `rows`: indices from 1, by component. `n`: the number of variants that the genotypes must have.
rows_as_components <- function(rows, weights, n = NULL) {
  table <- data.frame(
    variant = as.numeric(unlist(rows)), component = rep(seq_along(rows), lengths(rows)),
    weight = as.numeric(unlist(weights))
  )
  components <- new_components(names(rows), NULL, table)
  components$n_variants <- n
  components
}

# Whole numbers are indices of variants, from 0. Other numbers are weights of all variants in order.
# Texts are names of components, or describe them.
components_in_arrays <- function(file) {
  arrays <- arrays_in(file)
  texts <- arrays[vapply(arrays, is.character, NA)]
  arrays <- arrays[setdiff(names(arrays), names(texts))]
  refuse_if(length(arrays) == 0, "It has no array of numbers.")
  named <- texts[["component_names"]]
  if (!is.null(named)) {
    refuse_if(length(named) != length(arrays), "component_names has %s, but there are %s.",
              count_of(length(named), "text"), count_of(length(arrays), "component"))
    names(arrays) <- named
  }
  refuse_repeated_set(names(arrays))
  for (name in names(arrays)) {
    refuse_if(is.matrix(arrays[[name]]),
              "The array %s has two dimensions, but components have one.", quoted(name))
  }
  whole <- vapply(arrays, is.integer, NA)
  refuse_if(any(whole) && !all(whole), "The array %s has indices, but %s has weights.",
            quoted(names(arrays)[whole][1]), quoted(names(arrays)[!whole][1]))
  if (all(whole)) {
    return(components_of_indices(arrays, 0))
  }
  n <- unique(lengths(arrays))
  refuse_if(length(n) > 1, "Arrays have %s weights, but all need one for each variant.",
            enumerate(n))
  for (weights in arrays) check_weights(weights, seq_len(n))
  rows_as_components(lapply(arrays, seq_along), arrays, n)
}

components_in_rds <- function(file) {
  x <- object_in_rds(file)
  are_all <- function(is_one) is.list(x) && !is.null(names(x)) && all(vapply(x, is_one, NA))
  if (inherits(x, "ancify_components")) {
    x
  } else if (is.data.frame(x)) {
    components_of_table(x)
  } else if (are_all(is.character)) {
    components_of_sets(x)
  } else if (are_all(is.numeric)) {
    components_of_indices(x, 1)
  } else {
    refuse_components(file, NA, paste(
      "it must have a data frame, a result of this page's functions, or a named list of variants,",
      "as ids or indices"
    ))
  }
}

components_in_table <- function(file) {
  read <- read_words(file, 2, 3, c("variant", "component"), is_csv(file))
  if (!length(read$line)) refuse_components(file, NA, "it has no variant")
  table <- data.frame(variant = read$columns[[1]], component = read$columns[[2]])
  if (length(read$columns) == 3) {
    text <- read$columns[[3]]
    table$weight <- suppressWarnings(as.numeric(text))
    bad <- which(!is.finite(table$weight))[1]
    if (!is.na(bad)) {
      refuse_components(file, read$line[bad], sprintf("the weight %s is no number",
                                                      quoted(text[bad])))
    }
  }
  components_of_table(table)
}
