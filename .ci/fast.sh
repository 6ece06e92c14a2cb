# shellcheck shell=sh disable=SC2154
# The fast lane of ./check: the rules, and the tests of what changed. Sourced in the repository's root.

# What is built is kept there, so that the next time only what differs is compiled.
kept=$(pwd)/build-fast

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
  if [ "${base:-}" = "$(git rev-parse HEAD)" ] && [ -z "$(git status --porcelain)" ]; then base=$(git rev-parse HEAD~1); fi
  echo "${base:?there is no branch main}"
}

changed_since() {
  {
    git diff --name-only "$1"
    git ls-files --others --exclude-standard
  } | LC_ALL=C sort -u
}

rows_of_families() { grep -v '^#' .ci/families; }

# Every R file and every R test is in a row.
families_cover() {
  status=0
  for file in R/*.R; do
    rows_of_families | cut -d ' ' -f 1 | { while read -r paths; do ! echo "$file" | grep -qE "$paths" || exit 1; done; } || continue
    echo "$file is in no row of .ci/families" && status=1
  done
  for file in tests/testthat/test-*.R; do
    test=${file#tests/testthat/test-}
    rows_of_families | cut -d ' ' -f 2 | { while read -r tests; do ! echo "${test%.R}" | grep -qxE "$tests" || exit 1; done; } || continue
    echo "$file is in no row of .ci/families" && status=1
  done
  return $status
}

# tests_of FILE: a pattern of the R tests that the changed paths in FILE concern; nothing where there are none
tests_of() {
  {
    rows_of_families | while read -r paths tests; do ! grep -qE "$paths" "$1" || echo "$tests"; done
    sed -n 's|^tests/testthat/test-\(.*\)\.R$|\1|p' "$1"
  } | LC_ALL=C sort -u | paste -s -d '|'
}

# Compiles what differs, and runs the programs that were linked anew since all last passed.
fast_cpp() {
  cmake -S tests/cpp -B "$kept/cpp" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DANCIFY_CUDA=HOST
  cmake --build "$kept/cpp" -j "$jobs"
  programs=$(find "$kept/cpp" -maxdepth 1 -name 'ancify_*_tests' -newer "$kept/passed" 2>/dev/null || find "$kept/cpp" -maxdepth 1 -name 'ancify_*_tests')
  [ -n "$programs" ] || { remark 'nothing was compiled' && return; }
  pattern=$(for program in $programs; do basename "$program"; done | paste -s -d '|')
  touch "$kept/begun"
  status=0
  ctest --test-dir "$kept/cpp" -j "$jobs" -V -R "^($pattern)_" >"$work/ctest.log" 2>&1 || status=$?
  cat "$work/ctest.log"
  build=$work
  passed=$(tests_that PASSED)
  count "$passed" "$(tests_that FAILED)"
  remark "$passed tests of $(echo "$programs" | wc -l) families"
  [ $status -ne 0 ] || mv "$kept/begun" "$kept/passed"
  return $status
}

fast_install() {
  mkdir -p "$kept/library"
  printf 'CXX17 = ccache g++\nCXX17FLAGS = -O1\n' >"$work/fast.mk"
  ANCIFY_CUDA=no R_MAKEVARS_USER="$work/fast.mk" R CMD INSTALL --no-docs --library="$kept/library" .
}

# fast_r PATTERN: of test files
fast_r() {
  status=0
  R_LIBS="$kept/library${R_LIBS:+:$R_LIBS}" Rscript .ci/testthat.R "$work" "^($1)\$" || status=$?
  read -r passed failed <"$work/r-counts"
  count "$passed" "$failed"
  remark "$passed tests"
  return $status
}

# fast_lints FILE...
fast_lints() { R_LIBS="$kept/library${R_LIBS:+:$R_LIBS}" Rscript .ci/lint.R "$@"; }

# Needs no Python with lightgbm: its tests are left to the whole of ./check.
fast_lane() {
  unset ANCIFY_REQUIRE_ALL RETICULATE_PYTHON
  base=$(base_of_change "$1") || die "There is no commit '$1' to compare with."
  changed=$work/changed
  changed_since "$base" >"$changed"
  echo "$(wc -l <"$changed") files differ from $(git log -1 --format='%h %s' "$base")"

  step 'The core knows no R, and neither prints nor exits' core_rules
  step 'Each file begins with a sentence' begin_with_a_sentence
  step 'Includes go by src/core/layers.txt' layers
  step 'Calls between the files of R/ go one way' r_files
  step 'The fast lane knows all files' families_cover
  step 'The C++ code is formatted' formatted
  mkdir -p "$kept"
  if grep -qE '^(src/(core|cuda)|tests/cpp)/' "$changed"; then
    sources=$(for file in $(grep '^src/core/.*\.cpp$' "$changed"); do [ ! -e "$file" ] || echo "$file"; done)
    # shellcheck disable=SC2086
    [ -z "$sources" ] || step 'clang-tidy finds nothing in what changed' clang_tidy $sources
    step 'C++ tests of the families that changed' fast_cpp
  fi
  pattern=$(tests_of "$changed")
  if [ -n "$pattern" ]; then
    step 'Installing the package' fast_install
    scripts=$(for file in $(grep -E '^(R|tests/testthat)/.*\.R$' "$changed"); do [ ! -e "$file" ] || echo "$file"; done)
    # shellcheck disable=SC2086
    [ -z "$scripts" ] || step 'No lints in what changed' fast_lints $scripts
    step 'R tests of the families that changed' fast_r "$pattern"
  fi
}
