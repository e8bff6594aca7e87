#!/usr/bin/env bats
# shellcheck disable=SC2016 # the backquotes are what is printed
# What a thread tests that waits for ever, and its values now. The programs are predicates.c and predicates.cc.
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  export LEVELS="0 2"
  for level in 0 2; do
    gcc -g -O$level -w -pthread -o "predicates$level" "$repo/tests/cli/predicates.c" -lm
    gcc -g -O$level -w -pthread -DHANDLES -o "handles$level" "$repo/tests/cli/predicates.c" -lm
    g++ -std=c++20 -g -O$level -w -pthread -o "wide$level" "$repo/tests/cli/predicates.cc"
    command -v clang++ >/dev/null || continue
    clang -g -O$level -w -pthread -o "predicates-clang$level" "$repo/tests/cli/predicates.c" -lm
    clang++ -std=c++20 -g -O$level -w -pthread -o "wide-clang$level" "$repo/tests/cli/predicates.cc"
  done
  ! command -v clang++ >/dev/null || LEVELS="0 2 -clang0 -clang2"
}

setup() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
}

@test "a number that never becomes 0; also beside a thread that rests, where it is no hang" {
  for level in $LEVELS; do
    hang_verdict predicates "$level" count
    says 'deadlock (all wait) likely' 'would wait again if it were woken: its loop ends by `batch.outstanding` (1)' '`batch.outstanding` is '
    grep -q 'batch.outstanding. is \(likely \)\?written in .*process (predicates.c:' said
    hang_verdict predicates "$level" count-and-rest
    says 'killed (null) certain' 'its loop ends by `batch.outstanding` (1)'
  done
}

@test "a predicate of a lambda that stays false, or is true while nobody wakes the thread" {
  for level in $LEVELS; do
    hang_verdict wide "$level" greeted
    says 'deadlock (all wait) likely' 'would wait again if it were woken: its loop ends by `one.connected_` (0) and `one.error_` (0)'
    [ "$level" = -clang2 ] || grep -q 'one.connected_. is \(likely \)\?written in session::connect (predicates.cc:' said
    hang_verdict wide "$level" silent
    says 'deadlock (all wait) likely' 'would go on if it were woken: its loop ends by `one.connected_` (1)'
  done
}

@test "a queue that is full, and an atomic variable" {
  for level in $LEVELS; do
    hang_verdict wide "$level" full
    says 'would wait again if it were woken: its loop ends by `line.queue` (2 elements) and `line.most` (2)'
    hang_verdict wide "$level" phase
    says 'deadlock (all wait) likely' '`phase` (1)'
  done
}

@test "tasks that wait for tasks of their own pool" {
  for level in $LEVELS; do
    hang_verdict wide "$level" nested
    says 'deadlock (all wait) likely' '`tasks` of pool still holds 2 elements' '2 threads that take from `tasks` of pool wait themselves, in parent: perhaps for a queued element'
    hang_verdict wide "$level" scans
    says 'deadlock (all wait) likely' 'and 2 more, waiting for the result of a future in scanner::scan' \
      '3 threads that take from `tasks` of pool wait themselves, in scanner::scan'
    hang_verdict wide "$level" forgets
    says 'deadlock (all wait)'
    never 'wait themselves'
    never 'waits itself, in'
  done
}

@test "a semaphore that nobody posts: a handler of a signal could" {
  for level in 0 2; do
    hang_verdict predicates $level items
    says 'deadlock (all wait) likely' 'whoever could post the semaphore `items` waits for it, too'
    mv "core$level-items" plain
    hang_verdict handles $level items
    says 'killed (null) certain' 'perhaps it hung: every thread waits, and only a signal handler could still wake one'
  done
}

@test "a flag that is asked for again and again; not a loop that counts, nor where a handler could set it" {
  for level in 0 2; do
    hang_verdict predicates $level poll
    says 'hang (busy wait) likely' 'sleeps in a loop of poll_flag' 'that ends only by `polled` (0), which nothing in it changes'
    hang_verdict predicates $level turns
    says 'killed (null) certain'
    never 'likely'
    hang_verdict handles $level poll
    says 'killed (null) certain' 'its loop ends by `polled` (0)'
  done
}

@test "a spin lock that another thread keeps" {
  for level in 0 2; do
    hang_verdict predicates $level spin
    says 'perhaps it hung: thread ' 'in a loop of take_spin' 'that ends only by `spin` ('
  done
}

@test "a loop that ends by numbers that are not whole" {
  for level in $LEVELS; do
    hang_verdict predicates "$level" steps
    says 'in a loop of steps, predicates.c:' 'ends by a comparison of floating-point numbers'
  done
}
