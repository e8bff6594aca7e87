#!/usr/bin/env bats
# Output: complete or absent, readable by the owner alone, and silent if the reader closes the pipe.
# shellcheck disable=SC2016 # inner shells expand their own words
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

@test "-o writes the same answer, readable by the owner alone" {
  "$XCORE" info "$CORE" --format json >piped
  expect 0 '' "$XCORE" info "$CORE" --format json -o written
  silent
  cmp piped written
  [ "$(stat -c %a written)" = 600 ]
}

@test "an answer that is redacted is for whom the umask lets" {
  (umask 027 && CI=true "$XCORE" info "$CORE" -o written)
  [ "$(stat -c %a written)" = 640 ]
  rm written
  (umask 0 && "$XCORE" info "$CORE" --redact -o written)
  [ "$(stat -c %a written)" = 666 ]
  (umask 0 && CI=true "$XCORE" info "$CORE" --no-redact -o open)
  [ "$(stat -c %a open)" = 600 ]
}

# replaced COMMAND...: the command overwrites a file of another user. $before has the file's mode and owner.
replaced() {
  echo old >report
  chmod 640 report
  if [ "$(id -u)" -eq 0 ]; then chown 12345:54321 report; fi
  before=$(stat -c %a:%u:%g report)
  inode=$(stat -c %i report)
  "$XCORE" "$@" -o report
  [ "$(stat -c %i report)" != "$inode" ]
}

@test "a file that is replaced keeps its rights, and its owner where we may give files away" {
  replaced info "$CORE" --redact
  [ "$(stat -c %a:%u:%g report)" = "$before" ]
}

@test "what is not redacted is for the owner alone, and is nobody else's, whatever it replaces" {
  for command in pack info "bt --full"; do
    # shellcheck disable=SC2086 # two words
    replaced $command "$CORE"
    [ "$(stat -c %a:%u:%g report)" = "600:$(id -u):$(id -g)" ]
  done
}

# planted COMMAND...: it is refused, since what it would write to was planted by another user.
planted() {
  expect 4 'xcore: *of another user (uid 65534), in a world-writable directory*' timeout 10 "$XCORE" "$@"
}

@test "what another user planted in a world-writable directory is neither followed nor used" {
  [ "$(id -u)" -eq 0 ] || skip "only root can act as a second user"
  "$XCORE" pack "$CORE" -o one.pack
  mkdir -m 1777 all
  mkdir home
  echo precious >home/file
  chmod 755 "$BATS_TEST_TMPDIR" home
  (cd all && setpriv --reuid=65534 --clear-groups sh -c 'ln -s ../home/file link && ln -s ../home out && mkfifo fifo &&
    mkdir dir && echo theirs >file')
  for name in link fifo file; do
    planted info "$CORE" -o "all/$name"
    planted info "$CORE" --redact -o "all/$name"
    planted triage "$CORE" --export "markdown=all/$name"
  done
  ln -s all/link mine
  ln -s all/out/ through
  for name in mine all/out/new all/out/file all/out/../home/new through/new; do
    planted info "$CORE" -o "$name"
  done
  planted pack "$CORE" -o all/out/new.pack
  planted unpack one.pack all/out/new
  planted unpack one.pack all/out/.
  planted unpack one.pack through
  planted unpack one.pack all/out
  planted unpack one.pack all/dir/
  planted triage "$CORE" --shard 0/1 -o all/out
  [ "$(cat home/file all/file)" = "precious"$'\n'"theirs" ]
  [ "$(ls home)" = file ]
  "$XCORE" pack "$CORE" -o all/link # takes the place of the link
  [ ! -L all/link ]
  exec 7>open # what is open is not planted
  mv open all/open
  chown 65534 all/open
  "$XCORE" info "$CORE" -o /dev/fd/7
  exec 7>&-
  grep -q core all/open
  ln -s ../home/file all/own
  "$XCORE" info "$CORE" -o all/own
  grep -q core home/file
}

@test "standard output by another name is written to, and what else is in its file stays" {
  "$XCORE" info "$CORE" --format json >piped
  for name in /dev/stdout /dev/fd/1 /proc/self/fd/1 log; do
    for how in '>' '>>'; do
      rm -f log
      sh -c "(echo before; $(shell_words "$XCORE" info "$CORE") --format json -o $name; echo after) $how log"
      (echo before && cat piped && echo after) | cmp - log
    done
  done
  (echo before && "$XCORE" info "$CORE" --format json -o /dev/stderr && echo after >&2) 2>log
  (cat piped && echo after) | cmp - log
}

@test "the summary of a step is appended to, whole or not at all" {
  echo before >summary
  chmod 644 summary
  export GITHUB_STEP_SUMMARY=$PWD/summary
  exec 7>>summary
  "$XCORE" info "$CORE" >whole
  "$XCORE" info "$CORE" -o ./summary
  echo after >&7
  [ "$(cat summary)" = "$(echo before; cat whole; echo after)" ]
  cp summary kept
  expect 4 'xcore: *no thread 1*' "$XCORE" bt "$CORE" --thread 1 -o summary
  cmp summary kept
  run -4 prlimit --fsize=$(($(stat -c %s summary) + 10)) env --ignore-signal=XFSZ "$XCORE" info "$CORE" -o summary
  cmp summary kept
  "$XCORE" info "$CORE" -o other
  "$XCORE" info "$CORE" -o other
  cmp other whole
}

@test "the summary of a step is appended to on a line of its own" {
  "$XCORE" info "$CORE" >whole
  printf half >summary
  GITHUB_STEP_SUMMARY=$PWD/summary "$XCORE" info "$CORE" -o summary
  cmp summary <(echo half; cat whole)
  : >summary
  GITHUB_STEP_SUMMARY=$PWD/summary "$XCORE" info "$CORE" -o summary
  cmp summary whole
}

@test "a run that fails leaves in the summary of its step what others said meanwhile" {
  echo before >summary
  GITHUB_STEP_SUMMARY=$PWD/summary run -4 "$XCORE" triage -q - -o summary --export json=nowhere/x \
    < <(sleep 0.3; echo meanwhile >>summary; echo core)
  [ "$(cat summary)" = $'before\nmeanwhile' ]
}

@test "-o replaces a file only when all went well" {
  echo old >report
  expect 4 'xcore: *no thread 1*' "$XCORE" bt "$CORE" --thread 1 -o report
  [ "$(cat report)" = old ]
  expect 0 '' "$XCORE" bt "$CORE" -o report
  grep -q crasher report
  [ "$(echo .[!.]* *)" = '.[!.]* report stdout' ]
}

@test "-o through a link replaces what the link leads to" {
  mkdir there
  echo old >there/real
  ln -s there/real link
  expect 0 '' "$XCORE" info "$CORE" -o link
  [ -L link ]
  grep -q crasher there/real
}

@test "-o to what cannot be written names it" {
  expect 4 'xcore: output: nowhere/report: No such file or directory' "$XCORE" info "$CORE" -o nowhere/report
  mkdir dir
  expect 4 'xcore: output: *dir: Is a directory' "$XCORE" info "$CORE" -o dir
}

@test "the target is never overwritten" {
  cp "$CORE" copy
  expect 2 'xcore: info: --output: *copy is the target itself*' "$XCORE" info copy -o copy
  cmp copy "$CORE"
}

@test "a full disk is reported, and a device is not replaced by a file" {
  [ -c /dev/full ] || skip "no /dev/full"
  run -4 bash -c '"$1" info "$2" >/dev/full' - "$XCORE" "$CORE"
  [ "$output" = "xcore: standard output: No space left on device" ]
  expect 4 'xcore: /dev/full: No space left on device' "$XCORE" info "$CORE" -o /dev/full
  [ -c /dev/full ]
}

@test "a reader that stops early ends the run quietly" {
  run -0 bash -o pipefail -c '"$1" maps "$2" --format json | head -c 1 >/dev/null' - "$XCORE" "$CORE"
  [ -z "$output" ]
}

@test "a closed standard output is an error" {
  run -4 bash -c '"$1" info "$2" >&-' - "$XCORE" "$CORE"
  [[ $output == 'xcore: standard output: '* ]]
}

@test "colour only when asked for, or on a terminal without NO_COLOR" {
  esc=$(printf '\033')
  "$XCORE" bt "$CORE" --color always | grep -q "$esc"
  run ! grep -q "$esc" <("$XCORE" bt "$CORE")
  command -v script >/dev/null || skip "no script(1)"
  TERM=xterm script -qec "$(shell_words "$XCORE" bt "$CORE")" /dev/null </dev/null | grep -q "$esc"
  run ! grep -q "$esc" <(NO_COLOR=1 TERM=xterm script -qec "$(shell_words "$XCORE" bt "$CORE")" /dev/null </dev/null)
}

@test "CI=true redacts, --no-redact shows" {
  "$XCORE" bt "$CORE" --full | grep -q 'value=42'
  CI=true "$XCORE" bt "$CORE" --full --no-redact | grep -q 'value=42'
  CI=true "$XCORE" bt "$CORE" --full >redacted
  grep -q 'value=' redacted
  run ! grep -q 'value=42' redacted
}

@test "figures of the run appear with --stats only" {
  "$XCORE" info "$CORE" --format json >without
  run ! grep -q peak_memory without
  "$XCORE" info "$CORE" --format json --stats | grep -q peak_memory
}

@test "JSON is the same twice" {
  for command in analyze bt threads regs maps modules info; do
    "$XCORE" $command "$CORE" --format json >one
    "$XCORE" $command "$CORE" --format json >two
    cmp one two
    python3 -c 'import json, sys; json.load(open("one"))'
  done
}

@test "policies: --fail-on and --strict" {
  expect 1 'xcore: --fail-on crash: condition met' "$XCORE" info "$CORE" --fail-on crash
  expect 1 'xcore: --fail-on low: condition met' "$XCORE" threads "$CORE" --fail-on unverified,low
  expect 0 '' "$XCORE" info "$CORE" --fail-on critical
  expect 0 '' "$XCORE" info "$CORE" --strict
  head -c $(($(stat -c %s "$CORE") / 2)) "$CORE" >cut.core
  expect 3 'xcore: --strict:*' "$XCORE" info cut.core --strict
  expect 1 'xcore: --fail-on missing: condition met' "$XCORE" info cut.core --strict --fail-on missing
  expect 0 '' "$XCORE" info cut.core
}

@test "the crash is told: function, line, values" {
  "$XCORE" analyze "$CORE" >report
  grep -q 'SIGSEGV' report
  grep -q 'set .*crasher.c:5' report
  grep -q 'value=42' report
  "$XCORE" sym "$CORE" answer | grep -q 'answer'
  "$XCORE" mem "$CORE" answer 4 | grep -q '2a 00 00 00'
  "$XCORE" flame stacks "$CORE" | grep -q 'main;set 1$'
  "$XCORE" flame stacks "$CORE" -o flame.svg
  head -c 200 flame.svg | grep -q '<svg'
}

@test "flame graphs for other viewers have the stacks and weights of the folded lines" {
  "$XCORE" flame stacks "$CORE" >folded
  "$XCORE" flame stacks "$CORE" -o it.speedscope.json
  python3 - folded it.speedscope.json <<'PY'
import json, sys
from collections import Counter
folded, other = Counter(), Counter()
for line in open(sys.argv[1]):
    path, weight = line.rsplit(" ", 1)
    folded[path] += int(weight)
file = json.load(open(sys.argv[2]))
names = [frame["name"].replace(";", ":") for frame in file["shared"]["frames"]]
profile = file["profiles"][0]
assert len(names) == len(set(names)) and profile["type"] == "sampled" and profile["unit"] == "none"
assert profile["endValue"] == sum(profile["weights"]) and len(profile["samples"]) == len(profile["weights"])
for stack, weight in zip(profile["samples"], profile["weights"]):
    other[";".join(names[i] for i in stack)] += weight
assert folded and folded == other, (folded - other, other - folded)
PY
  "$XCORE" flame stacks "$CORE" -o it.firefox.json
  python3 "$BATS_TEST_DIRNAME/../live/firefox.py" it.firefox.json folded 1
  command -v go || skip "there is no go here: pprof is its tool"
  "$XCORE" flame stacks "$CORE" -o it.pb.gz
  GOTOOLCHAIN=local go tool pprof -raw it.pb.gz >raw
  python3 - folded raw <<'PY'
import re, sys
total = sum(int(line.rsplit(" ", 1)[1]) for line in open(sys.argv[1]))
raw = open(sys.argv[2]).read()
samples = re.findall(r"^ +(\d+): [\d ]+$", raw.split("Locations")[0], re.M)
assert sum(map(int, samples)) == total, (total, raw[:500])
assert "threads/count" in raw
PY
}

@test "a pid is read without being named as such, unless a file has its name" {
  export ASAN_OPTIONS=detect_leaks=0 # that checker needs ptrace, which the fence denies
  sleep 60 & pid=$!
  until [ "$(cat /proc/$pid/comm)" = sleep ]; do :; done # it has not called exec yet
  "$XCORE" info $pid | grep -q sleep
  echo text >$pid
  expect 4 "xcore: *$pid*not an ELF file*" "$XCORE" info $pid
  "$XCORE" info pid:$pid -o live
  kill $pid
  grep -q sleep live
}
