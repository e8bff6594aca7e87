#!/usr/bin/env bats
# Processes in other environments: containers, deleted programs, other users.
#	XCORE=build/release/xcore bats tests/live/places.bats

load live

setup() {
	find_xcore
	compile blocked "$BATS_TEST_TMPDIR/outside" -O1
}

teardown() {
	if [ -n "${PID:-}" ]; then # its parent waits for it, and then ends, too
		kill -KILL "$PID"
		wait "$STARTED" || true
		STARTED=
	fi
	finish
}

# The pid, in this namespace, of the process with this program name.
ours() {
	for comm in /proc/[0-9]*/comm; do
		if [ "$(cat "$comm" 2>/dev/null)" = "$1" ]; then
			basename "$(dirname "$comm")"
			return
		fi
	done
	return 1
}

# In separate namespaces: the program exists only there.
start_inside() {
	mkdir "$BATS_TEST_TMPDIR/box"
	unshare --mount --pid --fork mount -t tmpfs none "$BATS_TEST_TMPDIR/box" 2>/dev/null || skip "name spaces may not be made here"
	# shellcheck disable=SC2016
	start unshare --mount --pid --fork --kill-child sh -c '
		mount -t tmpfs none "$0/box" &&
		cp "$0/outside" "$0/box/$1" &&
		rm "$0/outside" &&
		exec "$0/box/$1"' "$BATS_TEST_TMPDIR" "$1"
	[ "$SAID" = 1 ] # the pid it sees itself
	PID=$(ours "$1")
}

@test "a program that exists in another mount name space only has names and lines" {
	start_inside "xc-$$"
	[ ! -e "$BATS_TEST_TMPDIR/box/xc-$$" ]
	run "$XCORE" bt "pid:$PID"
	[ "$status" -eq 0 ]
	[[ "$output" == *"wait_inside"*"blocked.c:"*"main"* ]]
	run "$XCORE" print "pid:$PID" blocked_answer
	[[ "$output" == *4711* ]]
	run "$XCORE" modules "pid:$PID"
	[[ "$output" == *"xc-$$"*verified* ]]
}

# bats test_tags=long
@test "threads in another pid name space have the ids that we know them by" {
	start_inside "xc-$$"
	tids=$(ls "/proc/$PID/task")
	run "$XCORE" threads --format json "pid:$PID"
	echo "$output"
	[ "$status" -eq 0 ]
	for tid in $tids; do
		[[ "$output" == *"$tid"* ]]
	done
	run "$XCORE" bt --thread "$PID" "pid:$PID"
	[[ "$output" == *"thread $PID"* ]]
}

@test "a program that was deleted and one that was replaced are read as they were" {
	cp "$BATS_TEST_TMPDIR/outside" "$BATS_TEST_TMPDIR/gone"
	start "$BATS_TEST_TMPDIR/gone"
	rm "$BATS_TEST_TMPDIR/gone"
	run "$XCORE" bt "pid:$SAID"
	[ "$status" -eq 0 ]
	[[ "$output" == *"wait_inside"*"blocked.c:"* ]]
	cp /bin/true "$BATS_TEST_TMPDIR/gone" # another program in the same place
	run "$XCORE" bt "pid:$SAID"
	[[ "$output" == *"wait_inside"*"blocked.c:"* ]]
	run "$XCORE" print "pid:$SAID" blocked_answer
	[[ "$output" == *4711* ]]
}

as_nobody() {
	[ "$(id -u)" -eq 0 ] || skip "needs root, to be somebody else"
	setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null || skip "setpriv may not change users here"
	cp "$XCORE" "$BATS_TEST_TMPDIR/xcore"
	chmod 755 "$BATS_TEST_TMPDIR/xcore"
	HOME=/proc/nonexistent run setpriv --reuid 65534 --regid 65534 --clear-groups "$BATS_TEST_TMPDIR/xcore" bt "pid:$1"
	if [[ "$output" == *"xcore: Permission denied"* ]]; then skip "the test's directory is closed to others"; fi
}

@test "another user's process: the rule that failed, and what to do" {
	start "$BATS_TEST_TMPDIR/outside"
	as_nobody "$SAID"
	[ "$status" -eq 4 ]
	[[ "$output" == *"pid:$SAID (outside): may not be read: it runs as uid 0 and xcore as uid 65534 (rule: same uid)"* ]]
	[[ "$output" == *"hint: run xcore as that user or as root (sudo)"* ]]
}

@test "a process that made itself undumpable: the rule that failed, and what to do" {
	[ "$(id -u)" -eq 0 ] || skip "needs root, to be somebody else"
	start setpriv --reuid 65534 --regid 65534 --clear-groups "$BATS_TEST_TMPDIR/outside" undumpable
	as_nobody "$SAID"
	[ "$status" -eq 4 ]
	[[ "$output" == *"(rule: dumpable)"*"hint: run xcore as root (sudo)"* ]]
}
