#!/usr/bin/env bats
# --debuginfod against a real server on loopback, one that is down, one that never answers, and one that sends wrong
# data.
#	XCORE=build/release/xcore bats tests/live/debuginfod.bats
bats_require_minimum_version 1.5.0

setup_file() {
  load ../cli/helper
  make_core
  cd "$BATS_FILE_TMPDIR" || return 1
  mkdir served
  objcopy --only-keep-debug "$PROGRAM" served/crasher.debug
  strip "$PROGRAM"
  command -v debuginfod >/dev/null || return 0
  for _ in 1 2 3 4 5; do # a port may be taken between selection and use
    port=$(free_port)
    debuginfod -p "$port" -F -t 2 -g 0 -d :memory: served >server.log 2>&1 3>&- &
    echo $! >server.pid
    if wait_for "http://127.0.0.1:$port" served/crasher.debug "$(cat server.pid)" && kill -0 "$(cat server.pid)"; then
      echo "http://127.0.0.1:$port" >url
      break
    fi
  done
}

teardown_file() {
  [ ! -f "$BATS_FILE_TMPDIR/server.pid" ] || kill "$(cat "$BATS_FILE_TMPDIR/server.pid")" || true
}

setup() {
  load ../cli/helper
  cd "$BATS_TEST_TMPDIR" || return 1
  needs_core
  ldconfig -p | grep -q libdebuginfod || skip "no libdebuginfod"
  CORE=$BATS_FILE_TMPDIR/core
  export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
  unset DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH DEBUGINFOD_TIMEOUT
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# wait_for URL FILE PID: wait until the server answers and has indexed the file.
wait_for() {
  local id
  id=$(readelf -n "$2" 2>/dev/null | sed -n 's/.*Build ID: //p')
  python3 - "$1/buildid/$id/debuginfo" "$3" <<'P'
import os, sys, time, urllib.request
for _ in range(500):
    os.kill(int(sys.argv[2]), 0)
    try:
        sys.exit(not urllib.request.urlopen(sys.argv[1], timeout=2).read(1))
    except OSError:
        time.sleep(0.1)
sys.exit(1)
P
}

needs_server() {
  [ -s "$BATS_FILE_TMPDIR/url" ] || skip "no debuginfod server here"
  DEBUGINFOD_URLS=$(cat "$BATS_FILE_TMPDIR/url")
  export DEBUGINFOD_URLS
}

# A test server for behaviour that a real one does not have. Its address is in $DEBUGINFOD_URLS; it ends with the test.
serve() {
  python3 "$BATS_TEST_DIRNAME/bad_server.py" "$@" >address 3>&- &
  echo $! >bad.pid
  until [ -s address ] || ! kill -0 "$(cat bad.pid)"; do
    sleep 0.05
  done
  DEBUGINFOD_URLS=$(cat address)
  export DEBUGINFOD_URLS
}

teardown() {
  [ ! -f "$BATS_TEST_TMPDIR/bad.pid" ] || kill "$(cat "$BATS_TEST_TMPDIR/bad.pid")" || true
}

crash_has_lines() {
  [ "$(jq -r '.threads[0].frames[0].line' "$1")" = 5 ] && [ "$(jq -r '.threads[0].frames[0].args[1].value' "$1")" = 42 ]
}

@test "a stripped program gets its lines and values from a real server, and later from the cache without it" {
  needs_server
  "$XCORE" bt "$CORE" --format json >without
  [ "$(jq -r '.threads[0].frames[0].line' without)" = null ]
  "$XCORE" bt "$CORE" --format json --debuginfod >with 2>err
  crash_has_lines with
  [ ! -s err ]
  unset DEBUGINFOD_URLS # downloaded files need no server
  "$XCORE" bt "$CORE" --format json --debuginfod >again
  cmp with again
  "$XCORE" bt "$CORE" --format json >unasked # and are used only on request
  cmp without unasked
  export DEBUGINFOD_CACHE_PATH=$BATS_TEST_TMPDIR/elsewhere
  expect 0 'xcore: debuginfod: DEBUGINFOD_URLS names no server*' "$XCORE" bt "$CORE" --debuginfod
}

@test "modules names where the debug information came from" {
  needs_server
  "$XCORE" modules "$CORE" --debuginfod --format json >answer
  jq -e '.sections[0].tables.modules[0].debug | contains("/debuginfod_client/")' answer
}

@test "a live process gets them too, behind its fences" {
  needs_server
  cat >sleeper.c <<'C'
#include <unistd.h>
int main(void) { for (write(1, "!", 1);;) pause(); }
C
  ${CC:-cc} -g -O0 -o sleeper sleeper.c
  objcopy --only-keep-debug sleeper "$BATS_FILE_TMPDIR/served/sleeper.debug"
  strip sleeper
  # it rescans every two seconds
  wait_for "$DEBUGINFOD_URLS" "$BATS_FILE_TMPDIR/served/sleeper.debug" "$(cat "$BATS_FILE_TMPDIR/server.pid")"
  ./sleeper >said 3>&- &
  pid=$!
  until { [ -s said ] && grep -q '^State:.S' "/proc/$pid/status"; } || ! kill -0 "$pid"; do sleep 0.05; done
  status=0
  export ASAN_OPTIONS=detect_leaks=0 # that checker needs ptrace, which the filter denies
  "$XCORE" bt "pid:$pid" --debuginfod --format json >answer 2>err || status=$?
  kill "$pid"
  [ "$status" -eq 0 ]
  jq -e '.threads[0].frames[] | select(.function == "main") | .line == 2' answer
  [ -n "$(find cache/debuginfod_client -name debuginfo -size +0)" ]
}

@test "a server that is down is told once, at once" {
  DEBUGINFOD_URLS=http://127.0.0.1:$(free_port)
  export DEBUGINFOD_URLS
  start=$SECONDS
  expect 0 'xcore: debuginfod: http://127.0.0.1:*: Connection refused: not asked again in this run' \
    "$XCORE" bt "$CORE" --debuginfod
  [ $((SECONDS - start)) -lt 5 ]
  "$XCORE" modules "$CORE" --debuginfod --format json 2>/dev/null | grep -q 'Connection refused'
  expect 0 '' "$XCORE" bt "$CORE" --debuginfod --quiet
}

# bats test_tags=long
@test "a server that never answers is waited for once, and leaves no wrong note in the cache" {
  serve silent
  export DEBUGINFOD_TIMEOUT=2
  start=$SECONDS
  expect 0 'xcore: debuginfod: http://127.0.0.1:*: no data for 2 seconds: not asked again*' \
    "$XCORE" modules "$CORE" --sysroot / --debuginfod
  [ $((SECONDS - start)) -lt 12 ]
  [ -z "$(find cache/debuginfod_client -name debuginfo)" ]
}

# bats test_tags=long
@test "a download that stops half-way is not waited for without end" {
  serve stall
  export DEBUGINFOD_TIMEOUT=2
  start=$SECONDS
  "$XCORE" bt "$CORE" --debuginfod --format json >answer 2>err
  [ $((SECONDS - start)) -lt 12 ]
  [ "$(jq -r '.threads[0].frames[0].line' answer)" = null ]
  grep -q 'no data for 2 seconds' err
}

@test "a file of another build is not used, whoever serves it" {
  ${CC:-cc} -g -O1 -DOTHER -x c -o other - <<<'int main(void) { return 3; }'
  serve file other
  "$XCORE" bt "$CORE" --debuginfod --format json >answer
  [ "$(jq -r '.threads[0].frames[0].line' answer)" = null ]
  "$XCORE" modules "$CORE" --debuginfod --format json | grep -q 'has build-id .* not used'
}

@test "garbage, an empty answer and an error page are no debug information" {
  for kind in garbage empty error; do
    rm -rf cache
    serve "$kind"
    "$XCORE" bt "$CORE" --debuginfod --format json >answer
    [ "$(jq -r '.threads[0].frames[0].line' answer)" = null ]
    teardown
  done
}

# bats test_tags=long
@test "a download shows its progress on a terminal, and only there" {
  command -v script >/dev/null || skip "no script(1)"
  serve slow "$BATS_FILE_TMPDIR/served/crasher.debug"
  script -qec "$(shell_words "$XCORE" bt "$CORE") --debuginfod -o answer" /dev/null >screen
  grep -q 'downloading debug information of crasher' screen
  grep -q '5' answer
  rm -rf cache
  "$XCORE" bt "$CORE" --debuginfod 2>err >answer
  [ ! -s err ]
}
