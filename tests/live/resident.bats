#!/usr/bin/env bats
# Compares t:resident of a running process with the kernel's smaps.
#	XCORE=build/release/xcore bats tests/live/resident.bats

load live

setup() {
	find_xcore
	compile tls "$BATS_TEST_TMPDIR/tls" -O1
	start "$BATS_TEST_TMPDIR/tls"
}

teardown() {
	finish
}

# "LO BYTES" of each mapping of the program. The kernel counts its own pages (vdso, vvar) for no process.
kernel_says() {
	awk '/^[0-9a-f]+-[0-9a-f]+ / { lent = /\[v/; split($1, ends, "-") }
		/^Rss:/ && !lent { print ends[1], $2 * 1024 }' "/proc/$STARTED/smaps" | sort
}

xcore_says() {
	"$XCORE" run -e 'local t = xcore.target for _, m in ipairs(t:maps()) do
		if not (m.label or ""):find "^%[v" then print(("%08x %d"):format(m.lo, t:resident(m.lo, m.hi - m.lo + 1))) end end' "pid:$STARTED" | sort
}

@test "resident bytes of each mapping are those of smaps" {
	diff <(kernel_says) <(xcore_says)
	[ "$(kernel_says | wc -l)" -gt 10 ]
	[ "$(kernel_says | awk '$2 > 0' | wc -l)" -gt 5 ]
}

@test "parts of pages are counted as such, and a core does not tell" {
	"$XCORE" run -e 'local t, sp = xcore.target, xcore.target:thread():registers().rsp or xcore.target:thread():registers().sp
		assert(t:resident(sp, 1) == 1 and t:resident(sp & ~4095, 4096) == 4096 and t:resident(sp, 0) == 0)
		assert(t:resident((sp & ~4095) + 100, 50) == 50)
		assert(not pcall(t.resident, t, 0, 1 << 41) and not pcall(t.resident, t, -1, 2))
		assert(not t:resident(-1, 1))' "pid:$STARTED"
	"$(dirname "$XCORE")/../../corpora/take-core" --out "$BATS_TEST_TMPDIR/core" -- bash -c 'kill -SEGV $$' >/dev/null
	[ "$("$XCORE" run -e '= xcore.target:resident(xcore.target:maps()[1].lo, 4096)' "$BATS_TEST_TMPDIR/core")" = nil ]
}
