#!/usr/bin/env bats
# A pack gives the answers of its core without other files, and can be unpacked.
# shellcheck disable=SC2016 # inner shells expand their own words
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  make_core
}

setup() {
  load helper
  needs_core
  cd "$BATS_TEST_TMPDIR" || return 1
}

@test "a pack answers as its core does, without the program" {
  cp "$PROGRAM" saved
  "$XCORE" pack "$CORE" -o one.pack
  [ "$(stat -c %a one.pack)" = 600 ]
  "$XCORE" bt "$CORE" --full --format json >core.json
  rm "$PROGRAM"
  "$XCORE" bt one.pack --full --format json --sysroot "$BATS_TEST_TMPDIR" >pack.json
  mv saved "$PROGRAM"
  cmp core.json pack.json
}

@test "without -o the pack stands in the working directory" {
  "$XCORE" pack "$CORE"
  [ -f core.pack ]
}

@test "unpack gives back the same core, and files to use with it" {
  "$XCORE" pack "$CORE" -o one.pack
  "$XCORE" unpack one.pack >said
  grep -q 'xcore analyze one.d/core --sysroot one.d/root' said
  cmp one.d/core "$CORE"
  cmp "one.d/root$PROGRAM" "$PROGRAM"
  "$XCORE" bt one.d/core --sysroot one.d/root | grep -q 'crasher.c:5'
  expect 2 'xcore: unpack: *' "$XCORE" unpack one.pack
  expect 0 '' "$XCORE" unpack one.pack --force
}

@test "what is no pack is not unpacked, and nothing is left" {
  expect 4 'xcore: *not made by xcore pack*' "$XCORE" unpack "$CORE" dir
  [ ! -e dir ]
}

@test "a pack never takes the place of its core, and never of a process" {
  cp "$CORE" copy
  expect 2 'xcore: pack: --output: copy is the target itself*' "$XCORE" pack copy -o copy
  cmp copy "$CORE"
  expect 2 'xcore: pack: a running process cannot be packed*' "$XCORE" pack pid:1
}

@test "a pack that cannot be written leaves nothing behind" {
  mkdir out
  expect 4 'xcore: *nowhere*' "$XCORE" pack "$CORE" -o nowhere/one.pack
  expect 4 'xcore: *' bash -c 'ulimit -f 4; trap "" XFSZ; exec "$@"' - "$XCORE" pack "$CORE" -o out/one.pack
  [ -z "$(ls -A out)" ]
}
