# Parts of all pictures.

draw_picture <- function(picture) {
  print(picture)
  invisible(picture)
}

need_ggplot2 <- function() need_packages("ggplot2", "Pictures")

# Aesthetics from column names.
by_column <- function(...) {
  ggplot2::aes(!!!lapply(list(...), as.name))
}

picture_theme <- function(crowded = FALSE) {
  ggplot2::theme_minimal(base_size = 11) +
    ggplot2::theme(
      plot.background = ggplot2::element_rect(fill = "white", colour = NA),
      panel.grid = ggplot2::element_blank(), legend.position = "bottom",
      plot.title.position = "plot", plot.caption.position = "plot",
      strip.text = ggplot2::element_text(hjust = 0, size = 9), strip.clip = "off",
      panel.spacing.x = ggplot2::unit(30, "pt"), plot.margin = ggplot2::margin(6, 20, 6, 6),
      axis.text = ggplot2::element_text(size = if (crowded) 7 else 9)
    )
}

light_colour <- "#DCE9F5"

dark_colour <- "#08306B"

# A fill scale from light to dark.
shades <- function(name, values) {
  ggplot2::scale_fill_gradient(
    name, low = light_colour, high = dark_colour, na.value = "white", labels = percent,
    limits = shade_limits(values), breaks = shade_breaks,
    guide = ggplot2::guide_colourbar(
      title.position = "top", barwidth = 15, barheight = 0.5, frame.colour = "grey30",
      ticks.colour = "grey30"
    )
  )
}

# Breaks at both ends of the range, and at round numbers far enough from the ends for labels to fit.
shade_breaks <- function(limits) {
  inner <- pretty(limits, 3)
  gap <- diff(limits) / 6
  c(limits[1], inner[inner > limits[1] + gap & inner < limits[2] - gap], limits[2])
}

# The range of shares. A gradient needs two different limits.
shade_limits <- function(values) {
  known <- values[is.finite(values)]
  if (length(known) == 0) {
    c(0, 1)
  } else if (diff(range(known)) == 0) {
    pmin(pmax(known[1] + c(-0.01, 0.01), 0), 1)
  } else {
    range(known)
  }
}

# A layer of labels in a colour readable on shades of `values`. `data` has a column `label`.
labels_on_shades <- function(data, values, size) {
  limits <- shade_limits(values)
  data$ink <- ifelse(!is.na(data$share) & data$share > limits[1] + 0.6 * diff(limits),
                     "white", "black")
  list(
    ggplot2::geom_text(by_column(label = "label", colour = "ink"), data, size = size),
    ggplot2::scale_colour_identity()
  )
}

percent <- function(share) {
  paste(format(100 * share, digits = 4, trim = TRUE, drop0trailing = TRUE), "%")
}

# Cuts long names in the middle. Three dots replace an ellipsis, which not every device draws.
shorten <- function(names) {
  most <- 27
  half <- (most - 3) %/% 2
  end <- nchar(names)
  short <- paste0(substr(names, 1, half), "...", substr(names, end - half + 1, end))
  ifelse(end > most, short, names)
}

# Three panels in a row.
panels <- function(column) {
  ggplot2::facet_wrap(column, ncol = 3)
}

most_rows_drawn <- function(n_panels) {
  if (n_panels <= 3) 30 else max(36 %/% ceiling(n_panels / 3), 6)
}

# A factor for the y axis, with names from top to bottom in their order.
downwards <- function(names, levels = unique(names)) {
  factor(names, rev(levels))
}

# A factor of panels in the order of the names. Equal labels get numbers.
as_panels <- function(names, labels) {
  panels <- factor(names, unique(names))
  levels(panels) <- make.unique(labels[match(levels(panels), names)], " ")
  panels
}

# Draws by `code`, and restores graphical parameters.
on_device <- function(code) {
  old <- graphics::par(no.readonly = TRUE)
  # Do not restore `pin`: on a small device, R refuses the plot size that it reported itself.
  on.exit(graphics::par(old[names(old) != "pin"]))
  tryCatch(code, error = function(error) {
    if (!conditionMessage(error) %in% gettext(no_room, domain = "graphics")) stop(error)
    size <- paste(format(graphics::par("din"), digits = 2, trim = TRUE), collapse = " x ")
    refuse_input("The device (%s inches) has no room for this picture: open a larger one.", size)
  })
}

# R's errors on small devices
no_room <- c("figure margins too large", "figure region too large", "plot region too large",
             "outer margins too large (figure region too small)")

# The label size, at most 1, at which `n` labels fit below each other into the plot. A label takes
# 0.8 of a line.
size_of_rows <- function(n) min(graphics::par("pin")[2] / (0.8 * graphics::par("cin")[2] * n), 1)

# The positions closest to the increasing `places` that are at least `gap` apart.
apart <- function(places, gap) {
  steps <- gap * seq_along(places)
  stats::isoreg(places - steps)$yf + steps
}

# A colour bar from `from` to `to`. `height`: its maximum height in inches, such as the height of a
# map in a figure of equal height.
draw_colours <- function(scale, at, labels, title, height = Inf) {
  edges <- seq(scale$from, scale$to, length.out = length(scale$colours) + 1)
  margins <- graphics::par("mai")
  on.exit(graphics::par(mai = margins))
  beyond <- max(graphics::par("fin")[2] - margins[1] - margins[3] - height, 0) / 2
  graphics::par(mai = margins + c(beyond, 0, beyond, 0))
  graphics::plot.new()
  graphics::plot.window(c(0, 1), c(scale$from, scale$to), xaxs = "i", yaxs = "i")
  graphics::rect(0, utils::head(edges, -1), 1, edges[-1], col = scale$colours, border = NA)
  graphics::box(col = "grey40")
  graphics::axis(4, at, labels)
  graphics::mtext(title, 3, 0.3, adj = 0, cex = graphics::par("cex"))
}
