#!/usr/bin/env bats
# Bad input: one clear line with the file and the reason, status 4, nothing on stdout, no output file left behind.
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  make_core
}

setup() {
  load helper
  cd "$BATS_TEST_TMPDIR" || return 1
  mkdir out
}

# refused PATTERN TARGET [OPTION...]: every command refuses TARGET, with and without -o, and leaves no file behind.
refused() {
  local pattern=$1 target=$2
  shift 2
  expect 4 "$pattern" timeout 120 "$XCORE" analyze "$target" "$@"
  silent
  expect 4 "$pattern" timeout 120 "$XCORE" bt "$target" "$@" -o out/report
  expect 4 "$pattern" timeout 120 "$XCORE" info "$target" "$@" --format json -o out/report
  [ -z "$(ls -A out)" ]
}

@test "a missing file" {
  refused 'xcore: *nowhere: No such file or directory*' nowhere
}

@test "an empty file" {
  touch empty
  refused 'xcore: *empty*empty*' empty
}

@test "a text file" {
  echo hello there, this is no core file at all >text
  refused 'xcore: *text*not an ELF file*' text
}

@test "an ELF file that is no core" {
  refused 'xcore: *crasher*not a core*' "$PROGRAM"
}

@test "a directory" {
  mkdir dir
  refused 'xcore: *dir*directory*' dir
}

@test "a FIFO does not block" {
  mkfifo fifo
  refused 'xcore: *fifo*' fifo
}

@test "a device" {
  refused 'xcore: */dev/zero*' /dev/zero
}

@test "a few bytes of an ELF header" {
  printf '\177ELF\2\1\1' >short
  refused 'xcore: *short*' short
}

@test "a damaged zstd file" {
  printf '\050\265\057\375garbage garbage garbage' >bad.zst
  refused 'xcore: *bad.zst*' bad.zst
}

@test "a process that does not exist" {
  export ASAN_OPTIONS=detect_leaks=0 # that checker needs ptrace, which the fence denies
  sleep 0 & gone=$!
  wait $gone
  refused "xcore: *$gone*" "pid:$gone"
  refused "xcore: *$gone*" "$gone"
}

@test "a process that may not be read names the rule" {
  export ASAN_OPTIONS=detect_leaks=0 # that checker needs ptrace, which the fence denies
  [ "$(id -u)" -eq 0 ] || skip "needs root to become another user"
  command -v setpriv >/dev/null || skip "no setpriv"
  cp "$XCORE" "$BATS_TEST_TMPDIR/xcore"
  chmod 755 "$BATS_TEST_TMPDIR/xcore"
  for dir in "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR"; do chmod o+x "$dir"; done
  sleep 60 & pid=$!
  expect 4 "xcore: *$pid*hint:*" setpriv --reuid 65534 --clear-groups "$BATS_TEST_TMPDIR/xcore" bt "pid:$pid"
  kill $pid
}

@test "the wrong --exe is refused by build-id" {
  needs_core
  refused 'xcore: *xcore: build-id * in the core, * in *xcore: file not used?  hint: *' "$CORE" --exe "$XCORE"
}

@test "an --exe that is no program, or not there" {
  needs_core
  echo text >text
  refused 'xcore: --exe: text: *not an ELF file*' "$CORE" --exe text
  refused 'xcore: --exe: *nowhere: No such file*' "$CORE" --exe nowhere
}

@test "directories that are named must exist" {
  needs_core
  refused 'xcore: --sysroot: nowhere: No such file*' "$CORE" --sysroot nowhere
  refused "xcore: --debug-dir: $(literal "$(shown "$PROGRAM")"): Not a directory" "$CORE" --debug-dir "$PROGRAM"
}

@test "what is asked for but is not in the target" {
  needs_core
  expect 4 'xcore: *no thread 1*' "$XCORE" bt "$CORE" --thread 1
  expect 4 "xcore: no symbol 'wombat' in *" "$XCORE" sym "$CORE" wombat
  # shellcheck disable=SC2016 # the dollar is xcore's
  expect 4 'xcore: $wombat: *no such register' "$XCORE" mem "$CORE" '$wombat'
}

@test "a core that is cut while it is read is an error, and leaves nothing behind" {
  needs_core
  cp "$CORE" growing
  export ASAN_OPTIONS=detect_leaks=0 # that checker needs ptrace, which strace holds
  command -v strace >/dev/null || skip "no strace"
  strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
  # strace stops it after it has mapped the core and before it reads any of it.
  strace -f -qq -o trace -P growing -e trace=mmap -e inject=mmap:signal=STOP:when=1 "$XCORE" analyze growing -o answer 2>err 3>&- &
  pid=$!
  until grep -q 'stopped by SIGSTOP' trace 2>/dev/null; do
    kill -0 $pid
    sleep 0.01
  done
  child=$(cat /proc/$pid/task/$pid/children)
  child=$(cat "/proc/${child% }/task/${child% }/children") # the watchdog's, started by strace
  if ! { grep -q growing "/proc/${child% }/maps" && truncate -s 8192 growing; }; then
    kill -KILL "${child% }" # a signal that does not wait until the stopped process continues
    return 1
  fi
  kill -CONT "${child% }"
  status=0
  wait $pid || status=$?
  [ "$status" -eq 4 ]
  grep -q 'growing: the file was truncated while it was read' err
  [ ! -e answer ]
}
