#!/usr/bin/env bats
# Locks in analyze and threads. The program is corpora/deaths/lock.c; its source defines who holds which lock.

setup_file() {
  load helper
  export PROGRAM=$BATS_FILE_TMPDIR/program CORE=$BATS_FILE_TMPDIR/core WATCHED=$BATS_FILE_TMPDIR/watched
  [ "$(uname -m)" = x86_64 ] || CORE=''
  gcc -g -O0 -pthread -fno-optimize-sibling-calls -o "$PROGRAM" "$repo/corpora/deaths/lock.c"
  "$repo/corpora/take-core" --kill ABRT --out "$CORE" -- "$PROGRAM" two >/dev/null 2>&1 || CORE=''
  "$repo/corpora/take-core" --out "$WATCHED" -- "$PROGRAM" watched >/dev/null 2>&1 || CORE=''
}

setup() {
  load helper
  needs_core
}

@test "a core of threads that wait for each other is a deadlock, with who holds what" {
  "$XCORE" analyze "$CORE" --no-plugins --format json >"$BATS_TEST_TMPDIR/json"
  jq -e '.verdict | .class == "deadlock" and .kind == "cycle" and .confidence == "certain" and .function == "transfer"' \
    "$BATS_TEST_TMPDIR/json"
  jq -e '.sections[] | select(.key == "locks") | .tables.deadlocks | length == 2 and
    ([.[] | .holds + " " + .waits] | sort == ["first.lock second.lock", "second.lock first.lock"])' "$BATS_TEST_TMPDIR/json"
  jq -e '.sections[] | select(.key == "locks") | .tables.locks | length == 2 and all(.kind == "mutex" and .waiting == 1)' \
    "$BATS_TEST_TMPDIR/json"
  "$XCORE" analyze "$CORE" --no-plugins | grep -qE '^ +1 +[0-9]+ +first\.lock +second\.lock +transfer \(lock\.c:[0-9]+\) ← transfer_forth'
}

@test "the threads of a deadlock come first among the other threads" {
  "$XCORE" analyze "$CORE" --no-plugins --format json >"$BATS_TEST_TMPDIR/json"
  jq -e '([.sections[] | select(.key == "locks") | .tables.deadlocks[].thread] - [.verdict.tid]) as $waiting |
    [.sections[] | select(.key == "threads") | .. | .tid? | numbers][0] | IN($waiting[])' "$BATS_TEST_TMPDIR/json"
}

@test "threads says what each waits for, and redaction leaves the names of locks" {
  for option in --no-redact --redact; do
    "$XCORE" threads "$CORE" $option >"$BATS_TEST_TMPDIR/text"
    grep -qE 'main +die_two.* waiting for thread [0-9]+ to end' "$BATS_TEST_TMPDIR/text"
    # shellcheck disable=SC2016 # the backquotes are the report's
    grep -qE 'transfer_back +transfer \(lock\.c:[0-9]+\) +waiting for mutex `first\.lock`, held by' "$BATS_TEST_TMPDIR/text"
  done
}

@test "an abort beside a deadlock: the deadlock is likely, and who aborted is told" {
  "$XCORE" analyze "$WATCHED" --no-plugins --format json >"$BATS_TEST_TMPDIR/json"
  jq -e '.verdict | .class == "deadlock" and .confidence == "likely"' "$BATS_TEST_TMPDIR/json"
  jq -e '.verdict.evidence | any(startswith("the abort came from watch, lock.c:"))' "$BATS_TEST_TMPDIR/json"
}
