#!/usr/bin/env bats
# Promise 1 of live mode: no ptrace, no stop, no write. Runs every command on a busy process.
#	XCORE=build/release/xcore bats tests/live/no_ptrace.bats

COMMANDS=("analyze" "bt" "bt --thread all --full" "threads" "regs" "maps" "modules" "info" "flame stacks" "heap summary"
	"profile --for 200ms" "top --count 1" "sym TARGET main" "mem TARGET main 64" "disas TARGET main"
	"ptype TARGET target_list" "print TARGET target_list->next->number"
	"run -e xcore.refresh()print(xcore.target:var'target_list'.number) TARGET")
FORBIDDEN=ptrace,process_vm_writev,kill,tkill,tgkill,rt_sigqueueinfo,rt_tgsigqueueinfo,pidfd_send_signal,pidfd_getfd
FORBIDDEN+=,process_madvise,process_mrelease,prlimit64,io_uring_setup,bpf,move_pages,migrate_pages

OPENING=open,openat,openat2,creat
OPENED="^([0-9]+ +)?(<... )?(${OPENING//,/|})(\(| resumed)" # a line of a trace

load live

setup_file() {
	compile target "$BATS_FILE_TMPDIR/target" -O1
}

setup() {
	find_xcore
	mkfifo "$BATS_TEST_TMPDIR/end"
	: >"$BATS_TEST_TMPDIR/said" # exists before it is read, even if the other process starts late
	"$BATS_FILE_TMPDIR/target" "$BATS_TEST_TMPDIR/counter" <"$BATS_TEST_TMPDIR/end" >"$BATS_TEST_TMPDIR/said" 3>&- &
	exec 8>"$BATS_TEST_TMPDIR/end"
	for _ in $(seq 1000); do
		PID=$(head -n 1 "$BATS_TEST_TMPDIR/said")
		[ -n "$PID" ] && [ "$(count)" -gt 0 ] && waits && return
		sleep 0.05
	done
	return 1
}

# Whether the thread that waits for the mutex sleeps.
waits() {
	local tid
	for tid in /proc/"$PID"/task/*; do
		[ "$(cat "$tid/comm")" != waiter ] || ! grep -q '^State:[[:space:]]S' "$tid/status" || return 0
	done
	return 1
}

# is_stopped: whether the whole process is stopped
is_stopped() {
	grep -q '^State:[[:space:]]T' "/proc/$PID/status"
}

teardown() {
	exec 8>&-
	wait
}

count() {
	od -An -tu8 -N8 "$BATS_TEST_TMPDIR/counter" | tr -d ' '
}

# Lines of a trace that are calls, not exits or received signals.
calls_in() {
	grep -hvE '^([0-9]+ +)?(\+\+\+|---)' "$@" || true
}

# Runs a command, which must meet no error of its own: its status is 0; 3 (incomplete) never occurs without --strict.
# The process replaces TARGET, or is appended.
xcore_on_target() {
	local command=$1
	[[ $command == *TARGET* ]] || command+=" TARGET"
	# shellcheck disable=SC2086 # a command is several words
	"${@:2}" "$XCORE" ${command/TARGET/pid:$PID} >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || {
		[[ $command != profile* ]] || ! grep -q 'perf_event' "$BATS_TEST_TMPDIR/err" || return 0 # refused here
		echo "xcore $1 pid:$PID: failed"
		cat "$BATS_TEST_TMPDIR/err"
		return 1
	}
	[ -s "$BATS_TEST_TMPDIR/out" ]
}

# trace_all: every command under strace, once for all tests: the calls of command N are in TRACES/N.
trace_all() {
	TRACES=$BATS_FILE_TMPDIR/traces
	[ ! -d "$TRACES" ] || return 0
	mkdir -p "$TRACES.new" # it is there if an earlier test failed here
	for i in "${!COMMANDS[@]}"; do
		xcore_on_target "${COMMANDS[i]}" strace -f -y -o "$TRACES.new/$i" -e "trace=$FORBIDDEN,$OPENING"
	done
	mv "$TRACES.new" "$TRACES"
}

@test "no live command makes a forbidden call" {
	need_strace
	trace_all
	for i in "${!COMMANDS[@]}"; do
		calls=$(calls_in "$TRACES/$i" | grep -vE "$OPENED|prlimit64\(0, [A-Z_]+, " || true)
		[ -z "$calls" ] || { echo "xcore ${COMMANDS[i]}: $calls"; return 1; }
	done
}

@test "the check above sees a forbidden call" {
	need_strace
	strace -f -y -o "$BATS_TEST_TMPDIR/trace" -e "trace=$FORBIDDEN,$OPENING" sh -c "kill -0 $PID"
	[ -n "$(calls_in "$BATS_TEST_TMPDIR/trace" | grep -vE "$OPENED")" ]
}

@test "no live command opens a file of the process for writing" {
	need_strace
	own=${XDG_CACHE_HOME#"${BATS_RUN_TMPDIR%/*}"}/xcore/ # in TMPDIR, which strace may print differently
	trace_all
	for i in "${!COMMANDS[@]}"; do
		grep -qE "$OPENED" "$TRACES/$i" # its calls are there
		calls=$(calls_in "$TRACES/$i" | grep -E "$OPENED" | grep -E 'O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|creat\(' |
			grep -vE '"/dev/(null|tty)"' | grep -vF "$own" || true) # its own cache
		[ -z "$calls" ] || { echo "xcore ${COMMANDS[i]}: $calls"; return 1; }
	done
}

@test "both fences are up before anything is analysed" {
	need_strace
	xcore_on_target bt strace -f -o "$BATS_TEST_TMPDIR/trace" -e trace=seccomp,prctl,landlock_restrict_self,pread64,preadv
	grep -qE 'seccomp\(SECCOMP_SET_MODE_FILTER.* = 0$' "$BATS_TEST_TMPDIR/trace"
	grep -qE 'landlock_restrict_self\(.* = 0$' "$BATS_TEST_TMPDIR/trace" ||
		grep -q "no landlock" "$BATS_TEST_TMPDIR/out" || "$XCORE" info --stats "pid:$PID" | grep -q "no landlock"
}

@test "the process is never stopped and goes on working" {
	for command in "${COMMANDS[@]}"; do
		before=$(count)
		xcore_on_target "$command"
		for _ in $(seq 100); do # on a busy host it may not have run yet
			[ "$(count)" -gt "$before" ] && break
			sleep 0.02
		done
		[ "$(count)" -gt "$before" ]
		grep -q '^TracerPid:[[:space:]]0$' "/proc/$PID/status"
		if grep -lE '^State:[[:space:]][Tt]' /proc/"$PID"/task/*/status; then return 1; fi
	done
	exec 8>&-
	wait
	grep -qx "stops 0" "$BATS_TEST_TMPDIR/said"
}

@test "the check above sees a stop" {
	kill -STOP "$PID"
	until is_stopped; do
		kill -0 "$PID"
		sleep 0.02
	done
	sleep 0.1
	kill -CONT "$PID"
	while is_stopped; do
		kill -0 "$PID"
		sleep 0.02
	done
	exec 8>&-
	wait
	grep -q "^stops [1-9]" "$BATS_TEST_TMPDIR/said"
}

@test "threads and their states are named" {
	xcore_on_target "threads --format json"
	grep -q '"name":"counter"' "$BATS_TEST_TMPDIR/out"
	grep -qE '"name":"waiter".*blocked in system call 202 \(futex\)' "$BATS_TEST_TMPDIR/out"
}

# strace delays xcore between the open of the process and the next read, long enough for the process to exit.
# bats test_tags=long
@test "a process that ends while it is read is told, and is incomplete" {
	need_strace
	export ASAN_OPTIONS=detect_leaks=0
	strace -qq -f -o "$BATS_TEST_TMPDIR/trace" -e trace=landlock_restrict_self \
		-e inject=landlock_restrict_self:delay_exit=2000000 "$XCORE" bt --strict "pid:$PID" >"$BATS_TEST_TMPDIR/out" 8>&- &
	traced=$!
	for _ in $(seq 100); do
		grep -q landlock_restrict_self "$BATS_TEST_TMPDIR/trace" && break
		kill -0 $traced 2>/dev/null || skip "no Landlock to wait in"
		sleep 0.05
	done
	kill -KILL "$PID"
	status=0
	wait $traced || status=$?
	[ "$status" -eq 3 ]
	grep -q "the process exited" "$BATS_TEST_TMPDIR/out"
}

@test "a process that is not there is one clear line and exit 4" {
	run "$XCORE" bt pid:4194305
	[ "$status" -eq 4 ]
	[[ "$output" == *"xcore: pid:4194305: no such process"* ]]
}
