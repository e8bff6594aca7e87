#!/usr/bin/env bats
# `xcore profile --clock off` and `--clock wall` against a program that measures its waits.
#	XCORE=build/release/xcore bats tests/live/waiting.bats
# bats file_tags=long

load live

setup() {
	find_xcore
	need_perf kernel
}

teardown() {
	finish
}

@test "waits have the shares that the program measures, and what they wait for" {
	compile waits "$BATS_TEST_TMPDIR/waits" -O1
	begin "$BATS_TEST_TMPDIR/waits"
	"$XCORE" profile --clock off --for 3s --top 1000 --no-plugins --format json "pid:$STARTED" >"$BATS_TEST_TMPDIR/profile.json"
	echo >&8
	wait "$STARTED"
	STARTED=
	python3 "$BATS_TEST_DIRNAME/waits.py" "$BATS_TEST_TMPDIR/profile.json" "$BATS_TEST_TMPDIR/said"
}

@test "the wall clock has both: what runs, and what waits" {
	compile waits "$BATS_TEST_TMPDIR/waits" -O1
	begin bash -c 'exec "$0" & while :; do :; done' "$BATS_TEST_TMPDIR/waits"
	"$XCORE" profile --clock wall --for 2s --no-plugins --format json "pid:$STARTED" >"$BATS_TEST_TMPDIR/profile.json"
	python3 - "$BATS_TEST_TMPDIR/profile.json" <<-'END'
	import json, sys
	account = json.load(open(sys.argv[1]))["sections"][0]["fields"]
	print(account)
	running = account["samples"] - account["wait_samples"]
	assert running > 0 and abs(account["sampled_cpu"] - account["cpu"]) < 0.3, account
	assert abs(account["waited"] + account["preempted"] + account["cpu"] - 2) < 0.4, account
	END
}

# program NAME: compile the standard input
program() {
	${CC:-cc} -O1 -g -pthread -x c -o "$BATS_TEST_TMPDIR/$1" -
}

# field NAME: of the account
field() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["sections"][0]["fields"][sys.argv[2]])' "$BATS_TEST_TMPDIR/profile.json" "$1"
}

waits_of() {
	"$XCORE" profile --clock off --no-plugins --format json "$@" "pid:$STARTED" >"$BATS_TEST_TMPDIR/profile.json"
}

@test "a wait that began before the profile counts, also one that ends in it" {
	program naps <<-'END'
	#include <pthread.h>
	#include <stdio.h>
	#include <unistd.h>
	static void *nap(void *unused) { for (;;) usleep(700000); return unused; }
	int main(void) { pthread_t t; pthread_create(&t, NULL, nap, NULL); puts("ready"); fflush(stdout); pause(); }
	END
	start "$BATS_TEST_TMPDIR/naps"
	waits_of --for 2s
	python3 -c 'import sys; sys.exit(abs(float(sys.argv[1]) - 4) > 0.2)' "$(field waited)"
	grep -q 'it began before the profile' "$BATS_TEST_TMPDIR/profile.json"
}

@test "a target that ends while it waits has waited until then" {
	start sh -c 'echo ready; exec sleep 1000'
	until [ "$(cat "/proc/$STARTED/comm")" = sleep ]; do sleep 0.05; done
	(sleep 1 && kill -KILL "$STARTED") &
	waits_of --for 20s
	[[ "$(field waited)" != 0.0 ]]
	grep -q 'the process ended before the time was over' "$BATS_TEST_TMPDIR/profile.json"
	STARTED=
}

@test "one thread: its waits and its CPU time, not those of others" {
	compile waits "$BATS_TEST_TMPDIR/waits" -O1
	begin "$BATS_TEST_TMPDIR/waits"
	sleep 0.3
	waits_of --for 1s --thread "$STARTED"
	python3 -c 'import sys; sys.exit(abs(float(sys.argv[1]) - 1) > 0.1)' "$(field waited)"
}

@test "without the kernel, those that wait are looked at, and short waits are counted" {
	compile waits "$BATS_TEST_TMPDIR/waits" -O1
	begin "$BATS_TEST_TMPDIR/waits"
	waits_of --no-kernel --for 3s --top 1000
	echo >&8
	wait "$STARTED"
	STARTED=
	python3 "$BATS_TEST_DIRNAME/waits.py" "$BATS_TEST_TMPDIR/profile.json" "$BATS_TEST_TMPDIR/said" looks
}

@test "threads that live for less than a period are missed, which is said" {
	program brief <<-'END'
	#include <pthread.h>
	#include <stdio.h>
	static volatile unsigned long sink;
	static void *burn(void *unused) { for (int i = 0; i < 2000000; i++) sink += i; return unused; }
	int main(void)
	{
		puts("ready");
		fflush(stdout);
		for (pthread_t t;; pthread_join(t, NULL))
			pthread_create(&t, NULL, burn, NULL);
	}
	END
	start "$BATS_TEST_TMPDIR/brief"
	"$XCORE" profile --hz 19 --for 2s --no-plugins "pid:$STARTED" >"$BATS_TEST_TMPDIR/out"
	cat "$BATS_TEST_TMPDIR/out"
	grep -q 'of the CPU time has no samples' "$BATS_TEST_TMPDIR/out"
}

@test "poll and select on nothing are sleeps, on something event loops" {
	program polls <<-'END'
	#include <poll.h>
	#include <pthread.h>
	#include <stdio.h>
	#include <sys/select.h>
	#include <unistd.h>
	static int ends[2];
	static void *sleeps(void *unused)
	{
		for (;;) {
			struct timeval t = {0, 20000};
			poll(NULL, 0, 20);
			select(0, NULL, NULL, NULL, &t);
		}
		return unused;
	}
	int main(void)
	{
		pthread_t thread;
		if (pipe(ends))
			return 1;
		pthread_create(&thread, NULL, sleeps, NULL);
		puts("ready");
		fflush(stdout);
		for (;;) {
			struct pollfd p = {ends[0], POLLIN, 0};
			poll(&p, 1, 20);
		}
	}
	END
	start "$BATS_TEST_TMPDIR/polls"
	waits_of --for 1s --top 1000
	python3 - "$BATS_TEST_TMPDIR/profile.json" <<-'END'
	import json, sys
	sections = json.load(open(sys.argv[1]))["sections"]
	waits = [row for s in sections for row in s.get("tables", {}).get("waits", [])]
	print(waits)
	of = {loop: [str(row) for row in waits if row["event_loop"] is loop] for loop in (False, True)}
	assert any("poll on 0 descriptors" in row for row in of[False]), of
	assert any("select on descriptors below 0" in row for row in of[False]), of
	assert any("poll on 1 descriptor" in row for row in of[True]), of
	assert not any("on 0 descriptors" in row or "below 0" in row for row in of[True]), of
	END
}
