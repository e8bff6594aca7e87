#!/usr/bin/env bats
# Apparent damage in the heap of a running process may be a change in progress: only persistent damage counts.
#	XCORE=build/release/xcore bats tests/live/damage.bats

bats_require_minimum_version 1.5.0
load live

setup() {
	find_xcore
	compile smashed "$BATS_TEST_TMPDIR/smashed" -O0
}

teardown() {
	finish
}

@test "damage that stays is found by every look" {
	start "$BATS_TEST_TMPDIR/smashed" stay
	"$XCORE" heap check "pid:$STARTED" --format json >"$BATS_TEST_TMPDIR/check.json"
	jq -e '.sections[0].fields | .damaged and .looks == 3 and .passing == 0' "$BATS_TEST_TMPDIR/check.json"
	jq -e '.sections[0].messages | any(.text | test("each of 3 passes found this damage"))' "$BATS_TEST_TMPDIR/check.json"
	[ $((SAID - 16)) -eq $(($(jq -r '.sections[0].fields.at' "$BATS_TEST_TMPDIR/check.json"))) ]
}

@test "what comes and goes is no damage to any look, and is told" {
	start "$BATS_TEST_TMPDIR/smashed" pass
	for _ in $(seq 10); do
		"$XCORE" heap check "pid:$STARTED" --format json >"$BATS_TEST_TMPDIR/check.json"
		jq -e '.sections[0] | (.fields | (.damaged | not) and .looks > 1 and .passing > 0) and
			(.messages | any(.text | test("changes in progress")))' "$BATS_TEST_TMPDIR/check.json"
		run -0 "$XCORE" heap summary "pid:$STARTED"
		[[ "$output" != *"is damaged"* ]]
	done
}
