#!/usr/bin/env bats
# doctor: a simulated machine, this host against its own shell, and the forms of the answer.
# shellcheck disable=SC2016 # inner shells expand their own words
bats_require_minimum_version 1.5.0

setup() {
  load helper
  export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}disable_coredump=0 # a sanitizer build disables its own cores
  cd "$BATS_TEST_TMPDIR" || return 1
  unset GITHUB_ACTIONS GITLAB_CI
}

plant() {
  mkdir -p host/proc/sys/kernel host/proc/sys/fs host/proc/self host/cores
  echo "$1" >host/proc/sys/kernel/core_pattern
  echo 'Max core file size        unlimited            unlimited            bytes' >host/proc/self/limits
  echo 33 >host/proc/self/coredump_filter
}

answer() {
  "$XCORE" doctor --format json "$@" | jq -r '.sections[0].fields | "\(.core) \(.answer)"'
}

@test "a machine that keeps cores, and one that does not" {
  plant '/cores/core.%e.%p.%t'
  [ "$(answer --sysroot host)" = "true yes" ]
  rm -r host/cores
  [[ "$(answer --sysroot host)" == "false no: /cores does not exist"* ]]
  plant '|/usr/lib/systemd/systemd-coredump %P'
  [[ "$(answer --sysroot host)" == "false no: the handler does not exist"* ]]
}

@test "the commands at the end are JSON, too" {
  plant '/nowhere/core.%p'
  run -0 "$XCORE" doctor --sysroot host --format json
  [ "$(jq -r '.sections[2].documents.changes.commands[0].command' <<<"$output")" = "install -d -m 1777 /nowhere" ]
  run -0 "$XCORE" doctor --sysroot host --format html
  [[ "$output" == *nowhere* ]]
}

needs_a_limit() {
  local hard
  hard=$(ulimit -H -c)
  [ "$hard" = unlimited ] || [ "$hard" -ge 16 ] || skip "the hard limit of core files is lower"
}

@test "the limits are those of the shell that asks" {
  needs_a_limit
  run -0 bash -c 'ulimit -S -c 8; "$0" doctor --format json' "$XCORE"
  [ "$(jq '.sections[1].fields.soft_limit' <<<"$output")" -eq $((8 * 1024)) ]
  [ "$(jq -r '.sections[1].fields.core_pattern' <<<"$output")" = "$(cat /proc/sys/kernel/core_pattern)" ]
}

@test "a process has limits of its own" {
  needs_a_limit
  bash -c 'ulimit -S -c 16; exec sleep 60' &
  pid=$!
  until [ "$(cat /proc/$pid/comm)" = sleep ]; do sleep 0.01; done
  : >"$pid" # a file of that name; the process is meant
  run -0 "$XCORE" doctor "$pid" --format json
  [ "$(jq '.sections[1].fields.soft_limit' <<<"$output")" -eq $((16 * 1024)) ]
  run -0 "$XCORE" doctor "pid:$pid" --format json
  kill "$pid"
  [ "$(jq '.sections[1].fields.soft_limit' <<<"$output")" -eq $((16 * 1024)) ]
}

@test "what it says is what happens" {
  grep -q '^[^/|@]' /proc/sys/kernel/core_pattern || skip "cores do not go to the directory of the process here"
  for limit in 0 unlimited; do
    mkdir "$limit" && cd "$limit" || return 1
    said=$(bash -c 'ulimit -c "$1"; "$0" doctor --format json' "$XCORE" "$limit" | jq .sections[0].fields.core)
    bash -c 'ulimit -c "$0"; sh -c "kill -SEGV \$\$"' "$limit" || true
    [ "$said" = "$([ -n "$(ls)" ] && echo true || echo false)" ]
    cd ..
  done
}

@test "a target that is not a process is an error" {
  expect 2 "xcore: doctor: 'core' is not a process: expected pid:N, or N*" "$XCORE" doctor core
  expect 4 'xcore: there is no process 2147483647*' "$XCORE" doctor pid:2147483647
}

@test "whether triage can work here is tried" {
  run -0 "$XCORE" doctor --format json
  [ "$(jq -r '.sections[] | select(.key == "workers") | .fields.jail' <<<"$output")" = true ]
  run -0 "$XCORE" doctor
  [[ "$output" == *"Can triage read cores here?"*"yes, in a sandbox"* ]]
  plant '/cores/core.%p'
  run -0 "$XCORE" doctor --sysroot host
  [[ "$output" != *"Can triage"* ]]
}
