#!/usr/bin/env bats
# Container contents match the program's own output; --raw shows the internals; invalid containers show nothing
# invented.
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  "$repo/corpora/build-programs" --only views-gcc
}

setup() {
  load helper
  CASE=$repo/build/corpora/views-gcc
  [ ! -e "$CASE/skipped" ] || skip "$(cat "$CASE/skipped")"
}

# value NAME [OPTION]...: a local variable's value in bt.
value() {
  local name=$1
  shift
  "$XCORE" bt --full --format json --no-cache "$@" "$CASE/core" |
    jq -r --arg name "$name" '[.threads[].frames[] | .locals[]? | select(.name == $name) | .value][0]'
}

@test "every container of the GNU library reads as the program writes it" {
  "$repo/tests/diff/views" --no-gdb --only views-gcc --xcore "$XCORE"
}

@test "--raw shows innards" {
  [[ $(value three) == 'std::vector of length 3, capacity 3 = {1, 2, 3}' ]]
  [[ $(value three --raw) == *'_M_start = 0x'* ]]
  [[ $(value three --raw) != *'of length'* ]]
}

@test "limits hold for containers too" {
  [[ $(value many --elements 2) == 'std::map with 100 elements = {[0] = 0, [1] = 43...}' ]]
  [[ $(value nested --depth 1) == *'[2] = std::vector of length 2, capacity 2 = {20, 21}}' ]]
  [[ $(value many --length 40) == *'...}' ]]
}

@test "what is no container says why, then shows its innards" {
  [[ $(value bad_list) == *'<not a valid std::list: its first node does not link back> {'* ]]
  [[ $(value bad_vector) == *'<not a valid std::vector: '*'> {'*'_M_start = 0xa5a5a5a5a5a5a5a5'* ]]
}

@test "text shows what JSON says, with the names of types that people use" {
  "$XCORE" bt --full --no-cache "$CASE/core" >"$BATS_TEST_TMPDIR/text"
  grep -q 'std::set with 3 elements' "$BATS_TEST_TMPDIR/text"
  grep -qE '^ +ages +std::map<std::string, int> +std::map with 3 elements' "$BATS_TEST_TMPDIR/text"
  "$XCORE" bt --full --no-cache --format json "$CASE/core" |
    jq -e '[.threads[].frames[].locals[]? | select(.name == "ages") | .type][0] | startswith("std::map<std::__cxx11")'
}

# json NAME [OPTION]...: the value in print's JSON.
json() {
  local name=$1
  shift
  "$XCORE" print --format json --no-cache "$@" "$CASE/core" "$name" | jq -c '.value, .values[0].value | values'
}

@test "print gives programs texts, arrays and pairs" {
  [[ $(json words --frame 2) == '["a","bb"]' ]]
  [[ $(json ages --frame 3) == '[{"key":"ann","value":30},{"key":"bob","value":40},{"key":"cid","value":50}]' ]]
  [[ $(json some_word --frame 4) == '"word"' ]]
  [[ $(json words --frame 2 --depth 1) == '["a","bb"]' ]]
  [[ $(json words --frame 2 --raw) == *'"_M_start"'* ]]
}
