# Files of models, as other programs write them.

# A matrix or a vector as a .npy of NumPy; integers are indices.
write_npy <- function(x, path) {
  shape <- if (is.matrix(x)) paste0(nrow(x), ", ", ncol(x)) else paste0(length(x), ",")
  header <- sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }\n",
                    if (is.integer(x)) "<i4" else "<f8", if (is.matrix(x)) "True" else "False",
                    shape)
  bytes <- c(as.raw(c(0x93, utf8ToInt("NUMPY"), 1, 0, nchar(header), 0)), charToRaw(header),
             writeBin(as.vector(x), raw(), endian = "little"))
  writeBin(bytes, path)
  path
}

# Files .npy as an archive .npz.
write_npz <- function(paths, path) {
  folder <- dirname(paths[1])
  with_folder(folder, utils::zip(path, basename(paths), "-q0X"))
  path
}

# Weights whose neighbours are alike.
near_weights <- function(n) 0.8^abs(outer(seq_len(n), seq_len(n), "-"))

# A matrix of relationships as GCTA's, of samples with these ids.
write_gcta_matrix <- function(k, ids, prefix) {
  writeLines(paste0("f\t", ids), paste0(prefix, ".grm.id"))
  writeBin(k[upper.tri(k, TRUE)], paste0(prefix, ".grm.bin"), size = 4, endian = "little")
}

# The further files that examples of models name. `case`: of reml_case(60, 40).
model_files <- function(case, folder) {
  at <- function(name) file.path(folder, name)
  writeLines(
    sprintf('{"components": [{"name": "a", "variant_indices": [%s]}, {"variant_indices": [%s]}]}',
            paste(0:19, collapse = ", "), paste(20:39, collapse = ", ")),
    at("mice.json")
  )
  writeLines(paste("f", case$data$id), at("keep.txt"))
  for (i in 1:3) write_npy(near_weights(c(15, 15, 10)[i]), at(sprintf("W%d.npy", i)))
  north <- seq(0.1, 0.9, length.out = nrow(case$g))
  writeLines(paste(format(north), format(1 - north)), at("mice.2.Q"))
  write_gcta_matrix(unname(oracle_kernel(case$calls)), case$data$id, at("mice"))
  write_bed(case$g[1:10, ], at("test.bed"))
}
