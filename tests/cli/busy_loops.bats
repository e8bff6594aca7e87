#!/usr/bin/env bats
# What a loop waits for in which a thread of a killed program ran. The programs are busy_loops.c and busy_numbers.c.
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  for level in 0 2; do
    "${CC:-cc}" -g -O$level -w -pthread -Wl,-z,lazy -Wl,-z,norelro -o "busy$level" "$repo/tests/cli/busy_loops.c"
    "${CC:-cc}" -g -O$level -w -pthread -o "numbers$level" "$repo/tests/cli/busy_numbers.c"
  done
}

setup() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
}

# verdict LEVEL HOW [PROGRAM]: class and kind, cause, then the evidence.
verdict() {
  hang_verdict "${3:-busy}" "$1" "$2"
}

@test "a flag that nobody is left to set" {
  for level in 0 2; do
    verdict $level flag
    says 'hang (busy wait) likely' 'in a loop of wait_for, busy_loops.c:' 'done` (0), which nothing in it changes: no other thread is left'
  done
}

@test "a flag that a sleeping thread may set is no hang" {
  for level in 0 2; do
    verdict $level finish
    says 'killed' 'in a loop of wait_for, busy_loops.c:' 'that ends only by `' 'done` (0), which nothing in it changes'
    never 'hang ('
  done
}

@test "a test that the compiler took out of the loop" {
  verdict 2 plain
  says 'hang (busy wait) likely' 'in a loop of wait_plain' 'whose code has no way out'
  verdict 0 plain
  says 'hang (busy wait) likely' 'that ends only by `stop` (0)'
}

@test "a loop that counts is no hang" {
  for level in 0 2; do
    verdict $level count
    says 'killed' 'in a loop of count'
    never 'hang ('
    never 'only'
  done
}

@test "a parser that stays where it is makes no progress: its place and end" {
  for level in 0 2; do
    verdict $level parse
    says 'hang (no progress) likely' 'in a loop of parse' 'nothing that decides in it changes any more'
  done
  verdict 0 parse
  says 'that ends by `p->at` (3) and `p->length` (7)'
  never 'what it adds' # to the words, by which it does not end
}

@test "a record of length 0: what the loop adds to its place is 0" {
  for level in 0 2; do
    verdict $level scan
    says 'hang (no progress) likely' 'in a loop of scan' 'nothing that decides in it changes any more; likely because the value that it adds at busy_loops.c:'
    never 'kind`'
  done
  says '`record->length`, is 0'
}

@test "a search goes round a table that has no empty slot" {
  for level in 0 2; do
    verdict $level find numbers
    says 'hang (no progress) likely' 'in a loop of find' 'it does the same again after each 1024 rounds'
  done
}

@test "a floating-point number that is too large to grow; one that grows is no hang" {
  for level in 0 2; do
    verdict $level grow numbers
    says 'hang (no progress) likely' 'in a loop of grow' 'nothing that decides in it changes any more' \
      'a sum of 1e+09 and 1 is 1e+09 again: a floating-point number of 4 bytes is not that exact'
    verdict $level shrink numbers
    says 'hang (no progress) likely' 'in a loop of shrink' 'a sum of 1e+17 and -1 is 1e+17 again: a floating-point number of 8 bytes'
    verdict $level creep numbers
    says 'killed' 'in a loop of creep'
    never 'hang ('
    never 'is not that exact'
  done
}

@test "a counter of 1 or 2 bytes that never gets to its bound; one that does is no hang" {
  for level in 0 2; do
    verdict $level bytes numbers
    says 'hang (no progress) likely' 'in a loop of bytes' 'it does the same again after each 256 rounds'
    verdict $level words numbers
    says 'hang (counter) likely' 'in a loop of words' 'a number of 2 bytes is compared with 70000, and can never be that large'
    verdict $level passes numbers
    says 'killed'
    never 'hang ('
    never 'can never be that large'
  done
}

@test "a write that is tried again and again, since there is no room" {
  for level in 0 2; do
    verdict $level push numbers
    says 'killed' 'in a loop of push' 'calls write() on descriptor' 'while that fails with EAGAIN'
    never 'returns 0 (the end'
  done
}

@test "the loop is that of the caller, while a stub of the procedure linkage table runs" {
  [ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
  for level in 0 2; do
    verdict $level stub
    says 'a loop of call_stub'
    never 'a function without a name'
    "$XCORE" bt --format json --no-plugins "core$level-stub" | jq -e '.threads[0].frames[:2] | map(.function) == ["getppid@plt", "call_stub"]'
  done
}
