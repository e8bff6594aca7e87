#!/usr/bin/env bats
# The examples of README.md and docs/: each runs on the core of `make demo`.
# shellcheck disable=SC2154,SC2016 # helper.bash and bats set them; backquotes are of Markdown
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
  ${CC:-cc} -g -O1 -o inventory "$repo/corpora/programs/demo.c" -lpthread
  "$repo/corpora/take-core" --out core.4711 -- ./inventory >/dev/null 2>&1 || rm -f core.4711
  mkdir crashes
  cp "$repo"/corpora/golden/null-write.pack "$repo"/corpora/golden/assert.pack crashes/
}

setup() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
  export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
  [ -e core.4711 ] || skip "no core can be taken here"
  mkdir -p "$BATS_TEST_TMPDIR/bin"
  ln -s "$XCORE" "$BATS_TEST_TMPDIR/bin/xcore"
  PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

# However the test ended, no process is left.
teardown() {
  [ -z "${pid:-}" ] || kill "$pid"
}

# blocks LANGUAGE FILE...: the lines of the fenced blocks of a language.
blocks() {
  awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```/ { on = 0 } on' "${@:2}"
}

# May this host's processes be profiled in the way of the command?
may_profile() {
  xcore profile "pid:$pid" --for 10ms --clock off >/dev/null 2>&1
}

# bats test_tags=long
@test "every command of the pages runs" {
  local line out count=0
  sleep 100 3>&- &
  pid=$!
  while IFS= read -r line; do
    line=${line//pid:4711/pid:$pid}
    line=${line//--for 5s/--for 500ms}
    echo "$line"
    [[ $line != xcore\ profile\ * ]] || may_profile || continue
    bash -c "$line" >"$BATS_TEST_TMPDIR/said" </dev/null
    out=$BATS_TEST_TMPDIR/said
    [[ ! $line =~ \ -o\ ([^\ ]+) ]] || out=${BASH_REMATCH[1]}
    [ -s "$out" ]
    count=$((count + 1))
  done < <(blocks console "$repo/README.md" "$repo"/docs/*.md | sed -n 's/^\$ //p')
  [ "$count" -ge 5 ]
}

@test "README's script runs" {
  blocks lua "$repo/README.md" >script.lua
  run -0 xcore run script.lua core.4711
  [ "$output" = $'lamp\tRED\t3\nanvil\tBLUE\t1\ncup\tGREEN\t12' ]
}

@test "README's example is what the program answers" {
  xcore analyze core.4711 --source-root "$repo" | sed 's/0x[0-9a-f]*/ADDRESS/g; s/thread [0-9]*/thread N/g; s/pid [0-9]*/pid N/' >answer
  local line count=0
  while IFS= read -r line; do
    case $line in '' | '…' | '$ '* | core\ * | *demo.c:40\ \ \ *) continue ;; esac
    line=$(sed 's/0x[0-9a-f]*/ADDRESS/g; s/thread [0-9]*/thread N/g' <<<"$line")
    grep -qxF -- "$line" answer || { echo "not in the answer: $line" && cat answer && return 1; }
    count=$((count + 1))
  done < <(awk '/^```$/ { if (on) exit; on = 1; next } on' "$repo/README.md")
  [ "$count" -ge 12 ]
}

@test "every link of the pages leads somewhere" {
  local page link
  for page in "$repo"/README.md "$repo"/docs/*.md "$repo"/*/README.md; do
    while IFS= read -r link; do
      [ -e "${page%/*}/${link%%#*}" ] || { echo "$page: $link" && return 1; }
    done < <(grep -o '](\([^)]*\))' "$page" | sed 's/^](//; s/)$//' | grep -v '^http\|^#')
  done
}

@test "every file that the pages name is there" {
  local page file
  for page in "$repo"/README.md "$repo"/docs/*.md; do
    while IFS= read -r file; do
      [[ $file == *NAME* ]] || [ -e "$repo/$file" ] || { echo "$page: $file" && return 1; }
    done < <(grep -oE '`(core|dwarf|heap|triage|batch|lua|cli|tests|corpora|plugins|docs)/[A-Za-z0-9_./-]+`' "$page" | tr -d '`')
  done
}
