#!/usr/bin/env bats
# triage: a failure not caused by a core is not kept as its record, and the exit status reports it; the progress bar
# estimates the remaining time.
# shellcheck disable=SC2154 # helper.bash and bats set them
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
  cores null-write=null-write.pack
}

# A plain core, and a compressed one that needs room for inflation.
two_cores() {
  mkdir made
  BATS_FILE_TMPDIR=$BATS_TEST_TMPDIR/made make_core
  needs_core
  rm cores/*
  cp "$CORE" cores/core.6
  gzip -c "$CORE" >cores/core.7.gz
}

triage() {
  "$XCORE" triage --quiet --format json "$@"
}

@test "a core for which there is no room is not looked at, and is with --resume" {
  two_cores
  TMPDIR=$BATS_TEST_TMPDIR/none run -4 --separate-stderr "$XCORE" triage --format json cores
  [[ "$stderr" == *'xcore: exit 4: 1 core could not be examined, for reasons outside of it; '*'--resume'* ]]
  [ "$(jq -r '.failed[] | .path + ": " + .status + ": " + .why' <<<"$output")" = \
    "core.7.gz: unreadable: not examined: a temporary file (TMPDIR): No such file or directory" ]
  [ "$(jq '[.clusters[].members[]] | length' <<<"$output")" -eq 1 ]
  grep -q core.6 cache/xcore/triage/*.jsonl
  run -1 grep -q core.7.gz cache/xcore/triage/*.jsonl
  run -0 --separate-stderr triage --resume cores
  [ "$(jq '[.failed[]] | length' <<<"$output")" -eq 0 ]
  [ "$(jq '[.clusters[].members[]] | length' <<<"$output")" -eq 2 ]
}

@test "a shard that could not look at a core writes its part without it, and the merge is partial" {
  two_cores
  mkdir parts
  TMPDIR=$BATS_TEST_TMPDIR/none expect 4 'xcore: 1 core could not be examined*--resume*' "$XCORE" triage --shard 0/1 -o parts cores
  [ "$(jq -r '.path // "unlooked \(.unlooked)"' parts/*.jsonl)" = $'unlooked 1\ncore.6' ]
  run --separate-stderr "$XCORE" triage --quiet --format json --merge parts
  [ "$(jq -r '.partial' <<<"$output")" = "1 name could not be searched" ]
  run -0 "$XCORE" triage --quiet --shard 0/1 -o parts --resume cores
  [ -s parts/part-00000-of-00001.jsonl ]
}

# Called by the test itself: `skip` within `run` ends only the subshell.
needs_mount() {
  mkdir -p small
  unshare -rm mount -t tmpfs none small 2>/dev/null || skip "no file system can be mounted here"
}

# on_a_disk SIZE OPTION...: with temporary files on a separate disk.
on_a_disk() {
  local size=$1
  shift
  mkdir -p small
  # shellcheck disable=SC2016 # the inner shell's
  unshare -rm sh -c 'mount -t tmpfs -o size="$0" none small && TMPDIR=$PWD/small exec "$@"' "$size" "$XCORE" triage --quiet "$@"
}

# large_core NAME COMMAND...: a compressed core with the command's output appended.
large_core() {
  local name=$1
  shift
  { cat "$CORE"; "$@"; } | gzip -c >"cores/$name"
}

@test "a TMPDIR that is small or full is no core's limit, and a core for which there is room later is looked at" {
  needs_mount
  two_cores
  mkdir parts
  large_core core.8.gz head -c 8M /dev/urandom
  run -4 --separate-stderr on_a_disk 8m --shard 0/1 -o parts cores
  [ "$(jq -r '.path // "unlooked \(.unlooked)"' parts/*.jsonl)" = $'unlooked 1\ncore.6\ncore.7.gz' ]
  run -4 --separate-stderr on_a_disk 4k --format json cores
  [ "$(jq -r '.failed[] | .path + ": " + .status + ": " + .why' <<<"$output" | sed 's/; a core may use half of the disk)/)/' | sort -u)" = \
"core.7.gz: unreadable: not examined: temporary files (TMPDIR): No space left on device
core.8.gz: unreadable: not examined: temporary files (TMPDIR): No space left on device" ]
  run -0 on_a_disk 64m --shard 0/1 -o parts --resume cores
  [ "$(jq -r '.path // .cores' parts/*.jsonl)" = $'3\ncore.6\ncore.7.gz\ncore.8.gz' ]
}

@test "a bomb is its own limit, and the part is whole, but it is not kept for a larger disk" {
  needs_mount
  two_cores
  mkdir parts
  large_core core.8.gz bash -c 'yes | head -c 64M'
  run -0 on_a_disk 32m --shard 0/1 -o parts cores
  [[ "$(jq -r 'select(.status == "limit") | .path + ": " + .why' parts/*.jsonl)" == "core.8.gz: inflates to more than the "*" of disk space that it may use" ]]
  run -1 grep -q core.8.gz cache/xcore/triage/*.jsonl
}

@test "a limit on files that was inherited is no core's limit" {
  two_cores
  large_core core.8.gz head -c 8M /dev/urandom
  run -4 --separate-stderr prlimit --fsize=$((4 << 20)) "$XCORE" triage --quiet --format json cores
  [ "$(jq -r '.failed[] | .path + ": " + .why' <<<"$output")" = \
    "core.8.gz: not examined: temporary files (ulimit -f): File too large" ]
}

@test "what was finished of a planned core is kept when the core is gone, whatever symbols came since" {
  two_cores
  mkdir parts "$BATS_TEST_TMPDIR/root"
  local program=$BATS_TEST_TMPDIR/made/crasher
  mkdir -p "root${program%/*}"
  "$XCORE" triage --quiet --plan cores -o plan
  run -0 "$XCORE" triage --quiet --sysroot root --plan-file plan --shard 0/1 -o parts --resume cores
  cp parts/part-00000-of-00001.jsonl before
  [ "$(jq -r 'select(.status == "ok") | .path' before)" = $'core.6\ncore.7.gz' ]
  rm cores/core.6
  run -0 "$XCORE" triage --quiet --sysroot root --plan-file plan --shard 0/1 -o parts --resume cores
  cmp before parts/part-00000-of-00001.jsonl
  cp "$program" "root$program"
  run -0 "$XCORE" triage --quiet --sysroot root --plan-file plan --shard 0/1 -o parts --resume cores
  [ "$(jq -r 'select(.status == "ok") | .path' parts/*.jsonl)" = $'core.6\ncore.7.gz' ]
}

@test "a policy that was hit is the status, whatever could not be examined" {
  two_cores
  TMPDIR=$BATS_TEST_TMPDIR/none run -1 --separate-stderr triage --fail-on low cores
}

@test "where descriptors are few, fewer workers run at once" {
  for i in {1..20}; do cp cores/null-write.pack "cores/$i.pack"; done
  run -0 --separate-stderr prlimit --nofile=48:48 "$XCORE" triage --quiet --format json -j 40 cores
  [ "$(jq '[.clusters[].members[]] | length' <<<"$output")" -eq 21 ]
}

@test "a core that is exchanged for a FIFO is no core, and nothing hangs" {
  mkfifo fifo
  echo ./fifo >names
  run -0 --separate-stderr timeout 120 "$XCORE" triage --quiet --format json @names
  [ "$(jq -r '.failed[].why' <<<"$output")" = "not a regular file" ]
}

@test "a terminal sees how far it is, and then a clear line; a pipe sees nothing" {
  command -v script >/dev/null || skip "no script (bsdutils)"
  # The estimate appears after half a second, so this uses enough cores to take longer.
  local count=0
  for more in 400 400 800 1600 3200; do
    for ((i = 0; i < more; i++)); do cp cores/null-write.pack "cores/$((count++)).pack"; done
    script -qec "$(shell_words "$XCORE") triage -j 1 --no-cache -o answer cores" typescript >/dev/null </dev/null
    ! grep -q '%' typescript || break
  done
  grep -q $'\rtriage  \[[#.]\{30\}\] *[0-9]* %' typescript
  grep -q $'\r\033\[K' typescript
  run -0 --separate-stderr "$XCORE" triage -j 1 --no-cache -o answer cores
  [[ "$stderr" != *'%'* ]]
}

@test "a signal that was ignored from the beginning (nohup) stays ignored" {
  for i in {1..100}; do cp cores/null-write.pack "cores/$i.pack"; done
  PYTHONPATH=$repo/tests/cli python3 - "$XCORE" <<'END'
import os, signal, subprocess, sys, time
import workers
words = [sys.argv[1], "triage", "-q", "-j1", "--no-cache", "--no-host-files", "cores"]
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    before = signal.signal(number, signal.SIG_IGN)
    run = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    signal.signal(number, before)
    sent = 0
    for pid in workers.stopped(run):
        run.send_signal(number)
        sent += 1
    assert run.returncode == 0 and sent > 0, (number, run.returncode, sent)
END
}

@test "a worker's memory has the name of no core but its own" {
  ((0x$(sed -n 's/^CapEff:\t//p' /proc/self/status) >> 19 & 1)) || skip "only who has CAP_SYS_PTRACE reads a worker's memory"
  ! grep -q __asan_init "$XCORE" || skip "sanitizers know no jail to tell a worker by"
  mkdir many
  for i in {10..39}; do cp cores/null-write.pack "many/customer$i-private"; done
  PYTHONPATH=$repo/tests/cli python3 - "$XCORE" <<'END'
import re, subprocess, sys
import workers

def names_in(pid):
    found = set()
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape", newline="\n") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            first, last = [int(word, 16) for word in line.split()[0].split("-")]
            if "rw" not in line.split()[1] or last - first > 64 << 20:
                continue
            try:
                memory.seek(first)
                found |= set(re.findall(rb"customer\d\d-private", memory.read(last - first)))
            except OSError:
                pass
    return found

def is_jailed(pid):
    return "Seccomp:\t2" in open(f"/proc/{pid}/status", encoding="ascii").read()

seen = 0
for _ in range(20): # a stopped worker may not have its jail yet
    run = subprocess.Popen([sys.argv[1], "triage", "-q", "--no-host-files", "--no-cache", "--jobs", "1", "many"], stdout=subprocess.DEVNULL)
    for pid in workers.stopped(run):
        if is_jailed(pid):
            found = names_in(pid)
            seen += 1
            assert len(found) < 2, found
    assert run.returncode == 0
    if seen:
        break
assert seen
END
}
