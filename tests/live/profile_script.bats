#!/usr/bin/env bats
# t:profile: profiles taken by scripts, against programs that measure themselves.
#	XCORE=build/release/xcore bats tests/live/profile_script.bats
# bats file_tags=long

# shellcheck disable=SC2119,SC2120 # `run` passes arguments on

bats_require_minimum_version 1.5.0
load live

setup() {
	find_xcore
	need_perf
}

teardown() {
	finish
}

# script ARGUMENTS...: runs the text of standard input on $STARTED
script() {
	cat >"$BATS_TEST_TMPDIR/script.lua"
	"$XCORE" run --no-plugins "$BATS_TEST_TMPDIR/script.lua" "pid:$STARTED" "$@"
}

@test "a script sees the shares that the program measures, by functions and by stacks" {
	compile shares "$BATS_TEST_TMPDIR/shares" -O2
	begin "$BATS_TEST_TMPDIR/shares"
	script >"$BATS_TEST_TMPDIR/shown" <<-'END'
	local p <const> = xcore.target:profile { seconds = 3.5, hz = 999, stacks = 100000 }
	assert(p.unit == "ns" and p.samples > 0 and p.left_out == 0 and p.waiting == 0, p.account)
	print("samples", p.samples)
	for _, f in ipairs(p.functions) do print("function", f.name, f.total) end
	local total, seen = {}, 0
	for _, stack in ipairs(p.stacks) do
		seen = seen + stack.samples
		local names = {}
		for _, frame in ipairs(stack.frames) do names[frame.name] = true end
		for name in pairs(names) do total[name] = (total[name] or 0) + stack.samples end
	end
	assert(seen == p.samples, seen)
	for name, samples in pairs(total) do print("stacks", name, samples) end
	END
	echo >&8
	wait "$STARTED"
	STARTED=
	python3 - "$BATS_TEST_TMPDIR/shown" "$BATS_TEST_TMPDIR/said" <<-'END'
	import math, sys
	shown = {}
	for line in open(sys.argv[1]):
	    *key, number = line.rstrip("\n").split("\t")
	    shown[tuple(key)] = int(number)
	spent = {w[0]: int(w[1]) for w in map(str.split, open(sys.argv[2])) if len(w) == 2}
	samples, whole = shown[("samples",)], sum(spent.values())
	assert samples > 200 and len(spent) > 3, (samples, spent)
	for name, ns in spent.items():
	    truth = ns / whole
	    bound = max(0.03, 4 * math.sqrt(truth * (1 - truth) / samples))
	    for view in "function", "stacks":
	        share = shown.get((view, name), 0) / samples
	        assert abs(share - truth) <= bound, (view, name, truth, share)
	END
}

@test "waiting: a stack says what it waits for" {
	need_perf kernel
	start bash -c 'echo ready; while :; do sleep 0.05; done'
	run -0 script <<-'END'
	local p <const> = xcore.target:profile { seconds = 1, clock = "off" }
	assert(p.waiting == p.samples and p.waiting > 20, p.account)
	for _, stack in ipairs(p.stacks) do
		if stack.waits_for and not stack.waits_for:find "began before" then print(stack.waits_for) end
	end
	END
	[[ $output == *"waiting for a child process"* ]]
}

@test "one script takes several profiles, each of its own time; frames that stacks share are one table" {
	compile shares "$BATS_TEST_TMPDIR/shares" -O2
	begin "$BATS_TEST_TMPDIR/shares"
	run -0 script <<-'END'
	local t <const>, good = xcore.target, 0
	for _ = 1, 60 do -- on a busy machine a profile has few samples, or one stack only
		local p <const>, same = t:profile { seconds = 0.3, hz = 1999, stacks = 2 }, 0
		assert(p.seconds > 0.2 and #p.stacks <= 2, p.account)
		if p.left_out > 0 then
			for _, a in ipairs(p.stacks[1].frames) do
				for _, b in ipairs(p.stacks[2].frames) do same = same + (a == b and 1 or 0) end
			end
			good = good + (same > 0 and 1 or 0) -- one that is cut has no main
		end
		if good == 3 then break end
	end
	assert(good == 3, good)
	print "done"
	END
	[ "$output" = "done" ]
}

@test "what cannot be is an error: of cores, wrong options, threads that are not there, and in plugins of analyze" {
	start bash -c 'echo ready; exec sleep 1000'
	local text
	for text in "hz = 0" "hz = 'many'" "seconds = -1" "clock = 'lunar'" "event = 'rain'" "event = 'page-faults', clock = 'cpu'"; do
		run -4 script <<<"xcore.target:profile { $text }"
		[[ $output == *must* || $output == *"no event"* || $output == *combined* ]]
	done
	run ! script <<<"xcore.target:profile { thread = 1 }"
	[[ $output == *"no thread 1"* ]]
	mkdir -p "$BATS_TEST_TMPDIR/plugins"
	cat >"$BATS_TEST_TMPDIR/plugins/sampled.lua" <<-'END'
	return {
		name = "sampled", about = "takes a profile", match = { modules = { "*" } },
		analyze = function(t) t:profile() end,
	}
	END
	run "$XCORE" analyze --plugin-path "$BATS_TEST_TMPDIR/plugins" "pid:$STARTED"
	[[ $output == *"by \`xcore run\` and \`xcore shell\` only"* ]]
}

@test "a run that reaches its time ends, and so does what sampled for it" {
	start bash -c 'echo ready; while :; do :; done'
	run ! script --max-time 1 <<<"xcore.target:profile { seconds = 3600 }"
	[[ $output == *max-time* ]]
	for _ in $(seq 500); do
		pgrep -f "^$XCORE run .*pid:$STARTED" >/dev/null || return 0
		sleep 0.02
	done
	pgrep -af "^$XCORE run .*pid:$STARTED"
	false
}
