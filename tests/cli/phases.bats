#!/usr/bin/env bats
# Deaths before main(), and after it. The program is phases.cc.
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
}

# phase NAME TEXT: at -O0 and -O2.
phase() {
  local level
  for level in 0 2; do
    "${CXX:-c++}" -std=c++17 -g -O$level -w -pthread "-D$1" -o "$1$level" "$repo/tests/cli/phases.cc"
    "$repo/corpora/take-core" --out core -- "./$1$level" >/dev/null 2>&1 || skip "no core can be taken here"
    "$XCORE" analyze --format json --no-plugins core | jq -r '.verdict | "\(.class): \(.cause)"' >said
    says "$2"
  done
}

@test "a static object that is used before its construction" {
  phase EARLY 'it happened before main(), while the static objects of phases.cc are constructed'
}

@test "a static object that is used after its destruction" {
  phase LATE 'it happened in the handlers that exit() runs'
}

@test "a thread that goes on while main() has ended" {
  phase BESIDE 'has left main() and runs the handlers of exit(), in Table::~Table, phases.cc:'
}
