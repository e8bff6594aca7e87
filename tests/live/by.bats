#!/usr/bin/env bats
# `xcore profile --by`: samples told apart by thread, processor and what plugins tell, against programs that measure themselves.
#	XCORE=build/release/xcore bats tests/live/by.bats

bats_require_minimum_version 1.5.0
load live

setup() {
	PROGRAMS=$(realpath "$BATS_TEST_DIRNAME/by")
	find_xcore
	need_perf
}

teardown() {
	finish
}

# kinds KINDS...: starts the program, and makes a plugin that tells what it serves
kinds() {
	${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -g -o "$BATS_TEST_TMPDIR/kinds" "$PROGRAMS/kinds.c"
	begin "$BATS_TEST_TMPDIR/kinds" "$@"
	mkdir -p "$BATS_TEST_TMPDIR/plugins"
	plugin 'local r = frame:var "r" return r and xcore.str(r.kind), "sample"' # on the stack, and words of the command line
}

# Ends the program, which says what it has measured.
account() {
	echo >&8
	wait "$STARTED"
	STARTED=
}

# plugin BODY: of the function that tells the value
plugin() {
	cat >"$BATS_TEST_TMPDIR/plugins/mine.lua" <<-LUA
	local xcore = require "xcore"
	return { name = "mine", about = "a test", match = { modules = { "kinds" } }, samples = function(t, samples)
		samples:dimension("size", function() return "large" end)
		if samples:dimension("kind", function(frame, sample) $1 end) then
			local serve = t:symbol "serve"
			samples:watch(serve.addr, serve.addr + serve.size - 1)
		end
	end }
	LUA
}

# profile OPTIONS...: of $STARTED, with that plugin
profile() {
	"$XCORE" profile --plugin-path "$BATS_TEST_TMPDIR/plugins" "$@" "pid:$STARTED"
}

# values FILE: the table of values, "VALUE SAMPLES"
values() {
	jq -r '.sections[] | select(.key == "values").tables.values[] | "\(.value) \(.samples)"' "$1"
}

@test "a plugin tells the values of its dimension: they have the shares that the program measures" {
	kinds one two three
	profile --hz 999 --for 3s --by mine.kind -o all.xprof
	account
	"$XCORE" profile all.xprof --by mine.kind --top 1000 --format json >profile.json
	python3 "$PROGRAMS/check.py" profile.json said
	# The file keeps the values beside the stacks; where it is asked for them, they are the roots.
	"$XCORE" profile all.xprof --as folded >plain
	"$XCORE" profile all.xprof --by mine.kind --as folded >rooted
	"$XCORE" profile all.xprof --by thread --as folded >threads
	head -n 3 plain rooted threads
	grep -q 'main;serve;burn ' plain
	run ! grep -qE '^(one|two|three|\(none\)|\(not read\))[; ]' plain
	grep -q '^two;.*main;serve;burn ' rooted
	grep -q '^(none);.*main;burn ' rooted
	run ! grep -qvE '^(one|two|three|\(none\)|\(not read\))[; ]' rooted
	run ! grep -qv '^kinds [0-9]*;' threads
	[ "$(awk '{ n += $NF } END { print n }' plain)" = "$(awk '{ n += $NF } END { print n }' rooted)" ]
	awk -F'[;]' '{ sub(/.* /, "", $NF); n[$1] += $NF } END { for (v in n) print v, n[v] }' rooted | sort >a
	values profile.json | sort >b
	diff a b
}

@test "what cannot be read is not guessed, a plugin that fails is told, and more values than are kept are others" {
	kinds $(seq -f 'kind%g' 300)
	plugin 'return false'
	profile --for 1s --by mine.kind --format json >profile.json
	values profile.json | grep -q '^(not read) [1-9]'
	run ! grep -q large profile.json
	plugin 'error "no"'
	profile --for 1s --by mine.kind >out 2>&1
	cat out
	grep -q '(not read)' out
	grep -q 'plugin mine' out
	plugin 'return "later", 4e9' # it began after the sample
	profile --for 1s --by mine.kind --format json >profile.json
	run ! grep -q '"later"' profile.json
	plugin 'while true do end'
	profile --for 2s --by mine.kind >out 2>&1
	grep -q 'it was not asked any more' out
	plugin 'return xcore.str(frame:var "r".kind), "sample"'
	profile --hz 999 --for 3s --by mine.kind --top 1000 --format json >profile.json
	values profile.json >found
	grep -q '^(others) ' found
	[ "$(grep -c '^kind' found)" = 200 ]
}

@test "a dimension that there is not is refused, with those that there are" {
	kinds one
	local by
	for by in mine.colour nobody.kind colour; do
		run -2 profile --for 1s --by "$by"
		echo "$output"
		[[ $output == *"$by"* ]]
	done
	run -2 profile --for 1s --by mine.colour
	[[ $output == *mine.size*mine.kind* ]]
	profile --for 200ms -o plain.xprof
	run -2 "$XCORE" profile plain.xprof --by mine.kind
	[[ $output == *"no values of it"* ]]
}

@test "by processor: the shares are those of the processors that the program was put on" {
	[ "$(nproc)" -gt 1 ] || skip "one processor"
	local cpus
	cpus=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
	kinds one
	taskset -pc "$cpus" "$STARTED" >/dev/null
	"$XCORE" profile --for 1s --by cpu --no-plugins --format json "pid:$STARTED" >profile.json
	values profile.json
	values profile.json | grep -q "^cpu $cpus "
	[ "$(values profile.json | wc -l)" = 1 ]
}
