# hung.bash: shared helpers of the tests of hung processes. `load live; load hung`.

setup() {
	find_xcore
	DEATHS=$BATS_TEST_DIRNAME/../../corpora/deaths
}

teardown() {
	finish
}

# watch COMMAND...: start it as the target
watch() {
	start "$@"
	TARGET=pid:$STARTED
}

# hang COMPILER LEVEL PROGRAM DEATH [COMMAND...]: run it, below the command, until it hangs
hang() {
	local flags
	flags=$(sed -n 's/.*flags: \([^*]*\).*/\1/p' "$DEATHS/$3" | head -n 1)
	# shellcheck disable=SC2086
	"$1" "$2" -g $flags -o "$BATS_TEST_TMPDIR/program" "$DEATHS/$3" -lpthread
	# shellcheck disable=SC2016
	watch "${@:5}" sh -c 'exec "$0" "$1" 2>&1' "$BATS_TEST_TMPDIR/program" "$4"
	[ "$SAID" = ready ]
}

# take_core: write a core of the process, as seen from this namespace; the core becomes the target
take_core() {
	command -v gcore >/dev/null || skip "there is no gcore here"
	gcore -o "$BATS_TEST_TMPDIR/core" "$PROGRAM" >/dev/null 2>&1 || skip "gdb may not trace here"
	TARGET=$BATS_TEST_TMPDIR/core.$PROGRAM
}

# verdict FIELD...: fields of the target's verdict, one per line
verdict() {
	"$XCORE" analyze --no-plugins --format json "$TARGET" >"$BATS_TEST_TMPDIR/report.json"
	python3 - "$BATS_TEST_TMPDIR/report.json" "$@" <<'END'
import json, sys
verdict = json.load(open(sys.argv[1])).get("verdict") or {}
print(*[verdict.get(name) for name in sys.argv[2:]], sep="\n")
END
}

# expect CLASS KIND CONFIDENCE FUNCTION...: retries, because a thread that just woke may be seen in transit
expect() {
	local got function
	for _ in $(seq 20); do
		got=$(verdict class kind confidence function | tr '\n' ' ')
		for function in "${@:4}"; do
			[ "$got" = "$1 $2 $3 $function " ] && return
		done
		sleep 0.05
	done
	echo "the verdict is: $got" >&2
	return 1
}
