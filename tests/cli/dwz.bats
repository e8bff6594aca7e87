#!/usr/bin/env bats
# Information that dwz moved to a common file is shown as if it were in the program: by .gnu_debugaltlink and the GNU
# forms, and by .debug_sup and the DWARF 5 forms (which gdb 13 does not read).
# shellcheck disable=SC2154 # repo is helper.bash's
bats_require_minimum_version 1.5.0

setup() {
  load helper
  cd "$BATS_TEST_TMPDIR" || return 1
  programs=$repo/corpora/programs
}

# The answer for a core, without the file's name.
answer() {
  "$XCORE" bt --full --raw --thread all --format json --no-cache "$@" | jq '[.threads[].frames[] | del(.module, .build_id)]'
}

# twins CC FLAGS SOURCE DWZ-OPTION…: the answer for a program is the same before and after dwz shared its DWARF with a
# library.
twins() {
  local cc=$1 flags=$2 source=$3
  shift 3
  # shellcheck disable=SC2086 # several words
  "$cc" -D_GNU_SOURCE $flags -o prog "$programs/$source" && "$cc" -D_GNU_SOURCE $flags -shared -fPIC -o twin.so "$programs/$source"
  "$repo/corpora/take-core" --out core -- ./prog >/dev/null 2>&1 || skip "no core can be taken here"
  answer core >before
  [ "$(jq 'map(.locals | length) | add' before)" -gt 20 ]
  dwz "$@" -m common.dwz prog twin.so
  answer core >after
  diff before after
}

@test "C, DWARF 4, .gnu_debugaltlink" {
  twins gcc "-gdwarf-4" values-types.c
  readelf -SW prog >sections
  grep -q gnu_debugaltlink sections
}

@test "C, DWARF 5, .debug_sup" {
  twins gcc "-gdwarf-5" values-types.c --dwarf-5
  readelf -SW prog >sections
  grep -q debug_sup sections
}

# bats test_tags=long
@test "C++, optimised, .debug_sup: inlined functions and their variables" {
  twins g++ "-gdwarf-5 -O2 -std=c++20" values-classes.cc --dwarf-5
  readelf -SW prog >sections
  grep -q debug_sup sections
}

# bats test_tags=long
@test "a common file that is missing makes types unknown, not void" {
  twins gcc "-gdwarf-5" values-types.c --dwarf-5
  rm common.dwz
  run -0 "$XCORE" bt --full --no-cache core
  [[ $output != *'=void'* ]]
  [[ $output == *'<not of a known type>'* ]]
  run -0 "$XCORE" modules core
  [[ $output == *'dwz moved to common.dwz'* ]]
}
