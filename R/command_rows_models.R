# Rows of commands that fit models, or that name the command for a fit.

rows_of_models <- function() {
  list(
    sparse = command_row(
      "select variants of large effects beside those of components", sparse_command,
      "[GENOTYPES...]",
      options = c(options_of_study, options_of_components, "out", "threads", "backend", "verbose"),
      required = c("genotypes", "out"),
      details = c(
        paste(
          "--out writes PREFIX.support.tsv, a row for each selected variant,",
          "PREFIX.variances.tsv and PREFIX.fixed.tsv. Status 3 if the selection has not converged."
        ),
        "Further GENOTYPES, such as a file for each chromosome, make one set.", traits_sentence
      ),
      examples = c(
        "ancify sparse --genotypes mice.bed --pheno traits.tsv --out sparse",
        "ancify sparse --genotypes chr*.pgen --by file --pheno traits.tsv --out sparse",
        paste(
          "ancify sparse --genotypes mice.bed --components mice.json \\\n ",
          "--pheno traits.tsv --out sparse"
        )
      ),
      instead = c("fit_sparse_reml", "lasso_path"), words = words_of_models,
      writes = function(parsed) c(sparse_files(parsed$out), names(further_tables(parsed)))
    ),
    translate = command_row(
      "print our command for that of another program", translate_line_command, c("LINE", "[...]"),
      details = c(
        paste(
          "LINE is a command of GCTA, BOLT, REGENIE, GEMMA or GPU_REML, in quotes or after --.",
          "What our command leaves out, or does otherwise, goes to the standard error."
        )
      ),
      examples = "ancify translate \"bolt --reml --bfile=mice --phenoFile=traits.tsv\"",
      instead = "translate_command", words = c(line = "LINE")
    )
  )
}
