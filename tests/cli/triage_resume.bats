#!/usr/bin/env bats
# triage --resume: a finished result is reused only if none of its inputs changed.
# shellcheck disable=SC2154 # helper.bash and bats set them
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
  name=core.sleepy.33.0123456789abcdef0123456789abcdef.7.1700000000000000
  cores null-write=deep/null-write.pack "null-call=$name"
}

triage() {
  "$XCORE" triage --quiet --no-host-files --format json "$@"
}

ledgers() {
  find cache/xcore/triage -type f | sort
}

kept() {
  ledgers | xargs -d '\n' cat
}

# Checks that no core was analysed again.
reused() {
  kept >before
  triage --resume cores "$@" >/dev/null
  kept | cmp - before
}

@test "new debug information is looked at by who resumes" {
  mkdir -p debug/.build-id/7f
  triage --debug-dir debug cores >/dev/null
  reused --debug-dir debug
  touch -d yesterday debug/.build-id/7f
  run -1 reused --debug-dir debug
}

# bats test_tags=long
@test "a signal ends a run, which says how far it is, and who resumes goes on from there" {
  for i in {1..9}; do cp cores/deep/null-write.pack "cores/$i.pack"; done
  PYTHONPATH=$repo/tests/cli python3 - "$XCORE" <<'END'
import signal, subprocess, sys
import workers
words = ["env", "--default-signal=HUP,INT,TERM", sys.argv[1], "triage", "-j1", "--no-host-files", "--resume", "cores"]
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    stopped = workers.stopped(run)
    next(stopped)
    run.send_signal(number)
    answer, said = run.communicate()
    assert (run.returncode, answer) == (-number, ""), (run.returncode, answer)
    assert "interrupted: " in said and " of 11 cores are done" in said, said
    assert "--resume continues from there" in said, said
END
  triage --resume cores >resumed
  triage --no-cache cores | cmp - resumed
}

# bats test_tags=long
@test "what another build of xcore finished is looked at again" {
  cp "$XCORE" another
  triage cores >/dev/null
  reused
  XCORE=./another run -1 reused
}

# bats test_tags=long
@test "a run with other options takes nothing from those before it" {
  triage cores >whole
  triage --timeout 50 cores >/dev/null
  triage --timeout 40 --resume cores >/dev/null
  [ "$(ledgers | wc -l)" -eq 3 ]
  for options in "" "--timeout 50" "--timeout 40"; do
    # shellcheck disable=SC2086 # words
    reused $options
  done
  triage --resume cores | cmp - whole
}

@test "what nobody used for a month is removed, and nothing else" {
  triage cores >/dev/null
  triage --timeout 50 cores >/dev/null
  touch -d '31 days ago' "$XDG_CACHE_HOME"/xcore/triage/*
  ledgers >old
  while read -r file; do
    cp -p "$file" "$file.bak"
  done <old
  triage --timeout 40 cores >/dev/null
  while read -r file; do
    [ ! -e "$file" ]
    [ -e "$file.bak" ]
  done <old
  [ "$(ledgers | grep -c 'jsonl$')" -eq 1 ]
}

# One run with a core of PROGRAM besides the two; its sysroot has the directories but not the program.
without_program() {
  mkdir made
  BATS_FILE_TMPDIR=$BATS_TEST_TMPDIR/made make_core
  needs_core
  cp "$CORE" cores/core.6
  mkdir -p "root$(dirname "$PROGRAM")" "root/usr/lib/debug$(dirname "$PROGRAM")"
  triage --sysroot root cores >before.json
  [ "$(lines)" -eq 3 ]
}

# The number of finished cores; those analysed again count more than once.
lines() {
  kept | grep -c '"path"'
}

# A resumed run gives the result of a fresh run, after this many analyses in total.
resumes_as_from_nothing() { # LINES WORDS...
  triage --resume cores "${@:2}" >resumed.json
  XDG_CACHE_HOME=$PWD/nothing triage cores "${@:2}" >fresh.json
  rm -r nothing
  cmp resumed.json fresh.json
  [ "$(lines)" -eq "$1" ]
}

has_line() { # FILE
  [ "$(jq '[.clusters[].members[] | select(.path == "core.6")] | length' "$1")" -eq 1 ] && grep -qF 'crasher.c:' "$1"
}

# bats test_tags=long
@test "a program that came deep in a sysroot is looked at by who resumes, once, and no other core is" {
  without_program
  run ! has_line before.json
  resumes_as_from_nothing 3 --sysroot root
  cp "$PROGRAM" "root$PROGRAM"
  resumes_as_from_nothing 4 --sysroot root
  has_line resumed.json
  resumes_as_from_nothing 4 --sysroot root
}

# bats test_tags=long
@test "another build that came is looked at once, and so is the right one in its place" {
  without_program
  echo 'int more(void) { return 1; }' >>"$PROGRAM.c"
  ${CC:-cc} -g -O0 -o another "$PROGRAM.c"
  cp another "root$PROGRAM"
  resumes_as_from_nothing 4 --sysroot root
  resumes_as_from_nothing 4 --sysroot root
  cp "$PROGRAM" new && mv new "root$PROGRAM"
  resumes_as_from_nothing 5 --sysroot root
  has_line resumed.json
}

# bats test_tags=long
@test "a file that a core names is looked at when it comes, and missed when it goes" {
  without_program
  mv "$PROGRAM" away
  "$XCORE" triage --quiet --format json cores >before.json
  run ! has_line before.json
  count=$(lines)
  mv away "$PROGRAM"
  "$XCORE" triage --quiet --format json --resume cores >came.json
  has_line came.json
  [ "$(lines)" -eq $((count + 1)) ]
  mv "$PROGRAM" away
  "$XCORE" triage --quiet --format json --resume cores | cmp - before.json
  [ "$(lines)" -eq $((count + 2)) ]
}

# The sysroot has the program from the start, with its debug information next to it; a ledger records all of it.
with_program() {
  without_program
  objcopy --only-keep-debug "$PROGRAM" crasher.debug
  objcopy --strip-all --add-gnu-debuglink=crasher.debug "$PROGRAM" "root$PROGRAM"
  cp crasher.debug "root/usr/lib/debug$(dirname "$PROGRAM")/"
  triage --sysroot root cores >before.json
  has_line before.json
  count=$(lines)
}

# bats test_tags=long
@test "a program that served and was exchanged or is gone is looked at by who resumes, and so is its debug information" {
  with_program
  resumes_as_from_nothing "$count" --sysroot root
  echo >>"root/usr/lib/debug$(dirname "$PROGRAM")/crasher.debug" # still with its build-id
  resumes_as_from_nothing $((count + 1)) --sysroot root
  has_line resumed.json
  rm "root/usr/lib/debug$(dirname "$PROGRAM")/crasher.debug"
  resumes_as_from_nothing $((count + 2)) --sysroot root
  run ! has_line resumed.json
  cp "$PROGRAM" "root$PROGRAM"
  resumes_as_from_nothing $((count + 3)) --sysroot root
  has_line resumed.json
  rm "root$PROGRAM"
  resumes_as_from_nothing $((count + 4)) --sysroot root
  run ! has_line resumed.json
  resumes_as_from_nothing $((count + 4)) --sysroot root
}

# bats test_tags=long
@test "names that are no UTF-8 are noted as others are" {
  with_program
  dir=$'made/\xff\\'
  mkdir -p "$dir" || skip "no such names here"
  BATS_FILE_TMPDIR=$BATS_TEST_TMPDIR/$dir make_core
  needs_core
  cp "$CORE" $'cores/\xfe'
  mkdir -p "root$(dirname "$PROGRAM")"
  triage --sysroot root cores >before.json
  count=$(lines)
  resumes_as_from_nothing "$count" --sysroot root
  cp "$PROGRAM" "root$PROGRAM"
  resumes_as_from_nothing $((count + 1)) --sysroot root
  run -1 cmp -s before.json resumed.json
  rm "root$PROGRAM"
  resumes_as_from_nothing $((count + 2)) --sysroot root
  cmp before.json resumed.json
}

# bats test_tags=long
@test "debug information that came deep in a sysroot is looked at by who resumes" {
  without_program
  objcopy --only-keep-debug "$PROGRAM" crasher.debug
  objcopy --strip-all --add-gnu-debuglink=crasher.debug "$PROGRAM" "root$PROGRAM"
  resumes_as_from_nothing 4 --sysroot root
  run ! has_line resumed.json
  cp crasher.debug "root/usr/lib/debug$(dirname "$PROGRAM")/"
  resumes_as_from_nothing 5 --sysroot root
  has_line resumed.json
}

# bats test_tags=long
@test "what came is no reason to lose the record of a core that is gone" {
  without_program
  "$XCORE" triage --plan cores >plan
  "$XCORE" triage --quiet --no-host-files --sysroot root --plan-file plan --shard 0/1 -o parts cores
  cp parts/* part
  cp "$PROGRAM" "root$PROGRAM"
  rm cores/core.6
  "$XCORE" triage --quiet --no-host-files --sysroot root --plan-file plan --shard 0/1 -o parts --resume cores
  cmp parts/* part
}

# bats test_tags=long
@test "what may not be opened is no file that came" {
  without_program
  triage cores >before.json # --no-host-files
  count=$(lines)
  resumes_as_from_nothing "$count"
  mkfifo "root$PROGRAM"
  resumes_as_from_nothing "$count" --sysroot root
}

# bats test_tags=long
@test "cores of other directories are other cores for --resume" {
  mkdir -p one/x two/x
  cp -p cores/deep/null-write.pack one/x/core
  cp -p "cores/$name" two/x/core
  truncate -r one/x/core two/x/core 2>/dev/null || truncate -s "$(stat -c %s one/x/core)" two/x/core
  touch -r one/x/core two/x/core
  for dir in one two one two; do
    (cd $dir && echo x/core | triage --resume - >../answer.$dir)
    (cd $dir && echo x/core | triage - >../fresh.$dir)
    cmp answer.$dir fresh.$dir
  done
  run ! cmp -s answer.one answer.two
}

@test "two runs at once: who resumes is refused, others go on" {
  triage cores >whole
  ledger=$(echo "$XDG_CACHE_HOME"/xcore/triage/*.jsonl)
  exec 9<>"$ledger"
  flock -n 9
  expect 4 '*another run of the same inputs is under way*' "$XCORE" triage --no-host-files --resume cores
  expect 0 'xcore: finished work is not kept for --resume: *another run*' "$XCORE" triage --no-host-files --format json cores
  cmp whole "$BATS_TEST_TMPDIR/stdout"
  exec 9>&-
  triage --resume cores >again
  cmp whole again
}

@test "a cache that cannot be written costs no answer" {
  triage cores >whole
  echo >file
  XDG_CACHE_HOME=$PWD/file "$XCORE" triage --no-host-files --format json cores >answer 2>told
  cmp whole answer
  grep -q 'is not kept for --resume' told
  XDG_CACHE_HOME=$PWD/file run -4 "$XCORE" triage --no-host-files --resume cores
}

@test "a shard that fails leaves no part of an earlier run to be merged" {
  shard() { "$XCORE" triage --no-host-files --shard 0/1 -o parts "$@"; }
  part=parts/part-00000-of-00001.jsonl
  shard cores
  cp "$part" before
  expect 4 'xcore: --journal: nosuch*' shard cores --resume --journal nosuch
  [ ! -e "$part" ]
  shard cores --resume
  cmp before "$part"
  expect 4 'xcore: nowhere: *' shard nowhere
  [ ! -e "$part" ]
}

@test "a damaged line of what is finished costs its own core and is told once" {
  triage cores >whole
  ledger=$(ledgers)
  [ "$(lines)" -eq 2 ]
  python3 - "$ledger" <<'END'
import sys
with open(sys.argv[1], "r+b") as ledger:
    lines = ledger.read().splitlines(True)
    ledger.seek(len(lines[0]) + len(lines[1]) // 2)
    ledger.write(bytes([lines[1][len(lines[1]) // 2] ^ 1]))
END
  run -0 --separate-stderr "$XCORE" triage --no-host-files --format json --resume cores
  diff <(echo "$output") whole
  [ "$stderr" = "xcore: not all finished work can be reused: $(shown "$PWD/$ledger"): 1 of its lines is damaged" ]
  [ "$(lines)" -eq 2 ]
  run -0 --separate-stderr "$XCORE" triage --no-host-files --format json --resume cores
  diff <(echo "$output") whole
  [ -z "$stderr" ]
}
