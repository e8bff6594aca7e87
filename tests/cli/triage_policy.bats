#!/usr/bin/env bats
# triage --policy: user rules in Lua. Their errors do not stop a batch.
# shellcheck disable=SC2154 # helper.bash and bats set them
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
  cp "$repo/corpora/golden/null-write.pack" .
}

triage() {
  "$XCORE" triage --no-host-files --format json null-write.pack "$@"
}

@test "class, severity and frames are the policy's" {
  cat >policy.lua <<'END'
function class(record)
	assert(record.class == "null-write" and record.func == "write_field")
	return "shop-null", "high"
end
function keep(frame)
	if frame.name == "write_field" then return false end
end
function name(frame)
	if frame.name == "run" then return "go" end
end
END
  triage --policy policy.lua >answer
  [ "$(jq -r '.clusters[0].class, .clusters[0].severity' answer | xargs)" = "shop-null high" ]
  [[ $(jq -r '.clusters[0].signature' answer) = "shop-null | go"* ]]
}

@test "an error in a function is told once, means silence and fails the run" {
  echo 'function keep() error "oops" end' >policy.lua
  triage >plain
  run -4 triage --policy policy.lua --quiet
  [[ $output == *oops* ]]
  run -4 triage --policy policy.lua --baseline known --update-baseline
  [ ! -e known ]
  triage --policy policy.lua >answer 2>said || rc=$?
  [ "$rc" = 4 ]
  cmp plain answer
  [ "$(grep -c oops said)" = 1 ]
}

@test "a function that never ends is ended" {
  echo 'function keep() while true do end end' >policy.lua
  triage --policy policy.lua --max-instructions 1 --fail-on new >answer 2>said || rc=$?
  [ "$rc" = 4 ]
  grep -q "exit 4: the policy failed" said
  grep -q "more than 1,000,000 instructions" said
}

@test "a file that is no policy is an error" {
  echo 'x = 1' >policy.lua
  run -4 triage --policy policy.lua
  [[ $output = *"defines none of class(record)"* ]]
  run -4 triage --policy absent.lua
}
