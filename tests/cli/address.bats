#!/usr/bin/env bats
# Address operands of sym, mem and disas: numbers, registers, symbols, expressions; and the messages for invalid ones.
# shellcheck disable=SC2016 # dollars are xcore's
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  make_core
}

setup() {
  load helper
  needs_core
  cd "$BATS_TEST_TMPDIR" || return 1
}

# address_of WORDS...: the address that `sym` reads from WORDS.
address_of() {
  "$XCORE" sym "$CORE" --format json "$@" | jq -r '.sections[0].fields.addr'
}

# same A B: both mean the same address.
same() {
  local a b
  a=$(address_of "$1") && b=$(address_of "$2") && [ "$a" = "$b" ] && [ "$a" != null ] || {
    echo "$1 is $a, $2 is $b"
    return 1
  }
}

@test "what has parts means where it lies, a number what it is" {
  same answer '&answer'
  same 'answer + 0' 0x2a
  same main '*main'
  same main+4 'main + 4'
  same '&list' list
  same '$rsp+16' '$rsp + 8 * 2'
}

@test "a local hides a symbol of its name, in the frame that is chosen" {
  echo 'int at = 1; static int fail(char *at) { return *(volatile int *)0 + *at; }' >shadow.c
  echo 'int main(void) { char text[] = "text"; return fail(text + at - 1); }' >>shadow.c
  ${CC:-cc} -g -O0 -o shadow shadow.c
  "$repo/corpora/take-core" --out shadowed -- ./shadow
  CORE=shadowed
  "$XCORE" mem "$CORE" at 5 | grep -qF '|text.'
  "$XCORE" mem "$CORE" at+1 4 | grep -qF '|ext.'
  "$XCORE" mem "$CORE" --frame 1 at 4 | grep -qF '01 00 00 00'
  "$XCORE" mem "$CORE" --frame 1 text 5 | grep -qF '|text.'
  expect 4 "xcore: no symbol 'text' in shadowed*it is a local of frame 1, main: --frame 1" "$XCORE" mem "$CORE" text
}

@test "a thread-local has its address in the thread" {
  echo '__thread int mine = 77; int main(void) { return *(volatile int *)0 + mine; }' >tls.c
  ${CC:-cc} -g -O0 -o tls tls.c
  "$repo/corpora/take-core" --out tls.core -- ./tls
  "$XCORE" mem tls.core mine 4 | grep -qF '4d 00 00 00'
}

@test "libraries go by their names without version, too" {
  same 'libc!malloc' 'libc.so.6!malloc'
  expect 4 $'xcore: no module \'libnot\' in *\n  hint: `xcore modules` lists them' "$XCORE" sym "$CORE" 'libnot!malloc'
}

@test "a wrong name has a near one, a wrong expression its spot" {
  expect 4 $'xcore: no symbol \'answr\' in *\n  hint: did you mean answer?' "$XCORE" sym "$CORE" answr
  expect 4 "xcore: no symbol 'anser' in *did you mean answer*" "$XCORE" disas "$CORE" anser
  expect 4 $'xcore: no member `nxt` in `struct node`; did you mean `next`?\n  list->nxt\n        ^~~' "$XCORE" mem "$CORE" 'list->nxt'
  expect 4 'xcore: `struct node` is a type, not a value*ptype shows them' "$XCORE" sym "$CORE" 'struct node'
  expect 4 'xcore: 1.5: a value of type double is not an address' "$XCORE" mem "$CORE" 1.5
  expect 4 "xcore: no symbol 'wombat' in *hexadecimal numbers begin with 0x*" "$XCORE" sym "$CORE" wombat
  expect 4 'xcore: $wombat: x86-64 has no such register' "$XCORE" sym "$CORE" '$wombat'
  silent
}

@test "symbols are enough where there is no debug information" {
  strip -g -o stripped "$PROGRAM"
  expect 4 "xcore: no symbol 'answr' in *did you mean answer?" "$XCORE" sym "$CORE" --exe stripped answr
  "$XCORE" mem "$CORE" --exe stripped '&answer' 4 | grep -qF '2a 00 00 00'
}
