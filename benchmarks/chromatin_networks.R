# How well autoencoders of distance maps do beside the methods without a network.
#
#   Rscript benchmarks/chromatin_networks.R TASK SEED [CELLS] [EPOCHS] [POINTS] [BACKEND]
#
# in the repository's root. It takes the installed package, and one thread. TASK: cluster, denoise
# or inpaint. Networks are trained on CELLS maps (10,000) of POINTS points (64), for at most EPOCHS
# (20), on BACKEND (cpu, or gpu). A fifth of the cells is held out. 1,000 others judge; clusters are
# those of the maps trained on. Each figure is a line: task, seed, cells, points, figure, value.
library(ancify)

arguments <- commandArgs(TRUE)
number <- function(i, default) if (length(arguments) >= i) as.numeric(arguments[i]) else default
task <- arguments[1]
seed <- number(2, 1)
cells <- number(3, 10000)
epochs <- number(4, 20)
points <- number(5, 64)
backend <- if (length(arguments) >= 6) arguments[6] else "cpu"
test <- 1000
options(ancify.threads = 1)

tell <- function(figures) {
  for (name in names(figures)) {
    cat(sprintf("%s,%d,%d,%d,\"%s\",%.5g\n", task, seed, cells, points, name, figures[[name]]))
  }
}
squared <- function(maps, truth, given = NULL) {
  figures <- map_metrics(maps, truth, given)
  stats::weighted.mean(figures$squared, figures$pairs)
}
absolute <- function(maps, truth) mean(map_metrics(maps, truth)$error)

# Domains of 64 points, or of fewer that are pressed as much.
chain <- function(domains) {
  polymer_model(points, round(points / 64 * domains), domain_spring = 0.02 * (64 / points)^2)
}
model <- chain(c(20, 24, 20))
classes <- list(model, chain(c(32, 32)), chain(c(12, 40, 12)))

x <- simulate_polymers(cells, if (task == "cluster") classes else model, seed = seed)
maps <- distance_maps(x, if (task == "cluster") "each" else 1)
taken <- system.time(
  fit <- fit_autoencoder(maps, task, epochs = epochs, seed = seed, backend = backend)
)
met <- nrow(fit$epochs)
tell(c("epochs" = met, "best epoch" = fit$best,
       "processor seconds an epoch" = sum(taken[1:2]) / met))

others <- simulate_polymers(test, model, seed = 1000 + seed)
truth <- distance_maps(others)
if (task == "inpaint") {
  given <- perturb_maps(others, missing = 0.1, seed = 2000 + seed)
  made <- reconstruct_maps(fit, given, backend = backend)
  bound <- squared(complete_maps(given, "conditional", model), truth, given)
  tell(c(
    "squared error over the conditional mean's: network" =
      squared(made, truth, given) / bound,
    "squared error over the conditional mean's: interpolate" =
      squared(complete_maps(given), truth, given) / bound,
    "squared error over the conditional mean's: lowrank" =
      squared(complete_maps(given, "lowrank"), truth, given) / bound,
    "broken triangles: network" = mean(map_metrics(made, truth)$triangles)
  ))
} else if (task == "denoise") {
  perturbed <- perturb_maps(others, outliers = 0.05, seed = 2000 + seed)
  area <- function(...) {
    attr(outlier_roc(outlier_scores(perturbed, ...), perturbed$outliers), "area")
  }
  tell(c(
    "AUC of outlier points: network" = area(fit = fit, backend = backend),
    "AUC of outlier points: neighbours" = area(),
    "absolute error in bonds: as given" = absolute(perturbed, truth),
    "absolute error in bonds: network" =
      absolute(reconstruct_maps(fit, perturbed, backend = backend), truth),
    "absolute error in bonds: outliers" = absolute(denoise_maps(perturbed), truth)
  ))
} else {
  class <- attr(x, "model")
  clustered <- function(scores) {
    set.seed(seed)
    found <- stats::kmeans(scores, 3, nstart = 20, iter.max = 100)$cluster
    cluster_metrics(found, class)[["adjusted_rand"]]
  }
  tell(c(
    "adjusted Rand index: network" = clustered(stats::predict(fit, maps, backend = backend)),
    "adjusted Rand index: principal components" = clustered(map_components(maps, 10))
  ))
}
