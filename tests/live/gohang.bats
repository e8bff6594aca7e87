#!/usr/bin/env bats
# Go programs that hang although their runtime does not notice (corpora/deaths/gohang.go), alive and in cores.
#	XCORE=build/release/xcore bats tests/live/gohang.bats
# bats file_tags=long

load live

setup_file() {
	command -v go >/dev/null || skip "there is no go here"
	export GOCACHE=${GOCACHE:-$BATS_FILE_TMPDIR/cache}
	cp "$BATS_TEST_DIRNAME/../../corpora/deaths/gohang.go" "$BATS_FILE_TMPDIR"
	export GO111MODULE=off
	go build -o "$BATS_FILE_TMPDIR/fast" "$BATS_FILE_TMPDIR/gohang.go"
	go build -gcflags='-N -l' -o "$BATS_FILE_TMPDIR/plain" "$BATS_FILE_TMPDIR/gohang.go"
}

setup() {
	find_xcore
}

teardown() {
	finish
}

# hang BUILD HOW: run it until it hangs, or rests
hang() {
	start "$BATS_FILE_TMPDIR/$1" "$2"
	[ "$SAID" = ready ]
	TARGET=pid:$STARTED
}

# line_of TEXT: the number of the first line of the program that has it
line_of() {
	grep -nF -m 1 -- "$1" "$BATS_FILE_TMPDIR/gohang.go" | cut -d: -f1
}

verdict() {
	"$XCORE" analyze --no-plugins --format json "$TARGET" >"$BATS_TEST_TMPDIR/report.json"
	python3 - "$BATS_TEST_TMPDIR/report.json" <<'END'
import json, sys
v = json.load(open(sys.argv[1])).get("verdict") or {}
print(*[v.get(name) for name in ("class", "kind", "confidence", "function", "tid")])
print(v.get("headline"), v.get("cause"), *(v.get("evidence") or []), sep="\n")
END
}

# expect CLASS CONFIDENCE FUNCTION TEXT...: retried, because a goroutine that just woke may be seen in transit
expect() {
	local got text missing
	for _ in $(seq 20); do
		got=$(verdict)
		missing=
		for text in "${@:4}"; do
			[[ "$got" == *$text* ]] || missing=$text
		done
		[[ -z "$missing" && "$got" == "$1 goroutines $2 $3 None"* ]] && return
		sleep 0.05
	done
	echo "$got" >&2
	return 1
}

# told HOW CLASS CONFIDENCE FUNCTION TEXT...: of both builds
told() {
	local build
	for build in fast plain; do
		hang "$build" "$1"
		expect "${@:2}"
		finish
	done
}

@test "mutexes in two orders: who waits for whom" {
	told order deadlock likely main.transfer '2 goroutines wait for each other' '`to.lock` (0x' 'likely held by goroutine * which has it as `from.lock`' 'sync.WaitGroup, whose counter is 2'
}

@test "a mutex and a reader-writer lock of its own" {
	told self deadlock likely 'main.(*account).total' 'likely it holds it itself: a caller has it as `a.lock`'
	told upgrade deadlock likely 'main.(*registry).add' 'a sync.RWMutex to write' 'likely it holds it itself'
}

@test "a reader that reads again, behind a writer" {
	local held='likely it holds it itself: a caller has it as `r.lock` in main.(*registry).twice, gohang.go:'
	told readers deadlock likely 'main.(*registry).count' '3 goroutines likely hold a sync.RWMutex to read, and want' \
		'behind a writer' "$held$(line_of 'return r.count')" 'which 3 readers have,' 'behind another writer, in main.(*registry).add'
	told reader deadlock likely 'main.(*registry).count' 'waits for a mutex that it likely holds itself' "$held" 'which 1 reader has,'
}

@test "who yields with a mutex, not who waits for it: at the line of its call" {
	told yields hang guess 'main.(*account).grow' '1 goroutine waits for a mutex that goroutine * likely holds' \
		"yields with runtime.Gosched(), in main.(*account).grow, gohang.go:$(line_of '// yields')"
}

@test "of an optimized function only a deferred Unlock() has the mutex" {
	told tell deadlock likely 'main.(*registry).tell' "likely held by goroutine * which has *main.(*registry).tell, gohang.go:$(line_of 'items <- len')" 'sends to a channel'
	told once deadlock likely 'main.(*settings).get' 'likely it holds it itself: a caller has *sync.(*Once).doSlow'
	told callback deadlock likely 'main.(*registry).each' '2 goroutines wait for each other' 'likely held by goroutine * which has *main.(*account).flush' 'likely held by goroutine * which has *main.(*registry).each'
	told changes deadlock guess 'main.(*account).await' 'waits for a sync.Cond' 'waits for a sync.WaitGroup'
}

@test "what others do not do: a WaitGroup, a condition, channels" {
	told group deadlock guess main.wait 'no goroutine runs, 1 waits for others' 'whose counter is 2' 'waits for a timer in main.heartbeat'
	told condition deadlock guess "main.(*account).await" 'waits for a sync.Cond'
	told send deadlock likely main.produce 'sends to a channel without a buffer, `items` (0x' "likely waits for good: no goroutine that goes on leads to what it waits for" 'no goroutine that could receive from it has the channel'
	told full deadlock likely main.produce 'buffer of 4 is full' 'so does 1 more' 'likely for good'
	told receive deadlock guess main.consume 'receives from a channel, `items`' 'likely for good: no goroutine that could send to it, or close it, has the channel'
	told nil deadlock guess main.consume 'nil chan'
	told select deadlock guess main.choose 'selects among 2 channels'
}

@test "a lock that nobody has: an early return, a panic, a reader" {
	local missing="is locked, and no goroutine's stack shows its holder: perhaps it was never unlocked"
	told returned deadlock likely 'main.(*registry).put' "\`r.lock\` at 0x*$missing"
	told recovered deadlock likely 'main.(*account).report' "\`a.lock\` at 0x*$missing"
	told read deadlock likely 'main.(*registry).add' "\`r.lock\` at 0x*$missing"
	for how in order self tell callback; do
		hang fast "$how"
		[[ "$(verdict)" == "deadlock goroutines "* ]]
		[[ "$(verdict)" != *"never unlocked"* ]]
		finish
	done
}

@test "a mutex whose holder runs: it is named where its stack was sampled, else nobody is" {
	hang fast spin
	if "$XCORE" bt --thread all "$TARGET" | grep -q 'sampled while it ran'; then
		expect hang guess main.spin '1 goroutine waits for a mutex' 'which has it as `a.lock` in main.(*account).work' \
			'goroutine * runs in main.spin'
	else
		expect hang guess 'main.(*account).total' '1 goroutine waits for a mutex' 'goroutine * runs'
		[[ "$(verdict)" != *"held by"* ]]
	fi
	[[ "$(verdict)" != *"it holds it"* ]]
}

@test "programs that are well get no verdict" {
	for how in serves signal naps busy; do
		hang fast "$how"
		got="$how $(verdict)"
		# The busy one's loop never ends, which its code may have told.
		[[ "$got" == "$how None None None"* || "$got" == "busy busy None likely main.spin "* || "$got" == "busy hang no progress guess main.spin "* ]]
		finish
	done
}

@test "a core that was asked for says what waits" {
	local how
	cd "$BATS_TEST_TMPDIR"
	for how in order group returned serves; do
		rm -f core*
		(ulimit -c unlimited && GOTRACEBACK=crash timeout -s QUIT 1 "$BATS_FILE_TMPDIR/fast" "$how" >/dev/null 2>&1) || true
		TARGET=$(find . -name 'core*' | head -n 1)
		[ -n "$TARGET" ] || skip "the kernel writes no core here"
		case $how in
		order) expect deadlock likely main.transfer '2 goroutines wait for each other' ;;
		group) [[ "$(verdict)" == "dump-request "*"SIGQUIT: a core was asked for"*"perhaps it hung: "*"whose counter is 2"* ]] ;;
		returned) expect deadlock likely 'main.(*registry).put' 'SIGQUIT: a core was asked for' 'never unlocked' ;;
		serves) [[ "$(verdict)" == "dump-request "* && "$(verdict)" != *"perhaps"* ]] ;;
		esac
	done
}

# asleep HOW FUNCTION TEXT...: the core of a program whose runtime notices that all sleep
asleep() {
	local got text
	TARGET=$BATS_TEST_TMPDIR/core
	rm -f "$TARGET"
	GOTRACEBACK=crash "$BATS_TEST_DIRNAME/../../corpora/take-core" --out "$TARGET" -- "$BATS_TEST_TMPDIR/asleep" "$1" >/dev/null 2>&1 ||
		skip "no core"
	got=$(verdict)
	[[ "$got" == "deadlock goroutines certain $2 "* ]] || { echo "$got" >&2; return 1; }
	for text in "${@:3}"; do
		[[ "$got" == *$text* ]] || { echo "$got" >&2; return 1; }
	done
}

@test "all sleep: who could have woken others comes first, and equal ones are counted" {
	cat >"$BATS_TEST_TMPDIR/asleep.go" <<'END'
package main

import (
	"os"
	"sync"
)

var sink int
var mutex sync.Mutex
var cond = sync.NewCond(&mutex)

//go:noinline
func take(c chan int) {
	for i := range c {
		sink += i
	}
}

//go:noinline
func give(c chan int) { c <- 1; sink++ }

//go:noinline
func closer(g *sync.WaitGroup, c chan int) { g.Wait(); close(c) }

//go:noinline
func signalled() { mutex.Lock(); cond.Wait(); mutex.Unlock() }

func main() {
	var g sync.WaitGroup
	c, other := make(chan int), make(chan int)
	for i := 0; i < 7; i++ {
		go take(c)
	}
	switch os.Args[1] {
	case "group":
		g.Add(2)
		go closer(&g, c)
	case "send":
		for i := 0; i < 3; i++ {
			go give(other)
		}
	case "condition":
		go signalled()
	}
	take(c)
}
END
	go build -o "$BATS_TEST_TMPDIR/asleep" "$BATS_TEST_TMPDIR/asleep.go"
	asleep group main.closer 'for a sync.WaitGroup, whose counter is 2, in main.closer, asleep.go:*goroutine 1, main' 'so do 7 more'
	asleep send main.give 'waits (chan send) in main.give, asleep.go:20; so do 2 more*goroutine 1, main' 'so do 7 more'
	asleep condition main.signalled 'waits (sync.Cond.Wait) in main.signalled*goroutine 1, main' 'so do 7 more'
	asleep receive main.take 'goroutine 1, main*waits (chan receive) in main.take' 'so do 7 more'
}

@test "the stacks of goroutines that no thread runs" {
	hang fast readers
	expect deadlock likely 'main.(*registry).count' '3 goroutines'
	"$XCORE" bt --no-plugins --coroutines --format json "$TARGET" >"$BATS_TEST_TMPDIR/bt.json"
	python3 - "$BATS_TEST_TMPDIR/bt.json" <<'END'
import json, sys
stacks = json.load(open(sys.argv[1]))["coroutines"]
waits = [s for s in stacks if any(f["function"] == "main.(*registry).twice" for f in s["frames"])]
assert len(waits) == 3, stacks
assert {s["state"] for s in waits} == {"waits for a sync.RWMutex to read, behind a writer"}
assert all(s["name"].startswith("goroutine ") and s["frames"][-1]["function"] == "runtime.goexit" for s in waits)
main, = [s for s in stacks if s["name"] == "goroutine 1"]
assert main["state"] == "waits for a sync.WaitGroup, whose counter is 3"
END
	"$XCORE" analyze --no-plugins "$TARGET" >"$BATS_TEST_TMPDIR/text"
	grep -q '^3 × goroutine [0-9]*, waits for a sync.RWMutex to read, behind a writer   and ' "$BATS_TEST_TMPDIR/text"
	"$XCORE" bt --no-plugins "$TARGET" | grep -q 'goroutines are on no thread'
}
