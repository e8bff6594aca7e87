#!/usr/bin/env bats
# `xcore top`: laps of a profile, on a terminal and without.
#	XCORE=build/release/xcore bats tests/live/top.bats

load live

setup() {
	find_xcore
	need_perf
	cat >"$BATS_TEST_TMPDIR/phases.c" <<-'END'
	#include <stdio.h>
	#include <time.h>
	#include <unistd.h>
	static volatile unsigned long sink;
	static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
	__attribute__((noinline)) static void first(double until) { for (; now() < until; usleep(2000)) for (int i = 0; i < 500000; i++) sink++; }
	__attribute__((noinline)) static void second(double until) { for (; now() < until; usleep(2000)) for (int i = 0; i < 500000; i++) sink += 2; }
	int main(void)
	{
		puts("ready");
		fflush(stdout);
		first(now() + 3);
		second(now() + 100);
	}
	END
	${CC:-cc} -O1 -g -o "$BATS_TEST_TMPDIR/phases" "$BATS_TEST_TMPDIR/phases.c"
}

teardown() {
	finish
}

# bats test_tags=long
@test "each table shows the last second alone" {
	start "$BATS_TEST_TMPDIR/phases"
	"$XCORE" top --count 5 --no-plugins "pid:$STARTED" >"$BATS_TEST_TMPDIR/out"
	cat "$BATS_TEST_TMPDIR/out"
	[ "$(grep -c '^Hottest functions' "$BATS_TEST_TMPDIR/out")" = 5 ]
	awk '/^Hottest/ { lap++; next } lap == 1 && / first / { one = 1 } lap == 5 && / second / { two = 1 } lap == 5 && / first / { late = 1 }
		END { exit !(one && two && !late) }' "$BATS_TEST_TMPDIR/out"
}

# bats test_tags=long
@test "a target that ends ends it" {
	start "$BATS_TEST_TMPDIR/phases"
	(sleep 1.5 && kill -KILL "$STARTED") &
	timeout 20 "$XCORE" top --no-plugins "pid:$STARTED" >"$BATS_TEST_TMPDIR/out" 2>&1
	grep -q 'the process has ended' "$BATS_TEST_TMPDIR/out"
	STARTED=
}

@test "on a terminal it is drawn in place, q quits, and the terminal is as before" {
	start "$BATS_TEST_TMPDIR/phases"
	timeout 30 python3 - "$XCORE" "$STARTED" <<-'END'
	import os, pty, re, select, sys, termios, time
	pid, terminal = pty.fork()
	if pid == 0:
	    os.execv(sys.argv[1], ["xcore", "top", "--no-plugins", "pid:" + sys.argv[2]])
	before, shown, quit = termios.tcgetattr(terminal), b"", False
	until = time.time() + 20
	while time.time() < until:
	    if select.select([terminal], [], [], 0.1)[0]:
	        try:
	            data = os.read(terminal, 65536)
	        except OSError:
	            break
	        if not data:
	            break
	        shown += data
	    if not quit and shown.count(b"Hottest functions") >= 2:
	        assert not termios.tcgetattr(terminal)[3] & termios.ECHO
	        os.write(terminal, b"q")
	        quit = True
	status = os.waitpid(pid, 0)[1]
	print(shown[-600:])
	assert quit and status == 0, status
	assert float(re.findall(rb"samples in ([0-9.]+) s", shown)[-1]) >= 0.9 # not the part after q
	assert shown.count(b"\x1b[H\x1b[2J") >= 2 and b"first" in shown
	END
}

# bats test_tags=long
@test "a quit signal from the terminal ends it, and the terminal is as before" {
	start "$BATS_TEST_TMPDIR/phases"
	(
		ulimit -c 0
		timeout 30 python3 - "$XCORE" "$STARTED" <<-'END'
		import os, pty, select, signal, sys, termios, time
		pid, terminal = pty.fork()
		if pid == 0:
		    time.sleep(0.5)
		    os.execv(sys.argv[1], ["xcore", "top", "--no-plugins", "pid:" + sys.argv[2]])
		before, shown, until = termios.tcgetattr(terminal), b"", time.time() + 20
		while time.time() < until and shown.count(b"Hottest functions") < 2:
		    if select.select([terminal], [], [], 0.1)[0]:
		        shown += os.read(terminal, 65536)
		assert not termios.tcgetattr(terminal)[3] & termios.ECHO
		os.write(terminal, b"\x1c")
		status = os.waitpid(pid, 0)[1]
		assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGQUIT, status
		assert termios.tcgetattr(terminal)[3] == before[3]
		END
	)
}

# bats test_tags=long
@test "of a process that sleeps it says so" {
	start bash -c 'echo ready; exec sleep 100'
	for _ in $(seq 200); do grep -q "(sleep) S" "/proc/$STARTED/stat" && break; sleep 0.05; done
	sleep 0.3
	"$XCORE" top --count 1 --no-plugins "pid:$STARTED" >"$BATS_TEST_TMPDIR/out"
	cat "$BATS_TEST_TMPDIR/out"
	grep -q "no thread ran or began to wait in this time; .xcore bt pid:$STARTED. shows where" "$BATS_TEST_TMPDIR/out"
	run ! grep -q Hottest "$BATS_TEST_TMPDIR/out"
}

# bats test_tags=long
@test "it also shows waits where perf events are refused" {
	start "$BATS_TEST_TMPDIR/phases"
	${CC:-cc} -o "$BATS_TEST_TMPDIR/denied" "$BATS_TEST_DIRNAME/denied.c" -lseccomp
	"$BATS_TEST_TMPDIR/denied" EPERM "$XCORE" top --count 2 --no-plugins "pid:$STARTED" >"$BATS_TEST_TMPDIR/out"
	cat "$BATS_TEST_TMPDIR/out"
	grep -q 'no perf events: running threads have no stack' "$BATS_TEST_TMPDIR/out"
	grep -q '\[runs\]' "$BATS_TEST_TMPDIR/out"
}
