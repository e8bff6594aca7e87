#!/usr/bin/env bats
# Guarantees of all commands: the same answer for every form of a core, no network, nothing invented, no files left
# behind.
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  make_core
}

setup() {
  load helper
  cd "$BATS_TEST_TMPDIR" || return 1
  # shellcheck disable=SC2016 # the dollar is xcore's
  COMMANDS=('analyze TARGET' 'bt TARGET --full' 'threads TARGET' 'regs TARGET' 'maps TARGET' 'modules TARGET' 'info TARGET'
    'sym TARGET main' 'mem TARGET $rsp 64' 'flame stacks TARGET')
}

# xcore_on TARGET COMMAND [OPTION]...: inserts TARGET among the words of COMMAND.
xcore_on() {
  local target=$1 words
  read -ra words <<<"$2"
  shift 2
  ${TRACER:+"${TRACER[@]}"} "$XCORE" "${words[@]/%TARGET/"$target"}" "$@"
}

@test "plain and zstd cores give the same JSON, by every command" {
  needs_core
  zstd -q "$CORE" -o elsewhere
  for command in "${COMMANDS[@]}"; do
    xcore_on "$CORE" "$command" --format json >plain
    xcore_on elsewhere "$command" --format json >compressed
    [ -s plain ]
    cmp plain compressed
  done
}

@test "a pack gives the JSON of its core with no other file, by every command" {
  needs_core
  "$XCORE" pack "$CORE" -o one.pack
  mkdir empty
  for command in "${COMMANDS[@]}"; do
    xcore_on "$CORE" "$command" --format json >with_files
    mv "$PROGRAM" saved
    xcore_on one.pack "$command" --format json --sysroot empty --no-cache >alone || status=$?
    mv saved "$PROGRAM"
    [ -z "${status-}" ]
    cmp with_files alone
  done
}

@test "nothing connects unless --debuginfod is given, by every command" {
  needs_core
  command -v strace >/dev/null || skip "no strace"
  strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
  export ASAN_OPTIONS=detect_leaks=0 # that checker needs ptrace, which strace holds
  export DEBUGINFOD_URLS=http://127.0.0.1:9/ XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
  TRACER=(strace -f -qq -o trace -e 'trace=%network')
  mkdir empty # no module has a file, so the servers would be asked for all of them
  for command in "${COMMANDS[@]/%/ --sysroot empty}" 'pack TARGET --sysroot empty -o one.pack'; do
    xcore_on "$CORE" "$command" >answer 2>err || [ $? -eq 4 ] # no symbols without files
    [ ! -s trace ] || { echo "$command:" && cat trace && return 1; }
  done
  xcore_on "pid:$BASHPID" 'analyze TARGET' >answer
  [ ! -s trace ]
  if ! ldconfig -p | grep -q libdebuginfod; then skip "no libdebuginfod: only half is shown"; fi
  xcore_on "$CORE" 'analyze TARGET' --sysroot empty --debuginfod >answer 2>err
  [ -s trace ] # proves that the check above detects a connection
}

# offset_of FILE ADDRESS: the offset of an address's page in a core.
offset_of() {
  LC_ALL=C readelf -lW "$1" | while read -r kind offset at _ size _; do
    if [ "$kind" = LOAD ] && (($2 >= at && $2 < at + size)); then echo $((offset)) && break; fi
  done
}

@test "a writable global that was cut off is a fault, never the file's initial value" {
  needs_kernel_core "notes in front of what is cut off"
  "$XCORE" mem "$CORE" answer 4 | grep -q '2a 00 00 00'
  address=$("$XCORE" sym "$CORE" answer --format json | grep -o '"addr":"0x[0-9a-f]*' | head -n 1 | cut -d '"' -f 4)
  cp "$CORE" cut
  truncate -s "$(offset_of "$CORE" "$address")" cut
  "$XCORE" mem cut answer 4 >bytes
  grep -q -e '-- -- -- --' bytes
  grep -q 'cut short' bytes
  run -1 grep -q '2a 00 00 00' bytes
  "$XCORE" analyze cut --exe "$PROGRAM" >answer
  grep -q 'the core file is cut short' answer
}

# bats test_tags=long
@test "what gdb leaves out of its cores comes from the files, as gdb itself shows it" {
  command -v gdb >/dev/null || skip "no gdb"
  cat >words.c <<'C'
#include <string.h>
const char *word = "teapot";
long untouched[4096] = {[2048] = 77};
long touched[4096] = {[2048] = 78};
int main(void) { touched[2048]++; return *(volatile char *)strlen(""); }
C
  ${CC:-cc} -g -O0 -o words words.c
  XCORE_TAKE_CORE=gdb "$repo/corpora/take-core" --out core -- ./words >/dev/null || skip "gdb may not trace here"
  for expression in word 'untouched[2048]' 'touched[2048]' '*(unsigned char (*)[4])strlen'; do
    gdb -nx -q --batch -iex 'set debuginfod enabled off' -ex "output $expression" words core 2>/dev/null | tail -n 1 >theirs
    "$XCORE" print core "$expression" >ours
    echo "$expression: $(cat theirs), $(cat ours)"
  done >values
  cat values
  grep -qx 'word: 0x[0-9a-f]* "teapot", 0x[0-9a-f]* "teapot"' values
  grep -qx 'untouched\[2048\]: 77, 77' values
  grep -qx 'touched\[2048\]: 79, 79' values
  "$XCORE" maps core --format json >maps
  jq -e '[.sections[].tables.maps[] | select(.dumped == 0 and .access == "r-xp" and (.path | test("libc.so")))] | length == 1' maps
  mv words gone # without the file: mapped, but not there
  "$XCORE" mem core "0x$(sed -n 's/^word: 0x\([0-9a-f]*\) .*/\1/p' values)" 8 >bytes
  grep -q 'not dumped' bytes
}

# bats test_tags=long
@test "a stack that a debugger's reads let grow is used up all the same" {
  command -v gdb >/dev/null || skip "no gdb"
  cat >deep.c <<'C'
#include <sys/resource.h>
volatile long never = -1;
long down(long depth) { volatile char room[100]; room[0] = 1; return depth == never ? room[0] : down(depth + 1) + room[0]; }
int main(int argc, char **argv)
{
	char low[4096], *at = low;
	setrlimit(RLIMIT_STACK, &(struct rlimit){262144, 1 << 23});
	if (argc == 1)
		return (int)down(1);
	*(volatile char *)(((long)at & -4096L) - (64 << 20)) = 1; /* far below the stack: no overflow */
	return argv == 0;
}
C
  ${CC:-cc} -g -O0 -w -o deep deep.c
  for arguments in '' far; do
    # shellcheck disable=SC2086
    XCORE_TAKE_CORE=gdb "$repo/corpora/take-core" --out "core.$arguments" -- ./deep $arguments >/dev/null || skip "gdb may not trace here"
    "$XCORE" analyze --format json "core.$arguments" | jq -r '.verdict | "\(.class) \(.function)"' >>classes
  done
  [ "$(cat classes)" = $'stack-overflow down\nwild-write main' ]
}

@test "a core of another machine gives facts and maps, and says what it cannot give" {
  needs_core
  cp "$CORE" foreign
  printf '\2\1' | dd of=foreign bs=1 seek=18 conv=notrunc status=none # e_machine: LoongArch
  for command in analyze bt threads info; do
    "$XCORE" "$command" foreign >answer
    grep -q 'stacks and values of this' answer
  done
  "$XCORE" maps foreign | grep -q "$(basename "$PROGRAM")"
  expect 0 'xcore: foreign: no thread has a stack*' "$XCORE" flame stacks foreign
  silent
}

@test "install puts program, manual and completions in place; uninstall takes all of it away" {
  unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
  build=$(basename "$(dirname "$XCORE")")
  [[ $build != *-clang ]] || export CC=clang
  local make=(env "DESTDIR=$BATS_TEST_TMPDIR/at" make -s -C "$repo" "MODE=${build%-clang}" PREFIX=/opt)
  "${make[@]}" install
  [ "$(at/opt/bin/xcore --version)" = "$("$XCORE" --version)" ]
  for file in man/man1/xcore.1 xcore/report.schema.json bash-completion/completions/xcore zsh/site-functions/_xcore \
    fish/vendor_completions.d/xcore.fish; do
    [ -s "at/opt/share/$file" ]
  done
  "${make[@]}" uninstall
  [ -z "$(find at ! -type d)" ]
}

# A name index reads all debug information of a file; only a name look-up may cost that.
@test "stacks never wait for a name index" {
  needs_core
  export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/unindexed
  for command in 'bt TARGET --full --thread all' 'analyze TARGET' 'flame stacks TARGET' 'threads TARGET' 'modules TARGET'; do
    xcore_on "$CORE" "$command" >/dev/null
    [ ! -e "$XDG_CACHE_HOME/xcore/index" ]
  done
  "$XCORE" ptype "$CORE" _IO_FILE_plus >/dev/null || skip "no debug information of the C library here"
  [ -n "$(ls "$XDG_CACHE_HOME/xcore/index")" ]
}
