#!/usr/bin/env bats
# Scripts on running processes: their child process runs behind the same fences, ends in time, and reports if the
# process exits.
#	XCORE=build/release/xcore bats tests/live/answer.bats

load live

setup() {
	find_xcore
	start sh -c 'echo here; exec sleep 100'
}

teardown() {
	finish
}

@test "a script answers, and --stats tells what its child read" {
	"$XCORE" run -e 'print(#t:read(t:maps()[1].lo, 16))' "pid:$STARTED" --format json --stats >"$BATS_TEST_TMPDIR/answer.json"
	jq -e '.output == ["16"] and .run.bytes_read > 0 and .run.tables.scripts[0].name == "-e"' "$BATS_TEST_TMPDIR/answer.json"
}

# bats test_tags=long
@test "it is ended in time although nobody may send it a signal" {
	run timeout 20 "$XCORE" run --max-time 1 -e 'while true do end' "pid:$STARTED"
	[ "$status" -eq 4 ]
	[[ $output == *"more than 1 s (raise it with --max-time)"* ]]
}

@test "that the process went away is told, with what was answered" {
	mkfifo "$BATS_TEST_TMPDIR/lines"
	timeout 100 "$XCORE" run -e 'local at, c = t:maps()[1].lo, xcore.clock()
		local function look() xcore.refresh() return t:read(at, 16) end
		print "looking"
		while xcore.clock() - c < 50 and pcall(look) do end
		print "done"' "pid:$STARTED" >"$BATS_TEST_TMPDIR/lines" 2>"$BATS_TEST_TMPDIR/errors" &
	local looker=$! status=0 line
	exec 5<"$BATS_TEST_TMPDIR/lines"
	read -r line <&5
	[ "$line" = looking ]
	finish
	read -r line <&5
	[ "$line" = "done" ]
	exec 5<&-
	wait "$looker" || status=$?
	[ "$status" -eq 4 ]
	grep -q 'the process exited or executed another program while -e read it' "$BATS_TEST_TMPDIR/errors"
}
