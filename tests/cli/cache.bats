#!/usr/bin/env bats
# shellcheck disable=SC2154 # repo is helper.bash's
# The cache (core/cache): whatever lies in its place harms no file, hangs no run and changes no answer.
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  make_core
}

setup() {
  load helper
  needs_core
  alone
  root=$XDG_CACHE_HOME
  export XCORE_SYMBOLS=$BATS_TEST_TMPDIR/store
  set -o pipefail
}

# The answer is right with whatever the cache holds; $told has standard error.
answers() {
  timeout 60 "$XCORE" print --exe "$PROGRAM" "$CORE" answer "$@" >said 2>told
  grep -qx 42 said
  told=$(<told)
}

# The cache is not used, and one note says why.
refused() {
  answers
  [ "$(grep -c 'no cache is used' told)" -eq 1 ]
  [[ $told == *"$1: $2: no cache is used"* ]]
  answers --quiet
  [ -z "$told" ]
  answers --no-cache
  [ -z "$told" ]
}

build_id() {
  readelf -n "$PROGRAM" | sed -n 's/.*Build ID: //p'
}

# The user's files of F9: old, and large, so that pruning would choose them.
precious() {
  local i
  mkdir -p "$1"
  for i in 1 2 3; do
    echo precious >"$1/doc$i"
    touch -d "2020-01-0$i" "$1/doc$i"
  done
  truncate -s 30G "$1/vm.img"
  touch -d 2019-01-01 "$1/vm.img"
}

untouched() {
  [ "$(cat "$1"/doc?)" = "$(printf 'precious\nprecious\nprecious')" ]
  [ "$(find "$1" -type f | wc -l)" -eq 4 ]
  [ "$(stat -c %s "$1/vm.img")" -eq $((30 << 30)) ]
}

@test "a sound cache is used, with files for its owner only" {
  answers
  [ -z "$told" ]
  [ -f "$root/xcore/index/$(build_id)" ]
  [ "$(stat -c %a "$root/xcore" "$root/xcore/index" "$root/xcore/secret" "$root/xcore/index/$(build_id)" | tr '\n' ' ')" = "700 700 600 600 " ]
  before=$(stat -c %i "$root/xcore/index/$(build_id)")
  answers
  [ "$(stat -c %i "$root/xcore/index/$(build_id)")" = "$before" ]
}

@test "a link in the place of xcore or of a folder in it is not followed (F9)" {
  precious home
  mkdir -p "$root/xcore"
  chmod 700 "$root" "$root/xcore"
  for folder in index debug triage; do
    ln -s "$PWD/home" "$root/xcore/$folder"
    refused "$root/xcore/$folder" "a symbolic link"
    "$XCORE" symbols clean --cache >/dev/null
    untouched home
    rm "$root/xcore/$folder"
  done
  rmdir "$root/xcore"
  ln -s "$PWD/home" "$root/xcore"
  refused "$root/xcore" "a symbolic link"
  untouched home
}

# bats test_tags=long
@test "what another user plants in a shared cache harms no file (F9)" {
  [ "$(id -u)" -eq 0 ] || skip "only root can act as a second user"
  precious home
  mkdir -p "$root/xcore"
  chmod 711 "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" 2>/dev/null || true
  chmod -R 777 "$root"
  cd "$root" && setpriv --reuid=65534 --clear-groups ln -s "$BATS_TEST_TMPDIR/home" xcore/index && cd "$BATS_TEST_TMPDIR"
  [ -L "$root/xcore/index" ]
  refused "$root" "others can write to it"
  untouched home
  chmod 755 "$root"
  refused "$root/xcore" "others can write to it"
  untouched home
  chown -h 65534 "$root/xcore"
  chmod 755 "$root/xcore"
  refused "$root/xcore" "belongs to another user"
  untouched home
}

@test "a cache of another user is not used" {
  [ "$(id -u)" -eq 0 ] || skip "only root can act as a second user"
  answers
  chown -R 65534 "$root"
  refused "$root" "belongs to another user"
  chown 0 "$root"
  refused "$root/xcore" "belongs to another user"
  chown 0 "$root/xcore"
  refused "$root/xcore/index" "belongs to another user"
  chown 0 "$root/xcore/index" # its file and the secret are still the other's
  answers
  [ "$(stat -c %u "$root/xcore/index/$(build_id)")" -eq 65534 ]
}

@test "a link as the cache's root is the user's choice" {
  mkdir -m 700 real
  ln -s "$PWD/real" "$root"
  answers
  [ -z "$told" ]
  [ -f "real/xcore/index/$(build_id)" ]
}

@test "files in a sound cache that are not xcore's stay: pruning and cleaning pass them by" {
  answers
  precious home
  mv home/* "$root/xcore/index/"
  rm "$root/xcore/index/$(build_id)"
  answers
  [ -f "$root/xcore/index/$(build_id)" ]
  mv "$root/xcore/index/"{doc?,vm.img} home/
  untouched home
  mv home/* "$root/xcore/index/"
  "$XCORE" symbols list --format json >listed
  grep -q "$(build_id)" listed
  jq -e '[.. | strings | select(test("doc1|vm.img"))] == []' listed
  "$XCORE" symbols clean --cache --format json | jq -e '.sections[0].fields.caches == 1'
  mv "$root/xcore/index/"{doc?,vm.img} home/
  untouched home
}

@test "a link, a fifo, a folder, a hard link or a user's file with the name of an index stays, and nothing hangs" {
  (umask 077 && mkdir -p "$root/xcore/index")
  at=$root/xcore/index/$(build_id)
  echo precious >letter
  truncate -s 40000 letter
  cp letter expected
  ln -s "$PWD/letter" "$at"; answers; [ -L "$at" ]; cmp letter expected; rm "$at"
  ln "$PWD/letter" "$at"; answers; [ "$(stat -c %h letter)" -eq 2 ]; cmp letter expected
  "$XCORE" symbols clean --cache >/dev/null; [ "$(stat -c %h letter)" -eq 2 ]; rm "$at"
  cp letter "$at"; answers; cmp "$at" expected
  "$XCORE" symbols clean --cache >/dev/null; cmp "$at" expected; rm "$at"
  mkfifo "$at"; answers; [ -p "$at" ]; rm "$at"
  mkdir "$at"; touch "$at/mine"; answers; [ -f "$at/mine" ]; rm -r "$at"
  ln -s /dev/zero "$at"; answers; [ -L "$at" ]; rm "$at"
  answers
  [ -f "$at" ]
  ln "$at" elsewhere # a real index with a second name: who knows who holds it
  answers
  [ "$(stat -c %h "$at")" -eq 2 ]
  "$XCORE" symbols clean --cache --format json >told # it is not removed, so it does not count
  jq -e '.sections[0].fields.caches == 0' told
  [ "$(stat -c %h "$at")" -eq 2 ]
}

@test "a secret that is not ours alone keeps nothing, and stays" {
  (umask 077 && mkdir -p "$root/xcore")
  for plant in 'ln -s /dev/zero' mkfifo mkdir 'install -m 644 /etc/hostname'; do
    $plant "$root/xcore/secret"
    answers
    [ ! -e "$root/xcore/index/$(build_id)" ]
    [ -e "$root/xcore/secret" ]
    rm -r "$root/xcore/secret"
  done
  answers
  [ -e "$root/xcore/index/$(build_id)" ]
}

@test "a secret of ours that others can read, or that was not written to its end, is made again" {
  answers
  for harm in 'chmod 644' 'truncate -s 0'; do
    rm -f "$root/xcore/index/$(build_id)"
    $harm "$root/xcore/secret"
    answers
    [ "$(stat -c %a:%s "$root/xcore/secret")" = 600:32 ]
    [ -e "$root/xcore/index/$(build_id)" ]
  done
}

@test "a checkpoint's place may hold a link, a fifo, a hard link or a user's file: none is changed" {
  mkdir cores
  cp "$CORE" cores/core
  "$XCORE" triage --no-host-files cores >/dev/null 2>&1
  at=$(echo "$root"/xcore/triage/*.jsonl)
  [ -f "$at" ]
  printf 'precious %s\n' {1..2000} >letter
  cp letter expected
  rm "$at"; ln -s "$PWD/letter" "$at"; timeout 60 "$XCORE" triage --no-host-files cores >/dev/null 2>told; cmp letter expected
  rm "$at"; ln "$PWD/letter" "$at"; timeout 60 "$XCORE" triage --no-host-files cores >/dev/null 2>told; cmp letter expected
  grep -q 'finished work is not kept' told
  rm "$at"; cp letter "$at"; timeout 60 "$XCORE" triage --no-host-files cores >/dev/null 2>told; cmp "$at" expected
  rm "$at"; mkfifo "$at"; timeout 60 "$XCORE" triage --no-host-files cores >/dev/null 2>told; [ -p "$at" ]
  rm "$at"
  touch -d '40 days ago' letter
  mv "$root/xcore/triage" aside
  ln -s "$PWD/aside" "$root/xcore/triage"
  timeout 60 "$XCORE" triage --no-host-files cores >/dev/null 2>told
  grep -q 'triage: a symbolic link: no cache is used' told
}

@test "without a home, and with a cache on a folder that cannot be written, the answers are the same" {
  env -u XDG_CACHE_HOME -u HOME timeout 60 "$XCORE" print --exe "$PROGRAM" "$CORE" answer >said 2>told
  grep -qx 42 said
  [ ! -s told ]
  XDG_CACHE_HOME=/proc/xcore-nowhere answers
  [ -z "$told" ]
  XDG_CACHE_HOME=/dev/null answers
  [ -z "$told" ]
  answers
  chmod 500 "$root" "$root/xcore" "$root/xcore/index"
  answers
  [ -z "$told" ]
  chmod 700 "$root" "$root/xcore" "$root/xcore/index"
}

# F3: a pack with a program of the same build-id, with two words of .debug_str_offsets swapped.
@test "a pack with a forged build-id does not meet the index of the real program (F3)" {
  needs_split_names
  forged
  "$XCORE" print --exe real real.core first second >right
  grep -q '^first = 42$' right
  rm -r "$root/xcore"
  "$XCORE" pack --exe forged real.core -o forged.pack >/dev/null
  "$XCORE" heap types forged.pack >/dev/null 2>&1 || true
  "$XCORE" print forged.pack first >/dev/null
  "$XCORE" print --exe real real.core first second >now
  cmp right now
  "$XCORE" print forged.pack first >/dev/null
  "$XCORE" print --exe real real.core first second >now # what the pack kept took no place
  cmp right now
  [ -f "$root/xcore/index/$(readelf -n real | sed -n 's/.*Build ID: //p')" ]
}

@test "a program with a forged build-id does not meet the index of the real one" {
  needs_split_names
  forged
  "$XCORE" print --no-cache --exe real real.core first second >right
  "$XCORE" print --exe forged real.core first second >wrong
  run ! cmp -s right wrong
  "$XCORE" print --exe real real.core first second >now
  cmp right now
  "$XCORE" print --exe forged real.core first second >now
  cmp wrong now
}

needs_split_names() {
  command -v clang >/dev/null || skip "clang is missing: it writes .debug_str_offsets"
}

# ./real with its core, and ./forged: as real, but two words of .debug_str_offsets changed places.
forged() {
  cat >real.c <<'C'
int first = 42;
struct pair { int q, w; } second = {1, 2};
int main(void) { *(volatile int *)0 = first + second.q; return 0; }
C
  clang -g -gdwarf-5 -O0 -Wl,--build-id -o real real.c || skip "clang cannot build"
  "$repo/corpora/take-core" --out real.core -- ./real >/dev/null 2>&1
  python3 - <<'P'
import re, subprocess
def section(name):
    for line in subprocess.check_output(["readelf", "-WS", "real"], text=True).splitlines():
        m = re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+\S+\s+\S+\s+(\S+)\s+(\S+)", line)
        if m and m[1] == name:
            return int(m[2], 16), int(m[3], 16)
    raise SystemExit("no " + name)
data = bytearray(open("real", "rb").read())
strings, _ = section(".debug_str")
at, size = section(".debug_str_offsets")
def place(name):
    for i in range(at + 8, at + size, 4):
        start = strings + int.from_bytes(data[i:i + 4], "little")
        if data[start:start + len(name) + 1] == name + b"\0":
            return i
a, b = place(b"first"), place(b"second")
data[a:a + 4], data[b:b + 4] = data[b:b + 4], data[a:a + 4]
open("forged", "wb").write(data)
P
  chmod +x forged
}
