#!/usr/bin/env bats
# shellcheck disable=SC2016 # the backquotes are what is printed
# A program that waits for an answer to what is still in its stream.
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  cat >asks.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
struct helper { FILE *requests; int replies; };
__attribute__((noinline)) static int answer(struct helper *h) { char line[64]; return (int)read(h->replies, line, sizeof line); }
int main(int argc, char **argv)
{
  int to[2], from[2];
  if (pipe(to) || pipe(from)) return 1;
  if (fork() == 0) {
    char bytes[64];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(to[1]); close(from[0]);
    while (read(to[0], bytes, sizeof bytes) > 0) pause();
    _exit(0);
  }
  close(to[0]); close(from[1]);
  struct helper h = {fdopen(to[1], "w"), from[0]};
  fputs("16 quinn\n17 rosa\n", h.requests);
  if (argc > 1 && !strcmp(argv[1], "flushed")) fflush(h.requests);
  puts("ready"); fflush(stdout);
  return answer(&h);
}
C
  for level in 0 2; do
    "${CC:-cc}" -g -O$level -w -o "asks$level" asks.c
  done
}

setup() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
}

@test "what was written to a stream and not flushed is told to who waits for an answer" {
  for level in 0 2; do
    hang_verdict asks "$level" late
    [ "$level" -ne 0 ] || says 'the stream `h->requests` (descriptor '
    says 'still holds 17 bytes that were written to it and not flushed' '"16 quinn\n17 rosa\n"'
    "$XCORE" analyze --redact --no-plugins "core$level-late" >redacted
    grep -q 'still holds 17 bytes' <(tr -s ' \n' ' ' <redacted)
    run ! grep -q quinn redacted
  done
}

@test "a stream that is empty is not" {
  for level in 0 2; do
    hang_verdict asks "$level" flushed
    says 'waits for another process'
    never 'not flushed'
  done
}
