#!/usr/bin/env bats
# Exceptions that nothing caught: of what class the objects are that the program worked on, and which of them are not valid.
# The program is wrong_objects.cc.
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  for level in 0 2; do
    "${CXX:-c++}" -std=c++17 -g -O$level -w -o "wrong$level" "$repo/tests/cli/wrong_objects.cc"
  done
}

setup() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
}

# verdict LEVEL DEATH
verdict() {
  verdict_of "core$1-$2" "./wrong$1" "$2"
}

@test "a reference that was cast to a class which the object is not of is told, with the function that cast it" {
  for level in 0 2; do
    for death in cast cast-on-stack; do
      verdict $level $death
      says 'uncaught-exception certain' '`f` in apply is no Fill: at it is a Cancel, by its vtable: likely a wrong cast' \
        'likely because `f.venue` is not valid' 'its size is 0x4057e00000000000, the bits of the double 95.5' \
        'the same object is `e` (const Event &) in dispatch, wrong_objects.cc:'
    done
  done
}

@test "a local pointer that was cast is told" {
  for level in 0 2; do
    verdict $level cast-local
    says '`f` in local is no Fill: at it is a Cancel, by its vtable: likely a wrong cast' 'likely because `f->venue` is not valid' \
      'the same object is `e` (Event *) in local, wrong_objects.cc:'
  done
}

@test "a string that is not valid is told, with the text that its size is" {
  for level in 0 2; do
    verdict $level text
    says 'likely because `r.name` is not valid' 'its size is 0x7369207461687420, the text " that is"'
    never 'wrong cast'
  done
}

@test "nothing is told of objects that are as they should be, or not constructed yet, destroyed, or moved from" {
  for level in 0 2; do
    for death in resize at construct destroy moved late either; do
      verdict $level $death
      says 'uncaught-exception certain'
      never 'wrong cast'
      never 'not valid'
    done
  done
}
