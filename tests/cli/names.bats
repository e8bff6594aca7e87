#!/usr/bin/env bats
# Every name that a target controls holds control characters, a command of a CI system and a secret. No command prints
# them raw, to standard output or standard error; with --redact none prints the secret.
# shellcheck disable=SC2016,SC2086,SC2153,SC2154 # helper.bash sets repo and XCORE; options are words
bats_require_minimum_version 1.5.0

# Names of 41 letters in the program become 41 hostile bytes in the file: in debug information, symbols and sections.
setup_file() {
  load helper
  export SECRET=AKIAIOSFODNN7EXAMPLE WORD=open-s3same PLACE=$BATS_FILE_TMPDIR CORE=''
  export HOSTILE=$'\e[3m\n::error::\xc2\x9b '$SECRET
  local dir="$PLACE/d$HOSTILE"
  mkdir "$dir"
  cat >"$PLACE/p.c" <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#define N(kind) QQ_##kind##_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
enum N(e) { N(n) = 3 };
union N(u) { long a; double b; };
typedef long N(t);
struct N(s) { struct N(s) *N(m); N(t) N(l); enum N(e) N(o); union N(u) N(w); char *N(x); };
struct N(s) *N(v);
static struct N(s) one;
const char N(c)[] __attribute__((section("QQ_i_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), used)) = "x";
pthread_mutex_t N(k) = PTHREAD_MUTEX_INITIALIZER;
extern void in_library(void (*)(void *), void *);
static void *N(r)(void *name) { prctl(PR_SET_NAME, name); pthread_mutex_lock(&N(k)); for (;;) pause(); }
#line 7 "QQ_f_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
static void N(b)(void *N(a)) { volatile long N(z) = 5; one.N(x) = (char *)N(a); *(volatile long *)N(v)->N(m)->N(x) = N(z); }
int main(int argc, char **argv) {
  pthread_t thread;
  N(v) = calloc(3, sizeof *N(v));
  N(v)->N(m) = calloc(1, sizeof *N(v));
  memcpy(&N(v)->N(m)->N(x), "o-s3sam", 8);
  N(v)->N(m)->N(m) = N(v);
  pthread_mutex_lock(&N(k));
  pthread_create(&thread, NULL, N(r), "\033[3m\n::error::");
  pthread_create(&thread, NULL, N(r), (char *)getenv("API_TOKEN"));
  prctl(PR_SET_NAME, argv[1]);
  usleep(100000);
  in_library(N(b), argv[argc - 1]);
  return 0;
}
C
  echo 'void in_library(void (*act)(void *), void *with) { act(with); }' >"$PLACE/l.c"
  gcc -g -w -shared -fPIC -o "$dir/lib$HOSTILE.so" "$PLACE/l.c" || return 1
  gcc -g -w -O0 -rdynamic -o "$PLACE/plain" "$PLACE/p.c" "$dir/lib$HOSTILE.so" -lpthread || return 1
  python3 - "$PLACE/plain" "$dir/exe$HOSTILE" <<'P' || return 1
import os, re, sys
bytes_ = open(sys.argv[1], "rb").read()
hostile = os.environb[b"HOSTILE"]
named, count = re.subn(rb"QQ_(.)_a{36}", lambda found: (hostile + b"-" + found[1]).ljust(41, b"-"), bytes_)
assert count > 20 and len(named) == len(bytes_), count
open(sys.argv[2], "wb").write(named)
P
  chmod +x "$dir/exe$HOSTILE"
  if HOSTILE_VARIABLE=$HOSTILE API_TOKEN=$WORD HOME=$PLACE "$repo/corpora/take-core" --out "$PLACE/core$HOSTILE" -- "$dir/exe$HOSTILE" "$HOSTILE" "token=$SECRET" \
    >/dev/null 2>"$PLACE/log"; then
    CORE=$PLACE/core$HOSTILE
  fi
  printf 'local xcore = require "xcore"\nfor _, t in ipairs(xcore.target:threads()) do print(t.name) end\nprint(xcore.target:modules()[1].path)\nerror(xcore.target:threads()[1].name .. xcore.target:modules()[1].path)\n' >"$PLACE/s$HOSTILE.lua"
  printf 'print({}, print)\nprint((" "):rep(3) .. "::error::x")\nlocal t = xcore.target:var "one" print(t.nothing)\n' >"$PLACE/t$HOSTILE.lua"
}

setup() {
  load helper
  alone
  export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache # name indexes of the C library are made once
  needs_core
}

# The arguments of each command, one call a line; TARGET is the core. A command that is new must be added. With $whole,
# also the combinations that walk the heap or read all cores once more.
calls() {
  local c=$CORE
  case $1 in
  analyze) call "$c" --stats; [ -z "$whole" ] || { call "$c"; call "$c" --no-group --limit 3; } ;;
  bt) call "$c" --thread all --full; call "$c" --thread 99 ;;
  threads | maps | modules | info) call "$c" ;;
  regs) call "$c" --thread all --heap ;;
  print) call "$c" one; call "$c" '&one' one --type --heap; call "$c" '*one.nothing'; call "$c" "::error::$SECRET"
    call "$c" "one.\"$HOSTILE\""; call "$c" /x one; call "$c" '*(long *)&one+*one' ;;
  ptype) call "$c" one; call "$c" one --expand 3; call "$c" --all; call "$c" --all --module "lib$HOSTILE.so"; call "$c" "$HOSTILE" ;;
  disas) call "$c"; call "$c" main --all; call "$c" "$HOSTILE" ;;
  sym) call "$c" main; call "$c" one; call "$c" "$HOSTILE"; call "$c" '$rip' ;;
  mem) call "$c" one 64; call "$c" 0x1 8; call "$c" "$HOSTILE" 8 ;;
  heap)
    for what in summary top types leaks check objects dups; do call $what "$c"; done
    for what in whatis refs path show; do call $what "$c" 'one'; [ -z "$whole" ] || { call $what "$c" "$HOSTILE"; call $what "$c" '(long)one'; }; done
    [ -n "$whole" ] || { call whatis "$c" "$HOSTILE"; call show "$c" '(long)one'; }
    call objects "$c" --format jsonl; call objects "$c" --type "$HOSTILE" ;;
  diff) call "$c" "$c"; call "$c" "$c$HOSTILE" ;;
  flame)
    if [ -n "$whole" ]; then
      for what in stacks heap retained leaks; do call $what "$c"; for as in svg html speedscope; do call $what "$c" --as $as; done; done
    else
      call stacks "$c"; call stacks "$c" --as svg; call heap "$c" --as html; call retained "$c" --as speedscope; call leaks "$c"
    fi ;;
  run) call "$PLACE/s$HOSTILE.lua" "$c"; call "$PLACE/t$HOSTILE.lua" "$c"; call -e "error('$HOSTILE')" "$c"; call "$HOSTILE" "$c" ;;
  shell) call "$c" ;;
  plugin) call list; call doc "$HOSTILE"; call test "$HOSTILE" ;;
  pack) call "$c" -o "$BATS_TEST_TMPDIR/pack$HOSTILE" ;;
  unpack) call "$BATS_TEST_TMPDIR/pack$HOSTILE" "$BATS_TEST_TMPDIR/un$HOSTILE" ;;
  symbols) call index "$PLACE" --store "$BATS_TEST_TMPDIR/st$HOSTILE"; call list --store "$BATS_TEST_TMPDIR/st$HOSTILE"; call find "$HOSTILE" ;;
  triage) call "$PLACE" --explain; call "$PLACE/$HOSTILE"; call "$c" --exe "$c"; call "$c" --policy "$PLACE/s$HOSTILE.lua"
    [ -z "$whole" ] || { call "$PLACE"; call "$PLACE" --format json; call "$PLACE" --keep; call "$PLACE" --prune --dry-run; }
    call "$PLACE" --keep --baseline "$BATS_TEST_TMPDIR/b$HOSTILE" --update-baseline ;;
  doctor) call; call "$HOSTILE" ;;
  profile | top) call "$c"; call "$HOSTILE"; call pid:0 ;;
  help) call "$HOSTILE" ;;
  *) return 1 ;;
  esac
}

commands() {
  "$XCORE" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]\+\) .*/\1/p'
}

call() {
  local at=$BATS_TEST_TMPDIR/said.$((++said))
  "$XCORE" "$command" "$@" $option $form </dev/null >"$at.out" 2>"$at.err" || true
  printf '%s\0' "$option" "$command" "$@" $option $form >"$at.words"
}

# Judge what the calls printed, to either stream.
judge() {
  python3 - "$BATS_TEST_TMPDIR" "$said" <<'P'
import os, re, sys
secret, word, failed = os.environ["SECRET"], os.environ["WORD"], 0
for path in ("%s/said.%d" % (sys.argv[1], 1 + i) for i in range(int(sys.argv[2]))):
    option, *words = open(path + ".words", encoding="utf-8", errors="surrogateescape").read().split("\0")[:-1]
    for stream in "out", "err":
        bad, text = [], open(path + "." + stream, "rb").read().decode("utf-8", "surrogateescape")
        if re.search("[\udc80-\udcff]", text):
            bad.append("bytes that are no UTF-8")
        if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text):
            bad.append("a control character")
        if re.search(r"^\s*::|##\[|##vso\[", text, re.M):
            bad.append("a command of a CI system")
        if stream == "out" and words[0] != "run" and re.search(r"^ {,8}(\\x3a(:|\\x3a)error|:error|error::)", text, re.M):
            bad.append("a line that begins inside a name")
        if option == "--redact" and secret in text:
            bad.append("the secret")
        if option == "--redact" and (word in text or "s3sam" in text):
            bad.append("the secret of the environment")
        if re.search(r"(table|function|userdata|thread): 0x", text):
            bad.append("an address of xcore")
        if stream == "err" and re.search("fault of xcore|AddressSanitizer", text):
            bad.append("a fault of xcore")
        for one in bad:
            print(stream, one, *map(ascii, words))
            lines = [line for line in text.split("\n") if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]|^\\s*(\\\\x3a)?:|##\\[|" + secret + "|s3sam", line)]
            print("\n".join(ascii(line[:300]) for line in lines[:5]))
        failed |= bool(bad)
sys.exit(failed)
P
}

# every OPTION [whole]: all commands, in text.
every() {
  local option=$1 whole=${2-} form='' command said=0
  [ "$(commands | wc -l)" -ge 24 ]
  for command in $(commands); do
    calls "$command"
  done
  judge
}

@test "the names are hostile" {
  [[ $("$XCORE" threads "$CORE" --format json --no-redact | jq -r '[.. | .name? // empty] | join(" ")') == *$'\e'* ]]
  run -0 "$XCORE" ptype "$CORE" one --format json --no-redact
  [[ $output == *"$SECRET"* && $output == *'\u001B'* ]]
  [[ $("$XCORE" bt "$CORE" --format json --no-redact) == *"$SECRET"* ]]
  [[ $("$XCORE" heap objects "$CORE" --format jsonl --no-redact) == *"$SECRET"* ]]
}

@test "no command prints a control character or a command of a CI system" {
  every --no-redact
}

@test "no command prints the secret where redaction is on" {
  every --redact
}

# bats test_tags=long
@test "no command does either, in every combination" {
  every --no-redact whole
  every --redact whole
}

# bats test_tags=long
@test "in JSON and HTML neither" {
  local option=--redact whole=whole form command said=0
  for form in '--format json' '--format html'; do
    for command in analyze bt threads maps modules info regs print ptype disas sym mem heap diff; do
      calls "$command"
    done
  done
  judge
}

@test "CI=true is redaction, on standard error, too" {
  export CI=true
  run "$XCORE" print "$CORE" "*(long *)one.\"\"" "$SECRET"
  [[ $output != *"$SECRET"* && $output != *'::error'* ]]
  run "$XCORE" analyze "$CORE.not"
  [[ $output != *"$SECRET"* && $output != *$'\e'* ]]
}
