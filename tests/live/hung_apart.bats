#!/usr/bin/env bats
# hung_apart: a process that hangs in another pid namespace, where its ids are 1, 2, 3: alive, and in a core of it.
#	XCORE=build/release/xcore bats tests/live/hung_apart.bats
# bats file_tags=long

load live
load hung

# hang_apart COMPILER LEVEL PROGRAM DEATH: in a separate pid namespace, where its ids are 1, 2, 3
hang_apart() {
	unshare --pid --fork true 2>/dev/null || skip "a pid namespace may not be made here (unshare --pid needs CAP_SYS_ADMIN)"
	hang "$@" unshare --pid --fork --kill-child
	PROGRAM=$(pgrep -P "$STARTED")
	TARGET=pid:$PROGRAM
}

# expect_ids TEXT: the text contains thread 2 of the namespace and none of its other ids
expect_ids() {
	local second
	second=$(awk '$1 == "NSpid:" && $3 == 2 { print $2 }' "/proc/$PROGRAM/task/"*/status)
	[[ "$1" == *"thread $second"* && "$1" != *"thread 2 "* && "$1" != *"does not exist"* && "$1" != *"in its pid namespace"* ]]
}

@test "a deadlock in another pid namespace, alive and in a core that was taken from outside" {
	hang_apart gcc -O2 lock.c two
	expect deadlock cycle certain transfer
	expect_ids "$(verdict cause)"
	expect_ids "$("$XCORE" threads "$TARGET")"
	take_core
	expect deadlock cycle certain transfer
	expect_ids "$(verdict cause)"
}

@test "mutexes that inherit priorities, and a reader-writer lock, in another pid namespace" {
	hang_apart gcc -O2 owner.c inherited
	expect deadlock cycle certain book pay
	take_core
	expect deadlock cycle certain book pay
	finish
	hang_apart gcc -O2 lock.c rwlock
	expect deadlock cycle certain upgrade write_table
	take_core
	expect deadlock cycle certain upgrade write_table
}

@test "threads in another pid namespace that wait for each other to end" {
	hang_apart gcc -O2 library.c ends
	expect deadlock cycle certain wait_for_next
}

@test "an owner in another pid namespace is there" {
	hang_apart gcc -O2 owner.c pipe
	take_core
	expect hang "lock held" guess journalist
	run "$XCORE" threads "$TARGET"
	[[ "$output" == *"held by thread"* && "$output" != *"does not exist"* && "$output" != *"in its pid namespace"* ]]
}

# A process that runs on its parent's descriptor would look the same.
@test "a lone thread with an id of its own proves no end of an owner" {
	hang_apart gcc -O2 owner.c orphan
	take_core
	[ "$(verdict kind)" = None ]
	run "$XCORE" analyze --no-plugins "$TARGET"
	output=$(tr -s ' \n' ' ' <<<"$output") # however the lines break
	[[ "$output" == *"held by the thread with id 2 in its pid namespace"* && "$output" != *"does not exist"* && "$output" != *"any more"* ]]
}
