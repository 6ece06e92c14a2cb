#' Ancestral alleles, demography, traits and sequences genome-wide
#'
#' ancify has five families of analyses, which share one core in C++:
#'
#' | Family | Begin with |
#' | :--- | :--- |
#' | Ancestral alleles and variants | `run <- ancify_run(ancify_example())`, [annotate_vcf()] |
#' | Spectra and demography | [sfs_from_vcf()], [fit_demography()], [ld_statistics()] |
#' | Traits | [open_genotypes()], [fit_reml()], [scan_variants()] |
#' | Sequences and viruses | [sequence_model()], [score_missense()], [detect_viruses()] |
#' | k-mers, mutations, chromatin | [count_kmers()], [mutation_spectrum()], [distance_maps()] |
#'
#' A run that calls ancestral alleles needs a configuration, in a file or a list. `ancify_init()`
#' writes a template, and `ancify_run(ancify_example())` needs no file.
#'
#' | Vignette | Title |
#' | :--- | :--- |
#' | `vignette("ancify", "ancify")` | Ancestral alleles from alignments |
#' | `vignette("running", "ancify")` | How a run works |
#' | `vignette("methods", "ancify")` | Which method, and how sure |
#' | `vignette("speed", "ancify")` | GPU and speed |
#' | `vignette("cluster", "ancify")` | On a cluster |
#' | `vignette("mutation_spectra", "ancify")` | From ancestral alleles to mutation spectra |
#' | `vignette("demography", "ancify")` | From ancestral alleles to demography |
#' | `vignette("linkage", "ancify")` | A history from a spectrum and from linkage |
#' | `vignette("missense", "ancify")` | From calls to fitness effects by missense score |
#' | `vignette("viruses", "ancify")` | Detecting viruses |
#' | `vignette("heritability", "ancify")` | From genotypes to heritability |
#' | `vignette("chromatin", "ancify")` | Distance maps of chromatin |
#' | `vignette("python", "ancify")` | Coming from the Python tool |
#' | `vignette("glossary", "ancify")` | Glossary |
#'
#' Errors, warnings and messages have classes, so that you can catch each kind separately. An
#' `ancify_file_error` is also an `ancify_error`, and likewise for `ancify_warning` and
#' `ancify_message`. The section Errors of each page lists its classes.
#'
#' @section Running:
#' * [ancify_init()] writes a configuration to start from, [ancify_config()] reads and checks one,
#'   and [ancify_settings()] lists all settings.
#' * [ancify_example()] makes a small complete example.
#' * [ancify_check()] checks a run's inputs before it starts.
#' * [ancify_run()] carries out a configuration: it projects, calls and evaluates.
#'   [ancify_project()] and [ancify_call()] carry out one of these phases.
#'
#' @section Single steps, projecting and calling:
#' * [project_axt()] projects one alignment, AXT, MAF, TAF, chain or PAF, onto the focal genome.
#' * [read_axt()] reads an alignment's blocks as pairs of ranges.
#' * [call_ancestral()] calls ancestral alleles from sequences in memory, by any method.
#' * [polarise_sites()] gives posteriors of the ancestral allele at polymorphic sites.
#'
#' @section Models and histories:
#' * [substitution_model()] describes how bases change. [coalescent_history()] describes when
#'   outgroups split off, and how large the populations were.
#' * [count_patterns()] counts site patterns. [fit_substitution_model()] fits a model and branch
#'   lengths to them, and [fit_history()] fits split times and population sizes.
#' * [ancify_train()] trains boosted trees for the method ml.
#'
#' @section Reading and comparing results:
#' * [read_ancestral()] reads the calls of regions, and [read_confidence()] their confidence as
#'   ranges.
#' * [read_posterior()] reads posteriors, and [export_posterior()] exports them as bigWig files.
#' * [ancify_evaluate()] compares calls with a reference and with known variants.
#' * [compare_calls()] compares several runs, and [`plot()`][plot.ancify_comparison] and
#'   `autoplot()` draw the comparison.
#' * [ancify_report()] writes a page about a run.
#'
#' @section Variants:
#' * [polarise()] writes a VCF whose REF is ancestral, from alignments or calls.
#' * [annotate_vcf()] writes ancestral alleles into a VCF, and can exchange REF and ALT.
#' * [annotate_variants()] does so for variants in memory.
#'
#' @section Site frequency spectra:
#' * [sfs_from_vcf()] makes a spectrum from genotypes, [sfs_from_sites()] from allele counts, and
#'   [sfs()] from an array.
#' * [read_sfs()] reads files of dadi, fastsimcoal2 and realSFS, and [sfs_from_snp_table()] dadi's
#'   tables of SNPs. [write_sfs()] writes dadi's format.
#' * [fold()], [unfold()], [project_sfs()], [marginal_sfs()] and [combine_populations()] transform a
#'   spectrum, and [`simulate()`][simulate.sfs] draws samples from one.
#' * [sfs_statistics()] gives theta and Tajima's D, and [sfs_fst()] differentiation.
#' * [`plot()`][plot.sfs] draws spectra.
#'
#' @section Selection:
#' * [selection_scan()] tests windows of a genome for selection, weighted by posteriors of ancestral
#'   alleles. [`plot()`][plot.selection_scan] draws a scan, and [write_bedgraph()] exports it.
#'
#' @section Mutation spectra:
#' * [mutation_spectrum()] counts the mutations of a VCF by ancestral context.
#' * [count_contexts()] counts the positions that could have mutated, and [mutation_rates()] divides
#'   by them.
#' * [mutation_contrasts()] compares populations, and [`plot()`][plot.mutation_spectrum] draws them.
#' * [collapse_contexts()] shortens contexts, and [signature_table()] converts to formats of other
#'   packages.
#'
#' @section Chromatin:
#' * [distance_maps()] makes maps of coordinates, with [methods][distance_maps_methods] and
#'   [`plot()`][plot.distance_maps]. [map_structures()] recovers coordinates.
#' * [complete_maps()] fills in missing points, [denoise_maps()] and [outlier_scores()] find wrong
#'   ones, [map_components()] prepares clustering.
#' * [simulate_polymers()] draws from [polymer_model()] or [self_avoiding_model()], and
#'   [perturb_maps()] adds errors to structures.
#' * [map_metrics()], [cluster_metrics()] and [outlier_roc()] compare results with the truth.
#'
#' @section Demographic models:
#' * [demography()] makes a model from events: [event_equilibrium()], [event_epoch()],
#'   [event_split()], [event_admixture()], [event_pulse()], [event_removal()] and
#'   [event_reordering()]. Their values may change over time by a [size_history()].
#' * [demography_model()] gives common and published models by name.
#' * [read_demes()] and [write_demes()] exchange models with other programs; fields of a file may be
#'   parameters.
#' * [expected_sfs()] computes the spectrum that a model expects; [sampling_ascertained()],
#'   [sampling_admixed()] and [sampling_inbred()] describe how samples are drawn.
#' * [fit_demography()] fits a model to a spectrum, and its result has [methods][demography_fit];
#'   [`vcov()`][vcov.demography_fit] gives standard errors, [`confint()`][confint.demography_fit]
#'   intervals, [`anova()`][anova.demography_fit] tests, and [refit_demography()] a bootstrap.
#' * [sfs_log_likelihood()], [optimal_theta()], [sfs_residuals()] and [misidentified_sfs()] compare
#'   a spectrum with the expected one.
#'
#' @section Distributions of fitness effects:
#' * [selected_spectra()] computes a model's spectra for many selection coefficients.
#' * [dfe_gamma()], [dfe_exponential()], [dfe_lognormal()], [dfe_point()] and [dfe_mixture()] are
#'   distributions.
#' * [dfe_sfs()] gives the spectrum under a distribution, and [dfe_model()] a model that
#'   [fit_demography()] fits.
#'
#' @section Genotypes:
#' * [open_genotypes()] opens genotypes of PLINK, BGEN, VCF, VCF Zarr or a matrix, as hard calls or
#'   dosages, also of several files as one set. [Methods][genotype_methods] select and read them,
#'   and [`summary()`][summary.ancify_genotypes] counts them.
#' * [filter_variants()] chooses variants by frequency, missing calls, Hardy-Weinberg
#'   equilibrium and quality of imputation, and [split_par()] separates the pseudoautosomal regions
#'   of X.
#' * [write_bed()] and [write_pgen()] write chosen genotypes.
#' * [read_phenotypes()], [read_covariates()] and [read_keep()] read tables of samples.
#'
#' @section Heritability:
#' * [fit_reml()] estimates how much of a trait's variance genotypes explain, and its result has
#'   [methods][reml_fit]. [reml_control()] holds its settings; [haseman_elston()] is faster.
#' * [heritability()] gives shares of the variance, with standard and Monte Carlo errors.
#' * [components_by_chromosome()], [components_by_file()], [components_by_frequency()],
#'   [components_by_value()] and [read_components()] make sets of variants, each with its own
#'   variance.
#' * [kernel_grm()], [kernel_weighted()], [kernel_admixture()], [kernel_matrix()], [kernel_gcta()]
#'   and [kernel_products()] make other kernels, [merge_components()] merges weak components, and
#'   [kernel_times()] multiplies by a kernel.
#' * [`confint()`][confint.reml_fit] gives intervals, [`anova()`][anova.reml_fit] tests components,
#'   [`plot()`][plot.reml_fit] draws a fit, and [reml_log_likelihood()] computes its likelihood.
#'
#' @section Detection of viruses:
#' * [detect_viruses()] finds the chunks of sequences that are viral.
#' * [chunk_sequences()], [six_frames()], [embed_sequences()], [train_classifier()] and
#'   [chunk_calls()] are its steps.
#'
#' @section Machine, backends, clusters and build:
#' * [available_gpus()] lists GPUs, and [detect_backend()] reports whether any is present.
#' * [slurm_param()] sends a run's tasks to Slurm.
#' * [ancify_build_info()] shows how the package was built.
#'
#' @examples
#' run <- ancify_run(ancify_example(), threads = 1, verbose = FALSE)
#' run
"_PACKAGE"

#' @useDynLib ancify, .registration = TRUE
#' @importFrom Rcpp evalCpp
# RcppParallel loads TBB, which the core's threads need.
#' @importFrom RcppParallel defaultNumThreads
NULL
