#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Sourced by quickstart.sh and test.sh: named steps of one line each, full output in build/logs/, and failures that end in
# one line with the remedy. Every step can be repeated, so that Ctrl-C and the same command again goes on.

set -u -o pipefail
HONE_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
HONE_LOGS="$HONE_ROOT/build/logs"
HONE_COMMAND="${0##*/}"
readonly HONE_ROOT HONE_LOGS HONE_COMMAND
cd "$HONE_ROOT" || exit 1
SECONDS_START=$(date +%s.%N)
# An emptied environment (cron, containers) has neither; ccache and pip want a home, dpkg wants sbin.
export PATH="$PATH:/usr/sbin:/sbin" HOME="${HOME:-$(getent passwd "$EUID" | cut -d: -f6)}"

elapsed() { awk -v a="$1" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }'; }

# fail PROBLEM REMEDY: the one line that ends a script.
fail() {
  printf 'scripts/%s: %s. %s\n' "$HONE_COMMAND" "$1" "$2" >&2
  exit 1
}

interrupted() {
  printf '\nscripts/%s: stopped. The same command goes on from here.\n' "$HONE_COMMAND" >&2
  exit 130
}
trap interrupted INT TERM

# Reads the end of a log and names the cause, where it is one that the user can mend.
remedy_for() {
  local text free
  text=$(tail -n 60 "$1" 2>/dev/null)
  # On a full disk the log itself is cut short.
  free=$(df --output=avail -m "$HONE_ROOT" | tail -n 1)
  ((free >= 20)) || text="No space left on device"
  case "$text" in
    *"No space left on device"* | *"not enough free space"* | *"You don't have enough free space"*)
      echo "the disk is full|Free some space (${free// /} MB are left here), then run it again" ;;
    *CERTIFICATE_VERIFY_FAILED* | *"certificate verify failed"*)
      echo "this network's certificate is not trusted|Set PIP_CERT to your proxy's certificate file, then run it again" ;;
    *"Temporary failure resolving"* | *"Could not resolve"* | *"Failed to establish a new connection"* | *"Network is unreachable"* | \
      *"Could not connect to"* | *"Name or service not known"* | *"Failed to fetch"* | *"Read timed out"* | *"Max retries exceeded"* | \
      *"No matching distribution found"* | *"Temporary failure in name resolution"*)
      echo "no network (or a proxy that is not set up)|Connect this machine to Debian's mirror and PyPI, then run it again" ;;
    *"Could not get lock"* | *"is another process using it"*)
      echo "another apt or dpkg is running|Wait for it to end, then run it again" ;;
    *"Unable to locate package"* | *"has no installation candidate"*)
      echo "a Debian package is unknown here|hone is set up on Debian 12; on another release install its counterparts yourself and pass --no-packages" ;;
    *"Killed signal terminated program"* | *"out of memory"* | *"Cannot allocate memory"*)
      echo "out of memory|Close other programs or add swap (a compile needs about 1 GB a core), then run it again" ;;
    *) echo "|" ;;
  esac
}

# Runs a command as one line of output; what it prints goes to build/logs/LOGNAME.log. Returns its exit code.
run_step() {
  local title=$1 log="$HONE_LOGS/$2.log" began code
  shift 2
  mkdir -p "$HONE_LOGS" 2>/dev/null || fail "cannot write $HONE_LOGS" "Run it as the owner of this folder, with space on the disk"
  began=$(date +%s.%N)
  printf '[%6ss] %s ... ' "$(elapsed "$SECONDS_START")" "$title"
  "$@" >"$log" 2>&1 </dev/null
  code=$?
  if ((code == 0)); then
    printf '%s s\n' "$(elapsed "$began")"
  else
    printf 'failed after %s s\n' "$(elapsed "$began")"
    ((code == 130)) && interrupted
  fi
  return $code
}

# step TITLE LOGNAME COMMAND...: a step that the rest needs; its failure ends the script.
step() {
  local log="build/logs/$2.log" cause
  run_step "$@" && return 0
  cause=$(remedy_for "$HONE_ROOT/$log")
  [[ -z "${cause%%|*}" ]] || fail "'$1' failed: ${cause%%|*}" "${cause#*|} (log: $log)"
  printf -- '---- last lines of %s\n' "$log" >&2
  tail -n 15 "$HONE_ROOT/$log" >&2
  fail "'$1' failed" "The whole output is in $log"
}

# check TITLE LOGNAME COMMAND...: a step whose failure is counted in failed_checks, shown, and does not keep the others from running.
failed_checks=()
check() {
  run_step "$@" && return 0
  failed_checks+=("$1 (build/logs/$2.log)")
  printf -- '---- last lines of build/logs/%s.log\n' "$2"
  tail -n 40 "$HONE_LOGS/$2.log"
  return 1
}

# note TEXT: a line between steps.
note() { printf '[%6ss] %s\n' "$(elapsed "$SECONDS_START")" "$1"; }
