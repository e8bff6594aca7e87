#!/usr/bin/env bats
# A living process that stands still gets the verdict that its core would get: the programs of corpora/deaths, of which the truth is known.
#	XCORE=build/release/xcore bats tests/live/hung.bats

load live

setup() {
	find_xcore
	DEATHS=$BATS_TEST_DIRNAME/../../corpora/deaths
}

teardown() {
	finish
}

# hang COMPILER LEVEL PROGRAM DEATH: run it until it stands still
hang() {
	local flags
	flags=$(sed -n 's/.*flags: \([^*]*\).*/\1/p' "$DEATHS/$3" | head -n 1)
	# shellcheck disable=SC2086
	"$1" "$2" -g $flags -o "$BATS_TEST_TMPDIR/program" "$DEATHS/$3" -lpthread
	# shellcheck disable=SC2016
	start sh -c 'exec "$0" "$1" 2>&1' "$BATS_TEST_TMPDIR/program" "$4"
	[ "$SAID" = ready ]
}

# verdict FIELD...: of the process, one line each
verdict() {
	"$XCORE" analyze --no-plugins --format json "pid:$STARTED" >"$BATS_TEST_TMPDIR/report.json"
	python3 - "$BATS_TEST_TMPDIR/report.json" "$@" <<'END'
import json, sys
verdict = json.load(open(sys.argv[1])).get("verdict") or {}
print(*[verdict.get(name) for name in sys.argv[2:]], sep="\n")
END
}

# expect CLASS KIND CONFIDENCE FUNCTION...: a thread that has just been woken may be seen on its way
expect() {
	local got function
	for _ in $(seq 20); do
		got=$(verdict class kind confidence function | tr '\n' ' ')
		for function in "${@:4}"; do
			[ "$got" = "$1 $2 $3 $function " ] && return
		done
		sleep 0.05
	done
	echo "the verdict is: $got" >&2
	return 1
}

@test "two threads that want each other's lock" {
	hang gcc -O2 lock.c two
	expect deadlock cycle certain transfer
	[[ "$(verdict cause)" == *"holds mutex \`first.lock\` and waits for mutex \`second.lock\` in transfer (lock.c:"* ]]
}

@test "a thread that wants a lock that it has" {
	hang gcc -O0 lock.c self
	expect deadlock self certain save_again
}

@test "checked, adaptive and recursive mutexes" {
	hang clang -O2 owner.c checked
	expect deadlock cycle certain book pay
	finish
	hang gcc -O2 owner.c recursive
	expect deadlock cycle certain book pay
}

@test "mutexes that inherit priorities, of which the kernel refuses the last wait" {
	hang gcc -O2 owner.c inherited
	expect deadlock cycle certain book pay
}

@test "a lock that was got from a dead owner" {
	hang gcc -O2 owner.c dead
	expect deadlock cycle certain book pay
	verdict evidence | grep -q 'a former owner ended while it had it'
}

@test "what is done once and waits for itself, or for each other" {
	hang gcc -O2 library.c once-self
	expect deadlock self likely make_tables_again
	finish
	hang clang -O2 library.c once-cross
	expect deadlock cycle likely make_tables make_units
}

@test "the loader's lock, and a thread that is waited for" {
	hang gcc -O2 library.c loader
	expect deadlock cycle certain visit load
}

@test "threads that wait for each other to end" {
	hang gcc -O2 library.c ends
	expect deadlock cycle certain wait_for_next
}

@test "locks of C++" {
	hang g++ -O2 mutex.cc two
	expect deadlock cycle certain stock_shelf empty_shelf
}

# Optimised, the guard lies in a register, which is not known of a living thread.
@test "locks of Rust, which have no record of their owner" {
	command -v rustc >/dev/null || skip "there is no rustc here"
	rustc --edition 2018 -g -C panic=abort -o "$BATS_TEST_TMPDIR/program" "$DEATHS/hang.rs"
	start "$BATS_TEST_TMPDIR/program" two
	expect deadlock cycle likely hang::transfer
}

@test "threads that only wait get no verdict, and say what they wait for" {
	hang gcc -O2 owner.c pipe
	[ "$(verdict class)" = None ]
	run "$XCORE" threads --no-redact "pid:$STARTED"
	[[ "$output" == *"held by thread"* && "$output" == *"write to descriptor"*"pipe:["* ]]
	finish
	hang gcc -O2 library.c stream
	[ "$(verdict class)" = None ]
	run "$XCORE" threads --no-redact "pid:$STARTED"
	[[ "$output" == *"stdio stream of descriptor"* ]]
}
