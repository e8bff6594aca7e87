#!/usr/bin/env bats
# Files that do not answer: xcore gives up on them, reports them, and a signal still ends a command quickly. The file
# system (tests/support/hungfs.py) is real, so processes that wait for it cannot be killed.
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  make_core
}

setup() {
  load helper
  alone
  OPTIONS=()
  mkdir real at
  here=$(literal "$(shown "$PWD")")
  HUNGFS=$repo/tests/support/hungfs.py
  [ -r /proc/self/syscall ] || skip "this kernel does not tell what a process waits for"
  run -0 --separate-stderr "$HUNGFS" real at none -- true || skip "$stderr"
}

# hung RULES COMMAND...: mounts `real` at `at`, where requests that match the rules get no answer. OPTIONS has options
# for hungfs.py.
hung() {
  "$HUNGFS" "${OPTIONS[@]}" real at "$1" -- "${@:2}"
}

# given_up RULES PATTERN COMMAND...: the command exits with 4, reports that it gave up on PATTERN, and prints no answer.
given_up() {
  local OPTIONS=()
  expect 4 "xcore: $2: no answer for 1 second: given up*hint: *--io-timeout*" hung "$1" "${@:3}" --io-timeout 1
  silent
}

# ended_by SIGNAL RULES COMMAND...: the signal ends the command within a second. Retried if a stalled machine made it
# late.
ended_by() {
  local OPTIONS=(--within 1 --signal "$1") status=97 tries=5
  while [ "$status" -eq 97 ] && ((tries--)); do
    status=0
    hung "${@:2}" >said 2>&1 || status=$?
  done
  [ "$status" -eq $((128 + $(kill -l "$1"))) ] || { echo "$*: $status" && cat said && return 1; }
}

@test "a core that does not answer is given up, wherever it hangs" {
  needs_core
  cp "$CORE" real/core
  for rule in lookup getattr open read; do
    given_up "$rule:core" '*at/core' "$XCORE" bt at/core
  done
  OPTIONS=(--times 1) # its header is read; the rest is memory, and the kernel does not report the file
  expect 4 "xcore: $here/at/core: no answer for 1 second: given up" hung read:core "$XCORE" analyze at/core --quiet --io-timeout 1
}

@test "every command gives it up" {
  needs_core
  cp "$CORE" real/core
  for command in analyze 'print answer' 'heap summary' 'flame stacks' pack shell; do
    read -ra words <<<"$command"
    case $command in
      heap* | flame*) words+=(at/core) ;;
      *) words=("${words[0]}" at/core "${words[@]:1}") ;;
    esac
    given_up read:core "$here/at/core" "$XCORE" "${words[@]}" </dev/null
  done
  given_up read:core "$here/at/core" "$XCORE" unpack at/core -o out
  given_up read:core "$here/at/core" "$XCORE" diff at/core "$CORE"
}

@test "triage gives up what it is told to look at, or to use" {
  cores assert=core
  cp cores/core real/core
  given_up opendir '*at' "$XCORE" triage at
  given_up readdir "$here/at" "$XCORE" triage at
  given_up read:core "$here/at/core" "$XCORE" triage at
  echo cores/core >real/list
  given_up open:list 'at/list' "$XCORE" triage @at/list
  given_up read:list "$here/at/list" "$XCORE" triage @at/list
  mkdir real/root
  given_up lookup:root 'at/root*' "$XCORE" triage --sysroot at/root cores
  given_up lookup:root 'at/root*' "$XCORE" triage --debug-dir at/root cores
  TMPDIR=$PWD/at given_up create "$here/at/*" "$XCORE" triage cores
  TMPDIR=$PWD/at given_up statfs "$here/at" "$XCORE" triage cores
  XDG_CACHE_HOME=$PWD/at given_up mkdir "$here/at/*" "$XCORE" triage cores
  XDG_CACHE_HOME=$PWD/at given_up write "$here/at/*" "$XCORE" triage cores
  given_up lookup:base 'at/base' "$XCORE" triage --baseline at/base cores
}

@test "an answer that cannot be written is given up, at any step" {
  needs_core
  for rule in lookup:out create write flush rename; do
    given_up "$rule" '*' "$XCORE" bt "$CORE" -o at/out
    rm -f real/out real/.out*
  done
  expect 4 "xcore: $here/at/out: no answer for 1 second: given up*" \
    hung write sh -c "exec $(shell_words "$XCORE" bt "$CORE") --io-timeout 1 >at/out"
}

@test "HOME may hang" {
  needs_core
  unset XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XCORE_SYMBOLS
  HOME=$PWD/at given_up lookup "$here/at/*" "$XCORE" bt "$CORE"
}

@test "a module that does not answer costs that module" {
  needs_core
  cp "$CORE" core
  local made=${PROGRAM%/*} status=0
  cp "$PROGRAM" real/
  "$HUNGFS" real "$made" open:crasher -- "$XCORE" modules core --format json --io-timeout 1 >answer 2>err || status=$?
  [ "$status" -eq 0 ]
  [ "$(cat err)" = "xcore: $(shown "$PROGRAM"): no answer for 1 second: starting over without the files in that directory" ]
  grep -q 'crasher: it did not answer' answer
  run -3 --separate-stderr "$HUNGFS" real "$made" read:crasher -- "$XCORE" analyze core --strict --io-timeout 1 -o report
  [ "$(ls -A)" = "$(ls -A | grep -v part)" ]
  expect 4 "xcore: $(literal "$(shown "$PROGRAM")"): no answer for 1 second: given up*" \
    "$HUNGFS" real "$made" open:crasher -- "$XCORE" bt core --exe "$PROGRAM" --io-timeout 1
}

@test "a signal ends every command within a second" {
  needs_core
  cp "$CORE" real/core
  for signal in INT TERM HUP; do
    ended_by "$signal" read:core "$XCORE" bt at/core
    grep -qxF "xcore: $(shown "$PWD/at/core"): no answer: exiting without it" said
  done
  ended_by INT lookup:core "$XCORE" analyze at/core
  ended_by INT read:core "$XCORE" shell at/core </dev/null
  ended_by INT write "$XCORE" bt "$CORE" -o at/out
  mkdir real/tree
  ended_by INT readdir:tree "$XCORE" symbols index at/tree --store store
}

@test "a signal ends triage within a second" {
  cores assert=core
  cp cores/core real/core
  ended_by INT readdir "$XCORE" triage at
  ended_by TERM read:core "$XCORE" triage at
  XDG_CACHE_HOME=$PWD/at ended_by HUP write "$XCORE" triage cores
  TMPDIR=$PWD/at ended_by INT create "$XCORE" triage cores
  mkdir real/root
  [ -z "$CORE" ] || ended_by INT lookup "$XCORE" triage --sysroot at "$CORE" # brokers wait
}

@test "what was ignored from the beginning stays ignored" {
  needs_core
  cp "$CORE" real/core
  OPTIONS=(--signal HUP)
  expect 4 '*given up*' hung read:core env --ignore-signal=HUP "$XCORE" bt at/core --io-timeout 1
}

@test "who reads the answer waits for no more" {
  needs_core
  cp "$CORE" real/core
  OPTIONS=(--within 30)
  expect 0 '*given up*' hung read:core sh -c "$(shell_words "$XCORE") bt at/core --io-timeout 1 | cat"
  OPTIONS=(--within 30)
  expect 0 '*given up*' hung read:core sh -c "$(shell_words "$XCORE") bt at/core --io-timeout 1 2>&1 | cat >&2"
}

@test "what was begun is removed" {
  needs_core
  cp "$CORE" real/core
  # This file system has no unnamed files.
  ended_by TERM read:core "$XCORE" bt at/core -o at/answer
  [ "$(ls -A real)" = core ]
  given_up read:core '*' "$XCORE" pack at/core -o at/pack
  [ "$(ls -A real)" = core ]
}

@test "a terminal is as it was" {
  needs_core
  python3 - "$XCORE" "$CORE" <<'END'
import os, pty, signal, sys, termios, time
watchdog, terminal = pty.fork()
if watchdog == 0:
    os.environ["TERM"] = "xterm"
    os.execv("/bin/sh", ["sh", "-c", '"$@"; echo "status $?"; stty -a; read -r line', "sh", sys.argv[1], "shell", sys.argv[2]])
said = b""
def wait(text):
    global said
    while text not in said:
        said += os.read(terminal, 65536)
wait(b"xcore> ")
while termios.tcgetattr(terminal)[3] & (termios.ICANON | termios.ECHO): # the editor has not set up the terminal yet
    time.sleep(0.01)
with open(f"/proc/{watchdog}/task/{watchdog}/children", encoding="ascii") as stream:
    os.kill(int(stream.read().split()[0]), signal.SIGTERM)
wait(b"status 143")
wait(b"isig")
local = termios.tcgetattr(terminal)[3]
assert local & termios.ICANON and local & termios.ECHO, said
END
}
