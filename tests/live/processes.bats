#!/usr/bin/env bats
# `xcore profile` of several processes, and of those that they fork, against what the kernel and the programs count.
#	XCORE=build/release/xcore bats tests/live/processes.bats

bats_require_minimum_version 1.5.0
load live

setup() {
	find_xcore
	need_perf
	OTHER=
}

teardown() {
	[ -z "$OTHER" ] || { kill -KILL "$OTHER" 2>/dev/null; wait "$OTHER" 2>/dev/null; } || true
	finish
}

# Ends the program, which says what it has measured.
account() {
	echo >&8
	wait "$STARTED"
	STARTED=
}

# functions FILE: "NAME TOTAL" of functions; values FILE: "VALUE SHARE"
functions() {
	jq -r '.sections[] | select(.key == "functions").tables.functions[] | "\(.function) \(.total)"' "$1"
}
values() {
	jq -r '.sections[] | select(.key == "values").tables.values[] | "\(.value) \(.share)"' "$1"
}

# spent PID: nanoseconds of CPU time, by the kernel
spent() {
	cut -d' ' -f1 "/proc/$1/schedstat"
}

# two: a program that works for half of the time, and $OTHER, which works for less; neither waits for a processor
two() {
	cat >busy.c <<-'C'
	#include <stdlib.h>
	#include <unistd.h>
	#include <stdio.h>
	volatile unsigned sink;
	static void burn(void) { for (unsigned i = 0; i < 2000000; i++) sink += i; }
	void often(void) { burn(); usleep(3000); sink++; }
	void seldom(void) { burn(); usleep(12000); sink++; }
	int main(int count, char **words) { (void)words; puts("ready"); fflush(stdout); for (;;) if (count > 1) seldom(); else often(); }
	C
	${CC:-cc} -O1 -g -o busy busy.c
	start ./busy seldom
	OTHER=$STARTED
	start ./busy
}

# near A B SAMPLES: within 4 %, or four standard deviations where that is more
near() {
	awk -v a="$1" -v b="$2" -v n="$3" 'BEGIN { most = 4 * sqrt(b * (1 - b) / n); if (most < 0.04) most = 0.04
		print a, b, most; exit !(a - b < most && b - a < most) }'
}

@test "two processes: each has its share, and its line in the account" {
	two
	local one other all samples
	one=$(spent "$STARTED") other=$(spent "$OTHER")
	"$XCORE" profile --hz 999 --for 2s --no-plugins -o both.xprof "pid:$STARTED" "pid:$OTHER"
	one=$(($(spent "$STARTED") - one)) other=$(($(spent "$OTHER") - other)) all=$((one + other))
	"$XCORE" profile both.xprof --by process --top 1000 --format json >profile.json
	samples=$(jq '.sections[] | select(.key == "profile").fields.samples' profile.json)
	[ "$samples" -ge 200 ]
	values profile.json
	functions profile.json | grep -E '^(often|seldom) '
	near "$(values profile.json | awk -v p="$STARTED" '$2 == p { print $3 }')" "$(awk "BEGIN { print $one / $all }")" "$samples"
	near "$(values profile.json | awk -v p="$OTHER" '$2 == p { print $3 }')" "$(awk "BEGIN { print $other / $all }")" "$samples"
	near "$(functions profile.json | awk '$1 == "seldom" { print $2 }')" "$(awk "BEGIN { print $other / $all }")" "$samples"
	"$XCORE" profile both.xprof >out
	cat out
	grep -q "^ *busy $STARTED .*samples in" out
	grep -q "^ *busy $OTHER .*samples in" out
	"$XCORE" profile both.xprof --by process --as folded >stacks
	run ! grep -qvE "^busy ($STARTED|$OTHER);" stacks
	[ "$(awk '{ n += $NF } END { print n }' stacks)" = "$samples" ]
}

@test "children that begin later are sampled with --children" {
	${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -g -o forks "$BATS_TEST_DIRNAME/forks.c"
	begin ./forks
	"$XCORE" profile --children --hz 999 --for 5s --no-plugins --top 1000 --format json "pid:$STARTED" >profile.json
	account
	cat said
	jq -r '.sections[0].fields, .sections[0].notes' profile.json
	functions profile.json | grep -E '^of_'
	local share
	share=$(awk '$1 ~ /^of_/ { n[$1] = $2 } END { print n["of_child"] / (n["of_child"] + n["of_parent"]) }' said)
	# Each child is found some hundredths of a second after its begin, on a busy machine later.
	functions profile.json | awk -v truth="$share" '{ n[$1] = $2 } END { s = n["of_child"] / (n["of_child"] + n["of_parent"])
		print s, truth; exit !(s > truth - 0.15 && s < truth + 0.04) }'
	[ "$(jq '.target.processes' profile.json)" -ge 3 ]
}

# bats test_tags=long
@test "^C ends all early, and there is an answer; one that cannot be sampled is told" {
	two
	"$XCORE" profile --for 1h --no-plugins "pid:$STARTED" "pid:$OTHER" >out 2>err &
	local profiler=$!
	until [ "$(pgrep -fc "profile pid:($STARTED|$OTHER) --for")" -ge 2 ]; do sleep 0.1; done
	sleep 1
	kill -TERM "$profiler"
	wait "$profiler"
	cat out err
	grep -q 'Hottest functions' out
	run ! pgrep -f "profile pid:$STARTED --for"
	"$XCORE" profile --for 300ms --no-plugins "pid:$STARTED" pid:99999999 >out 2>err
	cat out err
	grep -q '1 of the processes was not sampled' out
	run -4 "$XCORE" profile --for 300ms --no-plugins pid:99999998 pid:99999999
}

@test "what cannot be put together is refused" {
	two
	run -2 "$XCORE" profile --for 1s "pid:$STARTED" busy.c
	[[ $output == *"pid:N"* ]]
	run -2 "$XCORE" profile --for 1s --thread "$STARTED" "pid:$STARTED" "pid:$OTHER"
	[[ $output == *--thread* ]]
}
