# Shared by the command-line tests: a small program that dies, its core, and `expect`.
unset CI GITHUB_ACTIONS GITHUB_STEP_SUMMARY GITLAB_CI NO_COLOR SOURCE_DATE_EPOCH # a CI job redacts, among other things
export XCORE_SYMBOLS= # no symbol store of the user

# Each test reads this twice: it starts a program only where it must.
repo=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
export XCORE=${XCORE:-$repo/build/release/xcore}
[ -x "$XCORE" ] || { echo "no program to test: $XCORE" >&2; return 1; }
[ "$XCORE" = "${XCORE_REAL-}" ] || XCORE=$(realpath "$XCORE")
export XCORE_REAL=$XCORE
cd "${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}" || return 1 # what a test writes is never left in the source tree

# Build the crasher and write its core once per file; $CORE stays empty if no core can be made.
make_core() {
  export PROGRAM=$BATS_FILE_TMPDIR/crasher CORE='' CORE_BY
  cat >"$PROGRAM.c" <<'C'
#include <stddef.h>
struct node { struct node *next; int value; };
struct node *list;
int answer = 42;
static void set(struct node *at, int value) { at->value = value; }
int main(void) { set(list, answer); return 0; }
C
  ${CC:-cc} -g -O0 -o "$PROGRAM" "$PROGRAM.c" || return 1
  if CORE_BY=$("$repo/corpora/take-core" --out "$BATS_FILE_TMPDIR/core" -- "$PROGRAM" 2>/dev/null); then
    CORE=$BATS_FILE_TMPDIR/core
  fi
}

needs_core() {
  [ -n "$CORE" ] || skip "no core can be taken here"
}

# $CORE_BY is what take-core printed: the way to the core. gdb's cores have less in them, and their notes at the end.
needs_kernel_core() {
  needs_core
  [ "$CORE_BY" = kernel ] || skip "the kernel writes no core here (core_pattern is a pipe), and gdb's has no $1"
}

# Each test runs in a private directory with a private cache.
alone() {
  cd "$BATS_TEST_TMPDIR" || return 1
  export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
}

# cores PACK=FILE...: unpack checked-in cores to ./cores.
cores() {
  local core
  for core; do
    mkdir -p "$(dirname "cores/${core#*=}")"
    cp "$repo/corpora/golden/${core%%=*}.pack" "cores/${core#*=}"
  done
}

# shell_words WORD...: quoted for a shell command line.
shell_words() {
  local word quote="'\\''"
  for word; do printf "'%s' " "${word//"'"/"$quote"}"; done
}

# literal TEXT: quoted as a pattern that matches only TEXT.
literal() {
  local text=${1//\\/\\\\} mark
  for mark in '*' '?' '['; do text=${text//"$mark"/"\\$mark"}; done
  printf '%s' "$text"
}

# shown PATH: as xcore prints it: bytes that are not text become \xNN.
shown() {
  python3 -c 'import os, re, sys
name = sys.argv[1].encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
print(re.sub("[\0-\x1f\x7f-\x9f]", lambda found: "".join("\\x%02x" % byte for byte in found[0].encode()), name), end="")' "$1"
}

# in_json PATH: as a JSON reader sees it: only invalid UTF-8 is escaped so.
in_json() {
  python3 -c 'import sys; print(sys.argv[1].encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"), end="")' "$1"
}

# joined FILE: without the line breaks and indents of wrapped lines.
joined() {
  tr '\n' '\r' <"$1" | sed 's/\r *//g'
}

# expect STATUS PATTERN COMMAND...: compares the exit status, and all of standard error with a glob.
expect() {
  local status=$1 pattern=$2 got=0 err
  shift 2
  err=$("$@" 2>&1 >"$BATS_TEST_TMPDIR/stdout") || got=$?
  # shellcheck disable=SC2053 # a pattern is meant
  if [ "$got" -ne "$status" ] || [[ $err != $pattern ]]; then
    printf 'command: %s\nstatus:  %s, not %s\nstderr:  %s\npattern: %s\n' "$*" "$got" "$status" "$err" "$pattern"
    return 1
  fi
}

# Nothing is written to standard output for bad input.
silent() {
  [ ! -s "$BATS_TEST_TMPDIR/stdout" ]
}

# Has rustc at least this version?
rustc_from() {
  [ "$(printf '%s\n' "$1" "$(rustc --version | cut -d' ' -f2)" | sort -V | head -n 1)" = "$1" ]
}

# hang_verdict PROGRAM LEVEL HOW: the verdict on a program that is killed while it hangs, to the file `said`: class and kind, cause, then the evidence.
hang_verdict() {
  "$repo/corpora/take-core" --kill ABRT --out "core$2-$3" -- "./$1$2" "$3" >/dev/null 2>&1 || skip "no core can be taken here"
  "$XCORE" analyze --format json --no-plugins "core$2-$3" | jq -r '.verdict | "\(.class) (\(.kind)) \(.confidence)", .cause, .evidence[]' >said
}

# verdict_of CORE COMMAND…: takes its core, and writes class and confidence, message and cause of the verdict, and then the
# evidence, into the file `said`. Skips where no core can be taken; a program that ends by itself is a failure.
verdict_of() {
  local core=$1
  shift
  if ! "$repo/corpora/take-core" --out "$core" -- "$@" >took 2>&1; then
    ! grep 'ended with status' took || return 1
    skip "no core can be taken here"
  fi
  "$XCORE" analyze --format json --no-plugins "$core" |
    jq -r '.verdict | "\(.class) \(.confidence)", .message, "\(.class): \(.cause)", .evidence[]' >said
}

# says TEXT…: each is in the file `said`.
says() {
  local text
  for text; do
    grep -qF -- "$text" said || { echo "missing: $text" && cat said && return 1; }
  done
}

# never TEXT: is not.
never() {
  ! grep -F -- "$1" said
}

# has PATTERN…: each matches a line of the file `said`.
has() {
  local pattern
  for pattern; do
    grep -qE -- "$pattern" said || { echo "not said: $pattern" && cat said && return 1; }
  done
}

# lacks PATTERN…: none does.
lacks() {
  local pattern
  for pattern; do
    grep -qE -- "$pattern" said && echo "said: $pattern" && cat said && return 1
  done
  return 0
}
