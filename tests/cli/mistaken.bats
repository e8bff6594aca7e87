#!/usr/bin/env bats
# What a program was mistaken about: a message with its values, sizes below 0, objects of another class, that were moved, or
# whose function has returned, comparisons that order nothing. The program is mistaken.cc.
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  for level in 0 2; do
    "${CXX:-c++}" -std=c++17 -pthread -g -O$level -w -o "mistaken$level" "$repo/tests/cli/mistaken.cc"
  done
}

setup() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
}

# verdict LEVEL DEATH
verdict() {
  verdict_of "core$1-$2" "./mistaken$1" "$2"
}

@test "a message is told with the numbers and texts that it was given; what is not known stays" {
  for level in 0 2; do
    verdict $level twice
    says 'pool: buffer 14 of reader released twice, %5.1f' 'at 0x'
  done
}

@test "a size that went below 0 is told as that" {
  for level in 0 2; do
    verdict $level below
    says 'out-of-memory' '34359738336 bytes' '4294967292 × 8: (unsigned)-4 elements of 8 bytes: likely the size was computed wrongly'
  done
}

@test "a local pointer to an object of another class is told, and nothing is certain" {
  verdict 0 cast
  says 'null-read likely' '`in` (Inner *) is no Inner: at it is a Leaf, by its vtable: likely a wrong cast'
}

@test "a reference to an element that its container has moved is stale: its members are not valid" {
  verdict 0 moved
  says 'use-after-free likely' 'likely `a` (Item &) is stale' 'the object there is no valid Item: ' \
    '`items` (std::vector of length ' 'and not in that block'
}

@test "what a lambda captured by reference is told when its function has returned" {
  verdict 0 captured
  says 'use-after-return likely' 'likely `words` (std::vector<std::string> &) points to a local variable of a function that has returned'
}

@test "std::sort() with a comparison that is true for equal elements ran out of its range" {
  verdict 0 unordered
  says 'likely std::sort() ran out of its range of' 'elements, which ends at' 'comparison, before,'
  verdict 2 unordered
  says 'likely std::sort() ran out of its range of 60 elements'
  verdict 0 null-element
  never 'std::sort() ran out'
  for level in 0 2; do
    verdict $level nested-sort
    never 'std::sort() ran out'
  done
}

@test "a pointer into a block that free() was given has no header of its own" {
  verdict 0 advanced
  says 'heap-corruption' '+0x1'
  never 'the header of that block'
  verdict 2 advanced
  never 'the header of that block'
}
