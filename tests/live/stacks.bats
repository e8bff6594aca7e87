#!/usr/bin/env bats
# Stacks of a running process: each thread reports the source of its registers, and the frames are correct.
#	XCORE=build/release/xcore bats tests/live/stacks.bats

load live

setup() {
	find_xcore
}

teardown() {
	finish
}

# frames THREAD: functions of a thread, innermost first, in one line
frames() {
	python3 - "$BATS_TEST_TMPDIR/bt.json" "$1" <<'END'
import json, sys
threads = json.load(open(sys.argv[1]))["threads"]
found = [t for t in threads if t["name"] == sys.argv[2]]
print(*[f["function"] for f in found[0]["frames"]])
END
}

# Every known argument `depth` of wait_inside has the right value: 0, 1, 2 from the innermost frame.
depths_are_true() {
	python3 - "$BATS_TEST_TMPDIR/bt.json" <<'END'
import json, sys
for thread in json.load(open(sys.argv[1]))["threads"]:
    inside = [f for f in thread["frames"] if f["function"] == "wait_inside"]
    for depth, frame in enumerate(inside):
        for arg in frame["args"]:
            assert arg["name"] != "depth" or arg["value"] in (None, depth, str(depth)), (depth, arg)
END
}

look_at() {
	compile blocked "$BATS_TEST_TMPDIR/blocked" "$@"
	start "$BATS_TEST_TMPDIR/blocked"
	"$XCORE" bt --thread all --format json "pid:$SAID" >"$BATS_TEST_TMPDIR/bt.json"
}

assert_stacks() {
	[[ "$(frames blocked)" == *"pause wait_inside wait_inside wait_inside main "* ]]
	[[ "$(frames listener)" == *"poll listen_on listen_forever start_thread "* ]]
	[[ -z "$(frames spinner)" || "$(frames spinner)" == *"start_thread "* ]] # a sample, if perf events are allowed
	depths_are_true
}

@test "stacks of a program without frame pointers are whole" {
	look_at -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -fno-inline
	assert_stacks
	if grep -q '"trust":"scan"' "$BATS_TEST_TMPDIR/bt.json"; then return 1; fi
}

# bats test_tags=long
@test "stacks of a program that needs its frame pointer are whole, and the guess is labelled" {
	look_at -O0 -fno-omit-frame-pointer
	assert_stacks
	grep -qE '"trust":"(fp|scan)"' "$BATS_TEST_TMPDIR/bt.json"
}

# bats test_tags=long
@test "stacks of an optimised program with frame pointers are whole" {
	look_at -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-inline
	assert_stacks
}

@test "each stack says how it was had, in text and in JSON" {
	look_at -O1
	grep -q '"name":"blocked".*"how":"blocked in system call 34 (pause)"' "$BATS_TEST_TMPDIR/bt.json" || [ "$(uname -m)" != x86_64 ]
	grep -q '"name":"listener".*"how":"blocked in system call [0-9]* (p*poll)"' "$BATS_TEST_TMPDIR/bt.json"
	grep -qE '"stop":"running on a CPU|"how":"sampled while it ran"' "$BATS_TEST_TMPDIR/bt.json"
	run "$XCORE" bt --thread all "pid:$SAID"
	[[ "$output" == *'"listener", sleeping, blocked in system call'* ]]
	[[ "$output" == *", running, sampled while it ran"* || "$output" == *"running on a CPU, and no sample could be taken"* ]]
}

@test "the file that a thread reads from is left out where redaction is on" {
	mkfifo "$BATS_TEST_TMPDIR/private"
	start sh -c 'exec 3<>"$0"; echo ready; exec cat <&3' "$BATS_TEST_TMPDIR/private"
	for _ in $(seq 100); do
		run "$XCORE" threads --no-redact "pid:$STARTED"
		[[ "$output" == *"read from descriptor"* ]] && break
		sleep 0.02
	done
	[[ "$output" == *"read from descriptor"*"/private"* ]]
	for format in text json html; do
		run "$XCORE" threads --redact --format "$format" "pid:$STARTED"
		[[ "$output" == *"read from descriptor"* && "$output" != *"/private"* ]]
	done
}

@test "a thread that waits for its vfork has a caller, and the arguments of its system call" {
	${CC:-cc} -D_GNU_SOURCE -w -g -O1 -o "$BATS_TEST_TMPDIR/vforks" -x c - <<'C'
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
__attribute__((noinline)) static int spawn(int kept) {
  if (!vfork()) { prctl(PR_SET_PDEATHSIG, SIGKILL); dprintf(1, "%d\n", (int)getppid()); pause(); _exit(0); }
  return kept + 1;
}
int main(int argc, char **argv) { return spawn(argc) + argv[0][0]; }
C
	start "$BATS_TEST_TMPDIR/vforks"
	"$XCORE" bt --thread all --format json "pid:$SAID" >"$BATS_TEST_TMPDIR/bt.json"
	[[ "$(frames vforks)" == *"vfork spawn main "* ]]
	grep -q '"trust":"scan"' "$BATS_TEST_TMPDIR/bt.json" && return 1
	compile blocked "$BATS_TEST_TMPDIR/blocked" -O1
	finish
	start "$BATS_TEST_TMPDIR/blocked"
	"$XCORE" bt --thread all --full "pid:$SAID" | grep -A2 'poll .*' | grep -q 'timeout=-\?[0-9]'
}
