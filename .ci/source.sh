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

# Rooms are compiled as one unit, so such a pragma would be for all files after it: flags stand in <file>.flags.
sets_flags() { grep -RnE '#pragma +(GCC|clang) +(optimize|fp|push_options)|STDC +FP_CONTRACT' "$1"; }

flags_beside_files() {
  ! sets_flags src/core || return 1
  cp -R src/core/device "$work/planted_flags"
  echo '#pragma GCC optimize("O1")' >>"$work/planted_flags/simd.h"
  sets_flags "$work/planted_flags"
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

# Two structs of one name in one namespace break each other's code at run time.
names_of_structs() {
  python3 .ci/names.py
  mkdir -p "$work/planted_names"
  cp -R src "$work/planted_names"
  echo 'namespace ancify { struct SampleTable { int planted; }; }' >>"$work/planted_names/src/core/ld/statistics.cpp"
  ! python3 .ci/names.py "$work/planted_names"
}

# What nobody may include is seen where somebody does.
layers() {
  .ci/layers
  cp -R src "$work/planted"
  echo '#include "core/diffusion/grid.h"' >>"$work/planted/core/io/file.h"
  ! .ci/layers "$work/planted"
}

# A function that calls back into a file above it closes a cycle; one that calls another family's needs a line of layers.txt.
r_files() {
  Rscript .ci/files.R
  for planted in 'run_plan.R planted <- function() ancify_run()' 'kmers_planted.R planted <- function() reml_control()'; do
    rm -rf "$work/planted_r"
    cp -R R "$work/planted_r"
    echo "${planted#* }" >>"$work/planted_r/${planted%% *}"
    ! Rscript .ci/files.R "$work/planted_r" || return 1
  done
}

# A file of the core that opens an input which nobody fuzzes is seen, and R code that opens one.
readers() {
  .ci/readers
  for planted in 'src/core/ld/statistics.cpp auto planted(const std::string& path) { return open_text(path); }' \
    'R/base_words.R planted <- function(path) readLines(path)'; do
    rm -rf "$work/planted_readers"
    mkdir "$work/planted_readers"
    cp -R src R "$work/planted_readers"
    echo "${planted#* }" >>"$work/planted_readers/${planted%% *}"
    ! .ci/readers "$work/planted_readers" || return 1
  done
}

# Lists that R makes for the core have the fields of the core's structs; a misspelt one is seen on either side. Exports have
# at most five arguments.
lists_and_structs() {
  Rscript .ci/fields.R
  mkdir "$work/planted_lists"
  for side in R/kmers.R:'canonical = canonical':'canonic = canonical' src/rcpp_kmers.cpp:'"scratch"':'"scrach"' R/kmers.R:'"KmerOutput"':'"KmersOutput"'; do
    file=${side%%:*} change=${side#*:}
    cp -R src R "$work/planted_lists"
    sed -i "s/${change%%:*}/${change#*:}/" "$work/planted_lists/$file"
    ! Rscript .ci/fields.R "$work/planted_lists" || return 1
  done
  cp -R src R "$work/planted_lists"
  echo 'int planted(const Rcpp::List& list) { return Rcpp::as<int>(list["k"]); }' >>"$work/planted_lists/src/rcpp_kmers.cpp"
  ! Rscript .ci/fields.R "$work/planted_lists" || return 1
  cp -R src R "$work/planted_lists"
  echo 'planted_impl <- function(a, b, c, d, e, f) NULL' >>"$work/planted_lists/R/RcppExports.R"
  ! Rscript .ci/fields.R "$work/planted_lists"
}

# Help is for readers in a hurry.
short_sentences() {
  Rscript .ci/sentences.R
  cp -R R "$work/planted_words"
  printf "#' %s\\nNULL\\n" "$(seq 26 | sed 's/.*/word/' | paste -s -d ' ')." >"$work/planted_words/base_planted.R"
  ! Rscript .ci/sentences.R "$work/planted_words"
}

# The versions that ./check uses, or those that are here
clang_format=clang-format-14 clang_tidy=clang-tidy-14
use_versions_here() {
  has_tool clang-format-14 || clang_format=clang-format
  has_tool clang-tidy-14 || clang_tidy=clang-tidy
}

# by_version WANTED HERE COMMAND...: findings of a version other than WANTED, which ./check uses, are a remark
by_version() {
  wanted=$1 here=$2
  shift 2
  if [ "$wanted" = "$here" ]; then
    "$@"
  elif ! "$@" >"$kept/found-by-$here" 2>&1; then
    remark "see $kept/found-by-$here, by another version than $wanted of ./check"
  fi
}

formatted() {
  find src/core src/cuda src/rcpp_* tests/cpp benchmarks fuzz -name '*.h' -o -name '*.cpp' -o -name '*.cu' >"$work/sources"
  xargs "$clang_format" --dry-run -Werror <"$work/sources"
}

# clang_tidy FILE...
clang_tidy() { printf '%s\n' "$@" | tidy_each; }

# tidy_each OPTION...: of the compiler; the files are lines of the input. The analyzer stops at 25,000
# states of a function, a ninth of its own limit, which takes a quarter of the time. Findings are output; its errors also
# count the warnings that it suppresses, which would bury them.
tidy_each() {
  xargs -P "$jobs" -I FILE "$clang_tidy" --quiet --config-file=.clang-tidy FILE -- -std=c++17 -Isrc \
    -Xclang -analyzer-config -Xclang max-nodes=25000 "$@" 2>"$work/tidy_errors" || {
    grep -vE '^[0-9]+ warnings? generated' "$work/tidy_errors" || :
    return 1
  }
}

# as_one_file FOLDER ROOM: the headers and the code of a room in a folder's src, each file once
as_one_file() {
  (
    cd "$1"
    find "$2" -maxdepth 1 -name '*.h' -o -maxdepth 1 -name '*.cpp' | LC_ALL=C sort | xargs awk -v room="${2#src/}/" '
      function paste(file,   line, number, path) {
        if (file in pasted) return
        pasted[file]
        print "#line 1 \"" file "\""
        while ((getline line < file) > 0) {
          ++number
          path = substr(line, 11, length(line) - 11)
          if (line ~ /^#include "/ && index(path, room) == 1) {
            paste("src/" path)
            print "#line " number + 1 " \"" file "\""
          } else if (line == "#pragma once") {
            print ""
          } else {
            print line
          }
        }
      }
      BEGIN { for (i = 1; i < ARGC; ++i) paste(ARGV[i]) }'
  )
}

# The analyzer looks into a unit's main file alone. Told to look into headers, it takes most of its time for those of the
# system, anew in each unit. Therefore each room is one file, the longest first; and a fault planted in a header must be found.
clang_tidy_rooms() {
  mkdir -p "$work/rooms/src/core/planted" "$work/units"
  find src/core -name '*.h' -exec dirname {} + | LC_ALL=C sort -u | while read -r room; do
    as_one_file . "$room" >"$work/units/$(echo "$room" | tr / _).cpp"
  done
  units_to_tidy >"$work/units_to_tidy"
  remark "rooms that changed since they passed: $(wc -l <"$work/units_to_tidy")"
  sort -rn "$work/units_to_tidy" | cut -d ' ' -f 2 | tidy_each
  echo 'inline int planted(int n) { int* p = nullptr; if (n > 3) p = &n; return *p; }' >"$work/rooms/src/core/planted/planted.h"
  as_one_file "$work/rooms" src/core/planted >"$work/planted.cpp"
  if echo "$work/planted.cpp" | tidy_each; then
    echo 'The planted fault is not found.'
    return 1
  fi
  mkdir -p "$kept/tidy"
  cut -d ' ' -f 3 "$work/units_to_tidy" | while read -r sum; do : >"$kept/tidy/$sum"; done
}

# Size, file, and checksum of the rooms that have not passed with their headers, these settings and this clang-tidy. This file
# has some of the settings.
units_to_tidy() {
  { "$clang_tidy" --version && cat .clang-tidy .ci/source.sh; } >"$work/tidied_with"
  for unit in "$work"/units/*.cpp; do
    sum=$(tidied_with_headers "$unit" | sha256sum | cut -d ' ' -f 1)
    [ -e "$kept/tidy/$sum" ] || echo "$(stat -c %s "$unit") $unit $sum"
  done
}

tidied_with_headers() {
  cat "$work/tidied_with" "$1"
  g++ -std=c++17 -Isrc -MM "$1" | tr -d '\\' | tr ' ' '\n' | grep '^src/' | xargs -r cat
}
