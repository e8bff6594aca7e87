#!/usr/bin/env bats
# shellcheck disable=SC2016 # the backquotes are what is printed
# Programs in which every thread waits until they are killed: what likely kept the one from waking them that had to. The
# programs are unwoken.c and interrupted.c.
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  for level in 0 2; do
    "${CC:-cc}" -g -O$level -w -pthread -o "unwoken$level" "$repo/tests/cli/unwoken.c"
    "${CC:-cc}" -g -O$level -w -o "interrupted$level" "$repo/tests/cli/interrupted.c"
  done
}

setup() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
}

# verdict LEVEL HOW: class and kind, cause, then the evidence.
verdict() {
  hang_verdict unwoken "$@"
}

@test "a semaphore that is not given back; not beside a thread that waits for input" {
  for level in 0 2; do
    verdict $level slots
    says 'deadlock (all wait) likely' 'whoever could post the semaphore `pool.free` waits for it, too' 'sem_post()'
    verdict $level slots-and-input
    says 'killed' '`pool.free` in handle'
    never 'sem_post()'
  done
}

@test "a barrier to which nobody is left to come" {
  for level in 0 2; do
    verdict $level barrier
    says 'deadlock (all wait) likely' 'no thread is left that could still come to the barrier `step`: perhaps one ended early'
    never 'sem_post()'
  done
}

@test "of a program without symbols the same is told, without names" {
  local how
  strip --strip-all -o nameless unwoken0
  for how in slots barrier; do
    verdict 0 $how
    "$XCORE" analyze --format json --no-plugins --exe nameless "core0-$how" | jq -r '.verdict | .class, .evidence[]' >said
    says deadlock
  done
  says 'no thread is left that could still come to the barrier: perhaps one ended early'
}

@test "a handler that waits for the lock of the library function that its signal interrupted" {
  for level in 0 2; do
    hang_verdict interrupted $level tick
    says 'deadlock (self) likely' 'likely holds lock of the C library' 'the signal came in ' ', which takes it) and waits for it again in stamp'
  done
}

@test "readers that wait to write" {
  for level in 0 2; do
    verdict $level upgrade
    says 'deadlock (all wait) likely' 'all possible readers of `table` wait to write to it: perhaps they have it to read'
    [ "$(grep -c 'all possible readers' said)" = 1 ]
  done
}

@test "a queue that is not closed before its workers are waited for; not one that is" {
  for level in 0 2; do
    verdict $level open
    says 'deadlock (all wait) likely' '`closed` of struct queue is not set: perhaps thread ' 'before it waited for their end'
    verdict $level closed
    says 'deadlock (all wait) likely'
    never 'is not set'
  done
}
