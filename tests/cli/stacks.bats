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
  x bt --format json --coroutines --group --second-opinion >"$BATS_TEST_TMPDIR/bt.json"
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

@test "a second opinion: libunwind agrees where there is call frame information, and differs where it skips a caller" {
  x bt --no-plugins --format json | jq -e '[.threads[0].frames[] | has("second_opinion")] | any | not'
  cd "$BATS_TEST_TMPDIR"
  echo '#include <stdlib.h>
    int compare(const void *a, const void *b) { abort(); }
    int main(void) { int v[] = {2, 1}; qsort(v, 2, sizeof v[0], compare); return v[0]; }' | gcc -w -g -o plain -x c -
  "$repo/corpora/take-core" --out plain.core -- ./plain >/dev/null 2>&1
  "$XCORE" bt plain.core --second-opinion --format json --no-cache >same.json
  jq -e '[.threads[0].frames[] | select(.inline or .tail_call | not) | .second_opinion] | length > 5 and all(. == "same")' same.json
  cat >generated.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static void leaf(void) { abort(); }
__attribute__((noinline)) static int runner(void (*code)(void (*)(void))) { code(leaf); return 1; }
__attribute__((noinline)) static int outer(void *code) { return runner(code) + 1; }
int main(void) { /* push %rbx; sub $64,%rsp; call *%rdi; add $64,%rsp; pop %rbx; ret */
  void *p = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return outer(memcpy(p, "\x53\x48\x83\xec\x40\xff\xd7\x48\x83\xc4\x40\x5b\xc3", 13));
}
C
  gcc -w -g -O0 -o generated generated.c
  "$repo/corpora/take-core" --out generated.core -- ./generated >/dev/null 2>&1
  "$XCORE" bt generated.core --second-opinion --format json --no-cache |
    jq -e '[.threads[0].frames[] | select(.function == "runner")] | .[0].trust == "scan" and (.[0].second_opinion | startswith("outer+"))'
  "$XCORE" bt generated.core --second-opinion --no-cache | grep -q 'guess: found by stack scan, libunwind: outer+'
}

@test "a death in generated code is not told as one of its caller" {
  cd "$BATS_TEST_TMPDIR"
  cat >fault.c <<'C'
#include <string.h>
#include <sys/mman.h>
__attribute__((noinline)) static int query(int (*code)(int *), int *rows) { return code(rows) + 1; }
int main(void) { /* xor %edi,%edi; mov (%rdi),%eax; ret */
  int rows = 3;
  void *p = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return query(memcpy(p, "\x31\xff\x8b\x07\xc3", 5), &rows);
}
C
  gcc -w -g -O1 -o fault fault.c
  "$repo/corpora/take-core" --out fault.core -- ./fault >/dev/null 2>&1
  "$XCORE" analyze fault.core --no-cache --format json |
    jq -e '[.. | .evidence? // empty | tostring | select(test("it happened in code without a name at 0x[0-9a-f]+, in no module"))] | length == 1'
}

@test "without libunwind a second opinion is one clear error" {
  mkdir "$BATS_TEST_TMPDIR/lib"
  : >"$BATS_TEST_TMPDIR/lib/libunwind-x86_64.so.8"
  LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/lib run "$XCORE" bt "$CORE" --no-cache --second-opinion
  [ "$status" -ne 0 ]
  [[ $output == *'needs libunwind'* && $output == *'install libunwind8'* ]]
}

@test "a thread that returns from a signal handler, in its system call, has the stack that was interrupted" {
  cat >returns.c <<'C'
#include <signal.h>
static volatile int sink;
static void handler(int number) { sink = number; }
__attribute__((noinline)) int interrupted(int value) { raise(SIGUSR1); return sink + value; }
int main(int argc, char **argv) { signal(SIGUSR1, handler); return interrupted(argc) + argv[0][0]; }
C
  ${CC:-cc} -g -O1 -o returns returns.c
  gdb -nx -batch -ex 'handle SIGUSR1 nostop noprint pass' -ex 'catch syscall rt_sigreturn' -ex run -ex 'gcore returns.core' -ex bt ./returns >gdb.out 2>&1
  [ -e returns.core ] || skip "gdb cannot stop there: $(tail -n 1 gdb.out)"
  "$XCORE" bt returns.core --exe returns >bt.out
  cat gdb.out bt.out
  grep -q 'interrupted .*returns.c:4' bt.out
  grep -q 'main .*returns.c:5' bt.out
}
