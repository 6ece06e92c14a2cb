# shellcheck shell=sh disable=SC2154
# The steps of ./check on the R package. Sourced in the repository's root.

# with_library NAME COMMAND...: the command sees that build of the package first
with_library() {
  library=$work/library-$1
  shift
  env R_LIBS="$library${R_LIBS:+:$R_LIBS}" "$@"
}

# r_tests NAME FILES VARIABLE=VALUE...: builds the package as the variables say, into a library of its own. A warning about the
# glue is an error; the core's warnings are errors in its own tests. Runs the test files whose names match FILES, and the long
# tests of the others, which R CMD check leaves out.
r_tests() {
  name=$1 files=$2
  shift 2
  mkdir "$work/library-$name"
  use_makevars 'unit_rcpp.o RcppExports.o: CXX17FLAGS += -Wall -Wextra -Wno-cast-function-type'
  env "$@" R CMD INSTALL --library="$work/library-$name" "$work"/ancify_*.tar.gz 2>&1 | tee "$work/install.log"
  [ -d "$work/library-$name/ancify" ]
  if grep -E '^(core|cuda|rcpp_)[^ ]*: warning' "$work/install.log"; then return 1; fi

  status=0 all_passed=0
  test_files yes "$files"
  test_files only "$(long_test_files | grep -vE "$files" | paste -s -d '|' | sed 's/.*/^(&)$/')"
  remark "$all_passed tests"
  return $status
}

# test_files LONG FILES: with $name's library, and its long tests or only these
test_files() {
  with_library "$name" env TMPDIR="$memory" ANCIFY_LONG_TESTS="$1" Rscript .ci/testthat.R "$work" "$2" || status=$?
  read -r passed failed <"$work/r-counts"
  count "$passed" "$failed"
  all_passed=$((all_passed + passed))
}

long_test_files() { grep -l '^long_test_that(' tests/testthat/test-*.R | sed 's|.*/test-||; s|\.R$||'; }

# Real jobs, of the build with the most
slurm_jobs() {
  status=0
  with_library most tests/slurm/run "$work" || status=$?
  read -r passed failed <"$work/r-counts"
  count "$passed" "$failed"
  remark "$passed tests"
  return $status
}

# Where this user may not mount a file system, it ends with 77 and says so.
power_cuts() {
  status=0
  with_library most tests/reliability/power --times 4 >"$work/power" || status=$?
  cat "$work/power"
  if [ $status -eq 77 ]; then remark "not tried: $(tail -n 1 "$work/power")"; else return $status; fi
}

accuracy_short() { ANCIFY_MSPRIME_PYTHON=$ANCIFY_TSINFER_PYTHON with_library most benchmarks/accuracy/run --short; }

# Inputs that are exchanged while a run reads them
exchanged_inputs() { with_library most tests/reliability/swap --times 24; }

lints() {
  with_library most Rscript .ci/lint.R
  planted=$work/planted_lint
  mkdir -p "$planted/R" "$planted/tests/testthat"
  cp -R .lintr .ci exec benchmarks "$planted"
  cp tests/testthat/helper*.R "$planted/tests/testthat"
  cd "$planted"
  echo 'planted = 1' >>tests/testthat/helper-oracle.R
  awk 'BEGIN { print "planted <- function(x) {"; while (n++ < 20) print "  if (x) x"; print "}" }' >R/planted.R
  ! with_library most Rscript .ci/lint.R R/planted.R tests/testthat/helper-oracle.R >found || return 1
  cat found
  grep 'tests/testthat/helper-oracle.R:.*assignment_linter' found
  grep '^R/planted.R:1: complexity above 15' found
}

version_of() { Rscript -e "cat(format(packageVersion('$1')))" 2>/dev/null; }
has_version() { [ "$(version_of "$1")" = "$2" ]; }

# The files that roxygen2 and Rcpp write are what they would write now.
generated_files() {
  copy=$work/generated/ancify
  mkdir -p "$copy"
  cp -R DESCRIPTION NAMESPACE R man src "$copy"
  (cd "$copy" && with_library most Rscript -e 'Rcpp::compileAttributes()' \
    -e 'roxygen2::roxygenise(load_code = roxygen2::load_installed)')
  for path in DESCRIPTION NAMESPACE R man src/RcppExports.cpp; do diff -r "$path" "$copy/$path"; done
  Rscript -e 'pkgdown::check_pkgdown()' # each page has its place in the site's index
}

# Debian has no R package lightgbm, which is a note.
only_lightgbm_is_missing() {
  grep -qx 'Status: 1 NOTE' ancify.Rcheck/00check.log &&
    grep -qx 'Package suggested but not available for checking: .lightgbm.' ancify.Rcheck/00check.log
}

# use_makevars [LINE]: all builds have the same flags, so that ccache compiles the core once. R CMD check would complain of R's
# own flags, which are not portable, of the size of symbols by -g, and of warnings in GCC's headers by -Wall.
use_makevars() {
  makevars=$(mktemp "$work/Makevars.XXXXXX")
  printf 'CXX17 = ccache g++\nCXX17FLAGS = -O2\n%s\n' "${1:-}" >"$makevars"
  export R_MAKEVARS_USER="$makevars" CCACHE_DIR="$kept/ccache"
}

# The build with the least, for the source package's vignettes and for R CMD check
with_least() {
  use_makevars
  export ANCIFY_CUDA=no ANCIFY_GZIP=zlib
  "$@"
}

bioc_check() { with_library most Rscript .ci/bioc_check.R "$work"/ancify_*.tar.gz "$work"; }

# No example of this check takes more than 5 s of the processor.
quick_examples() {
  awk 'NR > 1 && $2 + $3 > 5 { print "A slow example:", $0; slow = 1 } END { exit slow }' "$1/ancify-Ex.timings"
}

# Examples that load Bioconductor's packages: each in a session of its own, as R CMD check collects garbage after every
# example, which takes a second once these are loaded.
donttest_examples() {
  pages=$(grep -l 'donttest' "$1"/00_pkg_src/ancify/man/*.Rd)
  # shellcheck disable=SC2086
  for name in $(sed -n 's/^\\name{\(.*\)}$/\1/p' $pages); do
    R_LIBS=$1 Rscript -e 'library(ancify)' -e "example('$name', package = 'ancify', character.only = TRUE, run.donttest = TRUE)"
  done
}

r_cmd_check() {
  cd "$work"
  export _R_CHECK_CRAN_INCOMING_REMOTE_=false _R_CHECK_SYSTEM_CLOCK_=false # both need a network
  # R's 5 MB for an installed package are fewer than code, help and vignettes of all families take, 13.3. Bioconductor's limit
  # is on the source package, where build_tarball() looks.
  export _R_CHECK_PKG_SIZES_THRESHOLD_=15
  # R counts the time for which an example waits for other steps: quick_examples() counts the processor's.
  export _R_CHECK_EXAMPLE_TIMING_THRESHOLD_=120
  # A suggested package that is not installed needs a network too: an empty repository does for CRAN and Bioconductor.
  mkdir -p repository/src/contrib repository/web/packages
  : >repository/src/contrib/PACKAGES
  Rscript -e 'saveRDS(cbind(Package = character(), Maintainer = character()), "repository/web/packages/packages.rds")'
  {
    printf 'menu_name\tURL\tdefault\tsource\twin.binary\tmac.binary\n'
    for name in CRAN BioCsoft BioCann BioCexp; do
      printf '%s\t%s\tfile://%s/repository\tTRUE\tTRUE\tFALSE\tFALSE\n' "$name" "$name" "$work"
    done
  } >repositories
  # The distribution's profile would name another.
  export _R_CHECK_FORCE_SUGGESTS_=false R_REPOSITORIES="$work/repositories" R_PROFILE=/dev/null
  export _R_CHECK_DONTTEST_EXAMPLES_=false # see donttest_examples()
  # R CMD build has built the vignettes already, and all their code.
  env TMPDIR="$memory" R CMD check --as-cran --no-manual --ignore-vignettes ancify_*.tar.gz || true
  # The last line of the tests' counts: [ FAIL 0 | WARN 0 | SKIP 2 | PASS 8408 ]
  # shellcheck disable=SC2046
  set -- $(cat ancify.Rcheck/tests/testthat.Rout* | grep '^\[ FAIL' | tail -n 1 | tr -cd '0-9 ' || true)
  count "${4:-0}" "${1:-0}"
  remark "${4:-0} tests"
  if ! grep -qx 'Status: OK' ancify.Rcheck/00check.log && ! only_lightgbm_is_missing; then
    cat ancify.Rcheck/00install.out
    grep -A 15 -E '(NOTE|WARNING|ERROR)$' ancify.Rcheck/00check.log
    return 1
  fi
  quick_examples ancify.Rcheck
  donttest_examples ancify.Rcheck
}
