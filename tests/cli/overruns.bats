#!/usr/bin/env bats
# Arrays that were too short: the call that was given more than they have, the index, and what lies behind them; and a
# member that is not always set. The program is overruns.c.
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  for level in 0 2; do
    "${CC:-cc}" -g -O$level -w -o "over$level" "$repo/tests/cli/overruns.c"
  done
}

setup() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
}

# verdict LEVEL DEATH
verdict() {
  verdict_of "core$1-$2" "./over$1" "$2"
}

@test "memcpy() of more than the source has is told with both sizes" {
  verdict 0 copy-static
  says 'memcpy() was to read 65280 bytes (`m->length`) from `m->body`, which has 60'
  verdict 2 copy-static
  says 'memcpy() was to read 65280 bytes from `m.body`, which has 60' 'bytes from its first'
}

@test "memset() and strncpy() of more than an array has, too, and nothing is said of flipped bits" {
  for level in 0 2; do
    verdict $level fill-member
    says 'wild-write: memset() was to write 12800000 bytes to `c' 'buffer`, which has room for 128'
    never 'one bit'
    verdict $level pad
    says 'wild-write: strncpy() was to write 1048576 bytes to `small`, which has room for 32'
  done
}

@test "an index of -1 into a block of the heap is told" {
  verdict 0 index-below
  says 'the index `i` is -1, before the beginning of `t->columns`, a block of 120 bytes'
}

@test "a text that ran from one static array into the pointer behind it is told with both names" {
  verdict 0 text
  says '`title` runs 9 bytes over, into `owner` and the memory after it'
}

@test "an array of numbers that ends in front of a bad static pointer is told as a possibility" {
  verdict 0 numbers
  says '`last` points to unmapped memory; perhaps `counts` was written past its end, over the pointer behind it'
}

@test "a pointer of a local object that is set on some ways only is told as possibly never set" {
  verdict 0 unset
  says 'possibly `p.on_error` of run() was never set: that function stores there only on some paths'
}
