#!/usr/bin/env bats
# Pure virtual functions that were called: which thread constructs or destroys the object, and which part of it is gone. The
# program is dying.cc.
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  for level in 0 2; do
    "${CXX:-c++}" -std=c++17 -pthread -g -O$level -w -o "dying$level" "$repo/tests/cli/dying.cc"
  done
}

setup() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
}

# verdict LEVEL DEATH
verdict() {
  verdict_of "core$1-$2" "./dying$1" "$2"
}

@test "another thread is in the destructor of the base of the same object, and waits for this one" {
  for level in 0 2; do
    for death in join first-of-three; do
      verdict $level $death
      says 'pure-virtual-call certain' 'in Sink::loop: the object is only a Sink now: thread ' \
        ' is in Sink::~Sink, dying.cc:22, for the same object, called from reload, dying.cc:' \
        ', and is waiting for thread ' ' to end: its part of FileSink is already destroyed'
    done
  done
}

@test "an object that is a member, or has the base behind another one, is told as what it was" {
  for level in 0 2; do
    verdict $level member
    says 'for the same object, called from Manager::~Manager, dying.cc:' 'its part of FileSink is already destroyed'
    verdict $level second
    says 'for the same object, called from second, dying.cc:' 'its part of Both is already destroyed'
  done
}

@test "a constructor or destructor of the same thread is told" {
  verdict 0 constructor
  says 'this thread is in Shape::Shape, dying.cc:' 'its part of Square is not constructed yet'
  verdict 0 destructor
  says 'this thread is in Shape::~Shape, dying.cc:' 'its part of Square is already destroyed'
}

@test "an object that nobody destroys now is told as before, also while another one is destroyed" {
  for death in gone other; do
    verdict 0 $death
    says 'the object is only a Quiet, as during its constructor or destructor, and after it'
    never 'the same object'
  done
}
