#!/usr/bin/env bats
# Objects that were used after std::move() had given their content away, and what a division by zero divided by. The program
# is moved_objects.cc. Its source is read: it is below the working directory.
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  cp "$repo/tests/cli/moved_objects.cc" .
  for level in 0 2; do
    "${CXX:-c++}" -std=c++17 -g -O$level -w -o "moved$level" moved_objects.cc
  done
}

setup() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
}

# verdict LEVEL DEATH
verdict() {
  verdict_of "core$1-$2" "./moved$1" "$2"
}

# line TEXT: the number of the first line of the program with it.
line() {
  grep -nF -m 1 -- "$1" moved_objects.cc | cut -d: -f1
}

@test "the size of a container that was divided by is named, and the caller that had moved it" {
  for level in 0 2; do
    verdict $level of-caller
    says 'div-by-zero' 'dividing by `t.nodes.size()`' \
      "likely \`t\` was moved from at moved_objects.cc:$(line '// gives it away'), in of_caller: std::move(t)"
  done
}

@test "what was passed to another function since may have been changed there" {
  for level in 0 2; do
    verdict $level passed-between
    says 'perhaps `t` was moved from'
  done
}

@test "an object that was set again, or cleared, or filled, is not told as moved" {
  for level in 0 2; do
    for how in set-again cleared filled; do
      verdict $level $how
      says 'div-by-zero' 't.nodes.size()'
      never 'moved from'
    done
  done
}

@test "a move in another branch, in one that returns, or in a lambda, is not told" {
  for level in 0 2; do
    for how in other-branch returned-before switched in-lambda; do
      verdict $level $how
      says 'div-by-zero' 't.nodes.size()'
      never 'moved from'
    done
  done
}

@test "a move under a condition is told: the object is empty" {
  verdict 0 other-if
  says 'div-by-zero' 'likely `t` was moved from'
}

@test "a divisor is named: a difference of pointers, the length of a string, the size of a map" {
  for level in 0 2; do
    verdict $level of-ring
    says 'dividing by `r->end - r->begin`'
    verdict $level average
    says 'dividing by `text.size()`'
    verdict $level of-map
    says 'dividing by `m.size()`'
    verdict $level several
    says 'dividing by `b.size()`'
  done
}

@test "the place is a line of the function, where a line of a header was inlined into it" {
  verdict 2 of-caller
  "$XCORE" analyze --format json --no-plugins core2-of-caller | jq -r '.verdict | .function, .file, .line' >place
  grep -qx 'slot' place
  grep -q 'moved_objects.cc$' place
  grep -qx "$(line '// the divisor')" place
}

@test "smart pointers and elements that were moved away are told" {
  for level in 0 2; do
    verdict $level pointer
    says 'null-read' 'likely `n` was moved from' 'std::move(n)'
    verdict $level shared
    says 'null-read' 'likely `n` was moved from'
    verdict $level element
    says 'null-read' 'likely `v` was moved from'
    verdict $level member
    says 'null-read' 'likely `t->nodes` was moved from'
  done
}

@test "a pointer that was never set, was set since, or is moved by copy, is not told as moved" {
  for level in 0 2; do
    for how in never-set set-since raw-member; do
      verdict $level $how
      says 'null-read'
      never 'moved from'
    done
  done
}

@test "what the blamed line uses is told where the program ended itself" {
  verdict 0 checked
  says 'uncaught-exception' 'likely `v` was moved from'
  verdict 0 called
  says 'uncaught-exception' 'likely `f` was moved from'
  verdict 0 checked-other
  says 'uncaught-exception'
  never 'moved from'
}

@test "nothing is told without the source" {
  mkdir -p elsewhere
  verdict 2 of-caller
  (cd elsewhere && "$XCORE" analyze --format json --no-plugins ../core2-of-caller | jq -r '.verdict.cause') >said
  says '`t.nodes.size()`'
  never 'moved from'
}

@test "a redacted verdict tells names only" {
  verdict 0 of-caller
  "$XCORE" analyze --redact --format json --no-plugins core0-of-caller | jq -r '.verdict | .cause, .evidence[]' >said
  never 'cache-eu-west'
}
