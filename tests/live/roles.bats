#!/usr/bin/env bats
# What a thread was started with: its start function or, where that has no name, nothing; never what it called.
#	XCORE=build/release/xcore bats tests/live/roles.bats

load live

setup() {
	find_xcore
	cat >"$BATS_TEST_TMPDIR/program.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
volatile int sink;
__attribute__((noinline)) void inner(void) { puts("ready"); fflush(stdout); for (;;) pause(); }
__attribute__((noinline)) void outer(void) { inner(); sink++; }
LINKAGE void *begin(void *a) { outer(); sink++; return a; }
int main(void) { pthread_t t; pthread_create(&t, NULL, begin, NULL); pthread_join(t, NULL); return 0; }
END
}

teardown() {
	finish
}

# roles COMMAND...: the compiler's; the rows of the table of what threads wait for
roles() {
	finish
	"$@" -pthread -o "$BATS_TEST_TMPDIR/program" "$BATS_TEST_TMPDIR/program.c"
	start "$BATS_TEST_TMPDIR/program"
	[ "$SAID" = ready ]
	output=$("$XCORE" threads "pid:$STARTED" | grep -A9 '^Waiting')
	echo "$output"
}

@test "the start function is the role" {
	roles gcc -O0 -g -DLINKAGE=
	[[ $output == *" begin "* ]]
	roles gcc -O1 -s -rdynamic -DLINKAGE=
	[[ $output == *" begin "* ]]
	roles clang -O1 -g -DLINKAGE=static
	[[ $output == *" begin "* ]]
}

# bats test_tags=long
@test "where that has no name, the functions that it calls are no role" {
	local compiler
	for compiler in "gcc -O0" "gcc -O1" "clang -O1"; do
		# shellcheck disable=SC2086
		roles $compiler -s -rdynamic -DLINKAGE=static
		[[ $output == *inner* && $output != *begin* && $output != *outer* ]]
		[ "$(grep -c inner <<<"$output")" = 1 ]
	done
}
