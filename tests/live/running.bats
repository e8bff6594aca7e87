#!/usr/bin/env bats
# Threads that run have stacks: one sample of each.
#	XCORE=build/release/xcore bats tests/live/running.bats
# bats file_tags=long

load live

setup() {
	find_xcore
	need_perf
}

teardown() {
	finish
}

# pairs [THREADS]: threads that run, whose functions have variables that are equal at every instant
pairs() {
	cat >"$BATS_TEST_TMPDIR/pairs.c" <<-'END'
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>
	static volatile unsigned long sink;
	__attribute__((noinline)) static void burn(unsigned long n) { for (unsigned long i = 0; i < n % 300000; i++) sink += i; }
	__attribute__((noinline)) static void inner(unsigned long count)
	{
		volatile unsigned long same = count;
		burn(count);
		sink += same;
	}
	__attribute__((noinline)) static void outer(unsigned long count)
	{
		volatile unsigned long twice = 2 * count, room[400];
		room[0] = count;
		inner(count);
		sink += twice + room[0];
	}
	static void *turn(void *unused)
	{
		for (unsigned long count = 1;; count++)
			outer(count);
		return unused;
	}
	int main(int argc, char **argv)
	{
		pthread_t thread;
		for (int i = 1; i < (argc > 1 ? atoi(argv[1]) : 1); i++)
			pthread_create(&thread, NULL, turn, NULL);
		puts("ready");
		fflush(stdout);
		turn(NULL);
	}
	END
	${CC:-cc} -O0 -g -pthread -o "$BATS_TEST_TMPDIR/pairs" "$BATS_TEST_TMPDIR/pairs.c"
	start "$BATS_TEST_TMPDIR/pairs" "$@"
}

@test "a thread that runs has a stack, whose arguments and variables are of one instant" {
	pairs
	for _ in $(seq 15); do
		"$XCORE" bt --full --no-plugins --format json "pid:$STARTED" >>"$BATS_TEST_TMPDIR/all.json"
	done
	python3 - "$BATS_TEST_TMPDIR/all.json" <<-'END'
	import json, sys
	decoder, text, at, whole = json.JSONDecoder(), open(sys.argv[1]).read(), 0, 0
	while at < len(text):
	    report, at = decoder.raw_decode(text, at)
	    at += len(text[at:]) - len(text[at:].lstrip())
	    stack = report["threads"][0]
	    if not stack["frames"]: # it had no processor
	        assert "no sample of it was taken" in json.dumps(stack), stack
	        continue
	    assert stack["how"] == "sampled while it ran", stack
	    names = [frame["function"] for frame in stack["frames"]]
	    print(names)
	    assert "main" in names and "turn" in names
	    values = {}
	    for frame in stack["frames"]:
	        for variable in (frame.get("args") or []) + (frame.get("locals") or []):
	            if variable["name"] in ("count", "same", "twice", "n"):
	                values.setdefault(variable["name"], set()).add(variable["value"])
	    whole += "inner" in names and "burn" in names
	    if "inner" in names and "burn" in names:
	        (count,), (same,), (twice,) = values["count"], values["same"], values["twice"]
	        assert count == same == str(int(twice) // 2), values
	assert whole >= 5, whole
	END
}

@test "stacks of running threads are possible ones" {
	python3 "$BATS_TEST_DIRNAME/possible.py" write "$BATS_TEST_TMPDIR/maze.c"
	${CC:-cc} -O1 -g -pthread -o "$BATS_TEST_TMPDIR/maze" "$BATS_TEST_TMPDIR/maze.c"
	start "$BATS_TEST_TMPDIR/maze"
	for _ in $(seq 60); do
		"$XCORE" flame stacks --no-plugins --as folded "pid:$STARTED" >>"$BATS_TEST_TMPDIR/folded"
	done
	python3 "$BATS_TEST_DIRNAME/possible.py" check "$BATS_TEST_TMPDIR/maze.c" "$BATS_TEST_TMPDIR/folded" 40
}

@test "threads says what a running thread does, and how long it has run and waited" {
	pairs 3
	# On a busy host a thread may have no processor for so long; but not each time.
	for _ in $(seq 30); do
		"$XCORE" threads --format json "pid:$STARTED" >"$BATS_TEST_TMPDIR/threads.json"
		grep -q 'no sample of it was taken' "$BATS_TEST_TMPDIR/threads.json" || break
	done
	cat "$BATS_TEST_TMPDIR/threads.json"
	python3 - "$BATS_TEST_TMPDIR/threads.json" <<-'END'
	import json, sys
	rows = json.load(open(sys.argv[1]))["sections"][0]["tables"]["threads"]
	assert len(rows) == 3
	for row in rows:
	    assert row["function"] in ("burn", "inner", "outer", "turn"), row
	    assert row["how"] == "sampled while it ran" and row["ran"] > 0 and row["waited"] >= 0, row
	END
}

@test "a running thread is not sampled where perf_event_open is refused, and the reason is told" {
	pairs
	${CC:-cc} -o "$BATS_TEST_TMPDIR/denied" "$BATS_TEST_DIRNAME/denied.c" -lseccomp
	run "$BATS_TEST_TMPDIR/denied" EPERM "$XCORE" bt "pid:$STARTED"
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"running on a CPU, and no sample could be taken:"*"refused by a filter"* ]]
}
