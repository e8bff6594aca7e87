#!/usr/bin/env bats
# Redaction: the data omitted from every command's answer, and the data kept.
# shellcheck disable=SC2016,SC2088,SC2153,SC2154 # helper.bash sets repo and XCORE; the tilde is the report's, words of the C program its own
bats_require_minimum_version 1.5.0

# A program in its user's home directory, with a secret in its environment, its name, its heap and a file name.
setup_file() {
  load helper
  export SECRET=open-s3same PLACE=$BATS_FILE_TMPDIR/people/joe CORE='' CORE_BY
  mkdir -p "$PLACE"
  cat >"$PLACE/keeper.c" <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
struct account { char *password; long balance; };
struct account *account;
static void spend(long *from) { *from = 1; }
int main(void) {
  char typed[32], path[4096];
  strcpy(typed, getenv("API_TOKEN"));
  pthread_setname_np(pthread_self(), typed);
  snprintf(path, sizeof path, "%s/cookie=k3yhole", getenv("HOME"));
  int file = open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, 4096) || mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0) == MAP_FAILED) return 2;
  account = calloc(1, sizeof *account);
  account->password = strdup(typed);
  spend(NULL);
  return typed[0];
}
C
  ${CC:-cc} -g -O0 -w -D_GNU_SOURCE -o "$PLACE/keeper" "$PLACE/keeper.c" -lpthread || return 1
  if CORE_BY=$(HOME=$PLACE API_TOKEN=$SECRET "$repo/corpora/take-core" --out "$PLACE/core" -- "$PLACE/keeper" 2>/dev/null); then
    CORE=$PLACE/core
  fi
}

setup() {
  load helper
  needs_core
}

# Everything that the commands print about the target, with an option. Those that walk the whole heap say the least.
WALKS=("heap check" "heap dups" "heap leaks" "heap top" "heap types")
all_said() {
  said_by_commands "${WALKS[@]}" -- "$@"
}

# said_by_commands WORDS… -- OPTION…: of these commands, and of all that walk no heap
said_by_commands() {
  local words commands=(analyze "bt --full" info threads modules maps regs)
  while [ "$1" != -- ]; do commands+=("$1"); shift; done
  shift
  for words in "${commands[@]}"; do
    # shellcheck disable=SC2086 # options are words
    "$XCORE" $words "$CORE" --no-plugins "$@"
  done
  "$XCORE" print "$CORE" 'account->password' '*account' "$@"
  "$XCORE" mem "$CORE" 'account->password' 16 "$@"
  "$XCORE" heap show "$CORE" 'account->password' "$@"
  "$XCORE" heap whatis "$CORE" 'account->password' "$@"
}

@test "neither the secret nor whose home it is leaves where redaction is on, in every format" {
  needs_kernel_core "mappings of data files"
  for format in text json; do
    said_by_commands -- --format $format --no-redact >"$BATS_TEST_TMPDIR/said"
    joined "$BATS_TEST_TMPDIR/said" >"$BATS_TEST_TMPDIR/open"
    all_said --format $format --redact >"$BATS_TEST_TMPDIR/said"
    joined "$BATS_TEST_TMPDIR/said" >"$BATS_TEST_TMPDIR/closed"
    grep -q "$SECRET" "$BATS_TEST_TMPDIR/open"
    grep -q people/joe/cookie=k3yhole "$BATS_TEST_TMPDIR/open"
    run ! grep -e "$SECRET" -e people/joe -e k3yhole -e 6f70656e2d -e '6f 70 65 6e' "$BATS_TEST_TMPDIR/closed"
    grep -q '~/keeper' "$BATS_TEST_TMPDIR/closed"
    grep -q '~/cookie=(redacted)' "$BATS_TEST_TMPDIR/closed"
    grep -q '(redacted)' "$BATS_TEST_TMPDIR/closed"
  done
  run -0 "$XCORE" analyze "$CORE" --format html --redact
  [[ "$output" != *"$SECRET"* && "$output" != *people/joe* && "$output" == *"(redacted)"* ]]
}

@test "the verdict is the same where redaction is on" {
  for option in --redact --no-redact; do
    "$XCORE" analyze "$CORE" --format json --no-plugins $option |
      jq '.verdict | .class, .kind, .severity, .confidence, .function, .line, .expression' >"$BATS_TEST_TMPDIR/verdict$option"
  done
  grep -q null-write "$BATS_TEST_TMPDIR/verdict--redact"
  cmp "$BATS_TEST_TMPDIR/verdict--redact" "$BATS_TEST_TMPDIR/verdict--no-redact"
}

@test "flame graphs have no values; what a script's section says goes through the same rules" {
  needs_kernel_core "name of the main thread"
  for kind in stacks heap; do
    "$XCORE" flame $kind "$CORE" --as folded --redact >>"$BATS_TEST_TMPDIR/flames"
  done
  run ! grep -e "$SECRET" -e people/joe "$BATS_TEST_TMPDIR/flames"
  for option in --redact --no-redact; do
    "$XCORE" run -e 'local xcore = require "xcore"
      local s, name = xcore.report:section("who"), xcore.target:threads()[1].name
      s:text("name", name); s:warning("it is " .. name, "ask with token=abc"); print "done"' \
      "$CORE" --format json $option >"$BATS_TEST_TMPDIR/answer$option"
  done
  grep -q "$SECRET" "$BATS_TEST_TMPDIR/answer--no-redact"
  jq -e '.output == ["done"] and .sections[0].fields.name == "(redacted)"' "$BATS_TEST_TMPDIR/answer--redact"
  run ! grep -e "$SECRET" -e abc "$BATS_TEST_TMPDIR/answer--redact"
}

@test "pack redacts what it says, and holds what the core does" {
  run -0 "$XCORE" pack "$CORE" -o "$BATS_TEST_TMPDIR/pack"
  [[ "$output" != *people/joe* ]]
  "$XCORE" print "$BATS_TEST_TMPDIR/pack" 'account->password' --no-redact | grep -q "$SECRET"
}

# Constants of the program are values: the command line of analyze hides them, so does a listing.
@test "a listing shows no string of the program where redaction is on" {
  cd "$BATS_TEST_TMPDIR"
  cat >key.c <<'C'
#include <stdio.h>
int main(void) {
  puts("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7");
  puts("MIIEpQIBAAKCAQEA8");
  puts("sk_live_4eC39HqLyjWDarjtT1zdp7dc");
  return *(volatile int *)0;
}
C
  gcc -g -O0 -o key key.c
  "$repo/corpora/take-core" --out core.key -- ./key >/dev/null
  run -0 "$XCORE" disas core.key main --all --no-redact
  [[ $output == *'"-----BEGIN'* && $output == *'"MIIEpQ'* && $output == *'puts("sk_live'* ]]
  for option in --redact '--redact --no-source' '--redact --format json' '--redact --source-root .'; do
    # shellcheck disable=SC2086 # options are words
    run -0 "$XCORE" disas core.key main --all $option
    [[ $output != *BEGIN* && $output != *MIIE* && $output != *sk_live* ]]
  done
}
