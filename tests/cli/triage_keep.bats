#!/usr/bin/env bats
# triage: selection of cores to keep, deletion of the others, user rules, and exit statuses.
# shellcheck disable=SC2154 # helper.bash and bats set them
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
  cores null-write=a.pack null-write=b.pack null-call=c.pack
}

triage() {
  "$XCORE" triage --quiet --no-host-files "$@"
}

@test "one core of each cluster is kept, and a copy is to spare" {
  triage cores --keep >list
  [ "$(grep -c '^keep ' list)" -eq 2 ]
  [ "$(grep '^spare ' list | grep -c 'copy of')" -eq 1 ]
  [ "$(find cores -type f | wc -l)" -eq 3 ]
}

@test "pruning deletes what is to spare, and only when it is no dry run" {
  "$XCORE" triage --no-host-files cores --prune --dry-run >/dev/null 2>told
  grep -q 'would delete: ' told
  [ "$(find cores -type f | wc -l)" -eq 3 ]
  triage cores --format json >before
  triage cores --prune >/dev/null
  [ "$(find cores -type f | wc -l)" -eq 2 ]
  triage cores --format json >after
  [ "$(jq -c '[.clusters[].id] | sort' before)" = "$(jq -c '[.clusters[].id] | sort' after)" ]
  run ! triage --merge cores --prune
  run ! triage cores --dry-run
}

# bats test_tags=long
@test "pruning knows a directory by any of its names" {
  local absolute=$PWD/cores
  # such a name can also be a pattern; the user did not name the files that match it
  [[ $PWD != *[*?[]* ]] || absolute=cores
  for name in . ./ ./cores cores/. cores// "$absolute" "../${PWD##*/}/cores"; do
    rm -rf cores && mkdir cores
    cp "$repo/corpora/golden/null-write.pack" cores/a.pack
    cp "$repo/corpora/golden/null-write.pack" cores/b.pack
    "$XCORE" triage --no-host-files --prune --dry-run "$name" >/dev/null 2>told
    [ "$(tail -1 told | cut -d, -f1)" = "xcore: would delete 1 core" ]
    "$XCORE" triage --no-host-files --prune "$name" >/dev/null 2>told
    [ "$(tail -1 told | cut -d, -f1)" = "xcore: deleted 1 core" ]
    [ -e cores/a.pack ] && [ ! -e cores/b.pack ]
  done
}

@test "pruning goes through no link and to no list" {
  mkdir elsewhere && cp "$repo/corpora/golden/null-write.pack" elsewhere/z.pack
  ln -s ../elsewhere cores/z
  ln -s ../elsewhere/z.pack cores/z.pack
  triage cores elsewhere/z.pack --prune >/dev/null 2>told
  grep -q 'left alone: elsewhere/z.pack: not in a directory that was given' told
  [ -e elsewhere/z.pack ] && [ ! -e cores/b.pack ]
  cp cores/a.pack cores/b.pack
  find cores -name '*.pack' >list
  triage @list --prune >/dev/null 2>told
  [ "$(grep -c 'not in a directory that was given' told)" -ge 1 ]
  [ -e cores/b.pack ]
}

@test "pruning goes to nothing that a pattern found" {
  mkdir elsewhere cores/sub && cp cores/a.pack elsewhere/precious.pack && cp cores/a.pack cores/sub/
  ln -s ../elsewhere cores/zz
  ln -s nowhere cores/dd
  triage 'cores/*' --prune >/dev/null 2>told
  grep -q 'left alone: zz/precious.pack: not in a directory that was given by name' told
  ln -s ../elsewhere 'cores/*' && cp elsewhere/precious.pack elsewhere/copy.pack
  triage 'cores/*' --prune >/dev/null 2>told
  grep -q 'left alone: .*not in a directory that was given by name' told
  [ "$(find elsewhere cores -name '*.pack' -type f | wc -l)" -eq 6 ]
  triage cores 'cores/*' --prune >/dev/null
  [ ! -e cores/b.pack ]
  [ "$(find elsewhere -type f | wc -l)" -eq 2 ]
}

@test "a policy has the last word on class, frames and names" {
  cat >policy.lua <<'END'
function class(record) if record.class == "null-write" then return "low-memory", "critical" end end
END
  [ "$(triage cores --policy policy.lua --format json | jq -r '.clusters[0] | .class + " " + .severity')" = "low-memory critical" ]
  echo 'function class() while true do end end' >endless.lua
  "$XCORE" triage --no-host-files cores --policy endless.lua --max-instructions 1 >answer 2>told || rc=$?
  [ "$rc" = 4 ]
  grep -q 'policy' told
  grep -q 'null-write' answer
  echo 'syntax error' >broken.lua
  run -4 triage cores --policy broken.lua
}

@test "what fails a run" {
  triage cores >/dev/null
  run -1 triage cores --fail-on medium
  triage cores --fail-on critical >/dev/null
  triage cores --baseline known --update-baseline >/dev/null
  triage cores --baseline known >/dev/null
  cp "$repo/corpora/golden/assert.pack" cores/d.pack
  run -1 triage cores --baseline known
  head -c 100 cores/a.pack >cores/core.short
  triage cores/core.short >/dev/null
  run -1 triage cores/core.short --fail-on unreadable
  run -3 triage cores/core.short --max-unreadable 0
  triage cores/core.short --max-unreadable 1 >/dev/null
  run -2 triage cores --fail-on worse
  run -4 triage nowhere
}

# zeroed CORE OTHER: the highest writable memory, which is the stack.
zeroed() {
  python3 - "$1" "$2" <<'END'
import struct, sys
core = bytearray(open(sys.argv[1], "rb").read())
table, count = struct.unpack_from("<Q", core, 32)[0], struct.unpack_from("<H", core, 56)[0]
segments = [struct.unpack_from("<IIQQQQ", core, table + 56 * i) for i in range(count)]
_, offset, stored = max((address, offset, stored) for kind, flags, offset, address, _, stored in segments if kind == 1 and flags & 2)
core[offset:offset + stored] = bytes(stored)
open(sys.argv[2], "wb").write(core)
END
}

@test "a core whose stack was zeroed is a copy of the intact one, and not the other way round" {
  [ -e "$repo/build/deaths/abort-assert-gcc-o0/core" ] || skip "there is no such core here"
  rm cores/*
  cp "$repo/build/deaths/abort-assert-gcc-o0/core" cores/z.core
  zeroed cores/z.core cores/a.core
  [ "$(stat -c %s cores/a.core)" -eq "$(stat -c %s cores/z.core)" ]
  triage cores --keep >list
  grep -q '^spare .* a.core  copy of z.core' list
  triage cores --prune >/dev/null
  [ -e cores/z.core ] && [ ! -e cores/a.core ]
}

@test "nothing is deleted before the answer, the exports and the baseline have their names" {
  local name
  name=$(printf 'x%.0s' {1..300}) # no file can have this name, which is detected at the rename
  run -4 triage cores --prune -o "$name"
  [ -e cores/b.pack ]
  run -4 triage cores --prune --export "json=$name"
  [ -e cores/b.pack ]
  run -4 triage cores --prune --baseline "$name" --update-baseline
  [ -e cores/b.pack ]
  run -4 triage cores --prune -o /dev/full
  [ -e cores/b.pack ]
  [[ "$output" == *"/dev/full: No space left on device"* ]]
  run -4 bash -c '"$XCORE" triage -q --no-host-files cores --prune >/dev/full'
  [ -e cores/b.pack ]
  "$XCORE" triage --no-host-files cores --prune -o answer 2>told
  grep -q 'deleted: b.pack' told
  grep -q 'null-write' answer
  [ ! -e cores/b.pack ]
}

@test "a signal between reading and deleting leaves all" {
  mkfifo held
  for signal in TERM INT HUP; do
    # Neither as a background job of the shell, which would ignore SIGINT, nor under nohup. The export waits for a
    # reader; by then all cores are read.
    PYTHONPATH=$repo/tests/cli python3 - "$XCORE" $signal <<'END'
import signal, subprocess, sys
import workers
words = [sys.argv[1], "triage", "-q", "--no-host-files", "cores", "--prune", "--export", "json=held"]
run = subprocess.Popen(["env", "--default-signal=TERM,INT,HUP"] + words, stdout=subprocess.PIPE)
assert run.stdout.read(1), "the answer comes before the exports"
number = getattr(signal, "SIG" + sys.argv[2])
caught = [int(line.split()[1], 16) for line in open(f"/proc/{workers.working(run)}/status", encoding="ascii") if line.startswith("SigCgt")][0]
run.send_signal(number)
assert run.wait(120) == -number, run.returncode
assert not caught >> (number - 1) & 1
END
    [ -e cores/b.pack ]
  done
}

# nobody COMMAND...: run as a user with limited read permission.
nobody() {
  if [ "$(id -u)" -eq 0 ]; then setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; else "$@"; fi
}

@test "a directory or a file that cannot be opened may hide a core: gates count it, and the head says it" {
  # Not in the tests' directory, which other users may not enter; TMPDIR may be closed to them, too.
  local top='' TMPDIR=$TMPDIR
  for TMPDIR in "${TMPDIR:-/tmp}" /tmp /var/tmp /dev/shm; do
    if nobody test -x "$TMPDIR" -a -w "$TMPDIR" && top=$(mktemp -d -p "$TMPDIR"); then break; fi
  done
  [ -n "$top" ] || skip "no directory for temporary files is everybody's"
  chmod 755 "$top" && cp "$XCORE" "$top/xcore" && cp -r cores "$top/cores"
  mkdir "$top/cores/private" && mv "$top/cores/c.pack" "$top/cores/private/"
  chmod -R a+rX "$top" && chmod 700 "$top/cores/private"
  [ "$(id -u)" -eq 0 ] || chmod 0 "$top/cores/private"
  cd "$top"
  triage_there() { nobody env TMPDIR="$TMPDIR" XDG_CACHE_HOME=/proc/nonexistent "$top/xcore" triage "$@"; }
  triage_there --no-host-files cores --max-unreadable 1 >said 2>told
  grep -q '^1 file or directory could not be opened: there may be more cores' said
  grep -q 'private: Permission denied' told
  run -1 triage_there --no-host-files cores --fail-on unreadable
  run -3 triage_there --no-host-files cores --max-unreadable 0
  [[ "$output" == *"1 file or directory could not be read, more than --max-unreadable 0"* ]]
  triage_there -q --no-host-files cores >/dev/null 2>told
  grep -q '^xcore: 1 file or directory could not be read' told
  chmod 0 cores/b.pack && mv cores/b.pack cores/unusual && [ "$(id -u)" -ne 0 ] || chown 0 cores/unusual
  run -3 triage_there -q --no-host-files cores --max-unreadable 1
  triage_there -q --no-host-files cores --max-unreadable 2 >said
  grep -q '^2 files and directories could not be opened' said
  mkdir parts && chmod 777 parts
  triage_there -q --no-host-files cores --shard 0/1 -o parts
  run -1 triage_there --quiet --merge parts --fail-on unreadable
  chmod -R u+rwx "$top" && cd / && rm -r "$top"
}
