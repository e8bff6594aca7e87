#!/usr/bin/env bats
# `xcore profile` where the kernel refuses perf events, or a part of them.
#	XCORE=build/release/xcore bats tests/live/refused.bats
# bats file_tags=long

load live

setup() {
	find_xcore
}

teardown() {
	finish
}

# denied ERROR OPTIONS...: a profile of $STARTED without perf events
denied() {
	[ -x "$BATS_TEST_TMPDIR/denied" ] || ${CC:-cc} -o "$BATS_TEST_TMPDIR/denied" "$BATS_TEST_DIRNAME/denied.c" -lseccomp
	"$BATS_TEST_TMPDIR/denied" "$1" "$XCORE" profile --no-plugins "${@:2}" "pid:$STARTED"
}

# deepest PID: the last of its first children
deepest() {
	local pid=$1 child
	while child=$(pgrep -o -P "$pid"); do pid=$child; done
	echo "$pid"
}

# stop_waits MODE: end tests/live/waits.c, and compare the profile with its account
stop_waits() {
	echo >&8
	wait "$STARTED"
	STARTED=
	python3 "$BATS_TEST_DIRNAME/waits.py" "$BATS_TEST_TMPDIR/profile.json" "$BATS_TEST_TMPDIR/said" "$1"
}

# as_nobody COMMAND...
as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/proc/nonexistent XDG_CACHE_HOME=/proc/nonexistent "$@"
}

# A copy of xcore and what the test has made may be used by another user.
for_all() {
	[ "$(id -u)" = 0 ] || skip "needs root to become another user"
	cp "$XCORE" "$BATS_TEST_TMPDIR/xcore"
	XCORE=$BATS_TEST_TMPDIR/xcore
	chmod -R a+rX "$BATS_RUN_TMPDIR"
}

# Does a child of process $1 read for it, and does $1, or a child of it, catch SIGTERM?
is_looking() {
	local pid
	for pid in $1 $(pgrep -P "$1"); do
		pgrep -P "$pid" >/dev/null && catches_term "$pid" && [ "$(pgrep -c -f "for 1h pid:$STARTED")" -ge 2 ] && return
	done
	return 1
}

@test "no perf events at all: waits have the shares that the program measures" {
	compile waits "$BATS_TEST_TMPDIR/waits" -O1
	begin "$BATS_TEST_TMPDIR/waits"
	denied EPERM --clock off --for 4s --top 1000 --format json >"$BATS_TEST_TMPDIR/profile.json"
	stop_waits polled
}

@test "no perf events, not root: the same" {
	for_all
	compile waits "$BATS_TEST_TMPDIR/waits" -O1
	begin setpriv --reuid 65534 --regid 65534 --clear-groups "$BATS_TEST_TMPDIR/waits"
	${CC:-cc} -o "$BATS_TEST_TMPDIR/denied" "$BATS_TEST_DIRNAME/denied.c" -lseccomp
	as_nobody "$BATS_TEST_TMPDIR/denied" EACCES "$XCORE" profile --no-plugins --clock off --for 4s --top 1000 \
		--format json "pid:$STARTED" >"$BATS_TEST_TMPDIR/profile.json"
	stop_waits polled
}

@test "perf events outside the kernel only: waits are looked at" {
	for_all
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ] || skip "kernel.perf_event_paranoid is not 2"
	compile waits "$BATS_TEST_TMPDIR/waits" -O1
	begin setpriv --reuid 65534 --regid 65534 --clear-groups "$BATS_TEST_TMPDIR/waits"
	as_nobody "$XCORE" profile --no-plugins --clock off --for 4s --top 1000 --format json "pid:$STARTED" \
		>"$BATS_TEST_TMPDIR/profile.json"
	grep -q 'by looks at those that wait' "$BATS_TEST_TMPDIR/profile.json"
	stop_waits looks
}

@test "the first lines say what is not seen, why, and what would allow more" {
	local error
	start bash -c 'echo ready; while :; do :; done'
	for error in EPERM EACCES ENOSYS; do
		denied "$error" --for 300ms >"$BATS_TEST_TMPDIR/out"
		cat "$BATS_TEST_TMPDIR/out"
		grep -q 'looks at /proc' "$BATS_TEST_TMPDIR/out"
		grep -q 'the functions in which threads use the CPU are not seen' "$BATS_TEST_TMPDIR/out"
	done
	denied EPERM --for 100ms | grep -q CAP_PERFMON
	denied EACCES --for 100ms | tr -s ' \n' ' ' | grep -q 'kernel.perf_event_paranoid is'
}

@test "CPU time is that of the scheduler, without a stack" {
	start bash -c 'echo ready; while :; do :; done'
	denied EPERM --for 2s --format json >"$BATS_TEST_TMPDIR/profile.json"
	python3 - "$BATS_TEST_TMPDIR/profile.json" <<-'END'
	import json, sys
	account = json.load(open(sys.argv[1]))["sections"][0]["fields"]
	print(account)
	assert abs(account["sampled_cpu"] - account["cpu"]) < 0.15, account
	assert abs(account["sampled_cpu"] + account.get("preempted", 0) - 2) < 0.2, account
	END
	denied EPERM --for 500ms --as folded | grep '^\[runs\] '
}

@test "when the helper that reads system calls is killed, the account says so" {
	local profile helper
	start python3 -c $'import time\nprint("ready", flush=True)\nwhile True: time.sleep(0.05)'
	denied EPERM --clock off --for 3s >"$BATS_TEST_TMPDIR/out" &
	profile=$!
	sleep 1
	helper=$(deepest "$profile")
	[ "$helper" != "$profile" ]
	kill -9 "$helper"
	wait "$profile"
	cat "$BATS_TEST_TMPDIR/out"
	tr -s ' \n' ' ' <"$BATS_TEST_TMPDIR/out" | grep -q 'warning: the helper process that reads system calls has ended'
}

@test "a target that ends, or executes another program, ends its profile without perf events too" {
	local how profiler
	for how in 'exit 0' 'exec sleep 20'; do
		busy_until_told "$how"
		denied EPERM --for 1h >"$BATS_TEST_TMPDIR/out" &
		profiler=$!
		until is_looking "$profiler"; do
			sleep 0.1
		done
		echo >&8
		wait "$profiler"
		cat "$BATS_TEST_TMPDIR/out"
		grep -qE 'the process (ended before|executed another program)' "$BATS_TEST_TMPDIR/out"
		finish
	done
}

@test "thousands of threads: looks are rarer, so that they take a part of a CPU" {
	compile unruly "$BATS_TEST_TMPDIR/unruly"
	start "$BATS_TEST_TMPDIR/unruly" threads 3000
	denied EPERM --clock off --for 4s --format json >"$BATS_TEST_TMPDIR/profile.json"
	python3 - "$BATS_TEST_TMPDIR/profile.json" <<-'END'
	import json, re, sys
	account = json.load(open(sys.argv[1]))["sections"][0]["fields"]
	print(account)
	assert int(re.search(r"(\d+) per second", account["how"]).group(1)) < 60, account
	assert account["unwinding"] * account["samples"] < 0.25 * account["seconds"], account
	assert 0.6 < account["waited"] / 3001 / account["seconds"] < 1.01, account
	END
}

@test "looks do not trace, stop or signal the target, and it does not wait more often" {
	need_strace
	start bash -c 'echo ready; exec sleep 1000'
	sleep 0.2
	local before after
	before=$(grep ctxt_switches "/proc/$STARTED/status")
	${CC:-cc} -o "$BATS_TEST_TMPDIR/denied" "$BATS_TEST_DIRNAME/denied.c" -lseccomp
	strace -f -o "$BATS_TEST_TMPDIR/trace" -e trace=ptrace,kill,tkill,tgkill,rt_sigqueueinfo,process_vm_writev,process_madvise \
		"$BATS_TEST_TMPDIR/denied" EPERM "$XCORE" profile --for 1s "pid:$STARTED" >"$BATS_TEST_TMPDIR/out" &
	sleep 0.7
	grep -q '^TracerPid:[[:space:]]0$' "/proc/$STARTED/status"
	wait $!
	cat "$BATS_TEST_TMPDIR/out"
	if grep -vE '^([0-9]+ +)?(\+\+\+|---)' "$BATS_TEST_TMPDIR/trace"; then return 1; fi
	grep -q 'clock_nanosleep' "$BATS_TEST_TMPDIR/out"
	after=$(grep ctxt_switches "/proc/$STARTED/status")
	[ "$before" = "$after" ]
}

@test "^C ends looks early, and there is an answer" {
	start bash -c 'echo ready; exec sleep 1000'
	${CC:-cc} -o "$BATS_TEST_TMPDIR/denied" "$BATS_TEST_DIRNAME/denied.c" -lseccomp
	"$BATS_TEST_TMPDIR/denied" EPERM "$XCORE" profile --for 1h "pid:$STARTED" >"$BATS_TEST_TMPDIR/out" &
	local profiler=$!
	until is_looking "$profiler"; do
		sleep 0.1
	done
	sleep 0.7
	kill -TERM "$profiler"
	wait "$profiler"
	cat "$BATS_TEST_TMPDIR/out"
	grep -q 'What it waits for' "$BATS_TEST_TMPDIR/out"
}
