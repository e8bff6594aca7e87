#!/usr/bin/env bats
# triage --baseline: the state of clusters relative to the baseline, and the handling of incomplete batches.
# shellcheck disable=SC2154 # helper.bash and bats set them
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
  cores null-write=a.pack null-call=c.pack
}

triage() {
  "$XCORE" triage --quiet --no-host-files "$@"
}

states() {
  triage cores --baseline known --format json "$@" | jq -r '[.clusters[].state] | sort | join(" ")'
}

@test "what is not there is gone only when all was looked at" {
  triage cores --baseline known --update-baseline >/dev/null
  [ "$(states)" = "known known" ]
  rm cores/c.pack
  [ "$(states)" = "gone known" ]
  head -c 100 cores/a.pack >cores/core.short
  [ "$(states)" = "known unseen" ]
  triage cores --baseline known --format json | jq -e '.partial == "1 core gave no verdict"'
  rm cores/*
  triage cores --baseline known --format json | jq -e '.partial == "no core was found" and .states.unseen == 2'
}

@test "shards that could not look everywhere, or are missing, tell what is unseen" {
  triage cores --baseline known --update-baseline >/dev/null
  rm cores/c.pack
  ln -s nowhere cores/core.link
  triage cores --baseline known --format json >whole.json
  jq -e '.partial == "1 name could not be searched"' whole.json
  triage --shard 0/2 cores -o parts
  triage --shard 1/2 cores -o parts
  "$XCORE" triage --quiet --merge parts --baseline known --format json >merged.json
  cmp whole.json merged.json
  rm cores/core.link
  triage cores --baseline known --format json | jq -e '.partial == null and .states.gone == 1'
}

# bats test_tags=long
@test "one update without a cluster changes nothing, two repair it, and it comes back as new" {
  for _ in 1 2 3; do triage cores --baseline known --update-baseline >/dev/null; done
  mv cores/c.pack .
  triage cores --baseline known --update-baseline >/dev/null
  grep -q 'seen=+++- ' known
  mv c.pack cores/
  [ "$(states)" = "known known" ]
  mv cores/c.pack .
  triage cores --baseline known --update-baseline >/dev/null
  [ "$(states)" = "known" ]
  mv c.pack cores/
  run -1 --separate-stderr "$XCORE" triage --no-host-files cores --baseline known
  [[ "$stderr" == *"exit 1: 1 new cluster"* ]]
  triage cores --baseline known --update-baseline >/dev/null
  [ "$(states)" = "known known" ]
}

@test "an update says which lines have expired and stay so" {
  triage cores --baseline known --update-baseline >/dev/null
  sed -i '/null-write/s/ severity=/ expires=2001-01-31 severity=/' known
  run -0 --separate-stderr "$XCORE" triage --no-host-files cores --baseline known --update-baseline
  [[ "$stderr" == *" expired on 2001-01-31 and stays expired: edit its expires= in known"* ]]
  [ "$(grep -c expired <<<"$stderr")" = 1 ]
  grep -q 'expires=2001-01-31' known
  run -1 triage cores --baseline known
}

@test "what is worse than accepted is new" {
  triage cores --baseline known --update-baseline >/dev/null
  sed -i 's/ severity=[a-z]*/ severity=info/' known
  run -1 triage cores --baseline known
  triage cores --baseline known --format json | jq -e '.clusters[0] | .state == "new" and .why == "worse than accepted: info"'
  triage cores --baseline known --update-baseline >/dev/null
  [ "$(states)" = "known known" ]
}

@test "a class that was not accepted is new" {
  triage cores --baseline known --update-baseline >/dev/null
  grep -q ' class=null-write seen=+ ' known
  echo 'function class(record) if record.class == "null-write" then return "wild-write" end end' >policy.lua
  run -1 triage cores --baseline known --policy policy.lua
  [[ "$output" == *"new: a class that was not accepted: wild-write"* ]]
  [ "$(states --policy policy.lua)" = "known new" ]
  triage cores --baseline known --policy policy.lua --update-baseline >/dev/null
  grep -q ' class=null-write,wild-write seen=++ ' known
  [ "$(states)" = "known known" ]
  [ "$(states --policy policy.lua)" = "known known" ]
}

@test "a baseline of other signatures is refused with what helps" {
  triage cores --baseline known --update-baseline >/dev/null
  sed -i '1s/ [0-9]*$/ 1/' known
  cp known before
  for update in '' --update-baseline; do
    expect 4 '*for other signatures*hint: move it away, make a new one with --update-baseline*' \
      "$XCORE" triage --no-host-files cores --baseline known $update
    cmp before known
  done
  mv known away
  triage cores --baseline known --update-baseline >/dev/null
  [ "$(states)" = "known known" ]
}
