# The settings of a configuration: one row each. The help page, the template of ancify_init() and
# the tables of the vignettes are made from these rows.

# Settings by topic, in the order of the documentation. They are in functions, because rows refer to
# functions in files that R loads later.
config_groups <- function() {
  list(
    "Species and files" = species_settings(), "How to call" = calling_settings(),
    "What to compare with" = comparison_settings(), "How to compute" = computing_settings()
  )
}

# All rows by their names
config_keys <- function() do.call(c, unname(config_groups()))

species_settings <- function() {
  list(
    focal_species = config_setting(
      read_name, "The species whose ancestor is called.",
      required = TRUE, example = "focal", python = TRUE, printed = TRUE
    ),
    genome = config_setting(
      read_text, "The name of the focal genome's assembly, which `seqinfo()` of results gives.",
      example = "hg38", changes = "nothing", printed = TRUE
    ),
    chromosome_lengths = config_setting(
      read_lengths_file, paste(
        "A file with each chromosome's name and length: `chrom.sizes`, `.fai` or the genome in",
        "2bit format. In a list also a named vector, a `Seqinfo`, or an object that has one; but",
        "tasks on other machines need a file."
      ),
      required = TRUE, example = "chrom.sizes", changes = "projections", python = TRUE,
      printed = TRUE
    ),
    chromosomes = config_setting(
      read_names, paste(
        "The chromosomes to process, in this order. A model fitted by `estimate` depends on them,",
        "and its calls are made again."
      ),
      unset = "all in `chromosome_lengths`", example = "[chr1, chr2, chrX]", changes = "nothing",
      python = TRUE, printed = TRUE
    ),
    chromosome_aliases = config_setting(
      read_input, paste(
        "A table of other names that alignments and `focal_fasta` may have for chromosomes, such",
        "as UCSC's `chromAlias.txt`: each line has the names of one sequence."
      ),
      example = "hg38.chromAlias.txt", changes = "projections"
    ),
    outgroups = config_section(
      outgroup_keys(),
      "The outgroups and their alignments to the focal genome (AXT, MAF, TAF, chain or PAF).",
      required = TRUE, python = TRUE, printed = TRUE
    ),
    focal_maf_name = config_setting(
      read_text, "The focal species' name in MAF and TAF files.",
      unset = "`focal_species`", example = "hg38", changes = "projections"
    ),
    work_dir = config_setting(
      read_output, "Projections go to `<work_dir>/projected/<species>/<chromosome>.fa`.", ".",
      changes = "nothing", python = TRUE, printed = TRUE
    ),
    output_dir = config_setting(
      read_output, "Calls go to `<output_dir>/<chromosome>.fa`.", "./ancestral_calls",
      changes = "nothing", python = TRUE, printed = TRUE
    ),
    on_bad_block = config_setting(
      one_of("error", "skip"),
      "A bad block ends the run (`error`), or is left out and reported (`skip`).", "error",
      changes = "projections"
    ),
    overlaps = config_setting(
      one_of(overlap_rules), paste(
        "Which of several blocks at a position counts: the one with the best score (`score`),",
        "all of them (`missing`), or the last of the file (`last`). Where blocks that count, such",
        "as two of one score, have different bases, the base is `N`."
      ), "score", changes = "projections"
    ),
    focal_fasta = config_setting(
      read_input, paste(
        "The focal genome: a FASTA of all chromosomes, plain, gzip or bgzip, or a 2bit file. A",
        "block with another focal base is a bad block. Case is ignored, and `N` and other codes",
        "fit any base.",
        "`estimate` takes the focal bases from this file."
      ),
      example = "focal.fa.gz", changes = "projections"
    )
  )
}

outgroup_keys <- function() {
  list(
    inner = config_setting(
      key_entries(outgroup_entry_keys()), paste(
        "Near relatives: a list of entries. For a MAF or TAF file also",
        "`{name: chimp, alignment: all.maf.gz, maf_name: panTro6}`, and for a chain or PAF file",
        "`{name: chimp, alignment: over.chain.gz, twobit: panTro6.2bit}`."
      ),
      unset = "empty",
      example = paste0(
        "\n- {name: near1, alignment: near1.axt.gz}\n- {name: near2, alignment: near2.axt.gz}"
      ),
      python = TRUE, keys = outgroup_entry_keys(), within = "[i]."
    ),
    outer = config_setting(
      key_entries(outgroup_entry_keys()),
      "Distant relatives, likewise. Voting and ml need both tiers.",
      unset = "empty", example = "\n- {name: far, alignment: far.axt.gz}", python = TRUE
    )
  )
}

outgroup_entry_keys <- function() {
  list(
    name = config_setting(
      read_name, "The name of the species in files and messages.",
      required = TRUE, python = TRUE
    ),
    alignment = config_setting(
      read_input, paste(
        "Its alignment. One MAF or TAF file may serve several outgroups. Names of chromosomes may",
        "differ by a leading chr."
      ),
      required = TRUE, changes = "projections", python = TRUE
    ),
    maf_name = config_setting(
      read_text, "Its name in the MAF or TAF file.",
      unset = "`name`", changes = "projections"
    ),
    twobit = config_setting(
      read_input, paste(
        "Its genome in 2bit format, which a chain file needs, and a PAF file without cs:Z: in the",
        "long form. Names of sequences may differ by a leading chr."
      ),
      example = "panTro6.2bit", changes = "projections"
    )
  )
}

calling_settings <- function() {
  c(list(
    method = config_setting(
      one_of(method_names()), "The calling method; `?call_ancestral` explains them.", "voting",
      python = TRUE, printed = TRUE
    ),
    min_inner_freq = config_setting(
      whole_number(1),
      "Voting: the fewest inner outgroups that must have the same base for a consensus.", 1L,
      python = TRUE, printed = TRUE
    ),
    min_outer_freq = config_setting(
      whole_number(1), "Voting: the same for outer outgroups.", 1L,
      python = TRUE, printed = TRUE
    ),
    ties = config_setting(
      one_of(tie_rules), paste(
        "The call where a method leaves several bases: `n` (`open`), or the first of A, C, G and T",
        "(`alphabet`), which depends on the strand. The Python tool has the second."
      ), "open"
    ),
    tree = config_setting(
      typed("Newick text or path", read_tree), paste(
        "Parsimony and likelihood: a Newick text, or a file with one. Leaves are the outgroups.",
        "With the focal species as a leaf, the call is for its ancestor. Likelihood needs branch",
        "lengths, unless `estimate` is true."
      ),
      example = "\"(((focal, near1), near2), far);\"", python = TRUE
    ),
    node = config_setting(
      read_node, paste(
        "Parsimony and likelihood: the ancestor to call. The name of an inner node of `tree`, or a",
        "list of species whose most recent common ancestor it is."
      ),
      unset = "where the focal lineage joins the tree, or its root", example = "[focal, near2]"
    ),
    substitution_model = config_setting(
      one_of(model_names), "Likelihood and coalescent: the substitution model.", "JC69",
      python = TRUE
    )
  ), rate_settings(), list(
    model_classes = config_setting(
      classes_or_rates(), paste(
        "Likelihood and coalescent: rates of their own for sites that can be in a CpG, by",
        "`?cpg_class`. `cpg` fits them, with `estimate: true`. Given rates are those that a fit",
        "wrote to `fitted_model.yml`."
      ),
      unset = "one model for all sites", example = "cpg"
    ),
    estimate = config_setting(
      read_flag, paste(
        "Likelihood and coalescent: fit the substitution model (and the branch lengths, or the",
        "history) to the data before calling."
      ), FALSE
    ),
    history = config_section(
      history_keys(), paste(
        "Coalescent: when outgroups split off, and sizes of populations. With `estimate: true`",
        "the search begins there."
      )
    ),
    variants = config_setting(
      read_input, paste(
        "Coalescent: a VCF or BCF of the focal species, whose records are known to vary. With",
        "`{chrom}` or `{chrom_id}` in its name there is one for each chromosome.",
        "Posteriors there take the counts of the two alleles from genotypes, or from `AC` and",
        "`AN`. Without these they sum over all counts."
      ),
      example = "variants.vcf.gz"
    ),
    variant_samples = config_setting(
      read_input, paste(
        "The samples of `variants` whose alleles are counted, of one population: a file with a",
        "name a line. `AC` and `AN` are then not used."
      ),
      unset = "all samples", example = "samples.txt"
    ),
    likelihood_high_threshold = config_setting(
      read_number(0, 1),
      "Likelihood and coalescent: the posterior from which a call is upper case.", 0.8,
      python = TRUE
    ),
    likelihood_low_threshold = config_setting(
      read_number(0, 1), "The posterior from which a call is lower case; below, it is `n`.", 0.5,
      python = TRUE
    ),
    ml_model_path = config_setting(
      read_input, "Method ml: a LightGBM model in text form; `ancify_train()` writes one.",
      unset = "`<work_dir>/ancify_ml_model.lgb`", example = "ancify_ml_model.lgb", python = TRUE
    ),
    ml_training_reference = config_setting(
      read_input, "Method ml: a folder of `<chromosome>.fa` with ancestral bases to train on.",
      unset = "calls of high confidence by voting", example = "reference", changes = "nothing",
      python = TRUE
    ),
    ml_high_threshold = config_setting(
      read_number(0, 1), "Method ml: the probability from which a call is upper case.", 0.8,
      python = TRUE
    ),
    ml_low_threshold = config_setting(
      read_number(0, 1), "Method ml: the probability from which a call is lower case.", 0.5,
      python = TRUE
    ),
    posterior = config_setting(
      read_flag, paste(
        "Likelihood, coalescent and ml: write the error probability of each call, to",
        "`<output_dir>/posterior/<chromosome>.phred`."
      ), FALSE
    )
  ))
}

history_keys <- function() {
  list(
    splits = config_setting(
      positive_numbers, "Generations since each outgroup split off, inner ones first, or by name.",
      example = "[240000, 320000, 1100000]"
    ),
    sizes = config_setting(
      positive_numbers, "Diploid population size from each split on, back in time.",
      example = "[50000, 50000, 50000]"
    ),
    into = config_setting(
      read_populations,
      "Which population each outgroup joins: an outgroup's name, or 0 for the focal species.",
      unset = "0 for all", example = "{near1: 0, near2: near1, far: 0}"
    ),
    focal_size = config_setting(
      positive_numbers,
      "Diploid size of the focal population; with `focal_times` several, the present one first.",
      unset = "the size from the first split on", example = "10000"
    ),
    focal_times = config_setting(
      positive_numbers,
      "Generations ago at which the second and further `focal_size` begin, back in time.",
      unset = "one size", example = "[1000, 5000]"
    ),
    focal_lineages = config_setting(
      whole_number(1, most_focal_lineages),
      "Number of focal haplotypes whose common ancestor is called.", 20L
    ),
    called = config_setting(
      read_number(above = 0, highest = 1),
      "With `estimate: true`: the share of all variants that are in `variants`.", 1
    ),
    mutation_rate = config_setting(
      read_number(above = 0), "Mutations a site and generation.", 1.25e-8
    )
  )
}

comparison_settings <- function() {
  list(
    evaluation = config_section(
      evaluation_keys(), paste(
        "References to compare the calls with. In a pattern `{chrom}` is the chromosome's name,",
        "`{chrom_id}` the name without `chr`."
      ),
      changes = "nothing", python = TRUE
    )
  )
}

evaluation_keys <- function() {
  list(
    reference_dir = config_setting(
      read_input, "A folder of ancestral sequences in focal coordinates.",
      example = "reference", changes = "nothing", python = TRUE
    ),
    reference_pattern = config_setting(
      read_text, "The names of their files.", "{chrom}.fa",
      changes = "nothing", python = TRUE
    ),
    vcf_dir = config_setting(
      read_input, "A folder of known variants.",
      example = "variants", changes = "nothing", python = TRUE
    ),
    vcf_pattern = config_setting(
      read_text,
      "The names of their files. Without `{chrom}` and `{chrom_id}`, one file has all chromosomes.",
      "{chrom}.vcf.gz",
      changes = "nothing", python = TRUE
    )
  )
}

computing_settings <- function() {
  list(
    num_cpus = config_setting(
      whole_number(1, core_limits()$threads), "Number of threads.", 4L,
      changes = "nothing", python = TRUE, printed = TRUE
    ),
    keep_projected = config_setting(
      auto_or(read_flag), paste(
        "Keep projections on disk. `auto` keeps them if a phase runs alone or `estimate` needs",
        "them."
      ), "auto",
      changes = "nothing"
    ),
    memory = config_setting(
      read_number(1e7, 1e15), paste(
        "Bytes for bases that wait for other alignments, if both phases run as one. Sorted",
        "alignments need little of it. Where it is too small, the run reads them again."
      ), 2e9,
      changes = "nothing"
    ),
    backend = config_setting(
      one_of("auto", "cpu", "gpu"),
      "The device that computes calls: CPU or GPU. In this version `auto` is the CPU.", "auto",
      changes = "nothing", python = TRUE, printed = TRUE
    ),
    gpu_devices = config_setting(
      read_devices, "The GPUs to use, by the numbers of `available_gpus()`; `[]` for none.",
      unset = "all", example = "[0, 1]", changes = "nothing", python = TRUE
    ),
    gpu_memory = config_setting(
      read_number(above = 0), "Bytes of memory to use on each GPU.",
      unset = "the free memory less a margin", example = "8e9", changes = "nothing"
    ),
    cluster = config_section(
      cluster_keys(), "What each job of a batch system asks for (`ancify run --cluster slurm`).",
      changes = "nothing"
    )
  )
}

cluster_keys <- function() {
  list(
    partition = config_setting(
      text_like("^[A-Za-z0-9_.,+-]+$", "names of partitions, as in \"main,long\"."),
      "Its partitions.",
      unset = "the system's", example = "main", changes = "nothing"
    ),
    time = config_setting(
      text_like(
        "^([0-9]+-)?[0-9]+(:[0-9]{1,2}){0,2}$",
        "minutes, or a time such as \"04:00:00\" or \"2-12\"."
      ), "Its time limit.",
      unset = "the system's", example = "\"04:00:00\"", changes = "nothing"
    ),
    memory = config_setting(
      text_like("^[0-9]+[KMGT]?$", "megabytes, or a size such as \"8G\"."), "Its memory.",
      unset = "what the genome needs", example = "8G", changes = "nothing"
    ),
    cpus = config_setting(
      whole_number(1), "Its cores.",
      unset = "`num_cpus`", example = "4", changes = "nothing"
    ),
    gpus = config_setting(
      whole_number(0), "Its GPUs.",
      unset = "1 with `backend: gpu`, else none", example = "1", changes = "nothing"
    )
  )
}
