#!/usr/bin/env bats
# Plugins and scripts from the command line: search, arguments, answers, exit statuses.

load helper

setup_file() {
  make_core
  export PLUGINS=$BATS_FILE_TMPDIR/plugins XDG_DATA_HOME=$BATS_FILE_TMPDIR/data
  mkdir -p "$PLUGINS/crash/test" "$XDG_DATA_HOME"
  cat >"$PLUGINS/crash/init.lua" <<'LUA'
local xcore = require "xcore"
return {
  name = "crash", about = "what the crasher holds", doc = "Only for tests.",
  match = { symbols = { "answer" }, types = { "node" } },
  analyze = function(t, report) report:section("crash", "Crash"):integer("answer", t:var "answer") end,
  commands = {
    answer = { about = "the answer", run = function(t) print(t:var "answer") end },
    args = { about = "its arguments", usage = "[--db N] [WORD…]", run = function(t, report, args)
      for i, a in ipairs(args) do print(i, a) end
    end },
    wrong = { about = "refuses its arguments", run = function()
      error(xcore.error("usage", "--db: a number is wanted", "as in --db 3"))
    end },
    lua = { about = "is called as files of Lua end", run = function() print "the command" end },
    boom = { about = "fails half way", run = function(t, report)
      report:section("half", "Half"):count("done", 1)
      print "so far"
      local p = t:value("struct node", 16)
      return p.value
    end },
  },
  flames = {
    made = { about = "a tree", unit = "things", run = function(t, tree)
      tree:add({ "a", "b" }, 2) tree:add({ "a" }, 1)
    end },
  },
}
LUA
  cat >"$PLUGINS/other.lua" <<'LUA'
return { name = "other", about = "for another program", match = { modules = { "nginx" } },
  analyze = function(t, report) report:section("other"):text("never", "shown") end }
LUA
}

# lacks PATTERN FILE
lacks() {
  if grep "$1" "$2"; then return 1; fi
}

run_x() {
  "$XCORE" "$1" --plugin-path "$PLUGINS" "${@:2}"
}

@test "an expression is printed by =, and t is the target" {
  needs_core
  [ "$("$XCORE" run -e '= t:var "answer", 7' "$CORE")" = $'42\t7' ]
  [ "$("$XCORE" run "$CORE" -e '  = t:var "answer" -- a comment')" = 42 ]
}

@test "code on the command line has arguments, its errors have the line" {
  needs_core
  [ "$("$XCORE" run -e 'print(#{...}, ...)' "$CORE" a --db -5 -x)" = $'4\ta\t--db\t-5\t-x' ]
  expect 4 'xcore: *-e:2: *nothing*' "$XCORE" run -e $'\nprint(nothing.x)' "$CORE"
  expect 4 'xcore: *-e:1:*' "$XCORE" run -e 'print(' "$CORE"
}

@test "a script is a file, with arguments" {
  needs_core
  printf 'print(require "xcore".target:var "answer", ...)\n' >"$BATS_TEST_TMPDIR/s.lua"
  [ "$("$XCORE" run "$BATS_TEST_TMPDIR/s.lua" "$CORE" one --two)" = $'42\tone\t--two' ]
  cp "$BATS_TEST_TMPDIR/s.lua" "$BATS_TEST_TMPDIR/script"
  [ "$("$XCORE" run "$BATS_TEST_TMPDIR/script" "$CORE")" = 42 ]
  cd "$BATS_TEST_TMPDIR"
  [ "$("$XCORE" run s.lua "$CORE")" = 42 ]
  expect 4 'xcore: *none.lua*' "$XCORE" run none.lua "$CORE"
  expect 2 'xcore: run: *script*no command*' "$XCORE" run s.lua:show "$CORE"
}

@test "a command of a plugin runs, also from its file" {
  needs_core
  [ "$(run_x run crash.answer "$CORE")" = 42 ]
  [ "$("$XCORE" run "$PLUGINS/crash/init.lua:answer" "$CORE")" = 42 ]
  run_x run crash "$CORE" | grep -q '42'
  "$XCORE" run "$PLUGINS/crash/init.lua" "$CORE" | grep -q '42'
}

@test "a command called lua runs, unless there is a file of that name" {
  needs_core
  cd "$BATS_TEST_TMPDIR"
  [ "$(run_x run crash.lua "$CORE")" = "the command" ]
  [[ $(run_x run crash.lua --help) == *'is called as files of Lua end'* ]]
  echo 'print "the file"' >crash.lua
  [ "$(run_x run crash.lua "$CORE")" = "the file" ]
  expect 4 'xcore: nosuch.lua: No such file or directory' run_x run nosuch.lua "$CORE"
}

@test "options that xcore does not know go to the plugin, behind -- all" {
  needs_core
  [ "$(run_x run crash.args "$CORE" --db 3 word -n5)" = $'1\t--db\n2\t3\n3\tword\n4\t-n5' ]
  [ "$(run_x run crash.args "$CORE" --db=3 --quiet)" = $'1\t--db=3' ]
  [ "$(run_x run crash.args "$CORE" -- --quiet -q)" = $'1\t--quiet\n2\t-q' ]
  run_x run crash.args "$CORE" --db 3 --format json | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["schema"] == "xcore.run/1" and d["plugin"] == "crash" and d["command"] == "args", d
assert d["output"] == ["1\t--db", "2\t3"], d'
  expect 2 'xcore: run: unknown option --db*after TARGET*' run_x run crash.args --db 3 "$CORE"
}

@test "unknown names are suggested" {
  needs_core
  expect 2 'xcore: run: there is no plugin '\''crush'\''*did you mean crash*' run_x run crush.answer "$CORE"
  expect 2 'xcore: run: crash has no command '\''anser'\''*did you mean crash.answer*' run_x run crash.anser "$CORE"
  expect 2 'xcore: run: *--no-plugins*' run_x run crash.answer "$CORE" --no-plugins
  expect 2 'xcore: run: TARGET is missing*' run_x run crash.answer
  expect 2 'xcore: run: WHAT is missing*' "$XCORE" run
  silent
}

@test "a plugin's own complaint about arguments is a usage error without traceback" {
  needs_core
  expect 2 'xcore: run: *--db: a number is wanted*hint: as in --db 3*' run_x run crash.wrong "$CORE"
  run -2 run_x run crash.wrong "$CORE"
  [[ "$output" != *traceback* ]]
}

@test "what a failing command answered is shown, and the fault has its C path" {
  needs_core
  expect 4 'xcore: *crash/init.lua:*not mapped*traceback*' run_x run crash.boom "$CORE"
  run_x run crash.boom "$CORE" >"$BATS_TEST_TMPDIR/out" 2>/dev/null || [ $? -eq 4 ]
  grep -q 'so far' "$BATS_TEST_TMPDIR/out"
  grep -q '1' "$BATS_TEST_TMPDIR/out"
  run_x run crash.boom "$CORE" -o "$BATS_TEST_TMPDIR/file" 2>/dev/null || [ $? -eq 4 ]
  [ ! -e "$BATS_TEST_TMPDIR/file" ]
}

@test "help of a command, and of a plugin without target" {
  run_x run crash.args --help | grep -q 'usage: xcore run \[OPTIONS\] crash.args TARGET \[--db N\] \[WORD…\]'
  run_x run crash | grep -q 'what the crasher holds'
  run_x plugin doc crash | grep -q 'Only for tests.'
  run_x plugin doc crash --format json | python3 -c '
import json, sys
s = json.load(sys.stdin)["sections"][0]
assert s["fields"]["name"] == "crash", s
assert [r["name"] for r in s["tables"]["commands"]] == ["answer", "args", "boom", "lua", "wrong"], s'
}

@test "limits end a script and name the option" {
  needs_core
  expect 4 'xcore: *--max-instructions*' "$XCORE" run -e 'while true do end' "$CORE" --max-instructions 1
  expect 4 'xcore: *--max-memory*' "$XCORE" run -e 'local t = {} while true do t[#t + 1] = ("x"):rep(1e6) .. #t end' "$CORE" --max-memory 8
  expect 4 'xcore: *--max-time*' "$XCORE" run -e 'while true do end' "$CORE" --max-time 1 --max-instructions 0
  for format in text json; do
    for script in 'while true do print "again" end' 'while true do print() end' 'while true do pcall(print, ("x"):rep(1e6)) end' 'while true do print("\\1\\255\\226\\128\\174") end'; do
      expect 4 'xcore: -e: more than 1.00 MiB of printed lines: the rest is left out (raise it with --max-output)*' \
        "$XCORE" run -e "$script" "$CORE" --max-output 1 --format "$format"
      [ "$(stat -c %s "$BATS_TEST_TMPDIR/stdout")" -lt 1500000 ]
    done
  done
  [ "$("$XCORE" run -e 'for i = 1, 100 do print(("x"):rep(99999)) end' "$CORE" --max-output 0 | wc -c)" -eq 10000000 ]
}

@test "io and os are there only when asked for" {
  needs_core
  [ "$("$XCORE" run -e '= io, os' "$CORE")" = $'nil\tnil' ]
  [ "$("$XCORE" run --allow-unsafe -e '= type(io), type(os)' "$CORE")" = $'table\ttable' ]
  [ "$("$XCORE" run --allow-unsafe -e 'io.write("by its own means\n")' "$CORE")" = 'by its own means' ]
}

@test "analyze shows the sections of plugins that match, and no others" {
  needs_core
  run_x analyze "$CORE" >"$BATS_TEST_TMPDIR/with"
  grep -q '^Crash$' "$BATS_TEST_TMPDIR/with"
  lacks 'never *shown' "$BATS_TEST_TMPDIR/with"
  run_x analyze "$CORE" --no-plugins >"$BATS_TEST_TMPDIR/without"
  lacks '^Crash$' "$BATS_TEST_TMPDIR/without"
  run_x analyze "$CORE" --format json | python3 -c '
import json, sys
keys = [s["key"] for s in json.load(sys.stdin)["sections"]]
assert "crash" in keys and "other" not in keys, keys'
}

@test "broken, failing and endless plugins are notes of analyze" {
  needs_core
  mkdir "$BATS_TEST_TMPDIR/p"
  printf 'return { name = "broken", abuot = 1 }' >"$BATS_TEST_TMPDIR/p/broken.lua"
  printf 'return { name = "fails", about = "x", match = { modules = { "*" } }, analyze = function() error "kaputt" end }' \
    >"$BATS_TEST_TMPDIR/p/fails.lua"
  printf 'return { name = "loops", about = "x", match = { modules = { "*" } }, analyze = function() while true do end end }' \
    >"$BATS_TEST_TMPDIR/p/loops.lua"
  "$XCORE" analyze --plugin-path "$BATS_TEST_TMPDIR/p" --max-instructions 5 --plugin-path "$PLUGINS" "$CORE" >"$BATS_TEST_TMPDIR/out"
  joined "$BATS_TEST_TMPDIR/out" | grep -q "broken.lua: *unknown key *'abuot'"
  grep -q 'kaputt' "$BATS_TEST_TMPDIR/out"
  grep -q -e '--max-instructions' "$BATS_TEST_TMPDIR/out"
  grep -q '^Crash$' "$BATS_TEST_TMPDIR/out"
}

@test "a flame graph of a plugin" {
  needs_core
  [ "$(run_x flame crash.made "$CORE")" = $'a 1\na;b 2' ]
  run_x flame crash.made "$CORE" --as svg | grep -q '</svg>'
  run_x flame crash.made "$CORE" --format json | python3 -c 'import json, sys; json.load(sys.stdin)'
  expect 2 'xcore: flame: *did you mean crash.made*' run_x flame crash.mode "$CORE"
  expect 2 'xcore: flame: *is not a valid WHAT*' run_x flame stack "$CORE"
}

@test "list says which plugins are for a target, and why not" {
  needs_core
  run_x plugin list | grep -q 'what the crasher holds'
  run_x plugin list "$CORE" --format json | python3 -c '
import json, sys
rows = {r["name"]: r for r in json.load(sys.stdin)["sections"][0]["tables"]["plugins"]}
assert rows["crash"]["matches"] is True and "symbol answer" in rows["crash"]["why"], rows
assert rows["other"]["matches"] is False and rows["other"]["why"] == "no module nginx", rows'
}

@test "new makes a plugin that runs at once and passes its tests" {
  needs_core
  "$XCORE" plugin new fresh --struct node "$CORE" | tr -d ' \n' | grep -q 'fresh/init.lua'
  "$XCORE" plugin list | grep -q fresh
  "$XCORE" plugin test fresh >"$BATS_TEST_TMPDIR/tap"
  grep -q '^1\.\.3' "$BATS_TEST_TMPDIR/tap"
  lacks '^not ok' "$BATS_TEST_TMPDIR/tap"
  "$XCORE" analyze "$CORE" | grep -q 'list is NULL'
  "$XCORE" run fresh.show "$CORE" "$("$XCORE" run -e '= xcore.hex(t:symbol "answer".addr)' "$CORE")" | grep -q value
  expect 2 'xcore: plugin: *already exists*' "$XCORE" plugin new fresh
  expect 2 'xcore: plugin: *is not a valid name of a plugin*' "$XCORE" plugin new Fresh
  expect 4 'xcore: no type *nodee* near: node*' "$XCORE" plugin new third --struct nodee "$CORE"
}

@test "test exits with 1 when a case fails, and runs a directory in its place" {
  needs_core
  cp "$CORE" "$PLUGINS/crash/test/small.core"
  cat >"$PLUGINS/crash/test/answers.lua" <<'LUA'
return {
  { name = "right", core = "small.core", command = "answer", output = "42" },
  { name = "analyzed", core = "small.core", analyze = true, expect = { crash = { answer = 42 } } },
  { name = "tree", core = "small.core", flame = "made", expect = { ["a;b"] = 2, a = 1 } },
}
LUA
  "$XCORE" plugin test "$PLUGINS/crash" >"$BATS_TEST_TMPDIR/tap"
  grep -q '^ok 3 - answers.lua: tree' "$BATS_TEST_TMPDIR/tap"
  (cd "$PLUGINS/crash" && "$XCORE" plugin test .)
  sed -i 's/"42"/"43"/' "$PLUGINS/crash/test/answers.lua"
  run "$XCORE" plugin test "$PLUGINS/crash"
  [ "$status" -eq 1 ]
  [[ $output == *'not ok 1 - answers.lua: right'*'# output: got "42", want "43"'* ]]
  run "$XCORE" plugin test "$PLUGINS/crash" --format json
  [ "$status" -eq 1 ]
  rm -r "$PLUGINS/crash/test"
  expect 4 'xcore: crash has no tests*' run_x plugin test crash
}

@test "mistakes of a plugin are no damage of the target's" {
  needs_core
  local way
  cat >"$PLUGINS/mistakes.lua" <<'LUA'
local damage = require "lib.damage"
local function text(s) s:txet("k", "v") end
local function global(s) undefined_function(s) end
local function usage(s) s:text({}, "v") end
local function guarded(run) return function(t, report) damage.guard(run, report:section("s", "S"), t) end end
local function in_part(run) return guarded(function(s, t) damage.part(s, "its pool", run, s, t) end) end
local function tried(run) return guarded(function(s, t) s:text("why", select(2, damage.try(run, s, t))) end) end
local function faulty(_, t) return t:value("struct node", 16).value end
local commands = {}
for name, run in pairs { text = text, global = global, usage = usage, fault = faulty,
  null = function(_, t) local node = t:var "list" return node.next end } do
  commands[name .. "_guard"] = { about = name, run = guarded(run) }
  commands[name .. "_part"] = { about = name, run = in_part(run) }
  commands[name .. "_try"] = { about = name, run = tried(run) }
end
return { name = "mistakes", about = "is wrong", match = { symbols = { "answer" } }, commands = commands }
LUA
  for way in guard part try; do
    expect 4 "xcore: *mistakes.lua:2: a section has no 'txet'*stack traceback:*did you mean text*" run_x run "mistakes.text_$way" "$CORE"
    expect 4 "xcore: *mistakes.lua:3: attempt to call a nil value (global 'undefined_function')*stack traceback:*" \
      run_x run "mistakes.global_$way" "$CORE"
    expect 4 'xcore: *mistakes.lua:4: a key must be a string*stack traceback:*' run_x run "mistakes.usage_$way" "$CORE"
  done
  expect 4 'xcore: *0x10*not mapped*' run_x run mistakes.fault_guard "$CORE"
  for way in part try; do
    run_x run "mistakes.fault_$way" "$CORE" | grep 0x10
    run_x run "mistakes.null_$way" "$CORE" | grep 'mistakes.lua:1[0-9]: attempt to index a nil value'
  done
}

@test "directories that others may write are refused" {
  mkdir "$BATS_TEST_TMPDIR/open"
  chmod 777 "$BATS_TEST_TMPDIR/open"
  expect 4 'xcore: --plugin-path: *it is world-writable*' "$XCORE" plugin list --plugin-path "$BATS_TEST_TMPDIR/open"
  expect 4 'xcore: --plugin-path: */none*' "$XCORE" plugin list --plugin-path "$BATS_TEST_TMPDIR/none"
  mkdir -p "$BATS_TEST_TMPDIR/data/xcore/plugins"
  chmod 777 "$BATS_TEST_TMPDIR/data/xcore/plugins"
  XDG_DATA_HOME=$BATS_TEST_TMPDIR/data expect 2 '*there is no plugin *hint: */data/xcore/plugins: it is world-writable*' \
    "$XCORE" run mine.show "$CORE"
  [ "$(id -u)" -eq 0 ] || return 0 # only root gives files to another group
  chmod 775 "$BATS_TEST_TMPDIR/open"
  chgrp 54321 "$BATS_TEST_TMPDIR/open"
  expect 4 'xcore: --plugin-path: *it is writable by group 54321*hint: chmod g-w *' \
    "$XCORE" plugin list --plugin-path "$BATS_TEST_TMPDIR/open"
  cp "$XCORE" "$BATS_TEST_TMPDIR/xcore"
  chgrp 54321 "$BATS_TEST_TMPDIR/xcore"
  chmod 755 "$BATS_TEST_TMPDIR/xcore"
  expect 4 'xcore: --plugin-path: *it is writable by group 54321*' \
    "$BATS_TEST_TMPDIR/xcore" plugin list --plugin-path "$BATS_TEST_TMPDIR/open"
  chmod 775 "$BATS_TEST_TMPDIR/xcore" # then the group is one that can change the program
  "$BATS_TEST_TMPDIR/xcore" plugin list --plugin-path "$BATS_TEST_TMPDIR/open"
}
