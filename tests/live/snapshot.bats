#!/usr/bin/env bats
# A core that gdb writes of a process that goes on is no death; one of a process in its crash handler tells of its crash.
#	XCORE=build/release/xcore bats tests/live/snapshot.bats

load live

setup() {
	find_xcore
	command -v gdb >/dev/null || skip "there is no gdb here"
	cat >"$BATS_TEST_TMPDIR/program.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int *volatile null;
volatile int count;
__attribute__((noinline)) void step(void) { count++; }
static void ready(void) { puts("ready"); fflush(stdout); }
static void handler(int s) { ready(); for (;;) pause(); }
/* Generated code that stays where it is, and does not show where it would return to: sub $0x28,%rsp; jmp to itself. */
static __attribute__((noinline)) void generated(void) {
	char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(code, "\x48\x83\xec\x28\xeb\xfe", 6);
	ready();
	for (;;) ((void (*)(void))code)();
}
int main(int argc, char **argv) {
	if (!strcmp(argv[1], "generated")) generated();
	if (!strcmp(argv[1], "crash")) { signal(SIGSEGV, handler); return *null; }
	if (!strcmp(argv[1], "alarm")) { signal(SIGALRM, handler); raise(SIGALRM); }
	if (!strcmp(argv[1], "trap")) __asm__ volatile("int3");
#ifdef __x86_64__
	if (!strcmp(argv[1], "steps")) __asm__ volatile("pushf; orq $0x100, (%rsp); popf; nop; nop");
#endif
	if (!strcmp(argv[1], "busy")) ready();
	while (!strcmp(argv[1], "busy")) step();
	ready();
	for (;;) pause();
}
END
	gcc -g -O0 -o "$BATS_TEST_TMPDIR/program" "$BATS_TEST_TMPDIR/program.c"
	TAKEN=$BATS_TEST_TMPDIR/taken
}

teardown() {
	finish
}

# attach KIND [SIGNAL]: the core of the running program, after it got the signal
attach() {
	finish
	start "$BATS_TEST_TMPDIR/program" "$1"
	[ "$SAID" = ready ]
	if [ -n "${2-}" ]; then kill "-$2" "$STARTED"; fi
	gdb -nx -batch -p "$STARTED" -ex "gcore $TAKEN" >/dev/null 2>&1
	[ -e "$TAKEN" ] || skip "gdb may not trace here"
}

# below_gdb KIND COMMAND...: the core of the program that gdb runs, after these commands
below_gdb() {
	local commands=() each
	for each in "${@:2}"; do commands+=(-ex "$each"); done
	timeout 60 gdb -nx -batch "${commands[@]}" -ex "gcore $TAKEN" --args "$BATS_TEST_TMPDIR/program" "$1" >/dev/null 2>&1
	[ -e "$TAKEN" ] || skip "gdb may not trace here"
}

is_snapshot() {
	run "$XCORE" analyze --no-plugins "$TAKEN"
	echo "$output"
	[ "$status" = 0 ]
	[[ ${output//$'\n'/ } == *"snapshot of a running process, made by gdb"* ]]
	[[ $output != *crashed* && $output != *certain* && $output != *killed* ]]
}

@test "a program that waits, or computes" {
	attach wait
	is_snapshot
	rm "$TAKEN"
	attach busy
	is_snapshot
}

# bats test_tags=long
@test "a program that has stopped" {
	attach wait STOP
	is_snapshot
}

# busy CONFIDENCE FUNCTION: what is said of the thread that computes
busy() {
	"$XCORE" analyze --no-plugins --format json "$TAKEN" | jq -e --arg confidence "$1" --arg function "$2" \
		'.verdict | .class == "busy" and .confidence == $confidence and .function == $function'
}

# bats test_tags=long
@test "where a thread is busy is a guess when a scan of its stack led there" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	attach generated
	is_snapshot
	busy guess generated
	rm "$TAKEN"
	attach busy
	busy likely main || busy likely step
}

@test "a handler of a signal that was sent is no crash" {
	attach alarm
	is_snapshot
}

# bats test_tags=long
@test "gdb's own stops: a breakpoint, a step, a software watchpoint, a system call, the first instruction" {
	below_gdb busy 'break step' run
	is_snapshot
	below_gdb busy 'break step' run next
	is_snapshot
	below_gdb busy 'break step' run stepi
	is_snapshot
	below_gdb busy 'break step' run 'set can-use-hw-watchpoints 0' 'delete 1' 'watch count' continue
	is_snapshot
	below_gdb wait 'catch syscall pause' run
	is_snapshot
	below_gdb wait starti
	is_snapshot
}

# bats test_tags=long
@test "gdb's own stop at a hardware watchpoint" {
	timeout 20 gdb -nx -batch -ex 'break step' -ex run -ex 'delete 1' -ex 'watch count' -ex continue --args "$BATS_TEST_TMPDIR/program" busy \
		>"$BATS_TEST_TMPDIR/said" 2>&1 || skip "the processor's watchpoints do not fire here, or gdb may not trace"
	grep -q '^Hardware watchpoint' "$BATS_TEST_TMPDIR/said" || skip "gdb has no hardware watchpoint here"
	below_gdb busy 'break step' run 'delete 1' 'watch count' continue
	is_snapshot
}

@test "the crash handler tells of the crash" {
	attach crash
	run "$XCORE" analyze --no-plugins "$TAKEN"
	[[ $output == *snapshot* && $output == *null-read* && $output == *main* ]]
}

# bats test_tags=long
@test "a trap of the program's own is one" {
	below_gdb trap run
	run "$XCORE" analyze --no-plugins "$TAKEN"
	[[ $output != *snapshot* && $output == *trap-instruction* ]]
	[ "$(uname -m)" = x86_64 ] || return 0
	below_gdb steps run
	run "$XCORE" analyze --no-plugins "$TAKEN"
	[[ $output != *snapshot* && $output == *"single-stepping without a debugger"* ]]
}
