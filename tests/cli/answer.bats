#!/usr/bin/env bats
# Answers of scripts: the same document for every copy of a core, valid by the schema; lines printed immediately; all
# output before an error is kept.
# shellcheck disable=SC2154 # helper.bash sets repo
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  make_core
}

setup() {
  load helper
  needs_core
  cd "$BATS_TEST_TMPDIR" || return 1
  cat >all.lua <<'LUA'
local xcore = require "xcore"
local t, s = xcore.target, xcore.report:section("all", "Everything")
s:headline "a line"
s:text("name", "a\27[31m", {secret = true}); s:count("many", -1); s:bytes("size", 2048); s:ratio("share", 0.5)
s:number("load", 1.5); s:seconds("took", 0.25); s:bool("ok", true); s:address("at", 0x1000); s:integer("delta", -3)
s:unknown("lost", "not dumped"); s:value("answer", t:ref "answer"); s:lines("dump", "one\ntwo")
s:table("rows", {{"key", "text"}, {"n", "count"}}):row("a", 1)
s:tree("tree", {unit = "bytes"}):add({"a", "b"}, 4096)
local h = xcore.histogram {unit = "bytes"}
h:add {1, 100, 5000}
s:histogram("sizes", h)
s:warning("careful", "look")
print("printed", t:var "answer")
LUA
}

valid() { # FILE
  python3 -W ignore -c '
import json, sys, jsonschema
with open(sys.argv[1]) as schema, open(sys.argv[2]) as answer:
    jsonschema.Draft7Validator(json.load(schema)).validate(json.load(answer))' "$repo/core/report/report.schema.json" "$1"
}

arguments() { # FILE
  "$XCORE" info "$1" --format json | jq -r '.. | .args? // empty'
}

# bats test_tags=long
@test "all arguments are shown, not only the 79 bytes of the note, as the program left them" {
  gcc -w -o changes -x c - <<<'int main(int n, char **v) { strcpy(v[1], "changed"); return *(volatile int *)0; }'
  long=$(printf 'a%.0s' {1..100})
  "$repo/corpora/take-core" --out args.core -- ./changes "$long" 'two words' '' last
  [[ $(arguments args.core) == *"/changes changed two words  last" ]]
  "$repo/corpora/take-core" --out many.core -- ./changes "$long" $(seq 20000)
  [[ $(arguments many.core) == *"/changes changed 1 2 3 "*… ]]
  head -c 8000 args.core >cut.core # without the stack
  [[ $(arguments cut.core) == */*… ]]
}

@test "the same document for a core and its compressed copy, from anywhere, valid by the schema" {
  zstd -q "$CORE" -o copy.zst
  expect 0 '' "$XCORE" run all.lua "$CORE" --format json -o plain.json
  expect 0 '' env TZ=Asia/Tokyo HOME=/dev/null "$XCORE" run all.lua copy.zst --format json -o packed.json
  cmp plain.json packed.json
  valid plain.json
  jq -e '.schema == "xcore.run/1" and .plugin == null and .target == null and .error == null' plain.json
  jq -e '.output == ["printed\t42"] and .sections[0].values.answer.value == 42' plain.json
  jq -e '.sections[0].histograms.sizes.buckets | length == 3' plain.json
}

@test "--stats tells what the script used, and nothing else changes" {
  "$XCORE" run all.lua "$CORE" --format json >plain.json
  "$XCORE" run all.lua "$CORE" --format json --stats >stats.json
  valid stats.json
  jq -e '.run.tables.scripts[0] | .name == "all.lua" and .steps > 10 and .memory > 1000' stats.json
  diff <(jq 'del(.run)' stats.json) <(jq . plain.json)
}

@test "text has the lines that were printed first, then the sections; nothing reaches the terminal raw" {
  "$XCORE" run all.lua "$CORE" >text
  [ "$(head -n 1 text)" = $'printed\t42' ]
  grep -q 'share   50.0%' text
  grep -q '64 B – 127 B' text
  run ! grep -q $'\033' text
}

@test "a page of HTML has the bars, and no markup of the target" {
  "$XCORE" run -e 'local s = require "xcore".report:section("s"); s:text("t", "<script>")
    local h = require "xcore".histogram(); h:add(3); s:histogram("h", h); print "<b>"' "$CORE" --format html >page.html
  grep -q 'class="bar"' page.html
  grep -q '&lt;script&gt;' page.html
  grep -q '&lt;b&gt;' page.html
  run ! grep -q '<script' page.html
}

@test "what is secret stays in where redaction is on; printed lines are the script's own business" {
  CI=true "$XCORE" run all.lua "$CORE" --format json >redacted.json
  valid redacted.json
  jq -e '.sections[0] | .fields.name == "(redacted)" and .values.answer.value == "(redacted)"' redacted.json
  jq -e '.output[0] == "printed\t42" and .sections[0].fields.size == 2048' redacted.json
}

@test "a script that fails: what it made is shown, the status tells" {
  echo 'print "before"; require "xcore".report:section("s"):count("made", 1); error "no more"' >fails.lua
  expect 4 'xcore: fails.lua:1: no more*' "$XCORE" run fails.lua "$CORE"
  grep -q before "$BATS_TEST_TMPDIR/stdout"
  grep -q 'made  1' "$BATS_TEST_TMPDIR/stdout"
  expect 4 'xcore: fails.lua:1: no more*' "$XCORE" run fails.lua "$CORE" --format json
  valid "$BATS_TEST_TMPDIR/stdout"
  jq -e '.error == "fails.lua:1: no more" and .output == ["before"]' "$BATS_TEST_TMPDIR/stdout"
}

@test "= shows tables as the shell does, and the rest as print does; lines of errors are the user's" {
  run -0 "$XCORE" run -e '= {{n = 1, text = "a"}, {n = 22, text = "b"}}' "$CORE"
  [ "$output" = $'n   text\n1   a\n22  b' ]
  run -0 "$XCORE" run -e '= 1, "two", nil -- three' "$CORE"
  [ "$output" = $'1\ttwo\tnil' ]
  expect 4 'xcore: -e:1: the target has no *' "$XCORE" run -e '= t.nothing' "$CORE"
}

@test "a plugin that fails on a target that it is not for says so" {
  mkdir -p plugins
  cat >plugins/other.lua <<'EOF'
return { name = "other", about = "for another", match = { modules = { "otherd" } },
	commands = { go = { about = "fails", run = function(t) return t:var "nothing" end } } }
EOF
  expect 4 '*hint: other is not for this target: *otherd*' "$XCORE" run other.go "$CORE" --plugin-path plugins
}

@test "a binary chunk is refused by its name; a failure says what became of -o" {
  printf '\033Lua' >binary.lua
  expect 4 'xcore: binary.lua: a binary chunk; only text can be run' "$XCORE" run binary.lua "$CORE"
  expect 4 '*hint: nothing was written to kept.txt; *' "$XCORE" run -e 'print(1) error "no"' "$CORE" -o kept.txt
  [ ! -e kept.txt ]
}

@test "lines come while the script runs, and who stops reading stops it" {
  timeout 120 "$XCORE" run --max-time 600 -e 'while true do print "again" end' "$CORE" | head -n 2 >lines
  [ "${PIPESTATUS[0]}" -ne 124 ]
  [ "$(cat lines)" = $'again\nagain' ]
  mkfifo pipe
  timeout 120 "$XCORE" run -e 'print "first"; while true do end' "$CORE" --max-time 600 >pipe 2>/dev/null &
  local pid=$!
  read -r line <pipe
  [ "$line" = first ]
  kill "$pid"
  wait "$pid" || true
}

# bats test_tags=long
@test "a script is ended in time" {
  expect 4 'xcore: -e: more than 1 s (raise it with --max-time)*' \
    timeout 120 "$XCORE" run --max-time 1 -e 'while true do end' "$CORE"
}

@test "an interrupt ends the script with the command" {
  "$XCORE" run --max-time 600 -e 'print(1) while true do end' "$CORE" >out 2>/dev/null &
  local pid=$! child=''
  until child=$(ps -o pid= --ppid "$pid" | tr -d ' ') && [ -n "$child" ] && [ -s out ]; do
    kill -0 "$pid"
    sleep 0.05
  done
  kill -TERM "$pid"
  wait "$pid" || true
  for _ in $(seq 1200); do
    # The process that inherits it may not reap it.
    case $(ps -o stat= -p "$child") in '' | Z*) return 0 ;; esac
    sleep 0.05
  done
  return 1
}
