#!/usr/bin/env bats
# Processes that do what makes work endless for whoever watches them.
#	XCORE=build/release/xcore bats tests/live/unruly.bats

load live

setup() {
	find_xcore
	need_perf
	compile unruly "$BATS_TEST_TMPDIR/unruly"
}

teardown() {
	finish
}

# profile OPTIONS...: of $STARTED, as JSON
profile() {
	timeout 60 "$XCORE" profile --format json --no-plugins "$@" "pid:$STARTED" >"$BATS_TEST_TMPDIR/profile.json"
}

# sampled_less_than SECONDS: as the profile tells
sampled_less_than() {
	python3 -c 'import json, sys
sections = json.load(open(sys.argv[1]))["sections"]
seconds = next(section for section in sections if section["key"] == "profile")["fields"]["seconds"]
print(seconds)
sys.exit(not seconds < float(sys.argv[2]))' "$BATS_TEST_TMPDIR/profile.json" "$1"
}

# bats test_tags=long
@test "a process that maps code all the time is profiled for the time asked" {
	start "$BATS_TEST_TMPDIR/unruly" maps 20000 2
	profile --for 1s
	sampled_less_than 4
}

@test "thousands of files that are mapped, but not as code, cost no time" {
	start "$BATS_TEST_TMPDIR/unruly" maps 30000 0
	timeout 20 "$XCORE" info --no-plugins "pid:$STARTED" >"$BATS_TEST_TMPDIR/info"
}

@test "a process whose stacks are deep, and always others, is profiled for the time asked" {
	start "$BATS_TEST_TMPDIR/unruly" stacks
	profile --for 300ms
	sampled_less_than 3.3
}

# bats test_tags=long
@test "a process whose first thread has ended is profiled" {
	start "$BATS_TEST_TMPDIR/unruly" leaderless
	profile --for 1s
	grep -q '"compute"' "$BATS_TEST_TMPDIR/profile.json"
}

# bats test_tags=long
@test "a process with more threads than we may have descriptors is profiled, and that is told" {
	start "$BATS_TEST_TMPDIR/unruly" threads 400
	(ulimit -n 300 && profile --for 1s)
	grep -q '"compute"' "$BATS_TEST_TMPDIR/profile.json" || grep -q threads_missing "$BATS_TEST_TMPDIR/profile.json"
}

# bats test_tags=long
@test "a stack of a process that maps tens of thousands of files as code" {
	start "$BATS_TEST_TMPDIR/unruly" files 50000
	timeout 40 "$XCORE" bt "pid:$STARTED" >"$BATS_TEST_TMPDIR/stack"
	grep -q pause "$BATS_TEST_TMPDIR/stack"
}
