# Rscript .ci/draw_models.R: draws the pictures of ?demography_model, man/figures/models_*.png.
library(ancify)

# Values that show what each parameter does
values <- c(
  nu = 2, nu1 = 1.5, nu2 = 0.6, nu3 = 0.9, nu_a = 0.7, nu_b = 0.3, nu_f = 2, nu_pre = 1.6,
  nu1a = 1.2, nu2a = 0.5, nu3a = 0.8, nu1b = 2, nu2b = 1, nu3b = 1.6, s = 0.3, f = 0.3,
  m = 1, m12 = 0.5, m21 = 2, m12a = 0.5, m21a = 2, m12b = 1, m21b = 0.5, m_a = 0.8, ma = 1, mb = 2,
  m1 = 1, m2 = 0.7, m3 = 0.5, m31 = 1, m32 = 0.7, time = 0.4, time1 = 0.2, time2 = 0.2, time3 = 0.2,
  time_b = 0.2, time_f = 0.2, time_split = 0.2, time_pre = 0.2, time_mig = 0.2
)
human <- c(
  nu_af = 1.7, nu_b = 0.3, nu_eu0 = 0.14, nu_eu = 2, nu_as0 = 0.07, nu_as = 3, m_af_b = 2,
  m_af_eu = 0.5, m_af_as = 0.3, m_eu_as = 1.4, time_af = 0.2, time_b = 0.3, time_eu_as = 0.1
)

parameters <- function(name) {
  params <- demography_model(name)$params
  if (length(params)) (if (name == "out_of_africa") human else values)[params]
}

draw <- function(file, names, columns) {
  rows <- ceiling(length(names) / columns)
  grDevices::png(file.path("man/figures", file), 232 * columns, 184 * rows, pointsize = 9,
                 type = "cairo")
  on.exit(grDevices::dev.off())
  graphics::par(mfrow = c(rows, columns), cex = 0.8, cex.main = 0.9)
  for (name in names) plot(demography_model(name), parameters(name), main = name)
}

of_two <- ancify:::two_population_rows$name
of_three <- ancify:::three_population_rows$name
# Selection is not drawn.
selected <- grep("_sel(_single_gamma)?$", demography_model(), value = TRUE)
draw("models_common.png", setdiff(demography_model(), c(of_two, of_three, selected)), 4)
draw("models_two.png", of_two, 4)
draw("models_three.png", of_three, 4)
