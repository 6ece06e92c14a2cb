# How well maps of chromatin are completed, denoised and clustered without a network, and how fast.
#
#   Rscript benchmarks/chromatin.R [SEEDS] [CELLS]      in the repository's root
#
# It takes the installed package. Figures are means over seeds, with their standard deviation.
library(ancify)
source("benchmarks/timing.R")

arguments <- as.numeric(commandArgs(TRUE))
seeds <- seq_len(if (length(arguments)) arguments[1] else 5)
cells <- if (length(arguments) > 1) arguments[2] else 1000
options(ancify.threads = 2)

model <- polymer_model(64, domains = c(20, 24, 20), domain_spring = 0.02)

# Rows are figures, columns are seeds.
report_seeds <- function(figures, goals = NULL) {
  for (name in rownames(figures)) {
    values <- figures[name, ]
    goal <- if (name %in% names(goals)) goals[[name]] else ""
    report(name, mean(values, na.rm = TRUE),
           sprintf("SD %.3f  %s", stats::sd(values, na.rm = TRUE), goal))
  }
}

over_pairs <- function(figures, column) stats::weighted.mean(figures[[column]], figures$pairs)

# ---- Inpainting ---------------------------------------------------------------------------------

# Errors of each method over those of the conditional expectation.
inpainting <- function(seed) {
  x <- simulate_polymers(cells, model, seed = seed)
  truth <- distance_maps(x)
  given <- perturb_maps(x, missing = 0.1, seed = 1000 + seed)
  methods <- c("conditional", "interpolate", "lowrank")
  figures <- lapply(stats::setNames(methods, methods), function(method) {
    map_metrics(complete_maps(given, method, model), truth, given)
  })
  column <- function(name) vapply(figures, over_pairs, 0, name)
  by_map <- function(name, label) {
    means <- vapply(figures, function(one) mean(one[[name]], na.rm = TRUE), 0)
    stats::setNames(means, paste(label, methods))
  }
  c(
    stats::setNames(column("error"), paste("absolute error in bonds:", methods)),
    stats::setNames((column("error") / column("error")[1])[-1],
                    paste("absolute error over the conditional mean's:", methods[-1])),
    stats::setNames((column("squared") / column("squared")[1])[-1],
                    paste("squared error over the conditional mean's:", methods[-1])),
    by_map("spearman", "Spearman by map:"), by_map("contacts", "AUC of contacts:"),
    by_map("triangles", "broken triangles:")
  )
}
cat("Inpainting: 10 % of points missing, hidden pairs\n")
report_seeds(
  vapply(seeds, inpainting, inpainting(1)),
  c("squared error over the conditional mean's: interpolate" = "expected: 1.16")
)

# ---- Denoising ----------------------------------------------------------------------------------

denoising <- function(seed) {
  x <- simulate_polymers(cells, model, seed = seed)
  truth <- distance_maps(x)
  perturbed <- perturb_maps(x, outliers = 0.05, seed = 1000 + seed)
  jittered <- truth
  set.seed(seed)
  jittered$maps <- jittered$maps * stats::runif(length(jittered$maps), 0.8, 1.2)
  error <- function(maps) over_pairs(map_metrics(maps, truth), "error")
  c(
    "AUC of outlier points" =
      attr(outlier_roc(outlier_scores(perturbed), perturbed$outliers), "area"),
    "5 % outliers, absolute error in bonds: as given" = error(perturbed),
    "5 % outliers, absolute error in bonds: outliers" = error(denoise_maps(perturbed)),
    "errors of single distances: as given" = error(jittered),
    "errors of single distances: rank" = error(denoise_maps(jittered, "rank")),
    "errors of single distances: smacof" = error(denoise_maps(jittered, "smacof"))
  )
}
cat("\nDenoising\n")
report_seeds(vapply(seeds, denoising, denoising(1)), c("AUC of outlier points" = "at least 0.95"))

# ---- Clustering ---------------------------------------------------------------------------------

classes <- list(
  "20, 24, 20" = model, "32, 32" = polymer_model(64, c(32, 32)),
  "12, 40, 12" = polymer_model(64, c(12, 40, 12))
)

clustering <- function(seed) {
  x <- simulate_polymers(cells, classes, seed = seed)
  truth <- attr(x, "model")
  figures <- lapply(c("1", "each"), function(scale) {
    maps <- distance_maps(x, if (scale == "each") "each" else 1)
    scores <- map_components(maps, 10)
    set.seed(seed)
    found <- stats::kmeans(scores, 3, nstart = 20, iter.max = 100)$cluster
    stats::setNames(
      cluster_metrics(found, truth, scores),
      paste0(c("adjusted Rand index", "silhouette of the classes"), ", scale ", scale)
    )
  })
  unlist(figures)
}
cat("\nClustering: three classes of domains, k-means of ten principal components\n")
report_seeds(vapply(seeds, clustering, clustering(1)))

# ---- Speed --------------------------------------------------------------------------------------

many <- 10000
x <- simulate_polymers(many, model, seed = 1)
maps <- distance_maps(x)
given <- perturb_maps(x, missing = 0.1, seed = 2)
set.seed(1)
jittered <- maps
jittered$maps <- jittered$maps * stats::runif(length(jittered$maps), 0.8, 1.2)
cat("\nSeconds for 10,000 maps of 64 points, 2 threads\n")
jobs <- list(
  "simulate_polymers()" = function() simulate_polymers(many, model, seed = 1),
  "distance_maps()" = function() distance_maps(x),
  "map_structures(), exact maps" = function() map_structures(maps),
  "map_structures(), distances with errors" = function() map_structures(jittered),
  "broken triangles" = function() {
    ancify:::count_triangles_impl(maps$maps, 64, ancify:::new_work(2), function(...) NULL)
  },
  "complete_maps(), interpolate" = function() complete_maps(given),
  "complete_maps(), lowrank" = function() complete_maps(given, "lowrank"),
  "outlier_scores()" = function() outlier_scores(maps),
  "map_components()" = function() map_components(maps),
  "map_metrics()" = function() map_metrics(jittered, maps)
)
for (name in names(jobs)) {
  gc()
  taken <- system.time(jobs[[name]]())
  report(name, taken[["elapsed"]], sprintf("of the processor: %.2f", sum(taken[1:2])))
}
