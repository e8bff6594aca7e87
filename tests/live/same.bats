#!/usr/bin/env bats
# One plugin gives identical output on a stopped process, its core, and the compressed core.
#	XCORE=build/release/xcore bats tests/live/same.bats

load live

setup_file() {
	command -v gdb >/dev/null || skip "gdb, which takes the core, is not installed"
	find_xcore
	local dir=$BATS_FILE_TMPDIR said
	compile same "$dir/same"
	"$dir/same" >"$dir/said" 3>&- &
	echo $! >"$dir/pid"
	disown # so that the shell does not report its end
	until [ -s "$dir/said" ] && read -r said <"$dir/said"; do sleep 0.02; done
	[ "$said" = here ]
	kill -STOP "$(cat "$dir/pid")"
	gdb -nx -q --batch -p "$(cat "$dir/pid")" -ex "gcore $dir/core" >"$dir/gdb.log" 2>&1
	zstd -q "$dir/core" -o "$dir/core.zst"
}

teardown_file() {
	[ ! -e "$BATS_FILE_TMPDIR/pid" ] || kill -KILL "$(cat "$BATS_FILE_TMPDIR/pid")"
}

setup() {
	find_xcore
	cd "$BATS_FILE_TMPDIR" || return
}

# same COMMAND…: runs it on all three targets, inserted before the options.
same() {
	local target
	for target in core core.zst "pid:$(cat pid)"; do
		"$XCORE" "$@" "$target" --plugin-path "$BATS_TEST_DIRNAME/plugins" >"answer.${target%:*}" 2>errors || { cat errors; return 1; }
	done
	cmp answer.core answer.core.zst && diff answer.core answer.pid
}

@test "values, lists, histograms" {
	same run same.memory --format json
	jq -e '.sections[0].fields.followed == 1000 and .sections[0].tables.nodes != [] and (.output | length) == 4' answer.core
	same run same.memory
}

@test "searches" {
	same run same.finds --format json
	jq -e '[.sections[0].texts | .. | strings] | length > 0' answer.core
	same run same.finds
}

@test "modules, mappings, threads" {
	same run same.facts --format json
	grep -q wait_here answer.core
	grep -q '0x18: not mapped\|0x18 is not mapped' answer.core
	same run same.facts
}

@test "flame graphs" {
	same flame same.colors --as folded
	grep -q '^GREEN;0 ' answer.core
}

@test "a script of its own" {
	same run -e 'local n = 0 for _, m in ipairs(t:modules()) do n = n + m.hi - m.lo end print(n, xcore.fmt(t:var "head"))' --format json
}
