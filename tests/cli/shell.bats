#!/usr/bin/env bats
# The shell: lines from a pipe, and a user at a terminal (terminal.py).
# shellcheck disable=SC2016 # Lua's quotes
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  make_core
}

setup() {
  load helper
  needs_core
  export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
  cd "$BATS_TEST_TMPDIR" || return 1
}

# answers WANTED LINES: all of standard output for lines on standard input
answers() {
  local wanted=$1 got
  got=$(printf '%s\n' "${@:2}" | "$XCORE" shell "$CORE" 2>stderr) || true
  if [ "$got" != "$wanted" ] || [ -s stderr ]; then
    printf 'wanted: %s\ngot:    %s\n' "$wanted" "$got"
    cat stderr
    return 1
  fi
}

# at_terminal STEP...: see terminal.py
at_terminal() {
  python3 "$repo/tests/cli/terminal.py" 'wait:xcore> ' "$@" -- "$XCORE" shell "$CORE"
}

@test "an expression shows its value, and variables stay" {
  answers 43 'x = t:var "answer"' 'x + 1'
}

@test "what the target holds never reaches the terminal as it is" {
  answers $'\\x1b[2J\tü\\x00' 'print("\27[2J\tü\0")'
  answers $'shell:1: \\x1b[2J\nstack traceback:\n  [C]: in function \'error\'\n  shell:1: in main chunk' 'error("\27[2J")'
}

@test "lines that are not complete go on" {
  answers 14 'for i = 2, 2 do' 'print(i * 7)' 'end'
}

@test "a list of records is a table" {
  answers $'n  name\n1  a\n2  bb' '{{name = "a", n = 1}, {name = "bb", n = 2}}'
}

@test "text of the target cannot reach the terminal" {
  answers '"\033[2J"' '"\27[2J"'
}

@test "an error is shown and the shell goes on" {
  run --separate-stderr "$XCORE" shell "$CORE" <<<$'t:var "answr"\n1 + 1'
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == *"answr"* ]]
  [[ $output == *"did you mean answer"* ]]
  [ "${lines[-1]}" = 2 ]
}

@test "help explains a function, a type and a class" {
  run -0 "$XCORE" shell "$CORE" <<<$'help(xcore.container_of)\nhelp "struct node"\nhelp "Target"\nhelp()'
  [[ $output == *"xcore.container_of(v, type, member)"*"like the C macro"* ]]
  [[ $output == *"struct node {"*"struct node *next;"* ]]
  [[ $output == *":has_symbol(name)"* ]]
}

@test "at a terminal: Tab completes variables, fields and methods" {
  at_terminal 'type:t:var "answ\t"\n' 'wait:42' \
    'type:t:\t' 'wait:has_type' 'wait:xcore> t:' 'type:\x03' 'wait:xcore> ' \
    'type:xcore.conta\t' 'wait:container_of' 'type:\x03' 'wait:xcore> ' \
    'type:n = xcore.cast(t:symbol "list".addr, "struct node *")\n' 'wait:xcore> ' \
    'type:n.\t' 'wait:next' 'wait:xcore> n.' 'type:\x03' 'wait:xcore> '
}

@test "at a terminal: ^C ends what runs, and the shell goes on" {
  # The typed text does not contain the word that shows that it runs.
  at_terminal 'type:print("run" .. "ning") while true do end\n' 'wait:running' 'type:\x03' 'wait:interrupted' 'wait:xcore> ' 'type:6 * 7\n' 'wait:42'
}

@test "what was typed is kept for the user alone, and comes back" {
  at_terminal 'type:1234 + 1\n' 'wait:1235'
  [ "$(stat -c %a state/xcore/history)" = 600 ]
  at_terminal 'type:\x10' 'wait:1234 + 1' 'type:\n' 'wait:1235'
  python3 "$repo/tests/cli/terminal.py" 'wait:xcore> ' 'type:99 + 1\n' 'wait:100' -- \
    "$XCORE" shell --no-history "$CORE"
  ! grep -q 99 state/xcore/history
}


@test "parts of plugins can be tried out" {
  answers '"function"' 'type(require("lib.walk").list)'
}

@test "what asks for too much memory ends, and the shell restarts" {
  run -0 "$XCORE" shell --max-memory 20 "$CORE" <<<$'x = 1\ny = ("x"):rep(1 << 30)\nx\n6 * 7'
  [[ $output == *"more than 20.0 MiB of memory (raise it with --max-memory)"*"its variables are lost"*nil*42 ]]
}

@test "a running process can be looked at too" {
  export ASAN_OPTIONS=detect_leaks=0 # LeakSanitizer uses ptrace, which the fence denies
  sleep 60 &
  until [ "$(cat /proc/$!/comm)" = sleep ]; do # it has not called exec yet
    kill -0 "$!"
    sleep 0.01
  done
  run -0 "$XCORE" shell "pid:$!" <<<'t.live'
  kill "$!"
  [ "$output" = true ]
}
