# shellcheck shell=sh disable=SC2154
# The fast lane of ./check: the rules, and the tests of what changed. Sourced in the repository's root.

# Of the commit that this tree is compared with
base_of_change() {
  if [ -n "$1" ]; then
    git rev-parse --verify "$1^{commit}"
    return
  fi
  for main in origin/main main; do
    ! base=$(git merge-base HEAD $main 2>/dev/null) || break
  done
  # On main itself: the last commit
  if [ "${base:-}" = "$(git rev-parse HEAD)" ] && [ -z "$(git status --porcelain)" ]; then
    base=$(git rev-parse --verify --quiet HEAD~1)
  fi
  [ -n "${base:-}" ] && echo "$base"
}

changed_since() {
  git diff --name-only "$1" && git ls-files --others --exclude-standard
}

# Those of the changed files that match PATTERN and are still there
changed_files() {
  grep -E "$1" "$changed" | while read -r file; do [ ! -e "$file" ] || echo "$file"; done
}

rows_of_families() { grep -v '^#' .ci/families; }

# Every R file, every helper of R tests and every R test is in a row.
families_cover() {
  rows_of_families | cut -d ' ' -f 1 >"$work/family_paths"
  rows_of_families | cut -d ' ' -f 2 >"$work/family_tests"
  {
    printf '%s\n' R/*.R tests/testthat/helper-*.R | grep -vE -f "$work/family_paths"
    printf '%s\n' tests/testthat/test-*.R | sed 's|.*/test-||; s|\.R$||' | grep -vxE -f "$work/family_tests"
  } >"$work/uncovered" || true
  sed 's|$| is in no row of .ci/families|' "$work/uncovered"
  [ ! -s "$work/uncovered" ]
}

# tests_of FILE: a pattern of the R tests that the changed paths in FILE concern; nothing where there are none
tests_of() {
  {
    rows_of_families | while read -r paths tests; do ! grep -qE "$paths" "$1" || echo "$tests"; done
    changed_files '^tests/testthat/test-.*\.R$' | sed 's|.*/test-||; s|\.R$||'
  } | LC_ALL=C sort -u | paste -s -d '|'
}

# Compiles what differs, and runs the programs that were linked anew since all last passed.
fast_cpp() {
  cmake -S tests/cpp -B "$kept/cpp-fast" -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache)" -DANCIFY_CUDA=HOST
  cmake --build "$kept/cpp-fast" -j "$jobs"
  programs=$(find "$kept/cpp-fast" -maxdepth 1 -name 'ancify_*_tests' -newer "$kept/fast-passed" 2>/dev/null || find "$kept/cpp-fast" -maxdepth 1 -name 'ancify_*_tests')
  [ -n "$programs" ] || { remark 'nothing was compiled' && return; }
  pattern=$(for program in $programs; do basename "$program"; done | paste -s -d '|')
  touch "$kept/fast-begun"
  status=0
  env TMPDIR="$memory" ctest --test-dir "$kept/cpp-fast" -j "$jobs" -V -R "^($pattern)_" >"$work/ctest.log" 2>&1 || status=$?
  cat "$work/ctest.log"
  build=$work
  passed=$(tests_that PASSED)
  count "$passed" "$(tests_that FAILED)"
  remark "$passed tests of $(echo "$programs" | wc -l) families"
  [ $status -ne 0 ] || mv "$kept/fast-begun" "$kept/fast-passed"
  return $status
}

fast_install() {
  mkdir -p "$kept/library-fast"
  printf 'CXX17 = %s g++\nCXX17FLAGS = -O1\n' "$(command -v ccache)" >"$work/fast.mk"
  ANCIFY_CUDA=no R_MAKEVARS_USER="$work/fast.mk" R CMD INSTALL --no-docs --library="$kept/library-fast" .
}

# fast_r PATTERN: of test files
fast_r() {
  status=0
  R_LIBS="$kept/library-fast${R_LIBS:+:$R_LIBS}" TMPDIR="$memory" Rscript .ci/testthat.R "$work" "^($1)\$" || status=$?
  read -r passed failed <"$work/r-counts"
  count "$passed" "$failed"
  remark "$passed tests"
  return $status
}

# fast_lints FILE...
fast_lints() { R_LIBS="$kept/library-fast${R_LIBS:+:$R_LIBS}" Rscript .ci/lint.R "$@"; }

# Tools for the core's tests, and for the package's installation and tests
to_test_core='cmake make g++ gtest/gtest.h zlib.h tbb/tbb.h'
to_install='Rscript make g++ R:Rcpp R:RcppEigen R:RcppParallel R:yaml R:jsonlite R:cli R:ape'

# Installs nothing, so it runs without root, with the tools of this machine. Needs no Python with lightgbm, tsinfer or mutyper:
# their tests are left to the whole of ./check.
fast_lane() {
  unset ANCIFY_REQUIRE_ALL RETICULATE_PYTHON ANCIFY_TSINFER_PYTHON ANCIFY_MUTYPER_PYTHON
  base=$(base_of_change "$1") || die "There is no commit '${1:-main}' to compare with."
  changed=$work/changed
  changed_since "$base" >"$changed" || die "git cannot compare with $base."
  echo "$(wc -l <"$changed") files differ from $(git log -1 --format='%h %s' "$base")"
  mkdir -p "$kept"
  use_versions_here

  step 'The core knows no R, and neither prints nor exits' core_rules
  step "No pragma sets a file's flags, and a planted one is found" flags_beside_files
  step 'Each file begins with a sentence' begin_with_a_sentence
  step_with python3 'No two structs have one name' names_of_structs
  step 'Includes go by src/core/layers.txt' layers
  step_with 'Rscript R:codetools' 'Calls in R/ go one way, and between families by R/layers.txt' r_files
  step_with Rscript 'Lists that R makes for the core have the fields of its structs' lists_and_structs
  step_with Rscript 'Sentences of help pages are short' short_sentences
  step 'The fast lane knows all files' families_cover
  step_with "$clang_format" 'The C++ code is formatted' by_version clang-format-14 "$clang_format" formatted
  if grep -qE '^(src/(core|cuda)|tests/cpp)/' "$changed"; then
    sources=$(changed_files '^src/core/.*\.cpp$')
    # shellcheck disable=SC2086
    [ -z "$sources" ] || step_with "$clang_tidy" 'clang-tidy finds nothing in what changed' \
      by_version clang-tidy-14 "$clang_tidy" clang_tidy $sources
    step_with "$to_test_core" 'C++ tests of the families that changed' fast_cpp
  fi
  pattern=$(tests_of "$changed")
  if [ -n "$pattern" ]; then
    step_with "$to_install" 'Installing the package' fast_install
    scripts=$(changed_files '^(R|tests/testthat)/.*\.R$' | grep -v RcppExports)
    # shellcheck disable=SC2086
    [ -z "$scripts" ] || step_with "$to_install R:testthat R:lintr R:cyclocomp" 'No lints in what changed' \
      by_version lintr-3.0.2 "lintr-$(version_of lintr)" fast_lints $scripts
    step_with "$to_install R:testthat" 'R tests of the families that changed' fast_r "$pattern"
  fi
  [ ! -e "$work/missing" ] || printf '\nMissing here:%s. As root, ./check installs what it uses.\n' \
    "$(LC_ALL=C sort -u "$work/missing" | sed 's/^/ /' | tr -d '\n')"
}
