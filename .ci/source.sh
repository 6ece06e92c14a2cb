# shellcheck shell=sh disable=SC2154
# Rules of the source that ./check looks at. Sourced in the repository's root.

# fails_on PATTERN SAYS: a rule of CONTRIBUTING.md about what stands in the core
fails_on() {
  if grep -RnE "$1" src/core src/cuda; then
    echo "$2"
    return 1
  fi
}

core_rules() {
  fails_on '#include *[<"](R\.h|Rinternals|Rcpp|RcppParallel|R_ext|cpp11)' 'The core includes a header of R.'
  fails_on '\b(v?f?printf|puts|fputs|perror|exit|_exit|abort|terminate|(secure_)?getenv)\s*\(|std::(cout|cerr)' \
    'The core prints, ends the process or reads the environment.'
}

# Each file says what it is for before anything else.
begin_with_a_sentence() {
  status=0
  for file in $(find src/core src/cuda src/rcpp_* tests/cpp -name '*.h' -o -name '*.cpp' -o -name '*.cu') R/*.R; do
    case "$file" in *.R) mark='#' ;; *) mark='// ' ;; esac
    case "$(head -n 1 "$file")" in
      "$mark"*) ;;
      *) echo "$file does not begin with a sentence about it." && status=1 ;;
    esac
  done
  return $status
}

# What nobody may include is seen where somebody does.
layers() {
  .ci/layers
  cp -R src "$work/planted"
  echo '#include "core/diffusion/grid.h"' >>"$work/planted/core/io/file.h"
  ! .ci/layers "$work/planted"
}

# A function that calls back into a file above it closes a cycle.
r_files() {
  Rscript .ci/files.R
  cp -R R "$work/planted_r"
  echo 'planted <- function() ancify_run()' >>"$work/planted_r/base_words.R"
  ! Rscript .ci/files.R "$work/planted_r"
}

formatted() {
  find src/core src/cuda src/rcpp_* tests/cpp benchmarks fuzz -name '*.h' -o -name '*.cpp' -o -name '*.cu' >"$work/sources"
  xargs clang-format-14 --dry-run -Werror <"$work/sources"
}

# clang_tidy FILE_OR_FOLDER...
clang_tidy() {
  find "$@" -name '*.cpp' >"$work/sources"
  xargs -P "$jobs" -I FILE clang-tidy-14 --quiet --warnings-as-errors='*' FILE -- -std=c++17 -Isrc <"$work/sources"
}
