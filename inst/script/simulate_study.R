# simulate_study(folder): what the vignette "From genotypes to heritability" is about. Samples with
# genotypes, a trait and covariates, of which everything is known, in files as a project has them.
#
# Variants are independent. New mutations, whose derived allele is rare, have the largest effects on
# the trait: `shares` are the parts of its variance by derived-allele frequency, below 0.2, from 0.2
# to 0.8, and above. Half of the ALT alleles are the ancestral ones.

simulate_study <- function(folder, n = 800, m = 1500, shares = c(0.4, 0.1, 0)) {
  # As many variants of a frequency as there are new mutations of it: in proportion to 1 / x
  derived <- 0.03 * (0.97 / 0.03)^runif(m)
  alt_is_derived <- runif(m) < 0.5
  alt <- ifelse(alt_is_derived, derived, 1 - derived)
  calls <- matrix(rbinom(n * m, 2, rep(alt, each = n)), n)
  bin <- cut(derived, c(0, 0.2, 0.8, 1), labels = FALSE)
  standardised <- scale(calls)
  effect_size <- sqrt(shares / tabulate(bin, 3))[bin]
  genetic <- drop(standardised %*% rnorm(m, sd = effect_size))
  sex <- sample(c("female", "male"), n, replace = TRUE)
  trait <- genetic + 0.5 * (sex == "male") + rnorm(n, sd = sqrt(1 - sum(shares)))
  calls[runif(n * m) < 0.005] <- NA

  variants <- data.frame(
    chromosome = sort(rep_len(1:5, m)), id = sprintf("rs%d", 1:m),
    position = sprintf("%d", 1000L * (1:m)), alt = "A", ref = "G",
    ancestral = ifelse(alt_is_derived, "G", "A"), derived = derived
  )
  samples <- sprintf("sample%d", 1:n)
  write_calls(calls, file.path(folder, "study.bed"))
  write_columns(data.frame(samples, samples, 0, 0, 0, -9), file.path(folder, "study.fam"))
  write_columns(
    cbind(variants[c("chromosome", "id")], 0, variants[c("position", "alt", "ref")]),
    file.path(folder, "study.bim")
  )
  trait[1:10] <- NA
  traits <- data.frame(FID = samples, IID = samples, trait = round(trait, 6))
  covariates <- data.frame(FID = samples, IID = samples, sex = sex)
  write_columns(traits, file.path(folder, "traits.txt"), header = TRUE)
  write_columns(covariates, file.path(folder, "covariates.txt"), header = TRUE)
  write_ancestral(variants, file.path(folder, "ancestral.vcf"))
  invisible(variants)
}

# PLINK's BED: two bits a call, four calls a byte, variant after variant.
write_calls <- function(calls, path) {
  codes <- matrix(0, 4 * ceiling(nrow(calls) / 4), ncol(calls))
  codes[seq_len(nrow(calls)), ] <- ifelse(is.na(calls), 1, c(3, 2, 0)[calls + 1])
  bytes <- colSums(matrix(codes, 4) * 4^(0:3))
  writeBin(as.raw(c(0x6c, 0x1b, 0x01, bytes)), path)
}

# Records with their ancestral allele, AA in INFO.
write_ancestral <- function(variants, path) {
  header <- c(
    "##fileformat=VCFv4.2",
    "##INFO=<ID=AA,Number=1,Type=String,Description=\"Ancestral allele\">",
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
  )
  records <- do.call(paste, c(
    variants[c("chromosome", "position", "id", "ref", "alt")], ".", ".",
    list(paste0("AA=", variants$ancestral)), sep = "\t"
  ))
  writeLines(c(header, records), path)
}

write_columns <- function(table, path, header = FALSE) {
  utils::write.table(table, path, quote = FALSE, row.names = FALSE, col.names = header)
}
