# live.bash: shared helpers of the live suites. `load live`.

# XCORE as an absolute path; what the test writes is in its private directory, caches in the one of the file of tests.
find_xcore() {
	XCORE=${XCORE:-build/release/xcore}
	[ -x "$XCORE" ] || { echo "no $XCORE: build it or set XCORE" >&2; return 1; }
	XCORE=$(realpath "$XCORE")
	export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
	cd "$BATS_TEST_TMPDIR" || return 1
}

# compile NAME OUTPUT [FLAGS...]: tests/live/NAME.c
compile() {
	${CC:-cc} -std=c11 -D_GNU_SOURCE -g -pthread "${@:3}" -o "$2" "$BATS_TEST_DIRNAME/$1.c"
}

# start COMMAND...: in the background; returns once it has printed a line, which is in $SAID. Its pid is $STARTED.
start() {
	: >"$BATS_TEST_TMPDIR/said" # exists before it is read, even if the other process starts late
	"$@" >"$BATS_TEST_TMPDIR/said" 3>&- &
	STARTED=$!
	for _ in $(seq 3000); do
		SAID=$(head -n 1 "$BATS_TEST_TMPDIR/said")
		[ -n "$SAID" ] && return
		kill -0 "$STARTED" 2>/dev/null || [ -s "$BATS_TEST_TMPDIR/said" ] || break
		sleep 0.02
	done
	echo "$*: said nothing" >&2
	return 1
}

# Kills the process that start started.
finish() {
	[ -z "${STARTED:-}" ] || { kill -KILL "$STARTED" 2>/dev/null; wait "$STARTED" 2>/dev/null; } || true
	STARTED=
}

need_strace() {
	command -v strace >/dev/null || skip "strace is not installed"
	strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
}

# need_perf [kernel]: perf events, in the kernel too
need_perf() {
	local how known=${BATS_FILE_TMPDIR:?}/perf # asked once in a file of tests
	if ! how=$(cat "$known" 2>/dev/null); then
		how=$("$XCORE" profile --for 10ms --format json --no-plugins "pid:$$" 2>&1) || skip "$(head -n 1 <<<"$how")"
		echo "$how" >"$known"
	fi
	[[ $how == *"perf events of the kernel"* ]] || skip "the kernel refuses perf events"
	[[ -z ${1:-} || $how == *"in the kernel too"* ]] || skip "the kernel shows no events in the kernel"
}

# begin PROGRAM: with an input that stays open until it is written to
begin() {
	rm -f "$BATS_TEST_TMPDIR/end"
	mkfifo "$BATS_TEST_TMPDIR/end"
	exec 8<>"$BATS_TEST_TMPDIR/end"
	# shellcheck disable=SC2016 # of the inner shell; a process in the background has no input of its own
	start bash -c 'exec "$@" <&8' _ "$@"
}

# busy_until_told HOW: a shell that computes until there is a line of input, and then does HOW
busy_until_told() {
	# shellcheck disable=SC2016 # of the inner shell
	begin bash -c 'echo ready; until read -t 0; do :; done; eval "$1"' _ "$1"
}

# catches_term PID: does the process handle SIGTERM?
catches_term() {
	local caught
	caught=$(sed -n 's/^SigCgt:[[:space:]]*/0x/p' "/proc/$1/status") && (((caught & 1 << 14) != 0))
}
