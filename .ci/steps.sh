# shellcheck shell=sh disable=SC2034
# What ./setup and ./check share: named steps with a log, and the distribution's packages. Sourced in the repository's root.

export LC_ALL=C.UTF-8 TZ=UTC
work=$(mktemp -d "${TMPDIR:-/tmp}/ancify.XXXXXX") || exit 1
log=$work.log
memory=''
trap 'stop_beside; rm -rf "$work" ${memory:+"$memory"}' EXIT
trap 'exit 1' HUP INT TERM
jobs=$(nproc)
export MAKEFLAGS="-j$jobs"

die() {
  printf '%s\n' "$@" >&2
  exit 1
}

# Sets memory, a folder for what tests write and read again: they sync thousands of files, and a disk is slow at that.
# It is on the disk where there is little memory.
use_memory() {
  shared=$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)
  if [ "${shared:-0}" -ge 4000000 ]; then
    memory=$(mktemp -d -p /dev/shm ancify.XXXXXX)
  else
    memory=$(mktemp -d -p "$work")
  fi
}

# step TITLE COMMAND...: one line on the screen, everything else in the log; the first step that fails is the last.
# A command may leave a remark for the line's end.
step() {
  title=$1 started=$(date +%s)
  shift
  printf '%s ... ' "$title"
  printf '\n== %s\n' "$title" >>"$log"
  first_line=$(wc -l <"$log")
  rm -f "$log.remark"
  (
    trap 'times >"$log.times"' EXIT
    set -e
    "$@"
  ) >>"$log" 2>&1 </dev/null
  status=$?
  seconds=$(($(date +%s) - started)) processors=$(processor_seconds)
  if [ $status -eq 0 ]; then
    printf 'ok (%d s, %d s of processors)%s\n' $seconds "$processors" "$(sed '1s/^/: /' "$log.remark" 2>/dev/null)"
    rm -f "$log.remark"
  else
    printf 'FAILED (%d s). The end of the log:\n\n' $seconds
    tail -n "+$first_line" "$log" | tail -n 40
    printf '\nFAILED: %s. The whole log: %s\n' "$title" "$log"
    ! command -v at_failure >/dev/null || at_failure
    exit 1
  fi
}

# Of the last step, with its children: `times` prints lines such as "0m0.01s 1m2.50s". They do not depend on the load.
processor_seconds() {
  tr ' ' '\n' <"$log.times" | awk -F '[ms]' '{ n += 60 * $1 + $2 } END { printf "%d", n }'
  rm -f "$log.times"
}

remark() { printf '%s\n' "$*" >"$log.remark"; }

# has_tool TOOL: a command, R:PACKAGE, or a header of C++ such as gtest/gtest.h
has_tool() {
  case $1 in
    R:*) Rscript -e "quit(status = !requireNamespace('${1#R:}', quietly = TRUE))" ;;
    *.h) echo "#include <$1>" | g++ -std=c++17 -fsyntax-only -x c++ - ;;
    *) command -v "$1" ;;
  esac >/dev/null 2>&1
}

# step_with 'TOOL...' TITLE COMMAND...: runs a step if these tools are installed; else names the missing ones, here and in
# $work/missing
step_with() {
  missing=''
  for tool in $1; do has_tool "$tool" || missing="$missing $tool"; done
  shift
  if [ -z "$missing" ]; then
    step "$@"
  else
    echo "$1 ... not run; missing:$missing"
    printf '%s\n' $missing >>"$work/missing"
  fi
}

# beside TITLE COMMAND...: a step that goes on while the next ones do, as most take one core at times. Such steps go one
# after the other.
beside_steps=0 beside_processes=''
beside() {
  previous=$beside_steps
  beside_steps=$((beside_steps + 1))
  (
    trap ': >"$work/beside-$beside_steps-ended"' EXIT
    while [ $previous -gt 0 ] && [ ! -e "$work/beside-$previous-ended" ]; do sleep 1; done
    log=$log.beside-$beside_steps
    : >"$log"
    step "$@"
  ) >"$work/beside-$beside_steps-said" 2>&1 &
  beside_processes="$beside_processes $beside_steps:$!"
}

# await [LAST]: waits for the steps beside up to that number, or for all, and says what became of each
await() {
  last=${1:-$beside_steps} status=0 going_on=''
  for one in $beside_processes; do
    if [ "${one%:*}" -gt "$last" ]; then
      going_on="$going_on $one"
      continue
    fi
    wait "${one#*:}" || status=$?
    cat "$work/beside-${one%:*}-said"
    cat "$log.beside-${one%:*}" >>"$log"
    rm -f "$log.beside-${one%:*}"
  done
  beside_processes=$going_on
  [ $status -eq 0 ] || exit 1
}

# stop PROCESS: and all that it started
stop() {
  # shellcheck disable=SC2046
  set -- "$1" $(cat "/proc/$1/task/$1/children" 2>/dev/null)
  kill "$1" 2>/dev/null || true
  shift
  for process in "$@"; do stop "$process"; done
}

stop_beside() {
  for one in $beside_processes; do stop "${one#*:}"; done
}

# Packages of the distribution --------------------------------------------------------------------

to_run='r-base-dev r-cran-rcpp r-cran-rcppeigen r-cran-rcppparallel r-cran-yaml r-cran-jsonlite r-cran-cli r-cran-ape zlib1g-dev'
to_run_if_there_is='libisal-dev libdeflate-dev libzstd-dev libblosc-dev libhts-dev'

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}

# Not every architecture has every package, and the package builds without.
install_missing() {
  apt_get update
  for package in $optional; do
    if apt-cache show "$package" >/dev/null 2>&1; then
      missing="$missing $package"
    else
      remark "done without $package, which this system does not have"
    fi
  done
  # shellcheck disable=SC2086
  apt_get install -y --no-install-recommends $missing
}

# packages NEEDED OPTIONAL: two lists; installs those that are missing
packages() {
  if ! command -v apt-get >/dev/null; then
    die 'This script installs what is missing with apt-get, which is not here: it is made for Debian 12 and Ubuntu 24.04.' \
      "Elsewhere, install R (>= 4.2), a C++17 compiler, zlib and R's packages Rcpp, RcppEigen, RcppParallel, ape, jsonlite, yaml and cli," \
      'then run: R CMD INSTALL .'
  fi
  missing='' optional=''
  for package in $1; do is_installed "$package" || missing="$missing $package"; done
  for package in $2; do is_installed "$package" || optional="$optional $package"; done
  if [ -z "$missing$optional" ]; then return; fi
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "To be installed as root, and there is no sudo:$missing$optional"
    sudo -v || die "To be installed as root, and sudo does not let you:$missing$optional"
  fi
  step "Installing$missing$optional" install_missing
}

# The package --------------------------------------------------------------------------------------

# Makes the only .tar.gz in $work; takes options of R CMD build
build_tarball() {
  root=$(pwd)
  cd "$work"
  ANCIFY_CUDA=no R CMD build --no-manual "$@" "$root"
  [ "$(cat ancify_*.tar.gz | wc -c)" -le 5000000 ] || {
    echo "The source package has more than Bioconductor's 5 MB."
    return 1
  }
}
