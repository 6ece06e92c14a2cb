# The commands of the command line, a row each. Parsing, checks, help and completion are derived
# from these rows.

command_rows <- function() {
  c(rows_of_runs(), rows_of_analyses(), rows_of_models(), rows_about_commands())
}

rows_of_runs <- function() {
  of_run <- c("config", "threads", "cluster", "verbose")
  list(
    init = command_row(
      "write an annotated configuration to start from", init_command,
      options = "output", streams = "output",
      details = "Without -o the file is ancify.yaml. An existing file stays.",
      examples = "ancify init -o ancify.yaml", instead = "ancify_init", words = c(path = "-o")
    ),
    check = command_row(
      "check a run's inputs before it starts; status 1 if there is an error", check_command,
      options = c("config", "threads"), required = "config",
      examples = "ancify check -c ancify.yaml", instead = "ancify_check"
    ),
    run = command_row(
      "project and call; evaluate if the configuration has that block",
      phases_command(all_phases), options = of_run, required = "config",
      examples = "ancify run -c ancify.yaml -n 2 -v", instead = "ancify_run"
    ),
    project = command_row(
      "project the outgroups' alignments onto the focal genome", phases_command("project"),
      options = of_run, required = "config", examples = "ancify project -c ancify.yaml",
      instead = "ancify_project"
    ),
    call = command_row(
      "call ancestral bases from projected sequences", phases_command("call"), options = of_run,
      required = "config", examples = "ancify call -c ancify.yaml", instead = "ancify_call"
    ),
    evaluate = command_row(
      "compare calls with a reference and with known variants", phases_command("evaluate"),
      options = of_run, required = "config", examples = "ancify evaluate -c ancify.yaml",
      instead = "ancify_evaluate"
    ),
    train = command_row(
      "train a model for the method ml", train_command,
      options = c("config", "threads", "output", "verbose"), required = "config",
      details = "Without -o the file is ml_model_path of the configuration.",
      examples = "ancify train -c ancify.yaml -o model.txt", instead = "ancify_train",
      words = c(file = "-o")
    )
  )
}

rows_of_analyses <- function() {
  list(
    annotate = command_row(
      "write ancestral alleles into a VCF or BCF", annotate_command, c("VCF", "CALLS"),
      c("output", "reference", "mask", "polarise", "unpolarised", "keep_fields", "also", "threads",
        "verbose"),
      "output", c("VCF", "output"),
      paste(
        "CALLS is the folder of a run, a FASTA file, or AA for the records' own AA. The ending of",
        "-o tells the format: .vcf, .vcf.gz or .bcf; - is VCF. Prints how many records have each",
        "reason."
      ),
      c(
        "ancify annotate in.vcf.gz ancestral_calls -o out.vcf.gz",
        paste(
          "bcftools view -f PASS in.vcf.gz |\n ",
          "ancify annotate - ancestral_calls --polarise -o out.bcf"
        )
      ),
      "annotate_vcf", c(vcf = "VCF", ancestral = "CALLS", out = "-o")
    ),
    polarise = command_row(
      "write a VCF or BCF whose REF is the ancestral allele", polarise_command, c("VCF", "..."),
      c("from", "output", "unpolarised", "reference", "mask", "also", "keep_fields",
        "chrom_lengths", "focal", "method", "tree", "threads", "verbose"),
      c("from", "output"), c("VCF", "output"),
      c(
        paste(
          "--from takes SPECIES=ALIGNMENT for each outgroup (AXT, MAF, TAF, PAF, or CHAIN,TWOBIT;",
          "also PAF,TWOBIT); samples:NAMES of VCF, samples:NAMES@OTHER.vcf.gz, or",
          "SPECIES=samples:NAMES for several samples of one; or the folder of a run, a FASTA file,",
          "or AA for the records' own AA."
        ),
        paste(
          "Records that cannot be polarised get NOT_POLARISED in FILTER by default. Prints how",
          "many records have each reason."
        )
      ),
      c(
        "ancify polarise in.vcf.gz --from chimp=a.axt.gz macaque=b.axt.gz -o out.bcf",
        "ancify polarise in.vcf.gz --from samples:chimp,gorilla@apes.vcf.gz -o out.bcf",
        "ancify polarise in.vcf.gz --from epo.fa --unpolarised drop -o out.vcf.gz"
      ),
      "polarise", c(vcf = "VCF", out = "-o")
    ),
    sfs = command_row(
      "make a site frequency spectrum from a VCF or BCF", sfs_command, "VCF",
      c(
        "populations", "info_populations", "project", "ancestral", "folded", "reference", "mask",
        "no_low_confidence", "window", "kind", "output", "threads"
      ),
      streams = c("VCF", "output"),
      details = paste(
        "Without --populations, alleles are counted by AC and AN of INFO, as of files of sites",
        "without genotypes; --info-populations counts several populations so. Without -o the",
        "spectrum goes to the standard output, and the numbers of records by reason to the",
        "standard error. With --window, spectra of 100 bootstraps are beside FILE.fs, as FILE.1.fs",
        "and so on."
      ),
      examples = c(
        paste(
          "ancify sfs in.vcf.gz --ancestral ancestral_calls --populations samples.txt \\\n ",
          "--project 4,4 -o joint.fs"
        ),
        paste(
          "ancify annotate in.vcf.gz ancestral_calls -o - |\n ",
          "ancify sfs - --populations samples.txt > joint.fs"
        ),
        "ancify sfs sites.vcf.gz --info-populations afr,nfe --project 50,50 -o joint.fs"
      ),
      instead = "sfs_from_vcf",
      words = c(vcf = "VCF", also = "--also", low_confidence = "--no-low-confidence")
    ),
    `scan-selection` = command_row(
      "scan windows of a VCF or BCF for selection, by their spectra", scan_selection_command, "VCF",
      c(
        "window", "step", "populations", "info_populations", "project", "ancestral", "hard",
        "reference", "mask", "no_low_confidence", "statistic", "output", "threads"
      ),
      required = "window", streams = c("VCF", "output"),
      details = paste(
        "Writes a row for each population and window, with estimates of theta and tests of",
        "neutrality; or one statistic, if -o ends with .bedgraph. Populations are as for sfs.",
        "Posteriors of ancestral alleles weight the sites, unless --hard is given."
      ),
      examples = paste(
        "ancify scan-selection in.vcf.gz --ancestral ancestral_calls \\\n ",
        "--populations samples.txt --project 4,4 --window 5000 -o selection.tsv"
      ),
      instead = "selection_scan",
      words = c(vcf = "VCF", calls = "--hard", low_confidence = "--no-low-confidence")
    ),
    mutations = command_row(
      "count mutations of a VCF or BCF by ancestral context, with rates", mutations_command,
      options = c("config", "vcf", "k", "populations", "info_populations", "mask",
                  "no_low_confidence", "window", "output", "threads"),
      required = c("config", "vcf"), streams = c("vcf", "output"),
      details = paste(
        "Writes a row for each type and population: the count, the positions with its context and",
        "the rate, with --window also its standard error. Without -o the table goes to the",
        "standard output, and the numbers of records by reason to the standard error."
      ),
      examples = "ancify mutations -c ancify.yaml --vcf in.vcf.gz -k 3 -o rates.tsv",
      instead = c("mutation_spectrum", "count_contexts", "mutation_rates"),
      words = c(
        k = "-k", out = "-o", vcf = "--vcf", windows = "--window", mask = "--mask",
        populations = "--populations", low_confidence = "--no-low-confidence"
      )
    ),
    branches = command_row(
      "count substitutions on each branch of the tree", branches_command,
      options = c("config", "output", "threads"), required = "config", streams = "output",
      details = paste(
        "Writes a row for each branch and change of base: the expected number of substitutions,",
        "and of sites with the first base. Takes the projected sequences of a run, which",
        "keep_projected: true keeps. Without -o the table goes to the standard output."
      ),
      examples = "ancify branches -c ancify.yaml -o branches.tsv",
      instead = "branch_substitutions"
    ),
    compare = command_row(
      "compare the calls of runs", compare_command, c("CALLS", "CALLS", "..."),
      c("window", "output", "threads"), character(), "output",
      paste(
        "CALLS are folders of runs, or their configurations. -o writes a table of windows, of",
        "1,000,000 bases by default."
      ),
      "ancify compare ancestral_calls parsimony_calls -o windows.tsv", "compare_calls"
    ),
    report = command_row(
      "write a page of HTML about a run", report_command, "CALLS",
      c("output", "template"),
      details = paste(
        "CALLS is the folder of a run, or its configuration. Without -o the page is report.html.",
        "?ancify_report says how to copy and edit the package's template."
      ),
      examples = "ancify report ancestral_calls -o report.html", instead = "ancify_report",
      words = c(file = "-o", run = "CALLS")
    ),
    posterior = command_row(
      "print the posteriors of a chromosome's calls as a table", posterior_command,
      c("CALLS", "CHROMOSOME", "[START]", "[END]"),
      details = paste(
        "CALLS is the folder of a run with `posterior: true`, or its configuration. Positions are",
        "from 1 and inclusive. Without them the table has the whole chromosome."
      ),
      examples = "ancify posterior ancestral_calls chr1 2001 2010", instead = "read_posterior",
      words = c(run = "CALLS", chromosome = "CHROMOSOME", start = "START", end = "END")
    ),
    export = command_row(
      "write ancestral states for another program", export_command, "CALLS",
      c("format", "sites", "reference", "chromosomes", "no_low_confidence", "width", "output",
        "threads"),
      c("format", "output"),
      "sites",
      paste(
        "CALLS is the folder of a run, or its configuration. FORMAT is tsinfer (a table of the",
        "states of --sites), relate or slim (folders of FASTA files; slim needs --reference),",
        "fasta (an indexed file of all chromosomes, as .fa or .fa.gz), or bed or bigbed",
        "(confidences, of --sites or of all positions). --sites replaces --chromosomes. bed and",
        "bigbed tell low confidences apart."
      ),
      c(
        "ancify export ancestral_calls --format fasta -o ancestral.fa.gz",
        "ancify export ancestral_calls --format tsinfer --sites in.vcf.gz -o states.tsv",
        "ancify export ancestral_calls --format bed -o confidence.bed"
      ),
      "export_states",
      c(run = "CALLS", out = "-o", low_confidence = "--no-low-confidence"),
      function(parsed) NULL # -o may be a folder, which export_states() checks
    ),
    demography = command_row(
      "fit a demographic model to a spectrum; status 3 if not converged", demography_command,
      "SPECTRUM",
      c("model", "start", "lower", "upper", "fixed", "misidentified", "starts", "seed", "tolerance",
        "seconds", "errors", "bootstraps", "haplotypes", "out", "reference_size", "plot",
        "threads"),
      "model", "SPECTRUM",
      c(
        paste("models:", paste(demography_model(), collapse = ", ")),
        paste(
          "A model with parameters is fitted, and needs --start. One without, as in a Demes file,",
          "is compared with the data. --out writes PREFIX.json, the expected spectrum PREFIX.fs",
          "and, with --reference-size, the model as the Demes file PREFIX.yaml."
        ),
        "SPECTRUM is a file of dadi, fastsimcoal2 (.obs) or, with --haplotypes, realSFS."
      ),
      paste(
        "ancify demography one.fs --model two_epoch --start nu=2,time=0.1 \\\n ",
        "--out fitted --reference-size 10000"
      ),
      "fit_demography", c(sfs = "SPECTRUM", sizes = "--haplotypes"), demography_files
    ),
    reml = command_row(
      "estimate heritability from genotypes; status 3 if not converged", reml_command,
      "[GENOTYPES...]",
      options = c(options_of_study, "together", "prevalence", options_of_components, "grm",
                  "weights", "admixture", "merge", "effects", "export", "out", "threads", "backend",
                  "verbose"),
      required = "out",
      details = c(
        paste(
          "With --prevalence, PREFIX.json has the heritability of liability, too. Where p_is_bound",
          "of its lrt is true, as for several components, p_value is an upper bound."
        ),
        "Further GENOTYPES, such as a file for each chromosome, make one set.",
        details_of_reml, traits_sentence
      ),
      examples = c(
        "ancify reml --genotypes mice.bed --pheno traits.tsv --out h2",
        "ancify reml --genotypes mice.bed --pheno traits.tsv --trait CD8,MCH --out h2",
        paste(
          "ancify reml --genotypes mice.bed --pheno traits.tsv --trait CD8,MCH \\\n ",
          "--together --out rg"
        ),
        "ancify reml --genotypes study.bed --binary --prevalence 0.01 --out h2",
        "ancify reml --genotypes chr*.pgen --by file --pheno traits.tsv --out h2",
        paste(
          "ancify reml --genotypes mice.bed --components mice.json --merge \\\n ",
          "--pheno traits.tsv --keep keep.txt --out h2"
        ),
        paste(
          "ancify reml --genotypes mice.bed --weights 'W1.npy,W2.npy;W3.npy' \\\n ",
          "--pheno traits.tsv --out h2"
        ),
        paste(
          "ancify reml --genotypes mice.bed --admixture mice.2.Q --pheno traits.tsv \\\n ",
          "--out h2"
        ),
        "ancify reml --grm mice --pheno traits.tsv --export information --out h2",
        paste(
          "ancify reml --genotypes mice.bed --pheno traits.tsv --effects \\\n ",
          "--predict test.bed --out h2"
        )
      ),
      instead = c("fit_reml", "open_genotypes", "filter_variants"), words = words_of_models,
      writes = function(parsed) c(reml_files(parsed$out), names(further_tables(parsed)))
    ),
    scan = command_row(
      "test each variant for association with a trait", scan_command, "[GENOTYPES...]",
      options = c(options_of_study, "mixed", "firth", "out", "threads", "backend", "verbose"),
      required = c("genotypes", "out"),
      details = c(
        "--out writes PREFIX.scan.tsv. Status 3 if a fit of --mixed has not converged.",
        "The kernel of --mixed has the autosomes, whichever chromosomes are tested.",
        "Further GENOTYPES, such as a file for each chromosome, make one set.", traits_sentence
      ),
      examples = c(
        "ancify scan --genotypes mice.bed --pheno traits.tsv --out ols",
        "ancify scan --genotypes mice.bed --pheno traits.tsv --mixed --out mixed",
        "ancify scan --genotypes study.bed --binary --firth --out cases"
      ),
      instead = "scan_variants", words = word_of_family,
      writes = function(parsed) scan_files(parsed$out)
    ),
    relatedness = command_row(
      "find related samples, and samples without relatives", relatedness_command, "[GENOTYPES...]",
      options = c(options_of_genotypes, "bound", "out", "threads"),
      required = c("genotypes", "out"),
      details = c(
        paste(
          "--out writes PREFIX.related.tsv, the pairs with their kinship, and",
          "PREFIX.unrelated.txt, samples of which no two are such a pair, for --keep."
        ),
        "Further GENOTYPES, such as a file for each chromosome, make one set."
      ),
      examples = "ancify relatedness --genotypes mice.bed --maf 0.01 --out mice",
      instead = c("relatedness", "unrelated_samples"),
      writes = function(parsed) relatedness_files(parsed$out)
    ),
    pca = command_row(
      "find principal components of samples; status 3 if not converged", pca_command,
      "[GENOTYPES...]",
      options = c(options_of_genotypes, "number", "out", "threads", "backend"),
      required = c("genotypes", "out"),
      details = c(
        paste(
          "--out writes PREFIX.pca.tsv, a row a sample, which --covar takes, and",
          "PREFIX.eigenvalues.tsv."
        ),
        "Further GENOTYPES, such as a file for each chromosome, make one set."
      ),
      examples = paste(
        "ancify pca --genotypes mice.bed --maf 0.01 --number 3 --out mice\n ",
        "ancify scan --genotypes mice.bed --pheno traits.tsv --covar mice.pca.tsv \\\n   ",
        "--out ols"
      ),
      instead = "pca", words = c(n = "--number"),
      writes = function(parsed) pca_files(parsed$out)
    ),
    viruses = command_row(
      "detect viruses in sequences, by models of DNA and of proteins", viruses_command,
      options = c("input", "output", "dna", "protein", "classifier", "size", "threads",
                  "backend", "cluster", "job_memory", "job_time", "partition"),
      required = c("input", "output", "dna", "protein", "classifier"), streams = "input",
      details = paste(
        "-o is a folder. It gets prediction_results.txt (a row a reading frame),",
        "prediction_results_highestscore.csv (a row a chunk), both as VirNucPro writes them, and",
        "contigs.tsv. If it will take long, it says so first. The same command goes on where it",
        "was ended. With --cluster slurm --job-memory 16G, each 10,000 reading frames are a job."
      ),
      examples = paste(
        "ancify viruses -i contigs.fa.gz -o viruses --dna DNABERT-S \\\n ",
        "--protein esm2_t36_3B --classifier 500_model.pth"
      ),
      instead = "detect_viruses",
      words = c(x = "-i", out = "-o", cluster.memory = "--job-memory", cluster.time = "--job-time",
                cluster.partition = "--partition"),
      writes = function(parsed) NULL # -o is a folder, which detect_viruses() checks
    )
  )
}

rows_about_commands <- function() {
  list(
    help = command_row(
      "print the help of a command", help_command, "[COMMAND]", examples = "ancify help annotate"
    ),
    version = command_row("print the version", version_command, examples = "ancify version"),
    completion = command_row(
      "print a script that completes commands and options", completion_command, "SHELL",
      details = "SHELL is bash or zsh. Put the example into ~/.bashrc or ~/.zshrc.",
      examples = "source <(ancify completion bash)"
    )
  )
}
