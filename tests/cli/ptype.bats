#!/usr/bin/env bats
# ptype: layouts by name and by expression, compared with gdb if it is installed.
# shellcheck disable=SC2153,SC2154 # of the helper
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  export PROGRAM=$BATS_FILE_TMPDIR/shapes CORE=''
  cat >"$PROGRAM.c" <<'C'
#include <stddef.h>
struct other { char c; };
typedef struct node { struct node *next; char tag; int value; unsigned low : 3, high : 20; struct other in; } node_t;
typedef struct { short one; union { long l; char text[12]; }; } nameless;
union number { int i; double d; };
enum color { RED, GREEN = 5 };
struct page { char head[64]; int behind; };
node_t *list; nameless what; union number number; enum color color; struct page page;
int main(int argc, char **argv) { list->value = argc; return argv != NULL; }
C
  cat >"$PROGRAM-more.c" <<'C'
struct other { long a, b; };
struct other another;
C
  ${CC:-cc} -g -O0 -o "$PROGRAM" "$PROGRAM.c" "$PROGRAM-more.c" || return 1
  if "$repo/corpora/take-core" --out "$BATS_FILE_TMPDIR/core" -- "$PROGRAM" >/dev/null 2>&1; then
    CORE=$BATS_FILE_TMPDIR/core
  fi
}

setup() {
  load helper
  needs_core
  cd "$BATS_TEST_TMPDIR" || return 1
}

# The answer contains each of these lines.
holds() {
  local line
  for line in "$@"; do
    grep -qF -- "$line" stdout || { echo "no line: $line" && cat stdout && return 1; }
  done
}

@test "a struct shows offsets, holes, bit-fields and sums" {
  expect 0 '' "$XCORE" ptype "$CORE" 'struct node'
  holds '/*      0          8 */      struct node *next;' '/*      8          1 */      char tag;' 'XXX 3-byte hole' \
    '/*     12          4 */      int value;' '/*     16:0   3 bits */      unsigned int low : 3;' \
    '/*     16:3  20 bits */      unsigned int high : 20;' '/* size: 24, members: 6, cachelines: 1 */' \
    'shapes.c:3 in shapes'
}

@test "a name without keyword, a typedef and an expression find the same struct" {
  expect 0 '' "$XCORE" ptype "$CORE" 'struct node'
  grep -n 'int value;' stdout >want
  for name in node node_t 'shapes!struct node' list '*list' '(node_t *)0' 'struct node *'; do
    expect 0 '' "$XCORE" ptype "$CORE" "$name"
    grep -q 'int value;' stdout || { echo "$name" && cat stdout && return 1; }
  done
  expect 0 '' "$XCORE" ptype "$CORE" node_t
  holds 'typedef struct node node_t; /* 24 bytes */'
  [ "$(grep -c 'int value;' stdout)" = 1 ]
}

@test "anonymous members are open, named ones on demand" {
  expect 0 '' "$XCORE" ptype "$CORE" nameless
  holds 'typedef struct {' '/*      8         16 */      union {' '/*      8          8 */          long l;' '} nameless;'
  expect 0 '' "$XCORE" ptype "$CORE" node --format json
  [ "$(jq '[.members[] | select(.name == "in") | .members] | length' stdout)" = 1 ]
  [ "$(jq '.members[] | select(.name == "in") | .members' stdout)" = null ]
  expect 0 '' "$XCORE" ptype "$CORE" node --expand 1 --format json
  [ "$(jq '.members[] | select(.name == "in") | .members[0].offset' stdout)" = 19 ]
}

@test "definitions that differ are all shown, each with its place" {
  expect 0 '' "$XCORE" ptype "$CORE" 'struct other'
  holds 'shapes.c:2 in shapes' 'shapes-more.c:1 in shapes' 'char c;' 'long a;'
  expect 0 '' "$XCORE" ptype "$CORE" 'struct other' --format json
  [ "$(jq -c '[.size, .others[].size] | sort' stdout)" = '[1,16]' ]
}

@test "enums, unions and functions" {
  expect 0 '' "$XCORE" ptype "$CORE" 'enum color'
  holds 'enum color { /* 4 bytes, unsigned int */' 'GREEN = 5,'
  expect 0 '' "$XCORE" ptype "$CORE" 'union number'
  holds '/*      0          8 */      double d;'
  expect 0 '' "$XCORE" ptype "$CORE" main
  holds 'int (int, char **);'
}

@test "cache lines are marked where they begin, or not at all" {
  expect 0 '' "$XCORE" ptype "$CORE" 'struct page'
  holds '/* --- cacheline 1 boundary (64 bytes) --- */'
  expect 0 '' "$XCORE" ptype "$CORE" 'struct page' --cacheline 0
  run ! grep -q cacheline stdout
  expect 0 '' "$XCORE" ptype "$CORE" 'struct page' --cacheline 128
  run ! grep -q boundary stdout
}

@test "what is not found says what is near; what is wrong where it is" {
  expect 4 "xcore: no type 'struct nod' in *hint: did you mean *node*" "$XCORE" ptype "$CORE" 'struct nod'
  silent
  expect 4 "xcore: no module 'libno.so'*" "$XCORE" ptype "$CORE" 'libno.so!node'
  expect 4 'xcore: *no member*valu*value*' "$XCORE" ptype "$CORE" 'list->valu'
  expect 2 'xcore: ptype: TYPE|EXPR is missing*' "$XCORE" ptype "$CORE"
  expect 2 'xcore: ptype: --kind needs --all*' "$XCORE" ptype "$CORE" node --kind struct
}

@test "--all lists every named type, a line of JSON each, as gdb measures them" {
  expect 0 '' "$XCORE" ptype "$CORE" --all --kind struct --format json
  jq -r '.name + " " + (.size | tostring)' stdout | sort >ours
  [ "$(jq -r '.name // "-"' stdout | grep -c other)" = 2 ]
  command -v gdb >/dev/null || skip "no gdb"
  for name in node page; do
    size=$(gdb -nx -q --batch -ex "output sizeof(struct $name)" "$PROGRAM")
    grep -qx "$name $size" ours
  done
}

@test "every format is whole" {
  expect 0 '' "$XCORE" ptype "$CORE" node --format html
  grep -q 'int value;' stdout
  expect 0 '' "$XCORE" ptype "$CORE" node --format json
  [ "$(jq -r .schema stdout)" = xcore.ptype/1 ]
}

@test "an enum of Rust shows its variants and what tells them" {
  rustc --version >/dev/null 2>&1 || skip "no rustc"
  cat >rusty.rs <<'R'
#[repr(u16)]
enum Tagged { A(u8), B { x: i64 }, C }
fn main() {
    let all = [Tagged::A(1), Tagged::B { x: 2 }, Tagged::C];
    for one in &all {
        match one { Tagged::A(a) => println!("{}", a), Tagged::B { x } => println!("{}", x), Tagged::C => std::process::abort() }
    }
}
R
  rustc -g -o rusty rusty.rs 2>/dev/null
  "$repo/corpora/take-core" --out rusty.core -- ./rusty >/dev/null 2>&1
  expect 0 '' "$XCORE" ptype rusty.core Tagged --format json
  [ "$(jq -c '[.kind, .size]' stdout)" = '["enum",16]' ]
  # repr(u16): each variant is a C struct that starts with the tag (Rust reference, type-layout)
  [ "$(jq -c '[.members[] | select(.variant) | [.name, .variant.values[0], .members[0].offset]]' stdout)" = \
    '[["A",0,2],["B",1,8],["C",2,null]]' ]
}

# bats test_tags=long
@test "classes of C++: unnamed namespaces may be written, arguments that have defaults lead to the name" {
  echo '#include <vector>' >classes.cc
  echo 'namespace outer { namespace { struct inner { char c; long l; } thing; } }' >>classes.cc
  echo 'std::vector<int> numbers{1, 2};' >>classes.cc
  echo 'int main() { return *(volatile int *)0 + outer::thing.c + numbers[0]; }' >>classes.cc
  ${CXX:-c++} -g -O0 -o classes classes.cc
  "$repo/corpora/take-core" --out classes.core -- ./classes
  for name in 'outer::inner' 'outer::(anonymous namespace)::inner' 'struct outer::(anonymous namespace)::inner'; do
    expect 0 '' "$XCORE" ptype classes.core "$name"
    holds 'classes.cc:2 in classes */' 'struct outer::(anonymous namespace)::inner {' '/* XXX 7-byte hole */'
  done
  expect 4 "*did you mean std::vector<int, std::allocator<int> >?" "$XCORE" ptype classes.core 'std::vector<int>'
  expect 4 "*did you mean std::vector<int, *" "$XCORE" ptype classes.core 'std::vector<number_t>'
  expect 0 '' "$XCORE" ptype classes.core int
  [ "$(grep -c ' in classes' stdout)" = 1 ] # modules without a source location share one line
}
