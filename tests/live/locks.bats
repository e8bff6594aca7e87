#!/usr/bin/env bats
# Locks and waits of a hung process, without stopping it.
#	XCORE=build/release/xcore bats tests/live/locks.bats

load live

setup() {
	find_xcore
}

teardown() {
	finish
}

@test "a process that hangs is told to be in a deadlock, and runs on" {
	gcc -g -O1 -pthread -fno-optimize-sibling-calls -o "$BATS_TEST_TMPDIR/lock" "$BATS_TEST_DIRNAME/../../corpora/deaths/lock.c"
	start "$BATS_TEST_TMPDIR/lock" two
	"$XCORE" analyze "pid:$STARTED" --no-plugins --format json >"$BATS_TEST_TMPDIR/json"
	jq -e '.verdict | .class == "deadlock" and .kind == "cycle" and .function == "transfer"' "$BATS_TEST_TMPDIR/json"
	jq -e '.sections[] | select(.key == "locks") | .tables.locks | length == 2 and all(.waiting == 1)' "$BATS_TEST_TMPDIR/json"
	# shellcheck disable=SC2016 # the backquotes are the report's
	"$XCORE" threads "pid:$STARTED" | grep -qE 'transfer_back +transfer \(lock\.c:[0-9]+\) +waiting for mutex `first\.lock`, held by'
	kill -0 "$STARTED"
}

@test "a convoy is no deadlock" {
	gcc -g -O1 -pthread -fno-optimize-sibling-calls -o "$BATS_TEST_TMPDIR/lock" "$BATS_TEST_DIRNAME/../../corpora/deaths/lock.c"
	start "$BATS_TEST_TMPDIR/lock" convoy
	"$XCORE" analyze "pid:$STARTED" --no-plugins --format json | jq -e '.verdict.class != "deadlock"'
}

@test "redaction leaves of a wait for a file all but its name" {
	mkfifo "$BATS_TEST_TMPDIR/hunter2"
	exec 9<>"$BATS_TEST_TMPDIR/hunter2"
	# shellcheck disable=SC2016 # the inner shell's
	start sh -c 'echo ready; exec cat <"$1"' sh "$BATS_TEST_TMPDIR/hunter2"
	for _ in $(seq 50); do
		"$XCORE" threads "pid:$STARTED" --no-redact >"$BATS_TEST_TMPDIR/open"
		grep -q hunter2 "$BATS_TEST_TMPDIR/open" && break
		sleep 0.05
	done
	grep -q 'hunter2' "$BATS_TEST_TMPDIR/open"
	"$XCORE" threads "pid:$STARTED" --redact >"$BATS_TEST_TMPDIR/closed"
	[ "$(grep -c 'hunter2\|(redacted)' "$BATS_TEST_TMPDIR/closed")" -eq 0 ]
	grep -q 'read from descriptor' "$BATS_TEST_TMPDIR/closed"
	exec 9>&-
}
