#!/usr/bin/env bats
# `xcore print`: text and JSON output, and messages for wrong expressions.
# shellcheck disable=SC2016 # backquotes are part of messages
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

# prints WANTED ARGUMENTS...: all of standard output, with nothing on standard error
prints() {
  local wanted=$1 got
  shift
  got=$("$XCORE" print "$CORE" "$@" 2>stderr) || true
  if [ "$got" != "$wanted" ] || [ -s stderr ]; then
    printf 'print %s: %s, not %s\n' "$*" "$got" "$wanted"
    cat stderr
    return 1
  fi
}

@test "one expression prints its value alone" {
  prints 42 answer
  prints 84 'answer * 2'
  prints 1 --frame 1 'answer == 42 && !list'
}

@test "several print their names too" {
  prints $'answer = 42\nvalue = 42' answer value
}

@test "values are seen from the frame and thread that are chosen" {
  tid=$("$XCORE" threads "$CORE" --format json | jq '.sections[0].tables.threads[0].tid')
  prints 42 --thread "$tid" value
  prints 42 --thread crashed --frame 0 value
  expect 4 'xcore: no `value` here (frame 1, main)*' "$XCORE" print "$CORE" --frame 1 value
  expect 4 'xcore: no frame 99: the stack of thread*' "$XCORE" print "$CORE" --frame 99 value
  expect 4 'xcore: *no thread 1*' "$XCORE" print "$CORE" --thread 1 value
  expect 2 "xcore: print: --thread: 'main' is neither*" "$XCORE" print "$CORE" --thread main value
}

@test "an expression may begin with a minus" {
  prints -3 '-7 / 2'
  prints $'-1 = -1\n-7%3 = -1' -1 -7%3
  prints -42 -- -answer
  expect 2 '*unknown option -a?  hint: put arguments that start with a dash after --*' \
    "$XCORE" print "$CORE" -answer
}

@test "formats are letters before the expression or an option" {
  prints 0x2a /x answer
  prints 0x2a '/x answer'
  prints 0x2a --as x answer
  prints 052 /o answer
  prints 101010 /t answer
  prints 0x0000002a /z answer
  prints "42 '*'" /c answer
  prints $'answer = 0x2a\nvalue = 0x2a' /x answer value
  prints $'answer = 42\nanswer = 0x2a\nvalue = 0x2a\nvalue = 42' answer /x answer value /d value
  prints $'answer = 0x2a\nanswer = 052\nanswer = 42' '/x answer' '/o answer' '/s answer'
  expect 2 'xcore: print: EXPR is missing*' "$XCORE" print "$CORE" answer /x
  expect 2 "xcore: print: '/q' is no format*" "$XCORE" print "$CORE" /q answer
  expect 2 'xcore: print: EXPR is missing*' "$XCORE" print "$CORE" /x
}

@test "the type and the address come when they are asked for" {
  "$XCORE" print "$CORE" -v answer | grep -qE '^int at 0x[0-9a-f]+: 42$'
  "$XCORE" print "$CORE" --type 'answer + 0L' | grep -qxF 'long: 42'
}

@test "pointers say what they are, as in gdb" {
  prints '(struct node *) 0x0' list
  "$XCORE" print "$CORE" '&answer' | grep -qE '^\(int \*\) 0x[0-9a-f]+ <answer>$'
  "$XCORE" print "$CORE" main | grep -qE '^\{int \(void\)\} 0x[0-9a-f]+ <main>$'
}

@test "JSON of one expression is the value, of several a list" {
  "$XCORE" print "$CORE" --format json answer >one
  jq -e '.schema == "xcore.print/1" and .expr == "answer" and .type == "int" and .value == 42' one
  jq -e '.addr | test("^0x[0-9a-f]+$")' one
  "$XCORE" print "$CORE" --format json answer 'sizeof(long)' nothing >several
  jq -e '.values[0].value == 42 and .values[1].value == "8" and .values[1].addr == null' several
  jq -e '.values[2].value == null and (.values[2].why | startswith("no `nothing`"))' several
  jq -e '.text == "0x2a"' <<<"$("$XCORE" print "$CORE" --format json /x answer)"
}

@test "a wrong expression is shown with its spot" {
  expect 4 $'xcore: no member `valu` in `struct node`; did you mean `value`?\n  at->valu\n      ^~~~' "$XCORE" print "$CORE" 'at->valu'
  silent
  expect 4 $'xcore: cannot read 4 bytes at 0x8: not mapped\n  1 + at->value\n          ^~~~~' "$XCORE" print "$CORE" '1 + at->value'
  expect 4 $'xcore: division by zero\n  answer / 0\n         ^' "$XCORE" print "$CORE" 'answer / 0'
  expect 4 $'xcore: *nothing can be assigned*' "$XCORE" print "$CORE" 'answer = 1'
}

# The C library at the pc has similar names, too; the program's name is closer.
@test "the nearest name of all modules is suggested, and the very name in another scope alone" {
  echo 'namespace inner { int counter = 3; int counters = 4; }' >near.cc
  echo '#include <stdlib.h>' >>near.cc
  echo 'int main() { inner::counters += inner::counter; abort(); }' >>near.cc
  ${CXX:-c++} -g -O0 -o near near.cc
  "$repo/corpora/take-core" --out near.core -- ./near
  expect 4 'xcore: no `counter` here*did you mean inner::counter?' "$XCORE" print near.core counter
  expect 4 'xcore: no `countr` here*did you mean inner::counter, *' "$XCORE" print near.core countr
}

@test "of several expressions those that work are shown" {
  run -0 --separate-stderr "$XCORE" print "$CORE" answer 'at->next'
  [ "$output" = $'answer = 42\nat->next = <cannot read 8 bytes at 0x0: not mapped>' ]
  expect 3 '*something is missing*' "$XCORE" print "$CORE" --strict answer 'at->next'
  expect 4 'xcore: no `no_such`*' "$XCORE" print "$CORE" no_such nor_this
}

@test "values are left out where they are to be" {
  prints '(redacted)' --redact answer
  CI=true prints '(redacted)' answer
  jq -e '.value == "(redacted)"' <<<"$("$XCORE" print "$CORE" --redact --format json answer)"
}

@test "debug information is not needed for symbols" {
  strip -g -o stripped "$PROGRAM"
  prints_stripped() { [ "$("$XCORE" print "$CORE" --exe stripped "$2")" = "$1" ]; }
  prints_stripped 42 '(int)answer'
  prints_stripped 42 '*(int *)&answer'
  prints_stripped 0x2a '/x (int)answer'
  expect 4 $'xcore: has unknown type; cast it to its declared type\n  answer\n  ^~~~~~*' "$XCORE" print "$CORE" --exe stripped answer
}

# The program refers to its own copy (R_X86_64_COPY); the library's variable keeps its initial value.
@test "a library's variable that the program has a copy of is the copy" {
  echo 'int shared = 1; int get(void) { return shared; }' >lib.c
  echo 'extern int shared, get(void); int main(void) { shared = 7; return *(volatile int *)0 + get(); }' >copy.c
  ${CC:-cc} -g -O0 -fPIC -shared -o libcopied.so lib.c
  ${CC:-cc} -g -O0 -no-pie -o copy copy.c -L. -lcopied -Wl,-rpath,"$PWD"
  readelf -rW copy | grep -q 'R_X86_64_COPY.*shared' || skip "no copy relocation here"
  "$repo/corpora/take-core" --out copied -- ./copy
  CORE=copied prints 7 shared
  CORE=copied prints 7 'libcopied.so!shared'
  CORE=copied prints 7 "'lib.c'::shared"
}

# glibc's environ is an alias. A variable without debug information has a declaration in its users.
@test "a variable that debug information only names has its symbol's place" {
  echo 'int hidden[2] = {3, 4};' >hidden.c
  echo 'extern int hidden[2]; int real = 6; extern int alias __attribute__((alias("real")));' >alias.c
  echo 'int main(void) { return *(volatile int *)0 + hidden[0] + alias; }' >>alias.c
  ${CC:-cc} -O0 -fPIC -shared -o libhidden.so hidden.c
  ${CC:-cc} -g -O1 -o alias alias.c -L. -lhidden -Wl,-rpath,"$PWD"
  "$repo/corpora/take-core" --out aliased -- ./alias
  CORE=aliased prints 6 alias
  CORE=aliased prints '{3, 4}' hidden
}

@test "a variable of a file that another one includes is found by its file" {
  echo 'static int inner = 5;' >inner.c
  echo '#include "inner.c"' >outer.c
  echo 'int main(void) { return *(volatile int *)0 + inner; }' >>outer.c
  ${CC:-cc} -g -O0 -o outer outer.c
  "$repo/corpora/take-core" --out included -- ./outer
  CORE=included prints 5 "'inner.c'::inner"
  CORE=included prints 5 'outer.c::inner'
  CORE=included expect 4 '*no `inner` in file*' "$XCORE" print included "'nner.c'::inner"
}

@test "a long value takes several lines, or one when told so" {
  run "$XCORE" print "$CORE" /d '*(unsigned short (*)[64])$rsp'
  [ "$(printf '%s\n' "$output" | wc -l)" -gt 1 ]
  [ "${lines[0]}" = '{' ]
  [ "${lines[${#lines[@]} - 1]}" = '}' ]
  one=$("$XCORE" print "$CORE" --one-line /d '*(unsigned short (*)[64])$rsp')
  [ "$(printf '%s\n' "$one" | wc -l)" -eq 1 ]
  [ "$(printf '%s' "$output" | tr -d ' \n')" = "$(printf '%s' "$one" | tr -d ' ')" ]
}
