#!/usr/bin/env bats
# Loops that do not end, and some that do (corpora/deaths/loop.c): of a running process, and of a snapshot of it.
#	XCORE=build/release/xcore bats tests/live/loops.bats
# bats file_tags=long

load live

setup_file() {
	for level in 0 2; do
		gcc -g -O$level -pthread -o "$BATS_FILE_TMPDIR/loop$level" "$BATS_TEST_DIRNAME/../../corpora/deaths/loop.c"
	done
}

setup() {
	find_xcore
}

teardown() {
	finish
}

verdict() {
	"$XCORE" analyze --no-plugins --format json "$1" >"$BATS_TEST_TMPDIR/report.json"
	python3 - "$BATS_TEST_TMPDIR/report.json" <<'END'
import json, sys
v = json.load(open(sys.argv[1])).get("verdict") or {}
print(*[v.get(name) for name in ("class", "kind", "confidence", "function")])
print(v.get("headline"), v.get("cause"), *(v.get("evidence") or []), sep="\n")
END
}

# expect TARGET VERDICT TEXT...: of several verdicts that are right, with " or " between them. Retried: a thread may be
# looked at between two rounds, or in a call.
expect() {
	local text missing
	for _ in $(seq 20); do
		verdict "$1" >"$BATS_TEST_TMPDIR/said"
		missing=
		[[ " or $2 or " == *" or $(head -n 1 "$BATS_TEST_TMPDIR/said") or "* ]] || missing=$2
		for text in "${@:3}"; do
			grep -qF -- "$text" "$BATS_TEST_TMPDIR/said" || missing=$text
		done
		[ -z "$missing" ] && return
		sleep 0.05
	done
	echo "missing: $missing" >&2
	cat "$BATS_TEST_TMPDIR/said" >&2
	return 1
}

# told HOW VERDICT TEXT...: of both builds, alive and in a snapshot
told() {
	local level program core=$BATS_TEST_TMPDIR/core
	for level in 0 2; do
		start "$BATS_FILE_TMPDIR/loop$level" "$1"
		[ "$SAID" = ready ]
		program=$STARTED
		if "$XCORE" bt --thread all "pid:$program" | grep -q 'sampled while it ran'; then
			expect "pid:$program" "${@:2}" "\`xcore profile pid:$program\`"
		fi
		if command -v gcore >/dev/null && gcore -o "$core" "$program" >/dev/null 2>&1; then
			expect "$core.$program" "${@:2}"
			rm -f "$core.$program"
		fi
		finish
	done
}

@test "a counter whose step is 0, that underflows, or passes its end" {
	told step-zero "hang no progress likely stride" 'nothing that decides in it changes any more'
	told underflow "hang counter likely up_to_last" 'compared with 4294967295, the largest of 4 bytes, and never gets there'
	told odd "hang counter likely by_twos" 'changes by -2 in each round' 'and never gets there'
	told away "hang counter likely away_from" 'changes by -1 in each round' 'moves away from 10: it gets there from the other side'
}

@test "a loop that stays where it is, or comes back there" {
	told stays "hang no progress likely parse" '`p->at` (3)' 'nothing that decides in it changes any more'
	told full-table "hang no progress likely probe" 'it does the same again after each 64 rounds'
	told halves "hang no progress likely search" 'nothing that decides in it changes any more'
}

@test "a loop that waits for others, and none is left" {
	told yields "hang no progress likely await_state" '`state' 'no other thread is left'
	told exchange "hang no progress likely take_state or hang busy wait likely take_state" 'no other thread is left'
}

@test "calls that transfer nothing" {
	told end-of-file "hang no progress guess read_much or busy None likely read_much" \
		'which calls read() on descriptor 3: while that returns 0 (the end of a file), nothing that decides'
	told again "hang no progress guess read_again" \
		'which calls read() on descriptor 3: while that fails with EAGAIN' 'nothing that decides'
}

@test "loops that end one day are busy" {
	told matches "busy None likely matches" 'is busy in matches'
	told scatters "busy None likely hail" 'is busy in hail'
	told zeros "busy None likely first_set" 'is busy in first_set'
	told far "hang counter guess far_off" 'and gets there after 46'
}
