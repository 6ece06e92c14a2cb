# shellcheck shell=sh disable=SC2154
# The steps of ./check on the C++ core. Sourced in the repository's root.

# tests_that OUTCOME: how many in $build/ctest.log, of all of its runs
tests_that() {
  sed -n "s/^.*\[  $1  \] \([0-9][0-9]*\) test.*/\1/p" "$build/ctest.log" |
    awk '{ n += $1 } END { print n + 0 }'
}

# checks_in FILE: counts those of the GPU's driver, of all of its runs there: "8744 checks, 0 wrong"
checks_in() {
  # shellcheck disable=SC2046
  count $(awk '/[0-9]+ checks, [0-9]+ wrong$/ { p += $(NF - 3) - $(NF - 1); f += $(NF - 1) } END { print p + 0, f + 0 }' "$1")
}

# cpp_tests NAME FOLDER CMAKE_ARGUMENT...: of the project in that folder, but those whose names match $leave_out
cpp_tests() {
  build=$kept/cpp-$1 folder=$2
  shift 2
  cmake -S "$folder" -B "$build" "$@"
  cmake --build "$build" -j "$jobs"
  status=0
  env TMPDIR="$memory" ctest --test-dir "$build" -j "$jobs" -V -E "${leave_out:-^$}" >"$build/ctest.log" 2>&1 || status=$?
  cat "$build/ctest.log"
  passed=$(tests_that PASSED)
  count "$passed" "$(tests_that FAILED)"
  checks_in "$build/ctest.log"
  remark "$passed tests"
  [ $status -eq 0 ] || failures_in "$build/ctest.log"
  return $status
}

# failures_in FILE: what failed in these tests, short enough for the end of a log that ./check shows
failures_in() {
  printf '\nFailed:\n'
  grep -h -A 6 -E ': Failure$|\[  FAILED  \] .*ms\)|ERROR: |runtime error' "$1" | head -n 30
}

# Left to g++'s tests: two that repeat fits many times for their spread alone, and two of the three orders in which blocks of
# the GPU's kernels run.
address_sanitizer() {
  leave_out='gpu_driver_(forward|reverse)' GTEST_FILTER=-*.ErrorsEqualTheSpreadOverSeeds cpp_tests sanitizers fuzz -DCMAKE_CXX_COMPILER=clang++ -DANCIFY_CUDA=HOST
}

# Without htslib and TBB, which are not built with ThreadSanitizer and give false alarms; OpenBLAS has one thread. The tests
# left out are long, and of one thread for the most part.
of_one_thread=CountPatterns.AreThoseOfAMap:Diffusion.WhatCanNotBeIsAnError:Fasta.*:PgenGenotypes.HaveTheCallsOf*
thread_sanitizer() {
  GTEST_FILTER=-$of_one_thread cpp_tests threads tests/cpp \
    -DANCIFY_STD_THREADS=ON -DANCIFY_SANITIZE=thread -DANCIFY_HTSLIB=no -DANCIFY_GZIP=libdeflate \
    -DANCIFY_TESTS='axt_pairs|byte_source|call_comparison|checksum|calling|device_calling|diffusion|encoder|exec|focal_genome|genotype_file|genotype_products|large_matrices|maf|pattern_counts|project_and_call|projection|selected_calls|spectra|tall_blocks|tile_cache|tiles|tridiagonal|vcf_zarr'
}

# With the core that the sanitizers' tests were built with
fuzz_harnesses() {
  status=0
  fuzz/run --seconds 6 --jobs "$jobs" --build "$kept/cpp-sanitizers" >"$work/fuzzed" || status=$?
  cat "$work/fuzzed"
  remark "$(awk '$3 == "executions" { n += $2 } END { print n + 0 }' "$work/fuzzed") executions"
  return $status
}

# for_cards CAPABILITIES PATTERN: what configure builds for, where nvidia-smi prints these lines
for_cards() {
  # shellcheck disable=SC2059
  printf "$1" >bin/capabilities
  PATH=$PWD/bin:$PATH ./configure >log
  cat log
  grep -qE "^ancify: CUDA .*, for $2 and later$" log
}

gpu_architectures() {
  mkdir -p "$work/configured/bin"
  cp -R configure src "$work/configured"
  cd "$work/configured"
  printf '#!/bin/sh\ncat "%s"\n' "$PWD/bin/capabilities" >bin/nvidia-smi
  chmod +x bin/nvidia-smi
  for_cards '9.0\n8.0\n9.0\n' 'sm_80 sm_90'
  for_cards '' 'sm_7[05] sm_80 sm_90'
  for_cards '3.0\n' 'sm_7[05] sm_80 sm_90' # older than nvcc knows
  ANCIFY_CUDA_ARCHS=80 for_cards '9.0\n' sm_80
}

# Builds for each architecture whose code differs, and the last. Without a GPU, it compiles the kernels alone, as other steps
# build the rest. 77: the driver can use no GPU, which is said.
gpu_driver() {
  kernels_for() { make -C tests/cpp/gpu BUILD="$kept/gpu" ARCHS='$(DIFFERENT)' OPTIMISED=-O1 "$@"; }
  if ! nvidia-smi >/dev/null 2>&1; then
    kernels_for kernels
    remark 'NOT RUN, there is no GPU here; its kernels compile'
    return
  fi
  kernels_for all
  status=0
  "$kept/gpu/gpu_driver" check >"$kept/gpu/said" || status=$?
  cat "$kept/gpu/said"
  checks_in "$kept/gpu/said"
  remark "$(tail -n 1 "$kept/gpu/said")"
  [ $status -eq 0 ] || [ $status -eq 77 ]
}

# With the core that g++'s tests were built with
benchmarks_short() { ANCIFY_BENCHMARK_DIR=$work/benchmarks benchmarks/run --build "$kept/cpp-g++" --short; }
