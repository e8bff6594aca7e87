#!/usr/bin/env bats
# `xcore profile` of processes that are not as most are: of 32 bits, without their program's file, stopped, in a container,
# forking, of thousands of threads; and answers that cannot be written.
#	XCORE=build/release/xcore bats tests/live/odd_targets.bats
# bats file_tags=long

bats_require_minimum_version 1.5.0
load live

setup() {
	find_xcore
	need_perf
}

teardown() {
	finish
}

# spin FLAGS...: a program that spends some three quarters of its time in hot, and one in cold, and says the nanoseconds of
# each so far, a line a round. Rounds differ, so that no rate of samples keeps step with them.
spin() {
	cat >"$BATS_TEST_TMPDIR/spin.c" <<-'END'
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/wait.h>
	#include <time.h>
	#include <unistd.h>
	volatile long sum;
	static long long now(void)
	{
		struct timespec t;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		return t.tv_sec * 1000000000LL + t.tv_nsec;
	}
	__attribute__((noinline)) void hot(long n) { for (long i = 0; i < n; i++) sum += i; }
	__attribute__((noinline)) void cold(long n) { for (long i = 0; i < n; i++) sum += i; }
	/* As in by/kinds.c: a time in which a host took the processor away is not booked. */
	static long long book(long long took, long work, double *least)
	{
		if (!*least || took < *least * work)
			*least = (double)took / work;
		long long most = 2 * *least * work + 1000000;
		return took < most ? took : most;
	}
	int main(int argc, char **argv)
	{
		long long in_hot = 0, in_cold = 0;
		double least = 0;
		for (;;) {
			long round = 500000 + rand() % 1000000;
			if (argc > 1 && !strcmp(argv[1], "fork") && !fork()) {
				cold(300000);
				_exit(0);
			}
			while (argc > 1 && waitpid(-1, NULL, WNOHANG) > 0)
				;
			long long before = now();
			hot(3 * round);
			long long between = now();
			cold(round);
			in_cold += book(now() - between, round, &least);
			in_hot += book(between - before, 3 * round, &least);
			printf("%lld %lld\n", in_hot, in_cold);
			fflush(stdout);
		}
	}
	END
	${CC:-cc} -O1 -g "$@" -o "$BATS_TEST_TMPDIR/spin" "$BATS_TEST_TMPDIR/spin.c"
}

# shares_of PID: those that the program measures meanwhile, within 6 points or four standard deviations
shares_of() {
	local before after
	before=$(tail -n 2 "$BATS_TEST_TMPDIR/said" | head -n 1)
	"$XCORE" profile --no-plugins --no-kernel --hz 999 --for 2s --top 100 --format json "pid:$1" >"$BATS_TEST_TMPDIR/profile.json"
	after=$(tail -n 2 "$BATS_TEST_TMPDIR/said" | head -n 1) # the last line may not be whole
	echo "hot and cold before: $before, after: $after"
	jq -c '.sections[] | select(.key == "functions").tables.functions[:4][]' "$BATS_TEST_TMPDIR/profile.json"
	jq -e --argjson before "[${before/ /,}]" --argjson after "[${after/ /,}]" '
		($after[0] - $before[0]) as $hot | ($after[1] - $before[1]) as $cold
		| (.sections[] | select(.key == "profile").fields.samples) as $n
		| ([0.06, 4 * (0.25 * 0.75 / $n | sqrt)] | max) as $bound
		| [.sections[] | select(.key == "functions").tables.functions[] | {(.function): .self}] | add
		| (.hot - $hot / ($hot + $cold) | fabs) < $bound and (.cold - $cold / ($hot + $cold) | fabs) < $bound' \
		"$BATS_TEST_TMPDIR/profile.json"
}

@test "a process of 32 bits" {
	spin -m32 || skip "no compiler for 32 bits"
	timeout 0.1 "$BATS_TEST_TMPDIR/spin" >/dev/null || [ $? -ne 126 ] || skip "this kernel runs no programs of 32 bits"
	start "$BATS_TEST_TMPDIR/spin"
	shares_of "$STARTED"
}

@test "a program whose file is unlinked" {
	spin
	start "$BATS_TEST_TMPDIR/spin"
	rm "$BATS_TEST_TMPDIR/spin"
	shares_of "$STARTED"
}

@test "a program in other name spaces, whose files lie elsewhere" {
	unshare --mount --pid --fork --kill-child true 2>/dev/null || skip "name spaces may not be made here"
	spin -static
	mkdir "$BATS_TEST_TMPDIR/box"
	mv "$BATS_TEST_TMPDIR/spin" "$BATS_TEST_TMPDIR/box/inside"
	start unshare --mount --pid --fork --kill-child chroot "$BATS_TEST_TMPDIR/box" /inside
	shares_of "$(pgrep -P "$STARTED")"
}

@test "a process that forks all the time: its children are not it" {
	spin
	start "$BATS_TEST_TMPDIR/spin" fork
	shares_of "$STARTED"
}

@test "a process that is stopped stays stopped, has no CPU time, and waits to be continued" {
	spin
	start "$BATS_TEST_TMPDIR/spin"
	kill -STOP "$STARTED"
	for _ in $(seq 500); do
		grep -q '^State:.T' "/proc/$STARTED/status" && break
		sleep 0.01
	done
	"$XCORE" profile --no-plugins --for 500ms --format json "pid:$STARTED" |
		jq -e '.sections[] | select(.key == "profile").fields.samples == 0'
	run -0 "$XCORE" profile --no-plugins --clock off --for 500ms "pid:$STARTED"
	[[ $output == *"a signal that continues it: it is stopped"* ]]
	grep -q '^State:.T' "/proc/$STARTED/status"
}

@test "a process that is stopped behind a system call is not blocked in it" {
	start sh -c 'echo ready; exec yes >/dev/null' # writes all the time: the number of that call stays
	for _ in 1 2 3 4 5 6 7 8; do
		kill -STOP "$STARTED"
		until grep -q '^State:.T' "/proc/$STARTED/status"; do sleep 0.01; done
		run -0 "$XCORE" profile --no-plugins --clock off --for 200ms "pid:$STARTED"
		[[ $output == *"100%"*"a signal that continues it: it is stopped"* ]]
		run -0 "$XCORE" bt "pid:$STARTED"
		[[ $output == *'"yes", stopped, '* && $output != *"blocked"* ]]
		"$XCORE" analyze --format json "pid:$STARTED" | jq -e '.verdict | .class == "stopped" and .confidence == "certain"'
		kill -CONT "$STARTED"
		sleep 0.02
	done
}

@test "five thousand threads: those that run are seen, in bounded time and memory" {
	cat >"$BATS_TEST_TMPDIR/many.c" <<-'END'
	#include <pthread.h>
	#include <stdio.h>
	#include <unistd.h>
	volatile long sum;
	static void *rest(void *unused) { for (;;) pause(); return unused; }
	__attribute__((noinline)) static void hot(void) { for (long i = 0; i < 1000000; i++) sum += i; }
	int main(void)
	{
		pthread_attr_t small;
		pthread_attr_init(&small);
		pthread_attr_setstacksize(&small, 65536);
		int made = 0;
		for (pthread_t thread; made < 5000 && !pthread_create(&thread, &small, rest, NULL); made++)
			;
		printf("%d\n", made);
		fflush(stdout);
		for (;;) hot();
	}
	END
	${CC:-cc} -O1 -g -pthread -o "$BATS_TEST_TMPDIR/many" "$BATS_TEST_TMPDIR/many.c"
	start "$BATS_TEST_TMPDIR/many"
	[ "$SAID" -ge 5000 ] || skip "only $SAID threads can be made here"
	# shellcheck disable=SC2016 # of the inner shell
	timeout 120 bash -c 'ulimit -v 2000000; exec "$@"' _ "$XCORE" profile --no-plugins --for 2s --format json "pid:$STARTED" >"$BATS_TEST_TMPDIR/profile.json"
	jq -c '.sections[] | select(.key == "profile").fields' "$BATS_TEST_TMPDIR/profile.json"
	jq -e '[.sections[] | select(.key == "functions").tables.functions[] | {(.function): .self}] | add | .hot > 0.8' "$BATS_TEST_TMPDIR/profile.json"
}

@test "an answer that cannot be written is an error, and leaves no file" {
	spin
	start "$BATS_TEST_TMPDIR/spin"
	run -4 "$XCORE" profile --no-plugins --for 100ms -o /dev/full "pid:$STARTED"
	[[ $output == *"No space left"* ]]
	mkdir "$BATS_TEST_TMPDIR/closed"
	run -4 "$XCORE" profile --no-plugins --for 100ms -o "$BATS_TEST_TMPDIR/closed/no/x.svg" "pid:$STARTED"
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/closed")" ]
}

@test "600 MB of debug information: samples are taken within 100 ms, as it is read at the end" {
	cd "$BATS_TEST_TMPDIR"
	awk 'BEGIN {
		for (i = 0; i < 30000; i++) {
			printf "struct s%d {", i
			for (k = 0; k < 120; k++) printf "int m%d_%d;", i % 7, k
			printf "} v%d;\n", i
		}
		print "volatile long sum; void hot(long n) { for (long i = 0; i < n; i++) sum += i; }"
	}' >described.c
	${CC:-cc} -g -O1 -shared -fPIC -o 0.so described.c
	for i in {1..11}; do cp 0.so "$i.so"; done
	cat >loads.c <<-'END'
	#include <dlfcn.h>
	#include <stdio.h>
	int main(void)
	{
		void (*hot[12])(long);
		char name[32];
		for (int i = 0; i < 12; i++) {
			snprintf(name, sizeof name, "./%d.so", i);
			hot[i] = (void (*)(long))dlsym(dlopen(name, RTLD_NOW), "hot");
		}
		puts("ready");
		fflush(stdout);
		for (;;)
			for (int i = 0; i < 12; i++)
				hot[i](100000);
	}
	END
	${CC:-cc} -g -o loads loads.c
	size=$(readelf -SW 0.so | sed -n 's/.*\.debug_info *PROGBITS *[0-9a-f]* *[0-9a-f]* *\([0-9a-f]*\).*/0x\1/p')
	[ $((12 * size)) -gt 600000000 ]
	start ./loads
	least=1000000 found=
	for _ in 1 2 3 4 5; do # the host may be busy
		strace -f --seccomp-bpf -ttt -e trace=execve,perf_event_open -o calls \
			"$XCORE" profile --for 1s --as folded -o folded "pid:$STARTED"
		took=$(awk '/execve/ && !begun { begun = $2 } /perf_event_open/ { open = $2 } END { printf "%d", (open - begun) * 1e6 }' calls)
		echo "$took µs from the start to the last event"
		[ "$took" -ge "$least" ] || least=$took
		! grep -q 'main;hot ' folded || found=yes
	done
	[ "$found" ]
	[ "$least" -lt 90000 ] # at 99 Hz the first sample of a running thread comes 10 ms later
}
