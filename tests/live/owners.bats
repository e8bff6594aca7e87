#!/usr/bin/env bats
# `xcore profile --clock off`: the owners of locks that threads wait for.
#	XCORE=build/release/xcore bats tests/live/owners.bats
# bats file_tags=long

load live

setup() {
	find_xcore
	need_perf kernel
}

teardown() {
	finish
}

waits_of() {
	"$XCORE" profile --clock off --no-plugins --format json "$@" "pid:$STARTED" >"$BATS_TEST_TMPDIR/profile.json"
}

# Does a profiler of $STARTED sample?
is_sampling() {
	local pid
	for pid in $(pgrep -f "profile .*pid:$STARTED"); do
		find "/proc/$pid/fd" -lname '*perf_event*' 2>/dev/null | grep -q . && return
	done
	return 1
}

@test "a lock that changes hands has each owner for as long as others waited for it" {
	local way
	compile hands "$BATS_TEST_TMPDIR/hands" -O1
	for way in --no-cache --no-kernel; do # --no-kernel: by looks at those that wait, instead of samples
		begin "$BATS_TEST_TMPDIR/hands"
		waits_of --for 4200ms --top 1000 "$way" &
		until is_sampling; do
			sleep 0.02
		done
		echo >&8
		wait $!
		echo >&8
		wait "$STARTED"
		STARTED=
		python3 "$BATS_TEST_DIRNAME/hands.py" "$BATS_TEST_TMPDIR/profile.json" "$BATS_TEST_TMPDIR/said"
	done
}

@test "in another pid namespace, the owner of a lock has the id that we see" {
	unshare -pf --kill-child true 2>/dev/null || skip "no pid namespace may be made here"
	local inner outer of_holder
	compile waits "$BATS_TEST_TMPDIR/waits" -O1
	begin unshare -pf --kill-child "$BATS_TEST_TMPDIR/waits"
	inner=$(pgrep -P "$STARTED")
	"$XCORE" profile --clock off --for 2s --no-plugins "pid:$inner" >"$BATS_TEST_TMPDIR/out"
	grep -h '^NSpid' /proc/"$inner"/task/*/status >"$BATS_TEST_TMPDIR/ids"
	echo >&8
	wait "$STARTED"
	STARTED=
	of_holder=$(awk '/^holder/ { print $2 }' "$BATS_TEST_TMPDIR/said")
	outer=$(awk -v id="$of_holder" '$3 == id { print $2 }' "$BATS_TEST_TMPDIR/ids")
	grep 'mutex' "$BATS_TEST_TMPDIR/out"
	grep -q "mutex .treasure., held by thread $outer " "$BATS_TEST_TMPDIR/out"
}
