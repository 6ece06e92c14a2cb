# The keys of a configuration: how each is read, and its default.

config_key <- function(read, default = NULL, required = FALSE) {
  list(read = read, default = default, required = required)
}

config_keys <- function() {
  list(
    focal_species = config_key(read_name, required = TRUE),
    chromosome_lengths = config_key(read_input, required = TRUE),
    chromosomes = config_key(read_names),
    outgroups = config_key(key_section(outgroup_keys()), required = TRUE),
    work_dir = config_key(read_output, "."),
    output_dir = config_key(read_output, "./ancestral_calls"),
    min_inner_freq = config_key(whole_number(1), 1L),
    min_outer_freq = config_key(whole_number(1), 1L),
    num_cpus = config_key(whole_number(1, core_limits()$threads), 4L),
    backend = config_key(one_of("auto", "cpu", "gpu"), "auto"),
    gpu_devices = config_key(read_devices),
    method = config_key(one_of(method_names()), "voting"),
    tree = config_key(read_tree),
    substitution_model = config_key(one_of(model_names), "JC69"),
    model_kappa = config_key(read_number(above = 0), 2),
    model_base_freqs = config_key(read_base_frequencies, rate_values("base", 0.25)),
    model_rates = config_key(labelled_numbers(rate_labels$exchange), rate_values("exchange", 1)),
    likelihood_high_threshold = config_key(read_number(0, 1), 0.8),
    likelihood_low_threshold = config_key(read_number(0, 1), 0.5),
    ml_model_path = config_key(read_input),
    ml_training_reference = config_key(read_input),
    ml_high_threshold = config_key(read_number(0, 1), 0.8),
    ml_low_threshold = config_key(read_number(0, 1), 0.5),
    evaluation = config_key(key_section(evaluation_keys())),
    focal_maf_name = config_key(read_text),
    on_bad_block = config_key(one_of("error", "skip"), "error"),
    keep_projected = config_key(read_flag, TRUE),
    focal_fasta = config_key(read_input),
    estimate = config_key(read_flag, FALSE),
    rate_alpha = config_key(read_number(above = 0, highest = most_alpha)),
    n_rates = config_key(whole_number(1, most_rates), 4L),
    invariant = config_key(read_share, 0),
    history = config_key(key_section(history_keys())),
    posterior = config_key(read_flag, FALSE),
    gpu_memory = config_key(read_number(above = 0)),
    cluster = config_key(key_section(cluster_keys()))
  )
}

outgroup_keys <- function() {
  list(inner = config_key(read_outgroups), outer = config_key(read_outgroups))
}

outgroup_entry_keys <- function() {
  list(
    name = config_key(read_name, required = TRUE),
    alignment = config_key(read_input, required = TRUE),
    maf_name = config_key(read_text)
  )
}

evaluation_keys <- function() {
  list(
    reference_dir = config_key(read_input),
    reference_pattern = config_key(read_text, "{chrom}.fa"),
    vcf_dir = config_key(read_input),
    vcf_pattern = config_key(read_text, "{chrom}.vcf.gz")
  )
}

history_keys <- function() {
  list(
    splits = config_key(positive_numbers),
    sizes = config_key(positive_numbers),
    focal_size = config_key(read_number(above = 0)),
    focal_lineages = config_key(whole_number(1, most_focal_lineages), 20L),
    mutation_rate = config_key(read_number(above = 0), 1.25e-8)
  )
}

cluster_keys <- function() {
  list(
    partition = config_key(
      text_like("^[A-Za-z0-9_.,+-]+$", "names of partitions, as in \"main,long\".")
    ),
    time = config_key(text_like(
      "^([0-9]+-)?[0-9]+(:[0-9]{1,2}){0,2}$", "minutes, or a time such as \"04:00:00\" or \"2-12\"."
    )),
    memory = config_key(text_like("^[0-9]+[KMGT]?$", "megabytes, or a size such as \"8G\".")),
    cpus = config_key(whole_number(1)),
    gpus = config_key(whole_number(0))
  )
}

read_outgroups <- function(value, key, origin) {
  if (!is.list(value) || !is.null(names(value))) {
    fault(value, key, "give a list of entries, each with `name` and `alignment`.")
  }
  lapply(seq_along(value), function(i) {
    path <- sprintf("%s[%d]", key, i)
    attempt(origin, key_section(outgroup_entry_keys())(value[[i]], path, origin), path)
  })
}

outgroup_table <- function(outgroups) {
  tiers <- lapply(c("inner", "outer"), function(tier) {
    entries <- Filter(function(entry) !is.null(entry$name), outgroups[[tier]])
    text <- function(key) {
      vapply(entries, function(entry) entry[[key]] %||% NA_character_, "")
    }
    # An alignment that could not be read is a problem already.
    data.frame(
      name = text("name"), tier = rep(tier, length(entries)), alignment = text("alignment"),
      maf_name = text("maf_name")
    )
  })
  do.call(rbind, tiers)
}

read_lengths <- function(config, origin) {
  path <- config$chromosome_lengths
  if (is.null(path)) {
    return(NULL)
  }
  problem <- input_problem("chromosome_lengths", path, folder = FALSE)
  lengths <- if (is.null(problem)) {
    tryCatch(
      {
        origin$inputs[[path]] <- file_identity(path)
        read_chromosome_lengths(path, origin$inputs[[path]]$identity)
      },
      ancify_error = function(condition) {
        problem <<- paste0("`chromosome_lengths`: ", conditionMessage(condition))
        NULL
      }
    )
  }
  origin$problems <- c(origin$problems, problem)
  if (is.null(lengths)) NULL else requested_lengths(lengths, config, origin)
}

requested_lengths <- function(lengths, config, origin) {
  wanted <- if (is.null(config$chromosomes)) names(lengths) else config$chromosomes
  unknown <- setdiff(wanted, names(lengths))
  if (length(unknown)) {
    add_problem(
      origin, "`chromosomes`: there is no %s in %s, which has %s; use its names.",
      enumerate(quoted(unknown)), quoted(config$chromosome_lengths),
      enumerate(quoted(names(lengths)))
    )
  }
  # R could not tell whether their files are there.
  foreign <- wanted[is.na(iconv(wanted, "UTF-8", ""))]
  if (length(foreign)) {
    add_problem(
      origin, "`chromosomes`: this session's encoding can't say %s: start R in UTF-8 (%s).",
      enumerate(quoted(foreign)), "LC_ALL=C.UTF-8"
    )
  }
  lengths[setdiff(wanted, unknown)]
}
