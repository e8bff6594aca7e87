#!/usr/bin/env bats
# Locks in analyze and threads. The program is corpora/deaths/lock.c; its source defines who holds which lock.

setup_file() {
  load helper
  export PROGRAM=$BATS_FILE_TMPDIR/program CORE=$BATS_FILE_TMPDIR/core WATCHED=$BATS_FILE_TMPDIR/watched
  [ "$(uname -m)" = x86_64 ] || CORE=''
  gcc -g -O0 -pthread -fno-optimize-sibling-calls -o "$PROGRAM" "$repo/corpora/deaths/lock.c"
  "$repo/corpora/take-core" --kill ABRT --out "$CORE" -- "$PROGRAM" two >/dev/null 2>&1 || CORE=''
  "$repo/corpora/take-core" --out "$WATCHED" -- "$PROGRAM" watched >/dev/null 2>&1 || CORE=''
}

setup() {
  load helper
  needs_core
}

@test "a core of threads that wait for each other is a deadlock, with who holds what" {
  "$XCORE" analyze "$CORE" --no-plugins --format json >"$BATS_TEST_TMPDIR/json"
  jq -e '.verdict | .class == "deadlock" and .kind == "cycle" and .confidence == "certain" and .function == "transfer"' \
    "$BATS_TEST_TMPDIR/json"
  jq -e '.sections[] | select(.key == "locks") | .tables.deadlocks | length == 2 and
    ([.[] | .holds + " " + .waits] | sort == ["first.lock second.lock", "second.lock first.lock"])' "$BATS_TEST_TMPDIR/json"
  jq -e '.sections[] | select(.key == "locks") | .tables.locks | length == 2 and all(.kind == "mutex" and .waiting == 1)' \
    "$BATS_TEST_TMPDIR/json"
  "$XCORE" analyze "$CORE" --no-plugins | grep -qE '^ +1 +[0-9]+ +first\.lock +second\.lock +transfer \(lock\.c:[0-9]+\) ← transfer_forth'
}

@test "the threads of a deadlock come first among the other threads" {
  "$XCORE" analyze "$CORE" --no-plugins --format json >"$BATS_TEST_TMPDIR/json"
  jq -e '([.sections[] | select(.key == "locks") | .tables.deadlocks[].tid]) as $waiting |
    [.sections[] | select(.key == "threads") | .. | .tid? | numbers][0] as $first | $first | IN($waiting[])' "$BATS_TEST_TMPDIR/json"
}

@test "threads says what each waits for, and redaction leaves the names of locks" {
  for option in --no-redact --redact; do
    "$XCORE" threads "$CORE" $option >"$BATS_TEST_TMPDIR/text"
    grep -qE 'main +die_two.* waiting for thread [0-9]+ to end' "$BATS_TEST_TMPDIR/text"
    # shellcheck disable=SC2016 # the backquotes are the report's
    grep -qE 'transfer_back +transfer \(lock\.c:[0-9]+\) +waiting for mutex `first\.lock`, held by' "$BATS_TEST_TMPDIR/text"
  done
}

@test "an abort beside a deadlock: the deadlock is likely, and who aborted is told" {
  "$XCORE" analyze "$WATCHED" --no-plugins --format json >"$BATS_TEST_TMPDIR/json"
  jq -e '.verdict | .class == "deadlock" and .confidence == "likely"' "$BATS_TEST_TMPDIR/json"
  jq -e '.verdict.evidence | any(startswith("the abort came from watch, lock.c:"))' "$BATS_TEST_TMPDIR/json"
}

# bats test_tags=long
@test "every thread waits for a condition or a future: the hang is told, who waits where, and what is queued" {
  program=$BATS_TEST_TMPDIR/hang
  cat >"$program.cc" <<'EOF'
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>
struct Work { std::mutex m; std::condition_variable cv; std::deque<int> q; bool ready = false; };
__attribute__((noinline)) void consume(Work *w) { std::unique_lock<std::mutex> l(w->m); while (!w->ready) w->cv.wait(l); }
__attribute__((noinline)) void watchdog() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); abort(); }
__attribute__((noinline)) void check() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); abort(); }
int main(int argc, char **) { Work w; w.q = {1, 2, 3}; std::vector<std::thread> ts;
  for (int i = 0; i < 3; i++) ts.emplace_back(consume, &w);
  ts.emplace_back(argc > 1 ? check : watchdog); for (auto &t : ts) t.join(); }
EOF
  g++ -g -O0 -pthread -o "$program" "$program.cc"
  "$repo/corpora/take-core" --out "$program.core" -- "$program" >/dev/null 2>&1 || skip "no core"
  "$XCORE" analyze "$program.core" --no-plugins --format json >"$program.json"
  jq -e '.verdict | .class == "deadlock" and .kind == "all wait" and .confidence == "likely" and .function == "consume"' "$program.json"
  jq -e '.verdict.evidence | any(. == "`q` of Work still holds 3 elements") and any(. == "the abort came from watchdog")' "$program.json"
  # an abort of another thread is what it was: the others wait because it has not finished
  "$repo/corpora/take-core" --out "$program.core2" -- "$program" check >/dev/null 2>&1
  "$XCORE" analyze "$program.core2" --no-plugins --format json | jq -e '.verdict | .class == "abort" and .function == "check"'
}

# bats test_tags=long
@test "threads that wait for different things by one condition: perhaps a lost wake-up" {
  program=$BATS_TEST_TMPDIR/lost
  g++ -g -O0 -pthread -o "$program" "$repo/corpora/deaths/mutex.cc"
  "$repo/corpora/take-core" --kill QUIT --out "$program.core" -- "$program" lost >/dev/null 2>&1 || skip "no core"
  "$XCORE" analyze "$program.core" --no-plugins --format json >"$program.json"
  jq -e '.verdict | .class == "deadlock" and .kind == "all wait" and .confidence == "likely"' "$program.json"
  # shellcheck disable=SC2016 # the backquotes are the report's
  jq -e '.verdict.evidence | any(startswith("4 threads wait for one condition, `store.bell`:") and
    contains("2 in fill_room") and contains("2 in empty_room") and contains("perhaps a lost wake-up"))' "$program.json"
  # who waits in one function only may have nothing to do
  "$repo/corpora/take-core" --kill QUIT --out "$program.core2" -- "$program" bell >/dev/null 2>&1
  "$XCORE" analyze "$program.core2" --no-plugins --format json | jq -e '.verdict.evidence | any(contains("lost wake-up")) | not'
}

@test "locks that a pointer in the waiters' own object leads to have names" {
  program=$BATS_TEST_TMPDIR/bank
  cat >"$program.c" <<'EOF'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct account { pthread_mutex_t lock; long balance; };
struct bank { long id; struct account accounts[2]; pthread_barrier_t start; };
struct job { struct bank *bank; int from, to; };
__attribute__((noinline)) static int transfer(struct job *j)
{
  struct account *from = &j->bank->accounts[j->from], *to = &j->bank->accounts[j->to];
  pthread_mutex_lock(&from->lock);
  pthread_barrier_wait(&j->bank->start);
  pthread_mutex_lock(&to->lock);
  to->balance += from->balance;
  return pthread_mutex_unlock(&to->lock) + pthread_mutex_unlock(&from->lock) + j->from;
}
static void *work(void *j) { return (void *)(long)transfer(j); }
int main(void)
{
  struct bank *b = calloc(1, sizeof *b);
  struct job jobs[2] = {{b, 0, 1}, {b, 1, 0}};
  pthread_t threads[2];
  pthread_barrier_init(&b->start, NULL, 2);
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, &jobs[i]);
  usleep(200000);
  if (write(1, "ready\n", 6) < 0) return 1;
  return pthread_join(threads[0], NULL);
}
EOF
  gcc -g -O2 -pthread -o "$program" "$program.c"
  "$repo/corpora/take-core" --kill QUIT --out "$program.core" -- "$program" >/dev/null 2>&1 || skip "no core"
  "$XCORE" analyze "$program.core" --no-plugins --format json | jq -e '[.sections[] | select(.key == "locks") |
    .tables.locks[].lock] | sort == ["j->bank->accounts[0].lock", "j->bank->accounts[1].lock"]'
}
