#!/usr/bin/env bats
# Frames of other languages in stacks: a plugin's frames appear in every output form; everything else is unchanged.

setup_file() {
  load helper
  export PLUGINS=$BATS_FILE_TMPDIR/plugins PROGRAM=$BATS_FILE_TMPDIR/toy XDG_DATA_HOME=$BATS_FILE_TMPDIR/data
  export CORE=$BATS_FILE_TMPDIR/core
  mkdir -p "$PLUGINS" "$XDG_DATA_HOME"
  cp "$repo/tests/plugin/toy/toy.lua" "$PLUGINS"
  [ "$(uname -m)" = x86_64 ] || CORE=''
  gcc -w -g -O1 -o "$PROGRAM" "$repo/tests/plugin/toy/toy.c"
  "$repo/corpora/take-core" --out "$CORE" -- "$PROGRAM" >/dev/null 2>&1 || CORE=''
}

setup() {
  load helper
  needs_core
}

x() {
  "$XCORE" "$1" "$CORE" --no-cache --plugin-path "$PLUGINS" "${@:2}"
}

# The functions of the crashed thread from main, outermost first, by bt.
chain() {
  x bt --format json "$@" | jq -r '[.threads[0].frames[].function] | .[:index("main") + 1] | reverse | join(" ")'
}

whole='main outer_main outer_two outer_three run call_c TRACE 1 middle TRACE 2 builtin inner_one run call_c crash'

@test "bt has the frames where they belong, --no-plugins only the machine's" {
  [ "$(chain)" = "$whole" ]
  [[ $(chain --no-plugins) != *outer_main* ]]
}

@test "frames of a language have no number, so that numbers are what print takes" {
  x bt --format json | jq -e '[.threads[0].frames[] | select(.index != null) | .index] | . == [range(length)]'
  x bt --format json | jq -e '[.threads[0].frames[] | select(.index == null)] | length == 4 and all(.language == "toy" and .pc == null)'
  x bt >"$BATS_TEST_TMPDIR/text"
  grep -qE '^     inner_one +toy\.t:10  \[toy\] +arg=6$' "$BATS_TEST_TMPDIR/text"
  grep -qE '^     outer_main +toy\.t:10  \[toy main\] +arg=5$' "$BATS_TEST_TMPDIR/text"
  grep -qE '^#4 +TRACE 2 +toy\.t:42  \[toy\]' "$BATS_TEST_TMPDIR/text"
}

@test "values are left out where redaction is on" {
  x bt --full | grep -q "'secret'"
  ! x bt --full --redact | grep -E "'secret'|arg=6"
}

@test "analyze, HTML and flame graphs have them too" {
  [[ $(x analyze) == *'outer_three'* ]]
  x bt --format html | grep -q 'inner_one'
  [[ $("$XCORE" flame stacks "$CORE" --no-cache --plugin-path "$PLUGINS") == *'main;outer_main;outer_two;outer_three;run;call_c;TRACE 1;middle;TRACE 2;builtin;inner_one;run;call_c;crash 1' ]]
}

@test "stacks of no thread are counted, and shown when they are asked for" {
  x bt --format json | jq -e '.coroutines == null and (.messages[0].text | startswith("3 more stacks"))'
  x bt --format json --coroutines | jq -e '[.coroutines[].frames[0].function] == ["yield", "yield", "sleep"]'
  x bt --coroutines --group | grep -q '^2 × coroutine one, suspended   and coroutine two$'
  x bt --coroutines | grep -q '^coroutine three, suspended$'
}

@test "what is shown fits the schema" {
  python3 -c 'import jsonschema' 2>/dev/null || skip "no jsonschema"
  x bt --format json --coroutines --group >"$BATS_TEST_TMPDIR/bt.json"
  x analyze --format json >"$BATS_TEST_TMPDIR/analyze.json"
  python3 - "$repo/core/report/report.schema.json" "$BATS_TEST_TMPDIR"/*.json <<'EOF'
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
for path in sys.argv[2:]:
    jsonschema.validate(json.load(open(path)), schema)
EOF
}

@test "a plugin that fails is a note, and the machine's stack stays" {
  mkdir "$BATS_TEST_TMPDIR/bad"
  cat >"$BATS_TEST_TMPDIR/bad/bad.lua" <<'LUA'
return { name = "bad", about = "fails", match = { modules = { "*" } },
  stacks = function(t, stacks) stacks:frames(t:thread().tid, 4096, { { name = "nowhere" } }) error "half way" end }
LUA
  "$XCORE" bt "$CORE" --no-cache --plugin-path "$BATS_TEST_TMPDIR/bad" >"$BATS_TEST_TMPDIR/text"
  grep -q '^#0 *crash' "$BATS_TEST_TMPDIR/text"
  grep -q 'plugin bad: stacks: .*half way' "$BATS_TEST_TMPDIR/text"
  grep -q '1 frame of another language is at an address' "$BATS_TEST_TMPDIR/text"
  [ "$("$XCORE" analyze "$CORE" --no-cache --plugin-path "$BATS_TEST_TMPDIR/bad" | grep -c 'half way')" = 1 ]
}

@test "a plugin for another target costs no run" {
  mkdir "$BATS_TEST_TMPDIR/other"
  sed 's/behind_call/no_such_symbol/' "$PLUGINS/toy.lua" >"$BATS_TEST_TMPDIR/other/toy.lua"
  "$XCORE" bt "$CORE" --no-cache --no-plugins --format json >"$BATS_TEST_TMPDIR/without"
  "$XCORE" bt "$CORE" --no-cache --plugin-path "$BATS_TEST_TMPDIR/other" --format json >"$BATS_TEST_TMPDIR/with"
  cmp "$BATS_TEST_TMPDIR/without" "$BATS_TEST_TMPDIR/with"
}
