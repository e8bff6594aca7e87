#!/usr/bin/env bats
# Usage errors give one line and status 2 before any file is opened.
# shellcheck disable=SC2016 # inner shells expand their own words
bats_require_minimum_version 1.5.0

setup() {
  load helper
}

@test "no command shows the overview on stderr" {
  expect 2 'xcore: *commands:*analyze*exit status:*' "$XCORE"
  silent
}

@test "an unknown command is named, and the nearest one" {
  expect 2 "xcore: 'analzye' is not a command?  hint: did you mean \`xcore analyze\`?*" "$XCORE" analzye core
  expect 2 "xcore: 'wombat' is not a command?  see: xcore --help" "$XCORE" wombat
}

@test "a file in place of a command gets a hint" {
  touch "$BATS_TEST_TMPDIR/core.1"
  expect 2 "xcore: '*core.1' is not a command?  hint: to analyze that file: xcore analyze *core.1*" "$XCORE" "$BATS_TEST_TMPDIR/core.1"
}

@test "an unknown option is named, and the nearest one" {
  expect 2 'xcore: bt: unknown option --ful?  hint: did you mean --full??  see: xcore bt --help' "$XCORE" bt core --ful
  expect 2 'xcore: maps: unknown option --thread?*' "$XCORE" maps core --thread 1
  expect 2 'xcore: bt: unknown option -Z?*' "$XCORE" bt -Z core
}

@test "a missing target or value is named" {
  expect 2 'xcore: bt: TARGET is missing*' "$XCORE" bt
  expect 2 'xcore: mem: ADDR is missing*' "$XCORE" mem core
  expect 2 'xcore: bt: --exe needs a value: FILE*' "$XCORE" bt core --exe
  expect 2 "xcore: bt: unexpected argument 'two'*" "$XCORE" bt one two
}

@test "values are checked before the target is opened" {
  expect 2 "xcore: bt: --format: 'xml' is not one of text, json, html*" "$XCORE" bt nowhere --format xml
  expect 2 "xcore: bt: --thread: 'main' is neither*" "$XCORE" bt nowhere --thread main
  expect 2 "xcore: bt: --limit: '0' is not a number from 1 to*" "$XCORE" bt nowhere --limit 0
  expect 2 "xcore: bt: --fail-on: 'bad' is not one of crash*" "$XCORE" bt nowhere --fail-on crash,bad
  expect 2 "xcore: mem: LEN: '-1' is not a number*" "$XCORE" mem nowhere main -- -1
  expect 2 "xcore: flame: 'heaps' is not a valid WHAT*" "$XCORE" flame heaps nowhere
  expect 2 "xcore: bt: 'x' is not a process id*" "$XCORE" bt pid:x
  expect 2 "xcore: flame: --as svg and --format json*" "$XCORE" flame stacks nowhere --as svg --format json
}

@test "quiet leaves the hints out" {
  expect 2 'xcore: bt: unknown option --ful' "$XCORE" bt -q core --ful
}

@test "options may stand before the command" {
  expect 4 'xcore: *nowhere*' "$XCORE" --format json -o "$BATS_TEST_TMPDIR/out" bt --thread all "$BATS_TEST_TMPDIR/nowhere"
  expect 4 'xcore: *nowhere*' "$XCORE" --thread all bt "$BATS_TEST_TMPDIR/nowhere"
}

@test "every command has help with usage and examples" {
  for command in $("$XCORE" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p'); do
    expect 0 '' "$XCORE" "$command" --help
    grep -q "^usage: xcore $command" "$BATS_TEST_TMPDIR/stdout"
    grep -q '^examples:' "$BATS_TEST_TMPDIR/stdout"
    "$XCORE" help "$command" | cmp - "$BATS_TEST_TMPDIR/stdout"
    # Fits a terminal of 100 columns, except for examples, which are for copying.
    [ -z "$(sed '/^examples:/,$d' "$BATS_TEST_TMPDIR/stdout" | awk 'length > 100')" ]
  done
  [ "$("$XCORE" --help | grep -c '^  [a-z]\{2,\} ')" -ge 13 ]
}

@test "version and help go to stdout" {
  expect 0 '' "$XCORE" --version
  grep -qx 'xcore [0-9.]*' "$BATS_TEST_TMPDIR/stdout"
  expect 0 '' "$XCORE" -h
  expect 0 '' "$XCORE" help
}

@test "help that cannot be written is an error" {
  [ -c /dev/full ] || skip "no /dev/full"
  run -4 bash -c '"$1" --help >/dev/full' - "$XCORE"
  [[ $output == *'No space left'* ]]
  run -4 bash -c '"$1" help --man >/dev/full' - "$XCORE"
  [[ $output == *'No space left'* ]]
}
