#!/usr/bin/env bats
# Objects that two have at once, blocks whose object is gone, half pointers, and pages that the kernel has not. The program is owners.c.
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  for level in 0 2; do
    "${CC:-cc}" -g -O$level -w -fno-ipa-icf -o "owners$level" "$repo/tests/cli/owners.c"
  done
}

setup() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
}

# verdict LEVEL DEATH
verdict() {
  verdict_of "core$1-$2" "./owners$1" "$2"
}

@test "an object of a pool that was released twice: two owners lead to it, where each other has one" {
  verdict 0 twice
  says '`c->owner` leads to one struct request, but 2 of them lead to that object by `conn`' 'released twice'
}

@test "an argument is not that of a call which reached the function by way of another one" {
  verdict 2 twice
  says 'null-read'
  never 'argc'
}

@test "nothing is said of two owners where each object has one, or many" {
  for level in 0 2; do
    verdict $level apart
    says 'null-read'
    never 'lead to that object'
    verdict $level many
    says 'null-read'
    never 'lead to that object'
  done
}

@test "text that begins in the midst of an object that another pointer still leads to: its block has another owner" {
  for level in 0 2; do
    verdict $level reused
    says 'use-after-free likely' 'contains text that begins in the object, where a struct session has `errors`: "syntax error in'
  done
}

@test "a text that outgrew its own member is no use after free" {
  for level in 0 2; do
    verdict $level own
    says '`name`'
    never 'use-after-free'
  done
}

@test "a pointer that lost its upper half in a call without a declaration" {
  for level in 0 2; do
    verdict $level cut
    says 'wild-read' 'likely the upper half of a pointer is lost' ', where an object begins'
  done
}

@test "a huge page that the kernel does not have is no truncated file" {
  [ "$(cat /proc/sys/vm/nr_hugepages)" = 0 ] || skip "this host has huge pages"
  verdict 0 huge
  says 'bus-error likely' 'the kernel had no huge page left for this mapping'
}
