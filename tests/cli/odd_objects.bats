#!/usr/bin/env bats
# What is wrong with the objects that a crashed function works on, where the fault itself is only a symptom. The
# program is odd_objects.cc, whose source has the truth.
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  for level in 0 2; do
    "${CXX:-c++}" -std=c++17 -g -O$level -w -o "odd$level" "$repo/tests/cli/odd_objects.cc"
  done
}

setup() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
}

# verdict LEVEL DEATH: class and cause, then the evidence.
verdict() {
  "$repo/corpora/take-core" --out "core$1-$2" -- "./odd$1" "$2" >/dev/null 2>&1 || skip "no core can be taken here"
  "$XCORE" analyze --format json --no-plugins "core$1-$2" | jq -r '.verdict | "\(.class): \(.cause)", .evidence[]' >said
}

@test "keys of a map that lie in freed memory are told" {
  for level in 0 2; do
    verdict $level view-key
    says 'abort: ' 'perhaps because key' 'index`' 'freed memory'
  done
}

@test "the key of a static table that points to a freed line is told" {
  verdict 0 line-key
  says 'null-read: ' 'find()' 'perhaps because `table.buckets[7]->key` leads into freed memory'
  verdict 2 line-key
  says 'null-read: ' 'perhaps because `table.buckets[7]->key` leads into freed memory' \
    'on this way through the code the pointer is always NULL'
}

@test "an iterator of a list, kept in a map, is told" {
  verdict 0 iterator
  says 'abort: ' 'perhaps because `session.by_number[0]._M_node` leads into freed memory'
}

@test "a count beyond its array is told" {
  for level in 0 2; do
    verdict $level array
    says '`p->count` is 7, but `fields` has room for 6'
  done
}

@test "a count below 0 is told" {
  verdict 0 below
  says '`ring.size` is 4294967295, that is (unsigned)-1: below 0'
}

@test "nothing is told of objects that are as they should be" {
  for level in 0 2; do
    verdict $level sound
    says 'abort: '
    run -1 grep -E 'perhaps|freed|more than' said
  done
}
