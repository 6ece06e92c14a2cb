# The populations of a VCF: of its samples, or in its INFO.

# list(names =, and table = of samples, or fields = of INFO), or NULL. `most`: maximum number of
# populations.
populations_given <- function(populations, most = core_limits()$populations) {
  if (is.null(populations)) {
    return(NULL)
  }
  if (is_info_populations(populations)) {
    names <- populations$population
    refuse_if(length(names) > most, "`populations` has %d populations (%s), but a spectrum has %s.",
              length(names), enumerate(quoted(names)), sprintf("1 to %d", most))
    return(list(names = names, fields = populations))
  }
  table <- population_table(populations, most)
  list(names = unique(table$population), table = table)
}

# All samples of a file as one population. NULL without samples.
all_samples <- function(vcf) {
  samples <- variant_samples_impl(vcf, may_be_none = TRUE)
  if (length(samples)) {
    list(names = "all", table = data.frame(sample = samples, population = "all"))
  }
}

# The source of the haplotype counts of populations_given(), for the core. Without populations, AC
# and AN of INFO are the counts of a single one.
count_source <- function(vcf, given, subset) {
  fields <- given$fields %||% if (is.null(given)) list(copies = "AC", called = "AN")
  samples <- if (!is.null(given$table)) variant_samples_impl(vcf)
  if (!is.null(samples)) check_samples(samples, given$table, vcf, subset)
  core_list(
    "CountSource",
    populations = if (!is.null(samples)) sample_populations(samples, given$table) else integer(),
    copies = as.character(fields$copies), called = as.character(fields$called),
    named = !is.null(given$fields)
  )
}

# The samples of one population to count, for the core: by name, or all, or by fields of INFO.
counted_samples <- function(samples) {
  fields <- if (is_info_populations(samples)) samples
  refuse_if(NROW(fields) > 1, "`samples` has the populations %s: give one.",
            enumerate(quoted(fields$population)))
  core_list(
    "CountedSamples",
    names = if (is.null(fields)) check_sample_names(samples) else character(),
    copies = fields$copies %||% "", called = fields$called %||% ""
  )
}

# A data frame of sample and population, without factors. `most`: maximum number of populations.
population_table <- function(populations, most = core_limits()$populations) {
  refuse_if(is_info_populations(populations),
            "`populations` names fields of INFO, but this needs genotypes: give samples.")
  is_named <- !is.null(names(populations))
  if (is.data.frame(populations)) {
    table <- population_columns(populations)
  } else if (is_named && (is.character(populations) || is.factor(populations))) {
    table <- list(sample = names(populations), population = populations)
  } else if (is.character(populations) && length(populations) == 1) {
    return(population_file(check_path(populations, "populations"), most))
  } else {
    refuse_input(
      paste(
        "`populations` must be populations named by samples, a data frame or the path of a file,",
        "not %s."
      ),
      show_value(populations)
    )
  }
  table <- data.frame(lapply(table, as.character))
  check_population_table(table, most)
  table
}

# Reads the table from a file, which its errors name.
population_file <- function(file, most) {
  table <- read_populations_impl(file)
  tryCatch(check_population_table(table, most), ancify_input_error = function(condition) {
    abort_ancify(paste0(quoted(file), ": ", conditionMessage(condition)), "input", file = file)
  })
  table
}

population_columns <- function(populations) {
  columns <- c("sample", "population")
  refuse_if(!all(columns %in% names(populations)),
            "`populations` has the columns %s, but needs `sample` and `population`.",
            enumerate(quoted(names(populations))))
  populations[columns]
}

check_population_table <- function(table, most) {
  wrong <- which(is.na(table$sample) | is.na(table$population) | !nzchar(table$sample))
  refuse_if(length(wrong),
            "`populations` has the sample %s in population %s: give both, or leave out the sample.",
            quoted(table$sample[wrong[1]]), quoted(table$population[wrong[1]]))
  twice <- which(duplicated(table$sample))
  refuse_if(length(twice), "`populations` has the sample %s twice.", quoted(table$sample[twice[1]]))
  names <- unique(table$population)
  refuse_if(
    length(names) < 1 || length(names) > most,
    "`populations` has %d populations%s, but a spectrum has %s. %s", length(names),
    if (length(names)) sprintf(" (%s)", enumerate(quoted(names))) else "",
    if (is.finite(most)) sprintf("1 to %d", most) else "1 or more",
    if (length(names)) {
      "Leave out the other samples, with `subset = TRUE`."
    } else {
      "Name the samples to use."
    }
  )
  check_populations(names, length(names))
}

# Checks that the table and the file have the same samples.
check_samples <- function(samples, table, vcf, subset) {
  lacking <- setdiff(table$sample, samples)
  if (length(lacking)) {
    empty <- setdiff(table$population, table$population[table$sample %in% samples])
    refuse_input(
      "%s has no sample %s of `populations`%s; its samples are %s.%s", quoted(vcf),
      enumerate(quoted(lacking)),
      if (length(empty)) {
        sprintf(", so none of the population %s", enumerate(quoted(empty)))
      } else {
        ""
      },
      enumerate(quoted(samples)),
      if (identical(lacking, table$sample[1])) " Is the first line a header? Remove it." else ""
    )
  }
  others <- setdiff(samples, table$sample)
  refuse_if(length(others) && !subset,
            "%s of the samples of %s are in no population: %s. `subset = TRUE` leaves them out.",
            format_count(length(others)), quoted(vcf), enumerate(quoted(others)))
}

# Each sample's population index from 0, or -1 for none.
sample_populations <- function(samples, table) {
  numbers <- match(table$population, unique(table$population)) - 1L
  numbers <- numbers[match(samples, table$sample)]
  ifelse(is.na(numbers), -1L, numbers)
}
