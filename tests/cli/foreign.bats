#!/usr/bin/env bats
# Cores of other machines, created now: guest cores of qemu, and i386 cores that this kernel writes.
bats_require_minimum_version 1.5.0

load helper

# A program with a known state: two calls with arguments, locals, thread-local storage; then it dies as its argument
# says.
setup_file() {
  cat >"$BATS_FILE_TMPDIR/story.c" <<'C'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
struct point { int x, y; double d; const char *name; };
__thread int counter = 40;
__attribute__((noipa)) static int leaf(int *p, int depth) { return *p + depth; }
__attribute__((noipa)) static int inner(struct point *p, const char *how, int depth)
{
	int local = depth * 3;
	int (*volatile bad)(int) = NULL;
	counter += 2;
	if (!strcmp(how, "call"))
		return bad(local) + 1;
	if (!strcmp(how, "abort"))
		abort();
	return leaf((int *)(long)p->x, local) + local + counter;
}
__attribute__((noipa)) static int middle(int a, double b, long long c, const char *how)
{
	struct point here = {a, (int)c, b, how};
	int got = inner(&here, how, 4);
	return got + here.y;
}
static void handler(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info, (void)context;
	abort();
}
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "leaf";
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	if (!strcmp(how, "handler"))
		sigaction(SIGSEGV, &action, NULL);
	return middle(0, 2.25, 0x1122334455667788LL, how);
}
C
}

# need MACHINE TRIPLE FLAGS…: compile the program for MACHINE as ./story.
need() {
  machine=$1 triple=$2
  shift 2
  compiler=$([ "$machine" = i386 ] && echo gcc || echo "$triple-gcc")
  { command -v "$compiler" && { [ "$machine" = i386 ] || command -v "qemu-$machine"; }; } >/dev/null ||
    skip "no compiler or qemu for $machine"
  "$compiler" -g -D_GNU_SOURCE "$@" -o story "$BATS_FILE_TMPDIR/story.c" || skip "cannot compile for $machine"
}

# take HOW: write its core to ./core.
take() {
  if [ "$machine" = i386 ]; then
    CORE_BY=$("$repo/corpora/take-core" --out core -- ./story "$1") || skip 'no core can be taken here'
  else
    "$repo/corpora/take-guest-core" --machine "$machine" --sysroot "/usr/$triple" --out core -- ./story "$1" >/dev/null
  fi
}

xcore() {
  local command=$1 options=(--exe story)
  shift
  [ "$machine" = i386 ] || options+=(--sysroot "/usr/$triple")
  "$XCORE" "$command" core "${options[@]}" "$@"
}

# The functions of the crashed stack, without libc's, in one line.
functions() {
  xcore bt --format json | jq -r '[.threads[0].frames[] | if .signal then "<signal>" else .function // "?" end |
    select(test("^(leaf|inner|middle|main|handler|crash|<signal>)$"))] | join(" ")'
}

# For each way to die, or each that is named, the stack is complete from the crash to main.
check_stacks() {
  local how
  for how in ${*:-leaf call abort handler}; do
    take "$how"
    case $how in
    leaf) [ "$(functions)" = 'leaf inner middle main' ] ;;
    call | abort) [ "$(functions)" = 'inner middle main' ] ;;
    handler) [ "$(functions)" = 'handler <signal> leaf inner middle main' ] ;;
    esac
  done
}

check_values() { # of the core of `leaf`
  xcore bt --full >answer
  grep -q 'p=0x0, depth=12' answer
  grep -q 'a=0, b=2.25, c=1234605616436508552' answer
  grep -Eq 'local +int +12' answer
  grep -Eq 'here +struct point +\{x = 0, y = 1432778632, d = 2.25, name = 0x[0-9a-f]+ *"leaf"\}' <<<"$(tr -s ' \n' ' ' <answer)"
}

check_facts() {
  xcore regs >regs
  grep -Eq "^ *$1 +0x" regs
  xcore maps | grep -q story
  xcore modules >modules
  grep -q 'libc.so.6' modules
  xcore info | grep -q 'link_map'
}

separate=(-no-pie -Wl,-z,separate-code) # otherwise qemu's cores have neither program headers nor build-ids

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
}

@test "i386: stacks, values, facts, and the instruction that faulted" {
  need i386 - -m32 -O0
  check_stacks call abort leaf
  check_values
  check_facts eip
  xcore analyze | grep -q 'instruction: mov (%eax),'
  check_stacks handler
  xcore analyze >answer
  grep -q 'seen through a signal handler' answer
  grep -q 'SIGSEGV: read 4 bytes at 0x0' answer
}

# bats test_tags=long
@test "i386: optimised, position-independent" {
  need i386 - -m32 -O2
  check_stacks
}

@test "aarch64: stacks, values, facts" {
  need aarch64 aarch64-linux-gnu -O0 "${separate[@]}"
  check_stacks call handler leaf # in which it aborts, too
  check_values
  check_facts x29
}

@test "aarch64: signed return addresses" {
  need aarch64 aarch64-linux-gnu -O2 -mbranch-protection=standard "${separate[@]}"
  check_stacks leaf handler
}

# bats test_tags=long
@test "aarch64: signed return addresses, in every way to die" {
  need aarch64 aarch64-linux-gnu -O2 -mbranch-protection=standard "${separate[@]}"
  check_stacks
}

@test "aarch64: without debug information and tables, by frame records and prologues" {
  need aarch64 aarch64-linux-gnu -g0 -O1 -fno-asynchronous-unwind-tables -fno-unwind-tables "${separate[@]}"
  take leaf
  [ "$(functions)" = 'leaf inner middle main' ]
}

@test "arm: stacks, values, facts, in Thumb and in ARM code" {
  need arm arm-linux-gnueabihf -O0 "${separate[@]}"
  check_stacks call handler leaf # in which it aborts, too
  check_values
  check_facts lr
  need arm arm-linux-gnueabihf -O2 -marm "${separate[@]}"
  check_stacks handler
}

# bats test_tags=long
@test "arm: optimised, in ARM code" {
  need arm arm-linux-gnueabihf -O2 -marm "${separate[@]}"
  check_stacks
}

by_exidx() {
  need arm arm-linux-gnueabihf -O2 -fasynchronous-unwind-tables "${separate[@]}"
  arm-linux-gnueabihf-objcopy --strip-debug --remove-section .debug_frame story
  check_stacks "$@"
}

@test "arm: by .ARM.exidx alone" {
  by_exidx leaf handler
}

# bats test_tags=long
@test "arm: by .ARM.exidx alone, in every way to die" {
  by_exidx
}

@test "ppc64le: stacks, values, facts" {
  need ppc64le powerpc64le-linux-gnu -O0 "${separate[@]}"
  check_stacks call handler leaf # in which it aborts, too
  check_values
  check_facts r31
}

# bats test_tags=long
@test "ppc64le: optimised" {
  need ppc64le powerpc64le-linux-gnu -O2 "${separate[@]}"
  check_stacks
}

@test "riscv64: stacks, values, facts" {
  need riscv64 riscv64-linux-gnu -O0
  check_stacks call handler leaf # in which it aborts, too
  check_values
  check_facts ra
}

# bats test_tags=long
@test "unoptimised programs of all machines, in every way to die" {
  need aarch64 aarch64-linux-gnu -O0 "${separate[@]}"
  check_stacks
  need arm arm-linux-gnueabihf -O0 "${separate[@]}"
  check_stacks
  need ppc64le powerpc64le-linux-gnu -O0 "${separate[@]}"
  check_stacks
  need riscv64 riscv64-linux-gnu -O0
  check_stacks
}

# bats test_tags=long
@test "riscv64: optimised" {
  need riscv64 riscv64-linux-gnu -O2
  check_stacks
}

@test "a guest core without headers, build-id and NT_FILE: placed by AT_ENTRY, unverified" {
  need aarch64 aarch64-linux-gnu -O0
  take abort
  [ "$(functions)" = 'inner middle main' ]
  xcore modules >modules
  grep -Eq '^story .*unverified' modules
  grep -Eq '^libc.so.6 .*unverified' modules
  xcore bt >named # the user gives the program: it has lines and values; the library has none
  grep -Eq 'inner .*story\.c:[0-9]+' named
  if grep -Eq 'libc.*\.c:[0-9]' named; then return 1; fi
  "$XCORE" bt core >answer # without the file it still opens, and unwinds by frame records
  grep -q 'found by frame pointer' answer
  need aarch64 aarch64-linux-gnu -O1 -DOTHER -Wl,-z,max-page-size=4096
  expect 4 "*its segments do not match the module's mappings*" "$XCORE" bt core --exe story
}

@test "thread-local storage, where the core holds the thread pointer" {
  need i386 - -m32 -O0
  take leaf
  CORE=core needs_kernel_core "thread pointer of i386"
  xcore print counter | grep -qw 42
  need ppc64le powerpc64le-linux-gnu -O0 "${separate[@]}"
  take leaf
  xcore print counter | grep -qw 42
  need arm arm-linux-gnueabihf -O0 "${separate[@]}"
  take leaf # qemu does not write NT_ARM_TLS
  xcore print counter | grep -q "the thread's storage is not known (no tpidruro)"
}

@test "big-endian: facts, maps and one clear line" {
  need s390x s390x-linux-gnu -O0
  take leaf
  for command in analyze bt threads info; do
    xcore "$command" >answer
    grep -q 's390 (big-endian): facts and maps are shown' answer
  done
  xcore maps | grep -q 0x
  expect 0 'xcore: core: no thread has a stack*' "$XCORE" flame stacks core
}
