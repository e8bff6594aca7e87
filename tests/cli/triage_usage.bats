#!/usr/bin/env bats
# triage: options without an effect are refused, and help lists the available ones.
# shellcheck disable=SC2154 # helper.bash and bats set them
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
  cores null-write=a.pack
}

refused() {
  local what=$1
  shift
  expect 2 "xcore: triage: $what*" "$XCORE" triage cores "$@" && silent
}

# bats test_tags=long
@test "what would do nothing is refused" {
  for option in --export=json=x --baseline=x --fail-on=new --max-unreadable=1 --limit=3 --format=json --manifest=x; do
    refused "${option%%=*} has no effect with --shard: " --shard 0/2 $option
    refused "${option%%=*} has no effect with --plan: " --plan $option
    refused "${option%%=*} has no effect with --explain: " --explain $option
  done
  for option in --frames=x --policy=x --max-instructions=3 --max-memory=3 --max-time=3; do
    refused "${option%%=*} has no effect with --shard: " --shard 0/2 $option
    refused "${option%%=*} has no effect with --plan: " --plan $option
  done
  for option in --exe=x --sysroot=x --debug-dir=x --store=x --no-host-files --journal=x --timeout=3 --max-core-size=3 --resume --redact; do
    refused "${option%%=*} has no effect with --merge: " --merge $option
  done
  for option in --stats --swap --max-read-rate=3 --max-output=3 --plugin-path=x; do
    refused "${option%%=*} has no effect in triage" $option
  done
  refused '--resume has no effect with --plan' --plan --resume
  refused '--strict has no effect with --merge' --merge --strict
  refused '--format has no effect with --keep' --keep --format json
  refused '--explain and --keep' --keep --explain
  refused '--explain has no effect with --shard' --explain --shard 0/2
  refused '--keep has no effect with --plan' --keep --plan
  refused '--plan-file goes with --shard' --plan-file x
  refused '--shards goes with --emit or --merge' --shards 3
  refused '--shards has no effect with --shard: ' --shard 0/2 --shards 3
  refused '--today is compared' --today 2026-11-22
  refused "--today: 'tomorrow'" --baseline x --today tomorrow
  for option in --max-instructions --max-memory --max-time; do
    refused "$option limits a --policy, which was not given*hint: --timeout, --worker-memory" $option=3
    refused "$option limits a --policy" $option=0 --keep
    refused "$option limits a --policy" --emit make $option=3
    expect 4 'xcore: --policy: nowhere.lua*' "$XCORE" triage cores --policy nowhere.lua $option=3
  done
  refused '--debuginfod: workers*hint: *--store' --debuginfod
  refused '--debuginfod: ' --debuginfod --emit make
}

@test "what goes together goes on" {
  "$XCORE" triage --quiet --plan --no-host-files --timeout 7 cores >plan
  grep -q a.pack plan
  "$XCORE" triage --quiet --no-host-files --keep --export json=x.json cores | grep -q '^keep '
  jq -e '.clusters | length == 1' x.json
}

@test "help has the words and statuses of triage" {
  "$XCORE" triage --help >help
  "$XCORE" help --man >page
  for word in new unreadable low medium high critical; do
    sed -n '/--fail-on/,/--stats/p' help | grep -qw "$word"
  done
  run ! grep -w unverified help
  run ! grep 'exit with 3 when something' help
  for status in 0 1 2 3 4 5; do
    sed -n '/^exit status/,/^examples/p' help | grep -q "^  $status "
  done
  grep -q 'parts are missing' help
  grep -q 'arts are missing' page
  grep -q '^unreadable\|[ (]unreadable' page
  expect 2 "xcore: triage: --fail-on: 'worse' is not one of new, unreadable, low*" "$XCORE" triage cores --fail-on worse
  run "$XCORE" bt --help
  [[ "$output" == *unverified* && "$output" != *unreadable* ]]
}

@test "without a baseline all is new, and an expired note is no longer one" {
  expect 1 'xcore: exit 1: 1 cluster, and without --baseline all are new' "$XCORE" triage --no-host-files cores --fail-on new
  "$XCORE" triage --quiet --no-host-files cores --baseline known --update-baseline >/dev/null
  sed -i 's/ seen=/ expires=2027-01-31 seen=/' known
  "$XCORE" triage --quiet --no-host-files cores --baseline known --today 2027-01-31 >/dev/null
  SOURCE_DATE_EPOCH=4000000000 "$XCORE" triage --quiet --no-host-files cores --baseline known --today 2027-01-31 >/dev/null
  expect 1 'xcore: exit 1: 1 expired cluster (known, but the day of expires= in the baseline is over)' \
    "$XCORE" triage --no-host-files cores --baseline known --today 2027-02-01
  "$XCORE" triage --no-host-files cores --baseline known --today 2027-02-01 2>/dev/null | head -1 | grep -q '(1 expired)'
}

# bats test_tags=long
@test "two answers to one file are refused, to standard output they are not" {
  refused '--export html=f: json=f writes to the same file' --export json=f --export html=f
  refused '--export json=f: -o writes to the same file' -o f --export json=f
  mkdir sub && ln -s . here
  for name in ./f sub/../f here/f "$PWD/f"; do
    refused "--export sarif=$(literal "$(shown "$name")"): json=f writes to the same file" --export json=f --export "sarif=$name"
    refused "--export json=f: -o writes to the same file" -o "$name" --export json=f
  done
  run -0 --separate-stderr "$XCORE" triage cores --quiet --no-host-files --export json=sub/k --export sarif=k --export junit=./-
  : >f && ln f g
  refused '--export html=./g: json=f writes to the same file' --export json=f --export html=./g
  run -0 --separate-stderr "$XCORE" triage cores --quiet --no-host-files --export github=- --export junit=-
  run -0 --separate-stderr "$XCORE" triage cores --quiet --no-host-files --export github=f --export junit=h -o i
}
