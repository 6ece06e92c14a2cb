# shellcheck shell=sh disable=SC2154
# The gate for speed, a step of ./check; sourced after .ci/steps.sh.

# compared COMMAND...: runs it, shows what it says, and keeps that in $work/compared; gives its status
compared() {
  compared_status=0
  "$@" >"$work/compared" 2>&1 || compared_status=$?
  cat "$work/compared"
  return $compared_status
}

# Fails if a kernel needs more instructions than at benchmarks/baseline, or if a planted slowdown is not found. All builds
# share a folder, in which only what differs is compiled.
speed_gate() {
  if [ -e .git ]; then
    compared benchmarks/compare --short --build "$kept/speed"
    remark "$(awk '$5 == "ok" { n += 1; if ($4 > most) most = $4 }
      END { printf "%d kernels, at most %.2f times the instructions of", n, most }' "$work/compared")" \
      "$(cut -c 1-7 benchmarks/baseline)"
  else
    remark 'a planted slowdown alone: this folder is no git repository'
  fi
  planted_slowdown
}

# vectors_on_stack FOLDER: what loops of its archives keep there
vectors_on_stack() {
  objdump -d -C -w --no-show-raw-insn "$1"/*.a | compared python3 benchmarks/spills.py benchmarks/spills.allowed
}

# Of the core that g++'s tests were built with, and of a solver with vectors that are twice as wide as AVX2's registers.
spills() {
  vectors_on_stack "$kept/cpp-g++/core"
  remark "$(tail -n 1 "$work/compared")"
  mkdir -p "$work/planted_spills"
  cp -R src/core "$work/planted_spills"
  sed -i '/using Avx2Lanes/s/32/64/' "$work/planted_spills/core/device/lanes.h"
  ! cmp -s src/core/device/lanes.h "$work/planted_spills/core/device/lanes.h" || return 1
  g++ -std=c++17 -O2 -DNDEBUG -ffp-contract=off -I"$work/planted_spills" -c \
    "$work/planted_spills/core/diffusion/line_solver.cpp" -o "$work/planted_spills/solver.o"
  ar rc "$work/planted_spills/solver.a" "$work/planted_spills/solver.o"
  status=0
  vectors_on_stack "$work/planted_spills" || status=$?
  [ $status -eq 1 ]
  grep -q 'solve_avx2: .* stalls$' "$work/compared"
}

# A copy of this tree in which parsimony does its work twice
planted_slowdown() {
  mkdir "$work/planted_speed"
  cp -R src "$work/planted_speed"
  parsimony=core/ancestry/phylogeny/parsimony.cpp
  sed -i 's/^    root_sets<PlainBytes>(tree_, states, \*workspace);/&&/' "$work/planted_speed/src/$parsimony"
  ! cmp -s "src/$parsimony" "$work/planted_speed/src/$parsimony" || return 1
  status=0
  compared benchmarks/compare --short --kernels 'maf parsimony' --build "$kept/speed" . "$work/planted_speed" || status=$?
  [ $status -eq 1 ]
  [ "$(awk '$5 == "SLOWER" { print $1 }' "$work/compared")" = parsimony ]
}
