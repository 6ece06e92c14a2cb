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

# A copy of this tree in which parsimony does its work twice
planted_slowdown() {
  mkdir "$work/planted_speed"
  cp -R src "$work/planted_speed"
  parsimony=core/ancestry/phylogeny/parsimony.cpp
  sed -i 's/const unsigned set = root_set(states);/const unsigned set = root_set(states) \& root_set(states);/' \
    "$work/planted_speed/src/$parsimony"
  ! cmp -s "src/$parsimony" "$work/planted_speed/src/$parsimony" || return 1
  status=0
  compared benchmarks/compare --short --kernels 'maf parsimony' --build "$kept/speed" . "$work/planted_speed" || status=$?
  [ $status -eq 1 ]
  [ "$(awk '$5 == "SLOWER" { print $1 }' "$work/compared")" = parsimony ]
}
