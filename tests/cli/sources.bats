#!/usr/bin/env bats
# Source lines: debug information names the files, so they are read only below folders that the user trusts.
# shellcheck disable=SC2016,SC2086,SC2153,SC2154 # helper.bash sets repo and XCORE; options are words
bats_require_minimum_version 1.5.0

# program NAME FILE: dies in a line of which the debug information says that it is line 3 of FILE.
program() {
  printf '#include <stdlib.h>\n#line 3 "%s"\nint main(void) { *(volatile int *)0 = 1; return 0; }\n' "$2" |
    gcc -g -O0 -w -x c -o "$BATS_FILE_TMPDIR/$1.exe" - || return 1
  "$repo/corpora/take-core" --out "$BATS_FILE_TMPDIR/$1.core" -- "$BATS_FILE_TMPDIR/$1.exe" >/dev/null 2>&1 || touch "$BATS_FILE_TMPDIR/no-core"
}

setup_file() {
  load helper
  local dir=$BATS_FILE_TMPDIR
  umask 022 # a hint leads to files that all may read
  mkdir -p "$dir/tree/src" "$dir/tree/.hidden" "$dir/treetop" "$dir/outside"
  for file in tree/src/a.c tree/.hidden/a.c treetop/a.c outside/a.c; do
    printf 'one\ntwo\nconst char *token = "sk_live_%s"; // password: hunter2\nfour\n' "${file//[\/.]/_}" >"$dir/$file"
  done
  ln -s ../outside "$dir/tree/out"
  ln -s ../outside/a.c "$dir/tree/link.c"
  ln -s .hidden/a.c "$dir/tree/bait.c"
  ln -s src/a.c "$dir/tree/alias.c"
  program inside "$dir/tree/src/a.c"
  program hidden "$dir/tree/.hidden/a.c"
  program sibling "$dir/treetop/a.c"
  program outside "$dir/outside/a.c"
  program dots "$dir/tree/src/../../outside/a.c"
  program linked "$dir/tree/link.c"
  program through "$dir/tree/out/a.c"
  program bait "$dir/tree/bait.c"
  program alias "$dir/tree/alias.c"
  program shadow /etc/shadow
  cd "$dir/tree" && program relative src/a.c # its folder is in the debug information
}

setup() {
  load helper
  [ ! -e "$BATS_FILE_TMPDIR/no-core" ] || skip "no core can be taken here"
  dir=$BATS_FILE_TMPDIR
  export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
  cd "$dir/tree" || return 1
}

# lines NAME OPTION...: the source lines that any command or format shows of the program.
lines() {
  local core=$dir/$1.core
  shift
  "$XCORE" analyze "$core" --no-plugins "$@" &&
    "$XCORE" analyze "$core" --no-plugins --format html "$@" &&
    "$XCORE" disas "$core" "$@"
}

none() {
  run -0 lines "$@"
  [[ $output != *sk_live* && $output != *'root:'* && $output != *password* ]]
}

@test "a link in the working tree leads to no hidden file, but to another source" {
  none bait
  run -0 "$XCORE" analyze "$dir/alias.core"
  [[ $output == *'→     3'*'"sk_live_tree_src_a_c"'* ]]
}

@test "lines come from below the working tree" {
  run -0 "$XCORE" analyze "$dir/inside.core"
  [[ $output == *'→     3'*'"sk_live_tree_src_a_c"'* ]]
  run -0 "$XCORE" disas "$dir/inside.core"
  [[ $output == *'a.c:3  const char *token'* ]]
}

@test "nowhere else, by whatever name" {
  for name in sibling outside dots linked through shadow hidden; do
    none "$name"
  done
  none linked --redact
  none outside --source-root "$dir/tree/src"
  cd /
  none inside
  none shadow
}

# bats test_tags=long
@test "nowhere else with redaction or another root" {
  for name in sibling outside dots linked through shadow hidden; do
    none "$name" --redact
    none "$name" --source-root "$dir/tree/src"
  done
}

@test "the file is named all the same, with how to see it" {
  run -0 "$XCORE" analyze "$dir/outside.core"
  [[ $output == *"/outside/a.c:3"*"source lines: --source-root "*"/outside"* ]]
  [ "$(grep -c 'source lines:' <<<"$output")" -eq 1 ]
  eval "run -0 \"\$XCORE\" analyze \"\$dir/outside.core\" $(sed -n 's/^ *source lines: //p' <<<"$output")"
  [[ $output == *sk_live_outside* && $output != *'source lines:'* ]]
  run -0 "$XCORE" analyze "$dir/shadow.core"
  [[ $output == */etc/shadow:3* && $output != *'--source-root'* ]]
}

@test "--source-root adds folders, also those with links and hidden names" {
  cd /
  run -0 "$XCORE" analyze "$dir/inside.core" --source-root "$dir/outside" --source-root "$dir/tree"
  [[ $output == *sk_live_tree_src* ]]
  run -0 "$XCORE" analyze "$dir/hidden.core" --source-root "$dir/tree"
  [[ $output == *sk_live_tree__hidden* ]]
  run -0 "$XCORE" analyze "$dir/relative.core" --source-root "$dir/tree"
  [[ $output == *sk_live_tree_src* ]]
  ln -sfn "$dir/tree" "$BATS_TEST_TMPDIR/other"
  run -0 "$XCORE" analyze "$dir/inside.core" --source-root "$BATS_TEST_TMPDIR/other"
  [[ $output == *sk_live_tree_src* ]]
  none linked --source-root "$dir/tree"
  run -4 "$XCORE" analyze "$dir/inside.core" --source-root "$dir/none"
}

@test "below the sysroot the paths of the target count" {
  cd /
  mkdir -p "$BATS_TEST_TMPDIR/root$dir/outside"
  echo "int a;
b;
sysroot_line;" >"$BATS_TEST_TMPDIR/root$dir/outside/a.c"
  run -0 "$XCORE" analyze "$dir/outside.core" --exe "$dir/outside.exe" --sysroot "$BATS_TEST_TMPDIR/root"
  [[ $output == *sysroot_line* ]]
  none shadow --exe "$dir/shadow.exe" --sysroot "$BATS_TEST_TMPDIR/root"
}

@test "a pack that root opens gets no lines without --source-root" {
  "$XCORE" pack "$dir/inside.core" -o "$BATS_TEST_TMPDIR/pack"
  run -0 "$XCORE" analyze "$BATS_TEST_TMPDIR/pack"
  if [ "$(id -u)" -eq 0 ]; then [[ $output != *sk_live* ]]; else [[ $output == *sk_live* ]]; fi
  run -0 "$XCORE" analyze "$BATS_TEST_TMPDIR/pack" --source-root .
  [[ $output == *sk_live* ]]
}

@test "redaction hides what literals and comments say" {
  run -0 "$XCORE" analyze "$dir/inside.core" --redact
  [[ $output == *'→     3  const char *token = "(redacted)"; // password: (redacted)'* ]]
  run -0 "$XCORE" disas "$dir/inside.core" --redact
  [[ $output == *'a.c:3  const char *token = "(redacted)"'* ]]
  run -0 lines inside --redact
  [[ $output != *sk_live* && $output != *hunter2* ]]
}
