#!/usr/bin/env bats
# A member that is NULL: who sets it to NULL, and whether another thread is at it. The program is null_members.cc.
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  for level in 0 2; do
    "${CXX:-c++}" -std=c++17 -pthread -g -O$level -w -o "null_members$level" "$repo/tests/cli/null_members.cc"
  done
}

setup() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
}

@test "a thread that is making the new object, of the same owner, is a race" {
  for level in 0 2; do
    verdict_of "core$level" "./null_members$level" same
    says 'null-read likely' 'set to NULL in Config::reload (null_members.cc:21)' \
      'is in Config::reload (null_members.cc:22), which sets it to NULL before, and writes it again behind, of the same object' \
      'likely a race with another thread'
  done
}

@test "of another owner, or elsewhere, it is none" {
  for level in 0 2; do
    for what in other idle; do
      verdict_of "core$level-$what" "./null_members$level" $what
      says null-read 'Config::reload'
      never race
      never 'of the same object'
    done
  done
}
