#!/usr/bin/env bats
# triage: inputs from directories, lists and a journal, and the messages for skipped ones.
# shellcheck disable=SC2154 # helper.bash and bats set them
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
  name=core.sleepy.33.0123456789abcdef0123456789abcdef.7.1700000000000000
  cores null-write=deep/null-write.pack "null-call=$name"
  echo notes >cores/README
}

paths() {
  "$XCORE" triage --quiet --no-host-files --format json "$@" | jq -r '[.clusters[].members[].path] | sort | join(" ")'
}

@test "a directory, its files and lists of them give the same answer" {
  [ "$(paths cores)" = "$name deep/null-write.pack" ]
  "$XCORE" triage --quiet --no-host-files --format json cores >directory
  "$XCORE" triage --quiet --no-host-files --format json cores/deep/* "cores/$name" >files
  find cores -name '*core*' -type f -o -name '*.pack' | "$XCORE" triage --quiet --no-host-files --format json - >list
  find "$PWD/cores" -type f ! -name README -print0 >names
  "$XCORE" triage --quiet --no-host-files --format json @names >absolute
  cmp directory files
  cmp directory list
  cmp directory absolute
}

@test "compressed cores are the same cores" {
  needs_core_of_ours
  for z in "zstd -q" "lz4 -q" "xz" "gzip"; do
    $z -c core >"core.${z%% *}" || skip
  done
  run -0 --separate-stderr "$XCORE" triage --quiet --format json core core.zstd core.lz4 core.xz core.gzip
  [ "$(jq '[.clusters[].members[].core_id] | unique | length' <<<"$output")" -eq 1 ]
  [ "$(jq '[.clusters[].members[]] | length' <<<"$output")" -eq 5 ]
}

needs_core_of_ours() {
  BATS_FILE_TMPDIR=$BATS_TEST_TMPDIR make_core
  needs_core
  cp "$CORE" core.tmp && rm -rf core && mv core.tmp core
}

@test "what is left out is told, with escapes made harmless" {
  ln -s nowhere "$(printf 'cores/core.\033[31m')"
  run -0 --separate-stderr "$XCORE" triage --no-host-files cores
  [[ "$stderr" == *'core.\x1b[31m: a link, or not a regular file: left out'* ]]
}

@test "lists, journals, parts and baselines are regular files, or standard input" {
  mkfifo fifo
  expect 4 'xcore: fifo: not a regular file*' timeout 120 "$XCORE" triage --no-host-files @fifo
  expect 4 'xcore: --journal: fifo: not a regular file*' timeout 120 "$XCORE" triage --no-host-files cores --journal fifo
  expect 4 'xcore: --journal: /dev/zero: not a regular file*' timeout 120 "$XCORE" triage --no-host-files cores --journal /dev/zero
  expect 4 'xcore: fifo: not a regular file*' timeout 120 "$XCORE" triage --merge fifo
  expect 4 'xcore: --plan-file: fifo: not a regular file*' timeout 120 "$XCORE" triage --shard 0/1 --plan-file fifo cores
  expect 4 'xcore: --baseline: fifo: *' timeout 120 "$XCORE" triage --no-host-files cores --baseline fifo
  expect 4 'xcore: --frames: fifo: *' timeout 120 "$XCORE" triage --no-host-files cores --frames fifo
  expect 4 'xcore: --policy: fifo: *' timeout 120 "$XCORE" triage --no-host-files cores --policy fifo
  expect 4 'xcore: --journal: standard input: entry 1 is not*' timeout 120 "$XCORE" triage --no-host-files cores --journal - </dev/zero
}

# The services of all cores, in order.
units() {
  "$XCORE" triage --quiet --no-host-files --format json "$@" cores | jq -c '[.clusters[].members[] | {path, unit}] | sort_by(.path) | map(.unit)'
}

@test "what is resumed is hinted by the journal of this run" {
  printf 'COREDUMP_FILENAME=/x/%s\nCOREDUMP_COMM=sleepy\nCOREDUMP_UNIT=sleepy.service\n\n' "$name" >journal
  sed 's/sleepy.service/other.service/' journal >other
  [ "$(units --journal journal)" = '["sleepy.service",null]' ]
  [ "$(units --resume)" = '[null,null]' ]
  [ "$(units --resume --journal other)" = '["other.service",null]' ]
  for shard in 0 1; do
    "$XCORE" triage --quiet --no-host-files --shard $shard/2 cores -o parts --journal "$([ $shard = 0 ] && echo journal || echo other)"
  done
  expect 4 '*were made with different settings*' "$XCORE" triage --merge parts
}

# bats test_tags=long
@test "what another symbol store tells is not mixed with ours, given or found" {
  mkdir elf one two && cp "$XCORE" elf/ && cp /bin/true two/
  "$XCORE" symbols index elf --store one >/dev/null 2>&1
  "$XCORE" symbols index two --store two >/dev/null 2>&1
  part() { # STORE SHARD WORDS...
    XCORE_SYMBOLS=$1 "$XCORE" triage --quiet --no-host-files --shard "$2/2" cores -o parts "${@:3}"
  }
  part "$PWD/one" 0
  part "$PWD/two" 1
  expect 4 '*were made with different settings*' "$XCORE" triage --merge parts
  part "" 1
  expect 4 '*were made with different settings*' "$XCORE" triage --merge parts
  part "" 1 --store one # the same files by another path
  run -0 "$XCORE" triage --merge parts
  cp -r one elsewhere && part "$PWD/elsewhere" 0
  run -0 "$XCORE" triage --merge parts
}

@test "the journal tells the service" {
  printf 'COREDUMP_FILENAME=/x/%s.zst\nCOREDUMP_COMM=sleepy\nCOREDUMP_UNIT=sleepy.service\n\n' "$name" >journal
  run -0 --separate-stderr "$XCORE" triage --no-host-files --format json --journal journal cores
  [ "$(jq -c '[.clusters[].members[] | {path, unit}] | sort_by(.path) | map(.unit)' <<<"$output")" = '["sleepy.service",null]' ]
  expect 2 'xcore: triage: standard input is the list*' "$XCORE" triage --journal - -
  echo nonsense >journal
  expect 4 'xcore: --journal: journal: entry 1 is not a journal entry*' "$XCORE" triage --journal journal cores
}

# bats test_tags=long
@test "what does not answer is named, and waited for" {
  [ -r /proc/self/syscall ] || skip "this kernel does not tell what a process waits for"
  mkfifo list said
  timeout 200 "$XCORE" triage --quiet --no-host-files --no-cache --format json - <list 2>said >answer 3>&- &
  exec 7>list 8<said
  IFS= read -t 120 -r line <&8 || true
  [ "$line" = "xcore: $(shown "$(realpath list)"): no answer for 10 seconds: still waiting" ] || { exec 7>&-; return 1; }
  echo cores/deep/null-write.pack >&7
  exec 7>&-
  wait $!
  [ -z "$(cat <&8)" ]
  [ "$(jq -r '.clusters[].members[].path' answer)" = null-write.pack ]
}

# bats test_tags=long
@test "a core that was cut in its notes is unreadable, not a process that ran on" {
  needs_core_of_ours
  mkdir cut
  head -c 1000 core >cut/core.1
  : >cut/core.2
  run -3 --separate-stderr "$XCORE" triage cut --format json --max-unreadable 0
  [ "$(jq -r '[.failed[].status] | join(" ")' <<<"$output")" = "unreadable unreadable" ]
  [ "$(jq '.clusters | length' <<<"$output")" -eq 0 ]
}

@test "where no core was found, what to do is told" {
  mkdir none
  run -0 --separate-stderr "$XCORE" triage none
  [[ $stderr == *"xcore doctor"* ]]
  run -0 --separate-stderr "$XCORE" triage none --quiet
  [ -z "$stderr" ]
}

# bats test_tags=long
@test "--exe is for the cores of that program, and others are looked at without it" {
  BATS_FILE_TMPDIR=$BATS_TEST_TMPDIR make_core
  needs_core
  mkdir app && mv "$PROGRAM" app/program && cp "$CORE" cores/core.99
  local functions='[.clusters[] | {(.representative): .frames[0].name}] | add'
  run -0 --separate-stderr "$XCORE" triage --no-host-files --format json --exe app/program cores
  [ "$(jq '.failed | length' <<<"$output")" -eq 0 ]
  [ "$(jq -r "$functions | .\"core.99\", .\"deep/null-write.pack\"" <<<"$output" | xargs)" = "set write_field" ]
  [[ $stderr == *"xcore: --exe app/program: not the program, or another build, of 2 of 3 cores: these were examined without it"* ]]
  run -0 --separate-stderr "$XCORE" triage --no-host-files --exe app/program cores/deep
  [[ $stderr == *"of all 1 core: examined without it"* ]]
  [[ $output == *"xcore analyze cores/deep/null-write.pack"* ]] # with --exe it would be refused
  run -0 --separate-stderr "$XCORE" triage --no-host-files --exe app/program cores/core.99
  [[ $stderr != *--exe* && $output == *"xcore analyze --exe=app/program cores/core.99"* ]]
}

@test "a pattern that no shell has expanded is, also in a list and in a job file" {
  cp cores/deep/null-write.pack cores/deep/core.7
  [ "$(paths 'cores/d*/*.pack')" = "null-write.pack" ]
  printf '%s\n' 'cores/*/core.?' >names
  [ "$(paths @names)" = "core.7" ]
  expect 4 "xcore: cores/*.zst: no file's name fits this pattern" "$XCORE" triage 'cores/*.zst'
  "$XCORE" triage --no-host-files --emit parallel 'cores/deep/*' --shards 2 -o job
  grep -qF "'cores/deep/*'" job
}

@test "what is given by two names is counted once" {
  ln -s cores link
  ln -s nowhere cores/core.99
  run -0 --separate-stderr "$XCORE" triage --no-host-files --format json cores ./cores link cores/deep
  [ "$(grep -c 'left out' <<<"$stderr")" -eq 1 ]
  [ "$(jq '[.clusters[].members[]] | length' <<<"$output")" -eq 2 ]
  "$XCORE" triage --quiet --no-host-files --format json cores >once
  "$XCORE" triage --quiet --no-host-files --format json ./cores/ cores >twice
  cmp once twice
}

@test "a program in --debug-dir is found by its build-id without the host's files" {
  BATS_FILE_TMPDIR=$BATS_TEST_TMPDIR make_core
  needs_core
  local id
  id=$(readelf -n "$PROGRAM" | sed -n 's/.*Build ID: //p')
  [ -n "$id" ] || skip "no build-id"
  mkdir -p "debug/.build-id/${id:0:2}" && mv "$PROGRAM" "debug/.build-id/${id:0:2}/${id:2}"
  run -0 --separate-stderr "$XCORE" triage --no-host-files --debug-dir debug --format json "$CORE"
  [ "$(jq -r '.clusters[0].frames[0].name' <<<"$output")" = set ]
}
