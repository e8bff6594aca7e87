#!/usr/bin/env bats
# Thread-local variables of a running process, in blocked threads and in one that never blocks.
#	XCORE=build/release/xcore bats tests/live/tls.bats

load live

setup() {
	find_xcore
	compile tls "$BATS_TEST_TMPDIR/tls" -O1
	start "$BATS_TEST_TMPDIR/tls"
}

teardown() {
	finish
}

@test "every thread's own variable is read" {
	local tid
	for tid in /proc/"$STARTED"/task/*; do
		"$XCORE" print "pid:$STARTED" --thread "${tid##*/}" 'mine->owner'
	done | sort >"$BATS_TEST_TMPDIR/owners"
	[ "$(tr '\n' ' ' <"$BATS_TEST_TMPDIR/owners")" = "0 1 2 3 " ]
}

@test "what thread-local variables hold has types, and nothing of it leaked" {
	"$XCORE" heap objects "pid:$STARTED" --format jsonl >"$BATS_TEST_TMPDIR/objects"
	of() {
		jq -s --arg type "$1" '[.[] | select(.type == $type and .state == "live" and .confidence != "weak")] | length' \
			"$BATS_TEST_TMPDIR/objects"
	}
	[ "$(of 'struct box')" -eq 4 ]
	[ "$(of 'struct item')" -eq 200 ] # 4 threads, 2 lists of 25
	jq -se '[.[] | select(.state == "leaked")] == []' "$BATS_TEST_TMPDIR/objects"
}
