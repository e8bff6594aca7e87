#!/usr/bin/env bats
# heap, diff and --heap: operands, and the answers for a program with three blocks and a leak.
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  export PROGRAM=$BATS_FILE_TMPDIR/holder CORE=''
  cat >"$PROGRAM.c" <<'C'
#include <stdlib.h>
#include <string.h>
struct item { struct item *next; char *name; long pad[20]; };
struct unused { struct item *item; int number; };
struct unused unused;
struct item *first;
static void add(const char *name) {
  struct item *i = calloc(1, sizeof *i);
  i->next = first; i->name = strdup(name); first = i;
}
static __attribute__((noinline)) void lose(void) { volatile struct item *i = calloc(3, sizeof *i); i->pad[0] = 1; }
static __attribute__((noinline)) int scrub(int n) { volatile char c[2000]; memset((char *)c, 0, sizeof c); return n ? scrub(n - 1) + c[n] : 0; }
int main(void) {
  add("a name of some length"); add("another name, as long"); lose(); scrub(8);
  return *(volatile int *)0;
}
C
  ${CC:-cc} -g -O0 -o "$PROGRAM" "$PROGRAM.c" || return 1
  if "$repo/corpora/take-core" --out "$BATS_FILE_TMPDIR/core" -- "$PROGRAM" >/dev/null 2>&1; then
    CORE=$BATS_FILE_TMPDIR/core
  fi
}

setup() {
  load helper
}

addr_of() { "$XCORE" print "$CORE" "$1" | grep -o '0x[0-9a-f]*' | head -1; }

@test "words that take an address say so, others take none" {
  expect 2 "*whatis needs an ADDR*" "$XCORE" heap whatis core
  expect 2 "*leaks takes no ADDR: '0x10'*" "$XCORE" heap leaks core 0x10
  expect 2 "*--retained is only for*top*" "$XCORE" heap leaks core --retained
  expect 2 "*--format jsonl is for*" "$XCORE" bt core --format jsonl
  expect 2 "*text or jsonl, not json*" "$XCORE" heap objects core --format json
}

@test "objects are lines of JSON with all that the design names" {
  needs_core
  "$XCORE" heap objects "$CORE" --format jsonl >"$BATS_TEST_TMPDIR/all"
  jq -es 'all(.[]; has("addr") and has("size") and has("state") and (.possible | type == "boolean") and has("type") and has("count") and has("confidence") and has("via"))' "$BATS_TEST_TMPDIR/all"
  [ "$(jq -r 'select(.type == "struct item" and .state == "live") | .size' "$BATS_TEST_TMPDIR/all" | sort -u)" = 184 ]
  [ "$("$XCORE" heap objects "$CORE" --format jsonl --of 'struct item' --state live | wc -l)" -eq 2 ]
  [ "$("$XCORE" heap objects "$CORE" --limit 1 | wc -l)" -eq 1 ]
}

@test "objects of a type that is none fail with the nearest names, of one without blocks they are none" {
  needs_core
  expect 4 "*no block is of type 'struct itme'*did you mean struct item*" "$XCORE" heap objects "$CORE" --of 'struct itme'
  silent
  expect 4 "*no block is of type 'item'*did you mean struct item*" "$XCORE" heap objects "$CORE" --of item
  expect 4 "*no block is of type 'struct spoon'*heap types*" "$XCORE" heap objects "$CORE" --of 'struct spoon'
  expect 0 "" "$XCORE" heap objects "$CORE" --of 'struct unused'
  silent
}

@test "leaks without types are rows by size, and of the same bytes" {
  needs_core
  "$XCORE" heap leaks "$CORE" --format json >"$BATS_TEST_TMPDIR/with"
  "$XCORE" heap leaks "$CORE" --no-types --format json >"$BATS_TEST_TMPDIR/without"
  jq -e '.sections[0].tables.leaks | all(.type == null and .size != null)' "$BATS_TEST_TMPDIR/without"
  jq -e '.sections[0].tables.leaks | any(.bytes == 536 and .blocks == 1)' "$BATS_TEST_TMPDIR/without"
  [ "$(jq '.sections[0].fields | .blocks, .bytes, .structures' "$BATS_TEST_TMPDIR/with")" = "$(jq '.sections[0].fields | .blocks, .bytes, .structures' "$BATS_TEST_TMPDIR/without")" ]
  expect 2 "*--no-types is only for*leaks*" "$XCORE" heap types core --no-types
}

@test "whatis names block, type and field; path and refs lead back to the global" {
  needs_core
  at=$(addr_of 'first->next')
  run -0 "$XCORE" heap whatis "$CORE" "$at"
  [[ "$output" == *"struct item (heap, live, 184 bytes)"* ]]
  run -0 "$XCORE" heap whatis "$CORE" 'first->next->name'
  [[ "$output" == *"char [21] (heap, live, 24 bytes)"*"struct item.name"* ]]
  run -0 "$XCORE" heap refs "$CORE" "$at"
  [[ "$output" == *"struct item (heap, live, 184 bytes) .next"* ]]
  run -0 "$XCORE" heap path "$CORE" "$at"
  [[ "$output" == *"first (holder, data)"*".next"* ]]
  run -0 "$XCORE" heap show "$CORE" "$at"
  [[ "$output" == *"a name of some length"* ]]
}

@test "the lost block is the leak" {
  needs_core
  run -0 "$XCORE" heap leaks "$CORE" --format json
  [ "$(jq '[.sections[0].tables[][] | select(.bytes == 536 and .blocks == 1)] | length' <<<"$output")" -eq 1 ]
}

@test "pointers say what they hit with --heap" {
  needs_core
  run -0 "$XCORE" print "$CORE" first --heap
  [[ "$output" == *"→ struct item (heap, live, 184 bytes)"* ]]
  run -0 "$XCORE" print "$CORE" first
  [[ "$output" != *"→"* ]]
  run -0 "$XCORE" mem "$CORE" '&first' 8 --heap
  [[ "$output" == *"WHICH IS"*"struct item (heap, live, 184 bytes)"* ]]
}

# bats test_tags=long
@test "JSON of --heap has beside the value what each pointer in it hits" {
  needs_core
  next=$(addr_of 'first->next')
  "$XCORE" print "$CORE" first --heap --format json >"$BATS_TEST_TMPDIR/one"
  jq -e '.heap["."] | .type == "struct item" and .state == "live" and .size == 184 and .offset == 0 and .path == null' "$BATS_TEST_TMPDIR/one"
  [ "$(jq -r '.heap["."].addr' "$BATS_TEST_TMPDIR/one")" = "$(addr_of first)" ]
  "$XCORE" print "$CORE" '*first' '&first->next->value_of_no_such_member' '(char *)first->name + 2' '&first->next->name' --heap --format json >"$BATS_TEST_TMPDIR/all"
  jq -e --arg next "$next" '.values[0] | .heap[".next"].addr == $next and .heap[".name"].type == "char" and (.value.next | type) == "string"' "$BATS_TEST_TMPDIR/all"
  jq -e '.values[2].heap["."] | .offset == 2 and .path == "+0x2"' "$BATS_TEST_TMPDIR/all"
  jq -e '.values[3].heap["."] | .offset == 8 and .path == ".name" and .type == "struct item"' "$BATS_TEST_TMPDIR/all"
  "$XCORE" print "$CORE" first --format json | jq -e 'has("heap") | not'
  "$XCORE" print "$CORE" first --heap --redact --format json | jq -e 'has("heap") | not'
  ! python3 -c 'import jsonschema' 2>/dev/null || python3 -c 'import json, sys, jsonschema
with open(sys.argv[1]) as schema, open(sys.argv[2]) as one, open(sys.argv[3]) as several:
    schema = json.load(schema)
    for answer in one, several:
        jsonschema.Draft7Validator(schema).validate(json.load(answer))' "$repo/core/report/report.schema.json" "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/all"
}

@test "show of what is no block says what it is, and exits with 4" {
  needs_core
  expect 4 "*is in no block: not mapped*" "$XCORE" heap show "$CORE" 0x10
}

@test "of a core whose heap was cut off nothing is said to be empty" {
  needs_core
  head -c 20000 "$CORE" >"$BATS_TEST_TMPDIR/cut"
  run -0 "$XCORE" heap leaks "$BATS_TEST_TMPDIR/cut"
  [[ "$output" != *"no leak"* && "$output" == *"no blocks"* && "$output" != *"allocated nothing"* ]]
}

@test "path of a pointer's name says where it leads" {
  needs_core
  at=$(addr_of first)
  expect 4 "*is in no live block*leads to $at*" "$XCORE" heap path "$CORE" '&first'
}

# bats test_tags=long
@test "text that overwrote a pointer is quoted, but not where redaction is on" {
  cat >"$BATS_TEST_TMPDIR/overwritten.c" <<'C'
#include <stdlib.h>
#include <string.h>
static const char text[] = "sixteen letters.hunter";
struct item { char name[16]; struct item *next; int value; };
static void overwrite(struct item *i) {
  memcpy((void *)i, text, 22);
}
static int use(struct item *i) {
  return i->next->value;
}
int main(void) {
  struct item *i = calloc(1, sizeof *i);
  overwrite(i);
  return use(i);
}
C
  ${CC:-cc} -g -O0 -w -o "$BATS_TEST_TMPDIR/overwritten" "$BATS_TEST_TMPDIR/overwritten.c"
  "$repo/corpora/take-core" --out "$BATS_TEST_TMPDIR/core" -- "$BATS_TEST_TMPDIR/overwritten" >/dev/null 2>&1 || skip "no core"
  for format in text json html; do
    run -0 "$XCORE" analyze "$BATS_TEST_TMPDIR/core" --format "$format"
    [[ "$output" == *hunter* ]]
    run -0 "$XCORE" analyze "$BATS_TEST_TMPDIR/core" --format "$format" --redact
    [[ "$output" != *hunter* && "$output" == *"the bytes of "*" are text"* ]]
  done
}

@test "what overwrote a header is no metadata to tell where redaction is on" {
  cat >"$BATS_TEST_TMPDIR/overrun.c" <<'C'
#include <stdlib.h>
#include <string.h>
char *first, *second;
int main(void) {
  first = malloc(40); second = malloc(100); free(malloc(40));
  memset(first, 'Z', 56);
  abort();
}
C
  ${CC:-cc} -g -O0 -w -o "$BATS_TEST_TMPDIR/overrun" "$BATS_TEST_TMPDIR/overrun.c"
  "$repo/corpora/take-core" --out "$BATS_TEST_TMPDIR/core" -- "$BATS_TEST_TMPDIR/overrun" >/dev/null 2>&1 || skip "no core"
  cd "$BATS_TEST_TMPDIR"
  for words in "whatis core &*second" "check core"; do
    run -0 "$XCORE" heap $words --no-redact
    [[ "$output" == *5a5a5a5a* && "$output" == *damaged* ]]
    run -0 "$XCORE" heap $words --redact
    [[ "$output" != *5a5a* && "$output" == *damaged* ]]
  done
}

# bats test_tags=long
@test "what overwrote a free block's link is no evidence to tell where redaction is on" {
  cat >"$BATS_TEST_TMPDIR/freed.c" <<'C'
#include <stdlib.h>
#include <string.h>
char *first, *second;
int main(void) {
  first = malloc(40); second = malloc(40);
  free(first); free(second);
  memset(second, 'Z', 8);
  abort();
}
C
  ${CC:-cc} -g -O0 -w -o "$BATS_TEST_TMPDIR/freed" "$BATS_TEST_TMPDIR/freed.c"
  "$repo/corpora/take-core" --out "$BATS_TEST_TMPDIR/core" -- "$BATS_TEST_TMPDIR/freed" >/dev/null 2>&1 || skip "no core"
  run -0 "$XCORE" analyze "$BATS_TEST_TMPDIR/core" --redact
  [[ "$output" == *"the heap is damaged at 0x"* && "$output" != *5a5a* ]]
  run -0 "$XCORE" heap check "$BATS_TEST_TMPDIR/core" --no-redact
  [[ "$output" == *5a5a* ]]
  for format in text json html; do
    run -0 "$XCORE" heap check "$BATS_TEST_TMPDIR/core" --redact --format "$format"
    [[ "$output" != *5a5a* && "$output" != *ZZZZ* ]]
  done
}

@test "a program that never called malloc has no lost arena" {
  echo 'int main(void) { return *(volatile int *)0; }' >"$BATS_TEST_TMPDIR/bare.c"
  ${CC:-cc} -g -O0 -w -o "$BATS_TEST_TMPDIR/bare" "$BATS_TEST_TMPDIR/bare.c"
  "$repo/corpora/take-core" --out "$BATS_TEST_TMPDIR/core" -- "$BATS_TEST_TMPDIR/bare" >/dev/null 2>&1 || skip "no core"
  run -0 "$XCORE" heap summary "$BATS_TEST_TMPDIR/core"
  [[ "$output" == *"no blocks: malloc was never called"* ]]
}

@test "a core compared with itself shows nothing" {
  needs_core
  run -0 "$XCORE" diff "$CORE" "$CORE"
  [[ "$output" == *"nothing grew or shrank"* ]]
}

@test "diff of two runs names the leaked type, who holds it no more, and the main thread alike" {
  cat >"$BATS_TEST_TMPDIR/leaky.c" <<'C'
#include <stdlib.h>
struct kept { struct kept *next; long pad[4]; };
static struct kept *first;
static __attribute__((noinline)) void keep(void) { struct kept *k = malloc(sizeof *k); k->next = first; first = k; }
static __attribute__((noinline)) int scrub(int n) {
  volatile char c[2000];
  for (unsigned i = 0; i < sizeof c; i++) c[i] = 0; /* what keep left on the stack, abort's frames would lie over */
  return n ? scrub(n - 1) + c[n] : 0;
}
int main(int argc, char **argv) {
  for (int i = 0; i < 50; i++) keep();
  if (argc > 1) {
    for (int i = atoi(argv[1]); i > 0; i--) keep();
    for (int i = atoi(argv[1]); i > 0; i--) first = first->next;
  }
  scrub(20);
  abort();
}
C
  ${CC:-cc} -g -O0 -o "$BATS_TEST_TMPDIR/leaky" "$BATS_TEST_TMPDIR/leaky.c"
  for n in 0 300; do
    "$repo/corpora/take-core" --out "$BATS_TEST_TMPDIR/$n" -- "$BATS_TEST_TMPDIR/leaky" $n >/dev/null 2>&1 || skip "no core"
  done
  run -0 "$XCORE" diff "$BATS_TEST_TMPDIR/0" "$BATS_TEST_TMPDIR/300" --format json
  [ "$(jq -r '.sections[0].tables.types[0] | "\(.name) \(.grown_blocks)"' <<<"$output")" = "struct kept 300" ]
  jq -e '.sections[0].tables.holders[0] | .name == "(nothing: leaked)" and .grown_blocks >= 298' <<<"$output"
  jq -e '.sections[0].tables.holders | all(.name | test("thread [0-9]") | not)' <<<"$output"
}

@test "diff says in whose data it grew: a program, a library, thread-local data, the stack, nothing" {
  cat >"$BATS_TEST_TMPDIR/lib.c" <<'C'
#include <stdlib.h>
static void *held[100];
void hold(int n) { for (int i = 0; i < n; i++) held[i] = malloc(5000); }
C
  cat >"$BATS_TEST_TMPDIR/modules.c" <<'C'
#include <stdlib.h>
#include <stdint.h>
void hold(int n);
void *mine[100];
static __thread void *local[100];
static __attribute__((noinline)) void fill(void **where, int n) { for (int i = 0; i < n; i++) where[i] = malloc(5000); }
static __attribute__((noinline)) void lose(int n) { for (int i = 0; i < n; i++) { volatile uintptr_t p = (uintptr_t)malloc(5000); p = 0; } }
static __attribute__((noinline)) int scrub(int n) { volatile char c[2000]; c[n] = 0; return n ? scrub(n - 1) + c[n] : 0; }
static __attribute__((noinline)) void die(void **stack) { if (*stack != stack) __builtin_trap(); }
int main(int argc, char **argv) {
  void *stack[100] = {0};
  int n = atoi(argv[1]);
  fill(mine, n * 11); hold(n * 22); fill(local, n * 33); fill(stack, n * 44); lose(n * 55);
  scrub(20);
  die(stack);
  return argc;
}
C
  ${CC:-cc} -g -O0 -shared -fPIC -o "$BATS_TEST_TMPDIR/libhold.so" "$BATS_TEST_TMPDIR/lib.c"
  ${CC:-cc} -g -O0 -o "$BATS_TEST_TMPDIR/modules" "$BATS_TEST_TMPDIR/modules.c" -L"$BATS_TEST_TMPDIR" -lhold -Wl,-rpath,"$BATS_TEST_TMPDIR"
  for n in 0 1; do
    "$repo/corpora/take-core" --out "$BATS_TEST_TMPDIR/modules-$n" -- "$BATS_TEST_TMPDIR/modules" $n >/dev/null 2>&1 || skip "no core"
  done
  run -0 "$XCORE" diff "$BATS_TEST_TMPDIR/modules-0" "$BATS_TEST_TMPDIR/modules-1" --format json
  jq -r '.sections[0].tables.modules[] | "\(.name): \(.grown_blocks)"' <<<"$output" >"$BATS_TEST_TMPDIR/modules.txt"
  cat "$BATS_TEST_TMPDIR/modules.txt"
  grep -qx 'module modules: 11' "$BATS_TEST_TMPDIR/modules.txt"
  grep -qx 'module libhold.so: 22' "$BATS_TEST_TMPDIR/modules.txt"
  grep -qx 'thread-local data of modules: 33' "$BATS_TEST_TMPDIR/modules.txt"
  # registers may still hold the last ones
  grep -qE '^stacks: 4[34]$' "$BATS_TEST_TMPDIR/modules.txt"
  grep -qE '^.nothing: leaked.: 5[45]$' "$BATS_TEST_TMPDIR/modules.txt"
  [ "$(awk -F ': ' '/^(stacks|registers|.nothing: leaked.): / { sum += $NF } END { print sum }' "$BATS_TEST_TMPDIR/modules.txt")" -eq 99 ]
}

@test "diff wants a second moment" {
  expect 2 "*NEWER is missing*--wait SECONDS*" "$XCORE" diff core
  expect 2 "*samples one process twice*" "$XCORE" diff pid:1 core --wait 1
  needs_core
  expect 2 "*needs a running process: * is a core*" "$XCORE" diff "$CORE" --wait 1
}

@test "the ledger adds up to what is mapped" {
  needs_core
  run -0 "$XCORE" heap summary "$CORE" --format json
  jq -e '.sections[0].tables.ledger | (map(select(.owner != "mapped").bytes) | add) == (map(select(.owner == "mapped").bytes) | add)' <<<"$output"
  mapped=$("$XCORE" maps "$CORE" --format json | jq '[.sections[].tables[][] | .bytes? // .size? // empty] | add')
  [ "$(jq '.sections[0].tables.ledger[] | select(.owner == "mapped").bytes' <<<"$output")" -eq "$mapped" ]
}
