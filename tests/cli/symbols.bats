#!/usr/bin/env bats
# symbols: the store of the user's debug files, and its use by every command.
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  make_core
  cd "$BATS_FILE_TMPDIR" || return 1
  # the program is stripped where it ran; an unpacked package is elsewhere
  mkdir -p package/usr/bin package/usr/lib/debug
  objcopy --only-keep-debug "$PROGRAM" package/usr/lib/debug/whatever
  cp "$PROGRAM" whole
  strip "$PROGRAM"
  cp "$PROGRAM" package/usr/bin/tool
  readelf -n "$PROGRAM" | sed -n 's/.*Build ID: //p' >id
}

setup() {
  load helper
  cd "$BATS_TEST_TMPDIR" || return 1
  export XCORE_SYMBOLS=$BATS_TEST_TMPDIR/store XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
  PACKAGE=$BATS_FILE_TMPDIR/package ID=$(cat "$BATS_FILE_TMPDIR/id")
}

# line_of_crash CORE OPTION…: in the innermost frame, or null
line_of_crash() {
  "$XCORE" bt "$@" --format json | grep -m 1 '^{"index":0,' | grep -oE '"line":(null|[0-9]+)' | head -n 1 | cut -d : -f 2
}

# ---- use by commands ----

@test "a debug file in an indexed tree gives lines and values, and modules says that it came from the store" {
  needs_core
  [ "$(line_of_crash "$CORE")" = null ]
  "$XCORE" symbols index "$PACKAGE"
  [ "$(line_of_crash "$CORE")" = 5 ]
  "$XCORE" modules "$CORE" >text
  grep -q 'from the symbol store: crasher' text
  "$XCORE" modules "$CORE" --format json | jq -e --arg p "$(in_json "$PACKAGE")" \
    '.sections[0].tables.modules[0] | .debug == $p + "/usr/lib/debug/whatever" and .file == $p + "/usr/bin/tool"'
  XCORE_SYMBOLS='' "$XCORE" modules "$CORE" >text
  run -1 grep -q 'symbol store' text
}

@test "a program that is gone from its path is found by its build-id" {
  needs_core
  mkdir empty
  "$XCORE" symbols index "$PACKAGE"
  "$XCORE" modules "$CORE" --sysroot empty --format json | jq -e --arg p "$(in_json "$PACKAGE")" \
    '.sections[0].tables.modules[0] | .identity == "verified" and .file == $p + "/usr/bin/tool"'
}

@test "--store names another store; what it names must be there" {
  needs_core
  "$XCORE" symbols index "$PACKAGE" --store other
  [ "$(line_of_crash "$CORE")" = null ]
  [ "$(line_of_crash "$CORE" --store other)" = 5 ]
  expect 4 'xcore: --store: nowhere: No such file or directory' "$XCORE" bt "$CORE" --store nowhere
  silent
  mkdir empty
  expect 4 'xcore: --store: empty/index: No such file or directory*hint: *symbols index*' "$XCORE" bt "$CORE" --store empty
  silent
}

@test "a file that was replaced by another build is not used" {
  needs_core
  mkdir tree
  cp "$BATS_FILE_TMPDIR/whole" tree/program
  "$XCORE" symbols index tree
  [ "$(line_of_crash "$CORE")" = 5 ]
  ${CC:-cc} -g -O1 -x c -o tree/program - <<<'int main(void) { return 3; }'
  [ "$(line_of_crash "$CORE")" = null ]
  "$XCORE" modules "$CORE" --format json | jq -e '.sections[0].tables.modules[0].identity == "verified"' # by its path
  rm tree/program
  mkfifo tree/program
  [ "$(line_of_crash "$CORE")" = null ]
}

@test "a pack looks at nothing but its own files" {
  needs_core
  "$XCORE" pack "$CORE" -o one.pack
  "$XCORE" symbols index "$PACKAGE"
  [ "$(line_of_crash one.pack)" = null ]
  "$XCORE" pack "$CORE" -o two.pack # with the files of the store
  XCORE_SYMBOLS='' "$XCORE" bt two.pack --format json >packed
  "$XCORE" bt "$CORE" --format json >plain
  cmp plain packed
  "$XCORE" modules "$CORE" --format json >plain
  XCORE_SYMBOLS='' "$XCORE" modules two.pack --format json >packed
  cmp plain packed
}

@test "a live process is helped too, behind its fences" {
  cat >sleeper.c <<'C'
#include <unistd.h>
int main(void) { for (write(1, "!", 1);;) pause(); }
C
  ${CC:-cc} -g -O0 -o sleeper sleeper.c
  mkdir debug
  objcopy --only-keep-debug sleeper debug/sleeper
  strip sleeper
  "$XCORE" symbols index debug
  ./sleeper >said 3>&- &
  pid=$!
  until [ -s said ] && grep -q '^State:.S' "/proc/$pid/status"; do
    kill -0 "$pid"
    sleep 0.05
  done
  status=0
  export ASAN_OPTIONS=detect_leaks=0 # that checker needs ptrace, which the filter denies
  "$XCORE" bt "pid:$pid" --format json >answer || status=$?
  kill "$pid"
  [ "$status" -eq 0 ]
  jq -e '.threads[0].frames[] | select(.function == "main") | .line == 2' answer
}

# bats test_tags=long
@test "common parts that dwz made, and split units, are found" {
  needs_core
  cat >victim.c <<'C'
struct long_and_shared { unsigned long long first_member, second_member; struct long_and_shared *next; char name[64];
  union { double real; long integer; } value; } shared;
int main(int n, char **v) { struct long_and_shared *p = (void *)(v == 0); return n + (int)p->value.integer; }
C
  ${CC:-cc} -g -gdwarf-4 -O0 -o one victim.c
  ${CC:-cc} -g -gdwarf-4 -O0 -DOTHER -o two victim.c
  dwz -m common -M /nowhere/common one two
  "$repo/corpora/take-core" --out dwz.core -- "$PWD/one"
  [ "$("$XCORE" modules dwz.core --format json | jq '.sections[0].fields.without_debug')" = 0 ]
  "$XCORE" modules dwz.core --format json | grep -q 'common part that dwz moved'
  mkdir tree && mv common tree/renamed
  "$XCORE" symbols index tree
  "$XCORE" modules dwz.core --format json >answer
  run -1 grep -q 'common part' answer
  ${CC:-cc} -g -gdwarf-5 -gsplit-dwarf -O0 -o split victim.c
  "$repo/corpora/take-core" --out split.core -- "$PWD/split"
  mkdir moved && mv ./*.dwo moved/unit
  [ "$("$XCORE" bt split.core --format json | jq -r '.threads[0].frames[0].locals // [] | length')" = 0 ]
  "$XCORE" symbols index moved
  "$XCORE" bt split.core --full --format json | jq -e '.threads[0].frames[0].locals[0].name == "p"'
  "$XCORE" symbols clean --all
  [ "$("$XCORE" bt split.core --format json | jq -r '.threads[0].frames[0].locals // [] | length')" = 0 ]
  ${CC:-cc} -g -gdwarf-4 -gsplit-dwarf -O0 -o split victim.c # binutils 2.40 builds packages of DWARF 4 only
  dwp -e split -o moved/package && rm -f ./*.dwo moved/unit
  "$repo/corpora/take-core" --out split.core -- "$PWD/split"
  "$XCORE" symbols index moved
  "$XCORE" bt split.core --full --format json | jq -e '.threads[0].frames[0].locals[0].name == "p"'
}

# ---- index ----

@test "indexing again reads nothing that did not change, and follows what did" {
  "$XCORE" symbols index "$PACKAGE" --format json >first
  jq -e '.sections[0].tables.trees[0] | .files == 2 and .read == 2 and .found == 2 and .added == 2' first
  "$XCORE" symbols index --format json >second # the trees indexed earlier
  jq -e '.sections[0].tables.trees[0] | .files == 2 and .read == 0 and .found == 2 and .added == 0' second
  cp -a "$PACKAGE" tree
  "$XCORE" symbols index tree
  rm tree/usr/bin/tool
  "$XCORE" symbols index tree --format json | jq -e '.sections[0].tables.trees[0] | .read == 0 and .dropped == 1'
  "$XCORE" symbols find "$ID" --format json | jq -e '.sections[0].tables.files | length == 3'
}

@test "with --link files outlive their tree, and gdb finds them too" {
  needs_core
  cp -a "$PACKAGE" tree
  "$XCORE" symbols index tree --link --format json | jq -e '.sections[0].tables.trees[0].linked == 2'
  rm -r tree
  [ "$(line_of_crash "$CORE")" = 5 ]
  command -v gdb >/dev/null || skip "no gdb"
  gdb -nx -q --batch -ex "set debug-file-directory $PWD/store/kept" -ex "file $PROGRAM" -ex "core $CORE" -ex bt 2>&1 |
    grep -q 'crasher.c:5'
}

@test "packages, and files that cannot be read, are told" {
  mkdir tree
  printf '!<arch>\ndebian-binary   0           0     0     100644  4         `\n2.0\n' >tree/x.deb
  cp "$BATS_FILE_TMPDIR/whole" tree/program
  "$XCORE" symbols index tree >answer
  grep -q '1 packages (.deb, .rpm) were not searched' answer
  grep -q 'dpkg-deb -x' answer
  expect 4 'xcore: *x.deb: is a package; packages are not searched*hint: unpack it*' "$XCORE" symbols index tree/x.deb
  expect 4 'xcore: nowhere: No such file or directory' "$XCORE" symbols index nowhere
  expect 4 'xcore: */x: not an ELF file with a build-id or split units' "$XCORE" symbols index <(:) || true
}

# bats test_tags=long
@test "an interrupted index keeps what it found and ends by the signal" {
  command -v strace >/dev/null || skip "no strace"
  strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
  export ASAN_OPTIONS=detect_leaks=0
  for i in $(seq 1 40); do
    mkdir -p "tree/$i"
    cp "$BATS_FILE_TMPDIR/whole" "tree/$i/program"
  done
  # Each directory is read twice. Under strace from the 20th time on, that takes a second, enough for the signal.
  strace -f -o trace -e trace=getdents64 -e inject=getdents64:delay_enter=1000000:when=20+ \
    env --default-signal=INT "$XCORE" symbols index tree -j 1 >answer 2>err &
  tracer=$!
  until [ "$(grep -c getdents64 trace)" -ge 19 ]; do
    kill -0 "$tracer"
    sleep 0.05
  done
  kill -INT "$(pgrep -P "$tracer")"
  status=0
  wait "$tracer" || status=$?
  [ "$status" -eq 130 ]
  grep -q 'interrupted: the files found so far are in the store' err
  [ ! -s answer ]
  found=$("$XCORE" symbols list --format json | jq '.sections[0].fields.file_count')
  [ "$found" -gt 0 ]
  [ "$found" -lt 40 ]
  "$XCORE" symbols list --format json | jq -e '.sections[0].tables.trees[0].files == null'
  "$XCORE" symbols index
  [ "$("$XCORE" symbols list --format json | jq '.sections[0].fields.file_count')" = 40 ]
}

@test "a disk that is full is told, and the store stays as it was" {
  "$XCORE" symbols index "$PACKAGE"
  cp -a "$PACKAGE" tree
  expect 4 'xcore: */store/index: File too large' bash -c 'ulimit -f 4; exec "$0" symbols index tree' "$XCORE"
  [ "$("$XCORE" symbols list --format json | jq '.sections[0].fields.file_count')" = 2 ]
  mkdir small
  mount -t tmpfs -o size=16k none small 2>/dev/null || skip "may not mount"
  status=0
  "$XCORE" symbols index "$PACKAGE" --copy --store small/store >answer 2>err || status=$?
  umount small
  grep -q 'No space left on device' answer err
}

# ---- damage ----

# damaged_at OFFSET…: in the header
damaged_at() {
  "$XCORE" symbols index "$PACKAGE"
  cp store/index whole
  for at; do
    cp whole store/index
    printf '\377' | dd of=store/index bs=1 seek="$at" conv=notrunc status=none
    expect 0 'xcore: */store/index: *: the symbol store is not used*hint: *' "$XCORE" bt "$CORE"
    [ "$(line_of_crash "$CORE" 2>/dev/null)" = null ]
    expect 4 'xcore: */store/index: *' "$XCORE" symbols find "$ID"
  done
}

# bats test_tags=long
@test "each part of a store's header may be damaged" {
  needs_core
  damaged_at 0 9 100
}

@test "a damaged store is told and not used; indexing mends it" {
  needs_core
  damaged_at 100
  cp whole store/index
  printf '\377' | dd of=store/index bs=1 seek=4100 conv=notrunc status=none # a block
  expect 0 'xcore: */store: damaged: its entries are not used*hint: *symbols index*' "$XCORE" bt "$CORE"
  truncate -s -8 store/index
  expect 0 'xcore: */store/index: cut short: *' "$XCORE" bt "$CORE"
  "$XCORE" symbols index "$PACKAGE" >answer
  grep -q 'the store was damaged' answer
  [ "$(line_of_crash "$CORE")" = 5 ]
}

# ---- find, list, clean ----

@test "find takes a prefix, lists what is ambiguous, and looks at the files again" {
  for i in 1 2 3; do
    ${CC:-cc} -shared -fPIC -nostdlib -Wl,--build-id=0xabcdef0$i -x c -o "$i.so" - <<<'int x;'
  done
  "$XCORE" symbols index .
  "$XCORE" symbols find abcdef01 --format json | jq -e --arg p "$(in_json "$PWD/1.so")" \
    '.sections[0].tables.files | length == 1 and .[0].path == $p and .[0].state == "there"'
  "$XCORE" symbols find ABCDEF02 | grep -q '2\.so'
  expect 4 'xcore: abcdef: 3 build-ids begin with it: abcdef01, abcdef02, abcdef03*hint: give more digits' "$XCORE" symbols find abcdef
  silent
  expect 4 'xcore: 123: no file with this build-id was indexed*' "$XCORE" symbols find 123
  expect 2 "xcore: *'xyz' is not a build-id*" "$XCORE" symbols find xyz
  rm 1.so
  "$XCORE" symbols find abcdef01 --format json | jq -e '.sections[0].tables.files[0].state == "gone"'
  cp 3.so 2.so
  "$XCORE" symbols find abcdef02 --format json | jq -e '.sections[0].tables.files[0].state == "changed"'
}

@test "list shows trees, files and caches; clean removes what it is asked to" {
  needs_core
  export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
  "$XCORE" symbols list >answer # also if the store is empty
  grep -q 'nothing was indexed yet' answer
  cp -a "$PACKAGE" tree
  "$XCORE" symbols index tree "$PACKAGE" --copy
  mkdir -p cache/xcore/{debug,index,mine}
  chmod -R go-w cache
  image=cache/xcore/debug/0123456789abcdef0123456789abcdef.plain index=cache/xcore/index/abcdef
  { head -c 5000 /dev/zero; printf XCPLAIN1; head -c 40 /dev/zero; } >$image
  { printf 'XCINDEX\0'; head -c 5000 /dev/zero; } >$index
  head -c 5000 /dev/zero | tee cache/xcore/debug/a.plain cache/xcore/mine/file >cache/xcore/index/b # not of xcore
  touch -d '40 days ago' $index cache/xcore/index/b
  "$XCORE" symbols list --format json >list
  jq -e '.sections[0].tables.trees | length == 2' list
  jq -e '.sections[0].fields.file_count == 6' list
  jq -e '[.sections[1].tables.caches[].kind] | sort == ["inflated sections", "name index"]' list
  rm -r tree
  "$XCORE" symbols clean --format json | jq -e '.sections[0].fields | .dropped == 2 and .trees == 1 and .caches == 0'
  "$XCORE" symbols clean --cache --older-than 30 --format json | jq -e '.sections[0].fields | .caches == 1 and .dropped == 0'
  [ ! -e $index ]
  [ -e $image ]
  "$XCORE" symbols clean --all --format json | jq -e '.sections[0].fields | .dropped == 4 and .removed == 2 and .caches == 1'
  [ ! -e $image ]
  [ -e cache/xcore/mine/file ] # not a cache of xcore
  [ -e cache/xcore/index/b ]   # in one, but not its file
  [ -e cache/xcore/debug/a.plain ]
  [ -e "$PACKAGE/usr/bin/tool" ]
  [ -z "$(find store/kept -type f)" ]
}

# ---- usage ----

@test "wrong words and options are usage errors" {
  expect 2 "xcore: symbols: WHAT is missing*" "$XCORE" symbols
  expect 2 "xcore: symbols: 'lost' is not a valid WHAT*" "$XCORE" symbols lost
  expect 2 'xcore: symbols: find takes one build-id*' "$XCORE" symbols find
  expect 2 'xcore: symbols: find takes one build-id*' "$XCORE" symbols find a b
  expect 2 "xcore: symbols: unexpected argument 'x'*" "$XCORE" symbols list x
  expect 2 'xcore: symbols: --link is only for `symbols index`*' "$XCORE" symbols clean --link
  expect 2 'xcore: symbols: --all is only for `symbols clean`*' "$XCORE" symbols list --all
  expect 2 'xcore: symbols: DIR is missing*' "$XCORE" symbols index
  XCORE_SYMBOLS='' expect 2 'xcore: symbols: there is no directory for a symbol store*' "$XCORE" symbols list
  expect 4 'xcore: */store/index: No such file*' "$XCORE" symbols find ab
}

# ---- other users ----

# refused DIR REASON: reading leaves the store out, and writing fails.
refused() {
  expect 0 "xcore: $2: the symbol store is not used*" env XCORE_SYMBOLS="$1" "$XCORE" bt "$CORE"
  expect 4 "xcore: *$2*" "$XCORE" symbols index "$PACKAGE" --copy --store "$1"
  expect 4 "xcore: *$2*" "$XCORE" symbols list --store "$1"
  expect 4 "xcore: *$2*" "$XCORE" symbols clean --all --store "$1"
}

@test "a symbol store that another user planted is neither read nor written" {
  needs_core
  [ "$(id -u)" -eq 0 ] || skip "only root can act as a second user"
  mkdir -m 1777 all
  mkdir home
  chmod 755 "$BATS_TEST_TMPDIR" home
  all=$BATS_TEST_TMPDIR/all
  (cd all && setpriv --reuid=65534 --clear-groups sh -c 'ln -s ../home link && mkdir theirs && ln -s .. up')
  for name in link theirs link/deeper up/home; do
    refused "$all/$name" "*/all/*: a * of another user (uid 65534), in a world-writable directory"
  done
  [ -z "$(ls home)$(ls all/theirs)" ]
  "$XCORE" symbols index "$PACKAGE" --copy --store home
  expect 4 "xcore: *of another user*" "$XCORE" symbols clean --all --store "$all/link"
  [ -n "$(find home/kept -type f)" ] # the other's link does not lead to what is ours
  mkdir all/mine # in the same folder
  "$XCORE" symbols index "$PACKAGE" --store "$all/mine"
  [ "$(XCORE_SYMBOLS=$all/mine line_of_crash "$CORE")" = 5 ]
}

# bats test_tags=long
@test "a world-writable symbol store is not used; one of a named team is" {
  needs_core
  "$XCORE" symbols index "$PACKAGE"
  chmod o+w store
  refused "$XCORE_SYMBOLS" "*/store: is world-writable"
  chmod o-w,g+w store
  [ "$(line_of_crash "$CORE")" = 5 ]
  [ "$(id -u)" -eq 0 ] || skip "only root can act as a second user"
  chown -R 65534 store
  [ "$(line_of_crash "$CORE")" = 5 ]
}

@test "the usual symbol store is not used when it is another user's, as under sudo" {
  needs_core
  [ "$(id -u)" -eq 0 ] || skip "only root can act as a second user"
  unset XCORE_SYMBOLS
  export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data
  "$XCORE" symbols index "$PACKAGE"
  [ "$(line_of_crash "$CORE")" = 5 ]
  chown -R 65534 data
  expect 0 "xcore: *data/xcore/symbols: belongs to another user: the symbol store is not used*" "$XCORE" bt "$CORE"
  expect 4 "xcore: *data/xcore/symbols: belongs to another user*" "$XCORE" symbols index "$PACKAGE"
}
