#!/usr/bin/env bats
# `xcore profile` against programs that measure themselves.
#	XCORE=build/release/xcore bats tests/live/profile.bats

bats_require_minimum_version 1.5.0
load live

setup() {
	find_xcore
	need_perf
}

teardown() {
	finish
}

# What the test has made, and a copy of xcore, may be used by another user: the checkout perhaps not.
for_all() {
	cp "$XCORE" "$BATS_TEST_TMPDIR/xcore"
	XCORE=$BATS_TEST_TMPDIR/xcore
	chmod -R a+rX "$BATS_RUN_TMPDIR"
}

# profile OPTIONS...: of $STARTED, as JSON
profile() {
	"$XCORE" profile --format json --no-plugins "$@" "pid:$STARTED" >"$BATS_TEST_TMPDIR/profile.json"
}

@test "functions have the shares that the program measures, in every way to be called" {
	local flags
	for flags in -O2 "-O1 -fomit-frame-pointer -fcf-protection=none"; do
		# shellcheck disable=SC2086 # several flags
		compile shares "$BATS_TEST_TMPDIR/shares" $flags
		begin "$BATS_TEST_TMPDIR/shares"
		profile --hz 999 --for 3500ms --top 1000
		echo >&8
		wait "$STARTED"
		STARTED=
		python3 "$BATS_TEST_DIRNAME/shares.py" "$BATS_TEST_TMPDIR/profile.json" "$BATS_TEST_TMPDIR/said" "$BATS_TEST_TMPDIR/sums"
	done
}

# bats test_tags=long
@test "no stack is one that the program cannot have" {
	python3 "$BATS_TEST_DIRNAME/possible.py" write "$BATS_TEST_TMPDIR/maze.c"
	${CC:-cc} -O1 -g -pthread -o "$BATS_TEST_TMPDIR/maze" "$BATS_TEST_TMPDIR/maze.c"
	start "$BATS_TEST_TMPDIR/maze"
	"$XCORE" profile --no-plugins --no-kernel --hz 1999 --for 4s --as folded "pid:$STARTED" >"$BATS_TEST_TMPDIR/folded"
	python3 "$BATS_TEST_DIRNAME/possible.py" check "$BATS_TEST_TMPDIR/maze.c" "$BATS_TEST_TMPDIR/folded"
}

# bats test_tags=long
@test "a library that is loaded later has names" {
	cat >"$BATS_TEST_TMPDIR/late.c" <<-'END'
	volatile long sink;
	__attribute__((noinline)) static void inside(long n) { for (long i = 0; i < n; i++) sink += i; }
	void late(long n) { inside(n); sink++; }
	END
	cat >"$BATS_TEST_TMPDIR/loader.c" <<-'END'
	#include <dlfcn.h>
	#include <stdio.h>
	#include <unistd.h>
	int main(int count, char **words)
	{
		puts("ready");
		fflush(stdout);
		usleep(700000);
		void *library = dlopen(words[count - 1], RTLD_NOW);
		void (*late)(long) = (void (*)(long))dlsym(library, "late");
		for (;;)
			late(100000);
	}
	END
	${CC:-cc} -g -O1 -shared -fPIC -o "$BATS_TEST_TMPDIR/late.so" "$BATS_TEST_TMPDIR/late.c"
	${CC:-cc} -g -o "$BATS_TEST_TMPDIR/loader" "$BATS_TEST_TMPDIR/loader.c" -ldl
	start "$BATS_TEST_TMPDIR/loader" "$BATS_TEST_TMPDIR/late.so"
	"$XCORE" profile --hz 200 --for 2s --as folded "pid:$STARTED" >"$BATS_TEST_TMPDIR/folded"
	cat "$BATS_TEST_TMPDIR/folded"
	grep -q 'main;late;inside' "$BATS_TEST_TMPDIR/folded"
}

# is_sampling TIME: does a profiler of $STARTED, for that time, sample, and catch SIGTERM? It opens its events first.
is_sampling() {
	local pid
	for pid in $(pgrep -f "profile --for $1 .*pid:$STARTED"); do
		find "/proc/$pid/fd" -lname '*perf_event*' 2>/dev/null | grep -q . && catches_term "$pid" && return
	done
	return 1
}

@test "the target is not traced, stopped or signalled, and does not wait more often" {
	need_strace
	compile shares "$BATS_TEST_TMPDIR/shares" -O2
	begin "$BATS_TEST_TMPDIR/shares"
	strace -f -o "$BATS_TEST_TMPDIR/trace" -e trace=ptrace,kill,tkill,tgkill,rt_sigqueueinfo,process_vm_writev,process_madvise \
		"$XCORE" profile --for 1s "pid:$STARTED" >"$BATS_TEST_TMPDIR/out" &
	while kill -0 $! && ! is_sampling 1s; do
		sleep 0.05
	done
	grep -q '^TracerPid:[[:space:]]0$' "/proc/$STARTED/status"
	wait $!
	run ! grep -vE '^([0-9]+ +)?(\+\+\+|---)' "$BATS_TEST_TMPDIR/trace"
	grep -q 'Hottest functions' "$BATS_TEST_TMPDIR/out"
}

# bats test_tags=long
@test "^C ends the profile early, and there is an answer" {
	compile shares "$BATS_TEST_TMPDIR/shares" -O2
	begin "$BATS_TEST_TMPDIR/shares"
	"$XCORE" profile --for 1h "pid:$STARTED" >"$BATS_TEST_TMPDIR/out" &
	local profiler=$!
	until is_sampling 1h; do
		sleep 0.1
	done
	sleep 1
	kill -TERM "$profiler" # SIGINT is ignored by what a shell runs in the background
	wait "$profiler"
	grep -q 'Hottest functions' "$BATS_TEST_TMPDIR/out"
}

# profile_to_the_end HOW OPTION…: a profile of a busy shell that does HOW when it is sampled
profile_to_the_end() {
	local profiler
	busy_until_told "$1"
	"$XCORE" profile --for 1h "${@:2}" "pid:$STARTED" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/warned" &
	profiler=$!
	until is_sampling 1h; do
		kill -0 "$profiler"
		sleep 0.1
	done
	sleep 0.5 # some samples
	echo >&8
	wait "$profiler"
	cat "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/warned"
	finish
}

# bats test_tags=long
@test "a target that ends or executes another program ends its profile, which says so" {
	local how
	for how in 'exit 0' 'exec sleep 20'; do
		profile_to_the_end "$how"
		grep -qE 'the process (ended before|executed another program)' "$BATS_TEST_TMPDIR/out"
	done
	profile_to_the_end 'exit 0' -o "$BATS_TEST_TMPDIR/ended.xprof"
	grep -q '^xcore: .*: warning: the process ended before' "$BATS_TEST_TMPDIR/warned"
	"$XCORE" profile -q "$BATS_TEST_TMPDIR/ended.xprof" --as folded 2>"$BATS_TEST_TMPDIR/said" >"$BATS_TEST_TMPDIR/folded"
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
}

# bats test_tags=long
@test "a user without rights to the kernel is told that it is not seen" {
	[ "$(id -u)" = 0 ] || skip "needs root to become another user"
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ] || skip "kernel.perf_event_paranoid is not 2"
	compile shares "$BATS_TEST_TMPDIR/shares" -O2
	for_all
	begin setpriv --reuid 65534 --regid 65534 --clear-groups "$BATS_TEST_TMPDIR/shares"
	setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/proc/nonexistent XDG_CACHE_HOME=/proc/nonexistent \
		"$XCORE" profile --for 1s "pid:$STARTED" >"$BATS_TEST_TMPDIR/out"
	cat "$BATS_TEST_TMPDIR/out"
	grep -q 'time in the kernel is not seen' "$BATS_TEST_TMPDIR/out"
	grep -q 'Hottest functions' "$BATS_TEST_TMPDIR/out"
}

# bats test_tags=long
@test "little memory may be locked: the rings of all processors are smaller" {
	[ "$(id -u)" = 0 ] || skip "needs root to become another user"
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ] || skip "kernel.perf_event_paranoid is not 2"
	compile shares "$BATS_TEST_TMPDIR/shares" -O2
	for_all
	begin setpriv --reuid 65534 --regid 65534 --clear-groups "$BATS_TEST_TMPDIR/shares"
	(ulimit -l 0 && exec setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/proc/nonexistent XDG_CACHE_HOME=/proc/nonexistent \
		"$XCORE" profile --hz 4999 --for 1s "pid:$STARTED") >"$BATS_TEST_TMPDIR/out"
	cat "$BATS_TEST_TMPDIR/out"
	grep -q 'Hottest functions' "$BATS_TEST_TMPDIR/out"
}

@test "a profile that is kept shows the same again" {
	local dir=$BATS_TEST_TMPDIR kind
	compile shares "$dir/shares" -O2
	begin "$dir/shares"
	"$XCORE" profile --clock wall --for 200ms -o "$dir/one.xprof" "pid:$STARTED"
	finish
	"$XCORE" profile "$dir/one.xprof" -o "$dir/two.xprof"
	cmp "$dir/one.xprof" "$dir/two.xprof"
	zstd -dcq "$dir/one.xprof" >"$dir/tables"
	[ "$(head -c 1 "$dir/tables" | od -An -tu1 | tr -d ' ')" = 1 ]
	"$XCORE" profile "$dir/one.xprof" >"$dir/report"
	grep -q '^Hottest functions' "$dir/report"
	grep -q '^pid:.*shares' "$dir/report"
	"$XCORE" profile "$dir/one.xprof" -o "$dir/report.json"
	"$XCORE" profile "$dir/one.xprof" --format json | cmp - "$dir/report.json"
	"$XCORE" profile "$dir/one.xprof" -o "$dir/by-end.pb.gz"
	for name in by-end.pb by-end.pprof; do
		"$XCORE" profile "$dir/one.xprof" -o "$dir/$name"
		cmp "$dir/by-end.pb.gz" "$dir/$name"
	done
	for kind in folded svg speedscope pprof firefox; do
		"$XCORE" profile "$dir/one.xprof" --as "$kind" -o "$dir/$kind"
		[ -s "$dir/$kind" ]
	done
	[ "$(awk '{ n += $NF } END { print n }' "$dir/folded")" = "$(jq '.sections[0].fields.samples' "$dir/report.json")" ]
	python3 "$BATS_TEST_DIRNAME/firefox.py" "$dir/firefox" "$dir/folded"
	run "$XCORE" profile "$dir/one.xprof" --hz 9
	[ "$status" = 2 ]
	run "$XCORE" analyze "$dir/one.xprof"
	[ "$status" = 4 ]
	[[ $output == *"xcore profile"* ]]
}

# keep NAME FLAGS...: a profile of shares.c, and its account, NAME.xprof and NAME.said
keep() {
	mkdir "$BATS_TEST_TMPDIR/$1"
	compile shares "$BATS_TEST_TMPDIR/$1/shares" -O2 "${@:2}"
	begin "$BATS_TEST_TMPDIR/$1/shares"
	"$XCORE" profile --hz 1999 --for 900ms -o "$BATS_TEST_TMPDIR/$1.xprof" "pid:$STARTED"
	echo >&8
	wait "$STARTED"
	STARTED=
	cp "$BATS_TEST_TMPDIR/said" "$BATS_TEST_TMPDIR/$1.said"
}

@test "two profiles differ as their programs do" {
	local dir=$BATS_TEST_TMPDIR
	keep before
	keep after -DVECTORS_MS=27
	"$XCORE" diff "$dir/before.xprof" "$dir/after.xprof" --limit 1000 -o "$dir/diff.json"
	python3 "$BATS_TEST_DIRNAME/shares_diff.py" "$dir/diff.json" "$dir/before.said" "$dir/after.said"
	"$XCORE" diff "$dir/before.xprof" "$dir/before.xprof" --format json | jq -e \
		'[.sections[].tables.functions[] | select(.change != 0 or .told != "may be chance")] | length == 0'
	"$XCORE" diff "$dir/before.xprof" "$dir/after.xprof" --as folded >"$dir/after.folded"
	"$XCORE" diff "$dir/before.xprof" "$dir/after.xprof" --as folded --widths before | cmp - "$dir/after.folded"
	"$XCORE" profile -q "$dir/before.xprof" --as folded | awk '{ n += $NF } END { print n }' >"$dir/sum"
	awk '{ n += $(NF - 1) } END { print n }' "$dir/after.folded" | cmp - "$dir/sum"
	"$XCORE" diff "$dir/before.xprof" "$dir/after.xprof" -o "$dir/diff.svg"
	"$XCORE" diff "$dir/before.xprof" "$dir/after.xprof" --widths before -o "$dir/vanished.svg"
	grep -q 'vectors (.* samples, earlier [0-9.]*%, ' "$dir/diff.svg"
	grep -q 'vectors (.* samples, later [0-9.]*%, ' "$dir/vanished.svg"
	"$XCORE" diff "$dir/before.xprof" "$dir/after.xprof" | tr -s ' \n' ' ' >"$dir/diff.txt" # one line
	grep -q 'after.xprof: CPU time of pid:[0-9]* → CPU time of pid:[0-9]* ' "$dir/diff.txt"
	begin "$dir/before/shares"
	"$XCORE" profile -q --clock off --for 300ms -o "$dir/off.xprof" "pid:$STARTED"
	run "$XCORE" diff "$dir/before.xprof" "$dir/off.xprof"
	[ "$status" != 0 ] && [[ $output == *"counts CPU time, and "*"off.xprof waiting time"* ]]
	for name in diff.xprof diff.pb.gz diff.pprof diff.speedscope.json diff.firefox.json; do
		run "$XCORE" diff "$dir/before.xprof" "$dir/after.xprof" -o "$dir/$name"
		[ "$status" = 2 ]
		[[ "$output" = *"two profiles are not written as "* ]]
		[ ! -e "$dir/$name" ]
	done
	run "$XCORE" diff "$dir/before.xprof" "$dir/diff.json"
	[ "$status" = 2 ]
	run "$XCORE" diff "$dir/before.xprof"
	[ "$status" = 2 ]
}

@test "a redacted profile holds no words of the target" {
	local dir=$BATS_TEST_TMPDIR
	compile shares "$dir/shares" -O2
	begin env API_TOKEN=hunter22secret "$dir/shares" --password=hunter22secret plainargument
	"$XCORE" profile --for 200ms -o "$dir/all.xprof" "pid:$STARTED"
	zstd -dcq "$dir/all.xprof" | grep -qa plainargument # what is not redacted has it
	"$XCORE" profile --redact --for 200ms -o "$dir/one.xprof" "pid:$STARTED"
	zstd -dcq "$dir/one.xprof" >"$dir/tables"
	[ "$(grep -ca 'hunter22\|plainargument' "$dir/tables")" = 0 ]
	for kind in html pprof folded svg speedscope firefox; do
		"$XCORE" profile -q --redact "$dir/all.xprof" --as $kind >"$dir/$kind"
	done
	"$XCORE" profile -q "$dir/all.xprof" --as html >>"$dir/html" # shows no arguments, so it has none
	zcat "$dir/pprof" >"$dir/protobuf"
	[ "$(cat "$dir"/{html,protobuf,folded,svg,speedscope,firefox} | grep -ca 'hunter22\|plainargument')" = 0 ]
	"$XCORE" profile --no-redact "$dir/one.xprof" >"$dir/report"
	grep -q 'Hottest functions' "$dir/report"
}

@test "what is written for Firefox Profiler is by the rules of its format, threads and waits, too" {
	compile waits "$BATS_TEST_TMPDIR/waits" -O1
	begin "$BATS_TEST_TMPDIR/waits"
	"$XCORE" profile --clock wall --for 1s --no-plugins -o it.xprof "pid:$STARTED"
	"$XCORE" profile -q it.xprof -o it.firefox.json
	"$XCORE" profile -q it.xprof --by thread --as firefox -o rooted.firefox.json
	"$XCORE" profile -q it.xprof --as folded >folded
	"$XCORE" profile -q it.xprof --by thread --as folded >rooted
	python3 "$BATS_TEST_DIRNAME/firefox.py" it.firefox.json folded
	python3 "$BATS_TEST_DIRNAME/firefox.py" rooted.firefox.json rooted
}

# bats test_tags=long
@test "stacks of threads of musl are whole" {
	command -v musl-gcc >/dev/null || skip "musl-gcc is not installed"
	cat >"$BATS_TEST_TMPDIR/thread.c" <<-'END'
	#include <pthread.h>
	#include <stdio.h>
	#include <unistd.h>
	static volatile unsigned long sink;
	static void *burn(void *unused) { for (;;) sink++; return unused; }
	int main(void) { pthread_t t; pthread_create(&t, NULL, burn, NULL); puts("ready"); fflush(stdout); pause(); }
	END
	local link
	for link in -dynamic -static; do
		musl-gcc -g -O1 "$link" -o "$BATS_TEST_TMPDIR/thread" "$BATS_TEST_TMPDIR/thread.c"
		start "$BATS_TEST_TMPDIR/thread"
		profile --for 1s
		python3 - "$BATS_TEST_TMPDIR/profile.json" <<-'END'
		import json, sys
		account = json.load(open(sys.argv[1]))["sections"][0]["fields"]
		print(account)
		assert account["samples"] > 5 and not account["broken"] and not account["cut"], account
		END
		finish
	done
}

# bats test_tags=long
@test "the stack of a leaf that was jumped to is whole from the first sample on" {
	[ "$(uname -m)" = x86_64 ] || skip "the program is for x86-64"
	cat >"$BATS_TEST_TMPDIR/jumps.c" <<-'END'
	#include <stdio.h>
	volatile unsigned long sum;
	__attribute__((noipa)) void leaf(unsigned long n)
	{
		for (unsigned long i = 0; i < n; i++)
			sum += i;
	}
	__attribute__((noipa)) void jumps(unsigned long n) { leaf(n + 1); }
	int main(void)
	{
		puts("ready");
		fflush(stdout);
		for (;;)
			jumps(100000);
	}
	END
	gcc -O2 -g -o "$BATS_TEST_TMPDIR/jumps" "$BATS_TEST_TMPDIR/jumps.c"
	start "$BATS_TEST_TMPDIR/jumps"
	"$XCORE" profile --no-plugins --hz 499 --for 1s --as folded -o "$BATS_TEST_TMPDIR/folded" "pid:$STARTED" 2>"$BATS_TEST_TMPDIR/err"
	cat "$BATS_TEST_TMPDIR/folded" "$BATS_TEST_TMPDIR/err"
	grep -q 'main;jumps;leaf ' "$BATS_TEST_TMPDIR/folded"
	grep -q ' 0 cut' "$BATS_TEST_TMPDIR/err"
}

# bats test_tags=long
@test "a thread that begins later, and gets a name, has it" {
	cat >"$BATS_TEST_TMPDIR/named.c" <<-'END'
	#include <pthread.h>
	#include <stdio.h>
	#include <unistd.h>
	static volatile unsigned long sink;
	static void *burn(void *name) { pthread_setname_np(pthread_self(), name); for (int i = 0; i < 300000000; i++) sink++; return NULL; }
	int main(void)
	{
		puts("ready");
		fflush(stdout);
		usleep(700000);
		for (pthread_t t;; pthread_join(t, NULL))
			pthread_create(&t, NULL, burn, "late-worker");
	}
	END
	${CC:-cc} -D_GNU_SOURCE -O1 -pthread -o "$BATS_TEST_TMPDIR/named" "$BATS_TEST_TMPDIR/named.c"
	start "$BATS_TEST_TMPDIR/named"
	profile --for 2s
	jq -e '.sections[] | select(.key == "threads") | .tables.threads[0].name == "late-worker"' "$BATS_TEST_TMPDIR/profile.json"
}

# faults_are_where_they_are_caused TIME: status 77 if the host left the program too little time for a hundred samples: the
# kernel finds the period between two of them while the program runs.
faults_are_where_they_are_caused() {
	begin "$BATS_TEST_TMPDIR/faults"
	profile --event page-faults --hz 999 --for "$1" --top 1000
	echo >&8
	wait "$STARTED"
	STARTED=
	python3 - "$BATS_TEST_TMPDIR/profile.json" "$BATS_TEST_TMPDIR/said" <<-'END'
	import json, sys
	sections = {s["key"]: s for s in json.load(open(sys.argv[1]))["sections"]}
	account = sections["profile"]["fields"]
	total = {row["function"]: row["total"] for row in sections["functions"]["tables"]["functions"]}
	lines = [line.split() for line in open(sys.argv[2])]
	told = {words[0]: float(words[1]) for words in lines if len(words) == 2}
	print(account, told, total)
	if account["taken"] < 100 and account["cpu"] < 0.5 * account["seconds"]:
	    sys.exit(77)
	assert abs(total["touch_much"] - 0.75) < 0.05 and abs(total["touch_little"] - 0.25) < 0.05, total
	assert abs(account["events"] / account["seconds"] / told["rate"] - 1) < 0.3, (account, told)
	# The kernel drops what it has counted towards a period when it makes that much shorter (kernel/events/core.c,
	# perf_adjust_period): on a host that takes the processor away the weights sum up to less.
	assert 0.5 < account["samples"] / account["events"] < 1.15, account
	END
}

@test "page faults are where the program causes them, as many as it counts" {
	local time status
	compile faults "$BATS_TEST_TMPDIR/faults" -O1
	for time in 2s 4s 8s; do
		faults_are_where_they_are_caused $time && return
		status=$?
		[ $status -eq 77 ] || return $status
	done
	skip "this host is too busy: the program had less than half of a processor"
}

# bats test_tags=long
@test "an event that this host does not have, or does not show, is told as that" {
	start bash -c 'echo ready; while :; do :; done'
	run "$XCORE" profile --event cycles --for 100ms "pid:$STARTED"
	echo "$output"
	[ "$status" = 0 ] || [[ $output == *"does not count CPU cycles"* ]]
	run "$XCORE" profile --event context-switches --no-kernel --for 100ms "pid:$STARTED"
	[ "$status" = 4 ]
	[[ $output == *"context switches happen in the kernel"* ]]
	run "$XCORE" profile --event page-faults --clock off "pid:$STARTED"
	[ "$status" = 2 ]
	"$XCORE" profile --event context-switches --for 1s "pid:$STARTED" | grep -q 'context switches'
}

@test "a core has no time" {
	printf '#include <stdlib.h>\nint main(void) { abort(); }\n' | ${CC:-cc} -x c -o "$BATS_TEST_TMPDIR/dies" -
	"$BATS_TEST_DIRNAME/../../corpora/take-core" --out "$BATS_TEST_TMPDIR/core" -- "$BATS_TEST_TMPDIR/dies"
	run "$XCORE" profile "$BATS_TEST_TMPDIR/core"
	echo "$output"
	[ "$status" = 2 ]
	[[ $output == *"a core is one moment"* ]]
}
