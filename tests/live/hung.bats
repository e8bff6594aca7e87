#!/usr/bin/env bats
# A hung process gets the same verdict as its core: the programs of corpora/deaths, with known truth.
#	XCORE=build/release/xcore bats tests/live/hung.bats

load live

setup() {
	find_xcore
	DEATHS=$BATS_TEST_DIRNAME/../../corpora/deaths
}

teardown() {
	finish
}

# watch COMMAND...: start it as the target
watch() {
	start "$@"
	TARGET=pid:$STARTED
}

# hang COMPILER LEVEL PROGRAM DEATH [COMMAND...]: run it, below the command, until it hangs
hang() {
	local flags
	flags=$(sed -n 's/.*flags: \([^*]*\).*/\1/p' "$DEATHS/$3" | head -n 1)
	# shellcheck disable=SC2086
	"$1" "$2" -g $flags -o "$BATS_TEST_TMPDIR/program" "$DEATHS/$3" -lpthread
	# shellcheck disable=SC2016
	watch "${@:5}" sh -c 'exec "$0" "$1" 2>&1' "$BATS_TEST_TMPDIR/program" "$4"
	[ "$SAID" = ready ]
}

# hang_apart COMPILER LEVEL PROGRAM DEATH: in a separate pid namespace, where its ids are 1, 2, 3
hang_apart() {
	unshare --pid --fork true 2>/dev/null || skip "a pid namespace may not be made here (unshare --pid needs CAP_SYS_ADMIN)"
	hang "$@" unshare --pid --fork --kill-child
	PROGRAM=$(pgrep -P "$STARTED")
	TARGET=pid:$PROGRAM
}

# take_core: write a core of the process, as seen from this namespace; the core becomes the target
take_core() {
	command -v gcore >/dev/null || skip "there is no gcore here"
	gcore -o "$BATS_TEST_TMPDIR/core" "$PROGRAM" >/dev/null 2>&1 || skip "gdb may not trace here"
	TARGET=$BATS_TEST_TMPDIR/core.$PROGRAM
}

# verdict FIELD...: fields of the target's verdict, one per line
verdict() {
	"$XCORE" analyze --no-plugins --format json "$TARGET" >"$BATS_TEST_TMPDIR/report.json"
	python3 - "$BATS_TEST_TMPDIR/report.json" "$@" <<'END'
import json, sys
verdict = json.load(open(sys.argv[1])).get("verdict") or {}
print(*[verdict.get(name) for name in sys.argv[2:]], sep="\n")
END
}

# expect CLASS KIND CONFIDENCE FUNCTION...: retries, because a thread that just woke may be seen in transit
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

# told COMPILER LEVEL PROGRAM DEATH KIND CONFIDENCE FUNCTION...: run it, expect that deadlock, kill it
told() {
	hang "${@:1:4}"
	expect deadlock "${@:5}"
	finish
}

@test "two threads that want each other's lock" {
	hang gcc -O2 lock.c two
	expect deadlock cycle certain transfer
	[[ "$(verdict cause)" == *"holds mutex \`first.lock\` and waits for mutex \`second.lock\` in transfer (lock.c:"* ]]
}

@test "a thread that wants a lock that it has" {
	told gcc -O0 lock.c self self certain save_again
}

@test "checked, adaptive and recursive mutexes" {
	told clang -O2 owner.c checked cycle certain book pay
	told gcc -O2 owner.c recursive cycle certain book pay
}

@test "mutexes that inherit priorities, of which the kernel refuses the last wait" {
	told gcc -O2 owner.c inherited cycle certain book pay
}

@test "a lock that was got from a dead owner" {
	hang gcc -O2 owner.c dead
	expect deadlock cycle certain book pay
	verdict evidence | grep -q 'a former owner ended while holding it'
}

@test "what is done once and waits for itself, or for each other" {
	told gcc -O2 library.c once-self self likely make_tables_again
	told clang -O2 library.c once-cross cycle likely make_tables make_units
}

@test "the loader's lock, and a thread that is waited for" {
	told gcc -O2 library.c loader cycle certain visit load
}

@test "threads that wait for each other to end" {
	told gcc -O2 library.c ends cycle certain wait_for_next
}

@test "locks of C++" {
	told g++ -O2 mutex.cc two cycle certain stock_shelf empty_shelf
}

# In optimised code the guard is in a register, which is unknown for a running thread.
@test "locks of Rust, which have no record of their owner" {
	command -v rustc >/dev/null || skip "there is no rustc here"
	rustc --edition 2018 -g -C panic=abort -o "$BATS_TEST_TMPDIR/program" "$DEATHS/hang.rs"
	watch "$BATS_TEST_TMPDIR/program" two
	expect deadlock cycle likely hang::transfer
}

@test "threads that only wait get no verdict, and say what they wait for" {
	hang gcc -O2 owner.c pipe
	[ "$(verdict class)" = None ]
	run "$XCORE" threads --no-redact "$TARGET"
	[[ "$output" == *"held by thread"* && "$output" == *"write to descriptor"*"pipe:["* ]]
	finish
	hang gcc -O2 library.c stream
	[ "$(verdict class)" = None ]
	run "$XCORE" threads --no-redact "$TARGET"
	[[ "$output" == *"stdio stream of descriptor"* ]]
}

# ---- pid namespaces: locks hold ids of the inner namespace, not those seen from outside ----

# expect_ids TEXT: the text contains thread 2 of the namespace and none of its other ids
expect_ids() {
	local second
	second=$(awk '$1 == "NSpid:" && $3 == 2 { print $2 }' "/proc/$PROGRAM/task/"*/status)
	[[ "$1" == *"thread $second"* && "$1" != *"thread 2 "* && "$1" != *"does not exist"* && "$1" != *"in its pid namespace"* ]]
}

@test "a deadlock in another pid namespace, alive and in a core that was taken from outside" {
	hang_apart gcc -O2 lock.c two
	expect deadlock cycle certain transfer
	expect_ids "$(verdict cause)"
	expect_ids "$("$XCORE" threads "$TARGET")"
	take_core
	expect deadlock cycle certain transfer
	expect_ids "$(verdict cause)"
}

@test "mutexes that inherit priorities, and a reader-writer lock, in another pid namespace" {
	hang_apart gcc -O2 owner.c inherited
	expect deadlock cycle certain book pay
	take_core
	expect deadlock cycle certain book pay
	finish
	hang_apart gcc -O2 lock.c rwlock
	expect deadlock cycle certain upgrade write_table
	take_core
	expect deadlock cycle certain upgrade write_table
}

@test "threads in another pid namespace that wait for each other to end" {
	hang_apart gcc -O2 library.c ends
	expect deadlock cycle certain wait_for_next
}

@test "an owner in another pid namespace is there" {
	hang_apart gcc -O2 owner.c pipe
	take_core
	[ "$(verdict kind)" = None ]
	run "$XCORE" threads "$TARGET"
	[[ "$output" == *"held by thread"* && "$output" != *"does not exist"* && "$output" != *"in its pid namespace"* ]]
}

# A process that runs on its parent's descriptor would look the same.
@test "a lone thread with an id of its own proves no end of an owner" {
	hang_apart gcc -O2 owner.c orphan
	take_core
	[ "$(verdict kind)" = None ]
	run "$XCORE" analyze --no-plugins "$TARGET"
	output=$(tr -s ' \n' ' ' <<<"$output") # however the lines break
	[[ "$output" == *"held by the thread with id 2 in its pid namespace"* && "$output" != *"does not exist"* && "$output" != *"any more"* ]]
}
