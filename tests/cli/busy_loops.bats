#!/usr/bin/env bats
# What a loop waits for in which a thread of a killed program ran. The program is busy_loops.c.
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  for level in 0 2; do
    "${CC:-cc}" -g -O$level -w -pthread -Wl,-z,lazy -Wl,-z,norelro -o "busy$level" "$repo/tests/cli/busy_loops.c"
  done
}

setup() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
}

# verdict LEVEL HOW: class and kind, cause, then the evidence.
verdict() {
  "$repo/corpora/take-core" --kill ABRT --out "core$1-$2" -- "./busy$1" "$2" >/dev/null 2>&1 || skip "no core can be taken here"
  "$XCORE" analyze --format json --no-plugins "core$1-$2" | jq -r '.verdict | "\(.class) (\(.kind)) \(.confidence)", .cause, .evidence[]' >said
}

# says TEXT…: each is in the verdict.
says() {
  local text
  for text; do
    grep -qF -- "$text" said || { echo "missing: $text" && cat said && return 1; }
  done
}

# never TEXT: is not.
never() {
  ! grep -F -- "$1" said
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
