#!/usr/bin/env bats
# Processes that exit, exec or unmap during reading: a clear message or an answer, never a crash.
#	XCORE=build/release/xcore bats tests/live/endings.bats

load live

READ_ALL='
	local read, lost = 0, 0
	for round = 1, 3 do
		for _, m in ipairs(xcore.target:maps()) do
			for at = m.lo, m.hi, 1 << 16 do
				local ok, e = pcall(xcore.target.read, xcore.target, at, math.min(1 << 16, m.hi - at + 1))
				if ok then read = read + 1 else assert(e.kind == "fault", tostring(e)) lost = lost + 1 end
			end
		end
		xcore.refresh()
	end
	print(read > 0, lost)'

setup() {
	find_xcore
	compile restless "$BATS_TEST_TMPDIR/restless" -O1
}

teardown() {
	finish
}

# Runs a command on process $SAID while that process changes. The command must print an answer, or one line that names
# the event.
survives() {
	run timeout 30 "$XCORE" "$@"
	case $status in
	0) ;;
	4) [[ "$output" =~ (no such process|has (just )?exited|exited or executed another program) ]] ;;
	*) false ;;
	esac || {
		echo "xcore $*: exit $status"
		echo "$output"
		return 1
	}
}

commands_survive() {
	survives bt --thread all --full "pid:$SAID"
	survives analyze "pid:$SAID"
	survives print "pid:$SAID" "restless_memory"
	survives run --max-read-time 0 -e "$READ_ALL" "pid:$SAID"
}

@test "a process that ends meanwhile" {
	for i in $(seq 40); do
		start "$BATS_TEST_TMPDIR/restless" exit $((i * 500))
		case $((i % 4)) in
		0) survives bt --thread all --full "pid:$SAID" ;;
		1) survives analyze "pid:$SAID" ;;
		2) survives print "pid:$SAID" "restless_memory" ;;
		3) survives run --max-read-time 0 -e "$READ_ALL" "pid:$SAID" ;;
		esac
		wait "$STARTED" || true
	done
	STARTED=
}

# bats test_tags=long
@test "a process that becomes another program again and again" {
	for pause in 300 1000 3000 10000; do
		start "$BATS_TEST_TMPDIR/restless" exec "$pause"
		for _ in 1 2 3; do
			commands_survive
		done
		finish
	done
}

# bats test_tags=long
@test "a process that maps and unmaps, and whose threads come and go" {
	start "$BATS_TEST_TMPDIR/restless" unmap 0
	for _ in $(seq 5); do
		commands_survive
		[ "$status" -eq 0 ] # it continues, so there is an answer
	done
}
