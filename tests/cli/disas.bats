#!/usr/bin/env bats
# disas: instruction boundaries match gdb; marks; and errors.
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

holds() {
  local line
  for line in "$@"; do
    grep -qF -- "$line" stdout || { echo "no line: $line" && cat stdout && return 1; }
  done
}

@test "the instruction that died is marked, with registers and memory" {
  expect 0 '' "$XCORE" disas "$CORE" --source-root "$BATS_FILE_TMPDIR"
  holds 'set in crasher' 'crasher.c:5  static void set(struct node *at, int value) { at->value = value; }'
  [ "$(grep -c '^=> ' stdout)" = 1 ]
  grep -A1 '^=> ' stdout | grep -q 'writes 4 bytes at 0x8: not mapped'
}

@test "a caller's place is its call" {
  expect 0 '' "$XCORE" disas "$CORE" --frame 1
  grep -q '^=> .*call .* <set>' stdout
  holds 'main in crasher' 'frame #1'
}

@test "addresses and offsets are gdb's, in the program and the C library" {
  command -v gdb >/dev/null || skip "no gdb"
  local names=(set main memcpy __libc_start_main) asked=()
  for name in "${names[@]}"; do asked+=(-ex "echo \\n= $name\\n" -ex "disassemble '$name'"); done
  gdb -nx -q --batch -iex 'set debuginfod enabled off' "${asked[@]}" "$PROGRAM" "$CORE" >all 2>/dev/null || true # one may be unknown
  for name in "${names[@]}"; do
    sed -n "/^= $name\$/,/^= /s/^\(=>\|  \) 0x0*\([0-9a-f]*\) <+\([0-9]*\)>:.*/\2 \3/p" all >theirs
    [ -s theirs ] || { echo "gdb does not know $name" && continue; }
    expect 0 '' "$XCORE" disas "$CORE" "0x$(head -1 theirs | cut -d' ' -f1)" --all --format json
    jq -r '.instructions[] | "\(.addr[2:]) \(.offset)"' stdout >ours
    cmp ours theirs || { echo "$name" && diff ours theirs | head -5 && return 1; }
  done
}

@test "a symbol, a count, a length, bytes and the other syntax" {
  expect 0 '' "$XCORE" disas "$CORE" main --count 3 --bytes --syntax intel
  grep -q '55 .*push rbp' stdout
  [ "$(grep -c ' <+[0-9]*>: ' stdout)" = 3 ]
  expect 0 '' "$XCORE" disas "$CORE" 'crasher!main' --length 4 --format json
  [ "$(jq -r '.instructions | map(.bytes) | join(" ")' stdout)" = '55 48 89 e5' ]
  # instructions that start there are shown whole
  expect 0 '' "$XCORE" disas "$CORE" 'crasher!main' --length 2 --format json
  [ "$(jq -r '.instructions | map(.bytes) | join(" ")' stdout)" = '55 48 89 e5' ]
  [ "$(jq -r .schema stdout)" = xcore.disas/1 ]
}

@test "JSON has no source, which differs between hosts" {
  expect 0 '' "$XCORE" disas "$CORE" --format json --source-root "$BATS_FILE_TMPDIR"
  run ! grep -q 'at->value' stdout
  [ "$(jq -r '.instructions[] | select(.current) | .operands[-1].addr' stdout)" = 0x8 ]
  [ "$(jq -r '.instructions[] | select(.current) | .line' stdout)" = 5 ]
  expect 0 '' "$XCORE" disas "$CORE" --no-source --source-root "$BATS_FILE_TMPDIR"
  run ! grep -q 'at->value' stdout
}

@test "redaction leaves out what memory holds" {
  expect 0 '' "$XCORE" disas "$CORE" main
  holds '<answer> = 0x2a'
  expect 0 '' "$XCORE" disas "$CORE" main --redact
  holds '<answer>'
  run ! grep -q '<answer> =' stdout
}

@test "the line that died stands out where there is colour" {
  expect 0 '' "$XCORE" disas "$CORE" --color always
  grep -q $'^\e\\[1m=> .*\e\\[0m$' stdout
  expect 0 '' "$XCORE" disas "$CORE" --format html
  grep -q '^<strong>=&gt; ' stdout
  expect 0 '' "$XCORE" disas "$CORE" --color never
  run ! grep -q $'\e' stdout
}

@test "what is not code is said" {
  expect 0 '' "$XCORE" disas "$CORE" answer
  holds 'warning: these bytes are not in executable memory: they are data'
  expect 4 'xcore: *0x10: not mapped*' "$XCORE" disas "$CORE" 0x10
  silent
  expect 4 "xcore: no symbol 'nosuch'*" "$XCORE" disas "$CORE" nosuch
  expect 2 'xcore: disas: --count and --length*' "$XCORE" disas "$CORE" main --count 1 --length 1
  expect 2 "xcore: disas: --length: 'x'*" "$XCORE" disas "$CORE" main --length x
  expect 4 'xcore: *frame*' "$XCORE" disas "$CORE" --frame 4000
}
