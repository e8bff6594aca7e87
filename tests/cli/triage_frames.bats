#!/usr/bin/env bats
# triage --frames and --explain: which frames count, and by which rule; the same programs from gcc and clang, shared and
# static.
# shellcheck disable=SC2154 # helper.bash and bats set them
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
}

# die NAME [ARG]...: write the core of ./NAME to NAME.core.
die() {
  "$repo/corpora/take-core" --out "$1.core" -- "./$1" "${@:2}" >/dev/null
}

kept() {
  "$XCORE" triage --format json "$1" | jq -r '.clusters[0].frames[]|select(.fate=="kept").name' | xargs
}

threads() {
  cat >threads.c <<'END'
#include <pthread.h>
#include <string.h>
__attribute__((noinline)) void start_thread(char *to) { strcpy(to, "x"); }
static void *worker(void *to) { start_thread(to); return to; }
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, worker, (void *)8);
	return pthread_join(thread, 0);
}
END
}

# bats test_tags=long
@test "a user's start_thread is the user's, in shared and static programs" {
  threads
  for how in "-o shared" "-static -o static"; do
    # shellcheck disable=SC2086 # words
    gcc -g -O1 $how threads.c
    die "${how##* }"
    [ "$(kept "${how##* }.core")" = "start_thread worker" ]
  done
  gcc -O1 -static -s -o bare threads.c && die bare # no names, so nothing to match
  run -0 "$XCORE" triage bare.core
}

# bats test_tags=long
@test "a lambda has one name in builds of gcc and clang" {
  cat >lambda.cc <<'END'
volatile int sink, *none;
__attribute__((noinline)) int apply(int (*f)(int)) { return f(1) + sink; }
int main() { return apply([](int x) { return *none + x; }) + sink; }
END
  g++ -g -O0 lambda.cc -o by-gcc && clang++ -g -O0 lambda.cc -o by-clang && g++ -O0 lambda.cc -o bare
  for program in by-gcc by-clang bare; do
    die $program
    [ "$(kept $program.core)" = "main::{lambda} apply" ]
  done
}

@test "packages of the program and of each frame's module are in the record, without their files" {
  echo 'int crash(void) { return *(volatile int *)0; }' >lib.c
  echo 'int crash(void); int main(void) { return crash() + 1; }' >till.c
  gcc -shared -fPIC lib.c -o libtill.so -Xlinker --package-metadata='{"type":"deb","name":"libtill1","version":"7-2"}'
  gcc till.c -o till "$PWD/libtill.so" -Xlinker --package-metadata='{"type":"deb","name":"till","version":"1.0-1"}'
  die till
  rm till libtill.so
  "$XCORE" triage --no-host-files --format json till.core >answer
  [ "$(jq -r '.clusters[0]|.members[0].package, .record.package, .record.frames[0].package' answer | xargs)" = \
    "till 1.0-1 till 1.0-1 libtill1 7-2" ]
}

@test "each frame says which line of which file decided" {
  cp "$repo/corpora/golden/null-write.pack" .
  printf '# ours\n[SKIP]\nwrite_field  module=*\n[APP]\nrun\n' >mine.txt
  "$XCORE" triage --no-host-files --explain null-write.pack >before
  grep -q "kept *write_field *(no rule)" before
  grep -Eq "below *_start *\(STOP _start \(frames.txt:[0-9]+\)\)" before
  line=$(sed -n 's/.*STOP _start (frames.txt:\([0-9]*\)).*/\1/p' before | head -n 1)
  [ "$(sed -n "${line}p" "$repo/batch/signature/frames.txt")" = _start ]
  "$XCORE" triage --no-host-files --explain --frames mine.txt null-write.pack >after
  grep -Fq "(SKIP write_field (mine.txt:3))" after
  grep -Eq "kept *run *\(APP run \(mine.txt:5\)\)" after
}

@test "a mistake in a file of rules is told with its line" {
  cp "$repo/corpora/golden/null-write.pack" .
  while IFS='|' read -r text message form; do
    printf '%b' "$text" >bad.txt
    run -4 "$XCORE" triage --no-host-files --frames bad.txt null-write.pack
    [[ $output = *"$message"* && $output = *"${form:+hint: }$form"* ]] || { echo "$output"; return 1; }
  done <<'END'
# xcore frames 99\n|bad.txt:1: a later version of the rules than this xcore supports: 99
[SKIP]\n[SKIPS]\n|bad.txt:2: no such section: SKIPS|a heading is [SKIP], or
[SKIP\n|bad.txt:1: a heading without its ']': [SKIP|a heading is [SKIP], or
[SKIP]\nf language=x\n|bad.txt:2: no such language: x|language=c, c++, go or rust
[SKIP]\nlanguage=go\n|bad.txt:2: conditions without a name: use * for all names|* module=libapp.so*
[SKIP]\nf module=@x11\n|bad.txt:2: no such set of modules: @x11|below [MODULES] a set
[MODULES]\nx a.so\n|bad.txt:2: not a set of modules: x a.so|below [MODULES] a set
f\n|bad.txt:1: a rule before the first heading: f|a line [SKIP], then a line for each function: my_alloc*
END
  # the suggested rules are readable
  printf '%s\n' '[MODULES]' '@mine libapp.so*|libutil.so*' '[SKIP module=libapp.so*]' '[SKIP]' 'my_alloc*' \
    'my_alloc* module=libapp.so*|libutil.so*' 'f module=@mine' 'f language=c|c++' '* module=libapp.so*' >good.txt
  run -0 "$XCORE" triage --no-host-files --frames good.txt null-write.pack
  run -4 "$XCORE" triage --no-host-files --frames none.txt null-write.pack
}

@test "each frame has a language of its own, also without debug information" {
  cat >mixed.cc <<'END2'
extern "C" int _mi_search(volatile int *at) __attribute__((noinline));
extern "C" int _mi_search(volatile int *at) { return *at + 1; }
namespace core {
__attribute__((noinline)) int tick(volatile int *at) { return _mi_search(at) + 1; }
}
/* As rustc mangles core::run. */
extern "C" __attribute__((noinline)) int rust(volatile int *at) __asm__("_ZN4core3run17h0123456789abcdefE");
extern "C" int rust(volatile int *at) { return core::tick(at) + 1; }
int main() { return rust(nullptr) + 1; }
END2
  g++ -O1 -fno-ipa-cp -fno-ipa-sra -fno-ipa-ra -fno-optimize-sibling-calls -o mixed mixed.cc && die mixed
  "$XCORE" triage --format json mixed.core >mixed.json
  run -0 jq -r '.clusters[0].record.frames[:3][]|"\(.function) \(.language)"' mixed.json
  [ "$output" = $'_mi_search null\ncore::tick c++\ncore::run rust' ]
  [ "$(kept mixed.core)" = "_mi_search core::tick" ]
}
