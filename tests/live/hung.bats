#!/usr/bin/env bats
# A hung process gets the same verdict as its core: the programs of corpora/deaths, with known truth.
#	XCORE=build/release/xcore bats tests/live/hung.bats

load live
load hung

# told COMPILER LEVEL PROGRAM DEATH KIND CONFIDENCE FUNCTION...: run it, expect that deadlock, kill it
told() {
	hang "${@:1:4}"
	expect deadlock "${@:5}"
	finish
}

@test "two threads that want each other's lock" {
	hang gcc -O2 lock.c two
	expect deadlock cycle certain transfer
	[[ "$(verdict cause)" == *"holds mutex \`first.lock\` and waits for mutex \`second.lock\` in transfer (lock.c:"* ]]
}

@test "a thread that wants a lock that it has" {
	told gcc -O0 lock.c self self certain save_again
}

# bats test_tags=long
@test "checked, adaptive and recursive mutexes" {
	told clang -O2 owner.c checked cycle certain book pay
	told gcc -O2 owner.c recursive cycle certain book pay
}

# bats test_tags=long
@test "mutexes that inherit priorities, of which the kernel refuses the last wait" {
	told gcc -O2 owner.c inherited cycle certain book pay
}

# bats test_tags=long
@test "a lock that was got from a dead owner" {
	hang gcc -O2 owner.c dead
	expect deadlock cycle certain book pay
	verdict evidence | grep -q 'a former owner ended while holding it'
}

# bats test_tags=long
@test "a handler of the abort that the heap's damage led to: the message is said" {
	hang gcc -O0 library.c aborted
	expect deadlock self likely on_fatal
	[ "$(verdict message)" = "malloc(): corrupted top size" ]
	verdict evidence | grep -q 'had called abort()'
	PROGRAM=$STARTED
	take_core
	verdict evidence | grep -q 'repeated over .* begins in that block, which has 40 bytes: at least 24 too many'
	finish
}

@test "source lines below the working directory" {
	hang gcc -O0 lock.c two
	cd "$DEATHS"
	run "$XCORE" analyze --no-plugins "$TARGET"
	[[ "$output" == *"→"*"dies: two"* ]]
	finish
}

# bats test_tags=long
@test "what is done once and waits for itself, or for each other" {
	told gcc -O2 library.c once-self self likely make_tables_again
	told clang -O2 library.c once-cross cycle likely make_tables make_units
}

@test "the loader's lock, and a thread that is waited for" {
	told gcc -O2 library.c loader cycle certain visit load
}

# bats test_tags=long
@test "threads that wait for each other to end" {
	told gcc -O2 library.c ends cycle certain wait_for_next
}

# bats test_tags=long
@test "locks of C++" {
	told g++ -O2 mutex.cc two cycle certain stock_shelf empty_shelf
}

# In optimised code the guard is in a register, which is unknown for a running thread.
# bats test_tags=long
@test "locks of Rust, which have no record of their owner" {
	command -v rustc >/dev/null || skip "there is no rustc here"
	rustc --edition 2018 -g -C panic=abort -o "$BATS_TEST_TMPDIR/program" "$DEATHS/hang.rs"
	watch "$BATS_TEST_TMPDIR/program" two
	expect deadlock cycle likely hang::transfer
}

@test "a lock whose holder waits for something else, and threads that wait for it" {
	hang gcc -O2 owner.c pipe
	expect hang "lock held" guess journalist
	[[ "$(verdict cause)" == *"which thread "*" holds: write to descriptor "* ]]
	run "$XCORE" threads --no-redact "$TARGET"
	[[ "$output" == *"held by thread"* && "$output" == *"write to descriptor"*"pipe:["* ]]
	finish
	hang gcc -O2 library.c stream
	expect hang "lock held" guess reporter
	run "$XCORE" threads --no-redact "$TARGET"
	[[ "$output" == *"stdio stream of descriptor"* ]]
	finish
	hang gcc -O0 lock.c convoy
	expect hang "lock held" guess die_convoy
}

# talk HOW: a program with a child, which never reads and never writes: it writes to it, waits for it, or is idle
talk() {
	cat >"$BATS_TEST_TMPDIR/talk.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
struct helper { pid_t pid; int to_fd, from_fd; };
static char bytes[1 << 20];
__attribute__((noinline)) int feed(int fd) { return write(fd, bytes, sizeof bytes) != 0; }
__attribute__((noinline)) int join(struct helper *h) { return waitpid(h->pid, 0, 0) != 0; }
__attribute__((noinline)) int rest(struct helper *h) { return h->pid && read(0, bytes, sizeof bytes) != 0; }
int main(int argc, char **argv) {
	struct helper h;
	int a[2], b[2];
	if (pipe(a) || pipe(b)) return 1;
	h.pid = fork();
	if (!h.pid) { prctl(PR_SET_PDEATHSIG, SIGKILL); for (;;) pause(); }
	h.to_fd = a[1], h.from_fd = b[0];
	puts("ready"); fflush(stdout);
	return !strcmp(argv[argc - 1], "write") ? feed(h.to_fd) : !strcmp(argv[argc - 1], "wait") ? join(&h) : rest(&h);
}
END
	gcc -g -O0 -o "$BATS_TEST_TMPDIR/talk" "$BATS_TEST_TMPDIR/talk.c"
	mkfifo "$BATS_TEST_TMPDIR/input.$1"
	# shellcheck disable=SC2016
	watch sh -c 'exec "$0" "$1" <>"$2"' "$BATS_TEST_TMPDIR/talk" "$1" "$BATS_TEST_TMPDIR/input.$1"
	PROGRAM=$STARTED
}

# bats test_tags=long
@test "the only thread waits for a child: alive, and in a snapshot; a program that waits for its input is well" {
	talk write
	expect hang "other process" guess feed
	take_core
	expect hang "other process" guess feed
	[[ "$(verdict cause)" == *" bytes left, \`h.to_fd\`, in feed"* ]]
	[[ "$(verdict evidence)" == *"no thread reads \`h.from_fd\`"* ]]
	finish
	talk wait
	expect hang "other process" guess join
	[[ "$(verdict cause)" == *"child process "*"pid\`"* ]]
	finish
	talk rest
	[ "$(verdict class)" = None ]
}

# bats test_tags=long
@test "the child that is waited for: stopped, or at a pipe that its parent holds" {
	cat >"$BATS_TEST_TMPDIR/child.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
static char much[1 << 20];
__attribute__((noinline)) int join(pid_t pid) { return waitpid(pid, 0, 0) != pid; }
int main(int argc, char **argv) {
	int ends[2];
	const char *how = argv[argc - 1];
	if (pipe(ends)) return 1;
	pid_t pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!strcmp(how, "stopped")) raise(SIGSTOP);
		if (!strcmp(how, "writes")) close(ends[0]);
		if (!strcmp(how, "reads")) close(ends[1]);
		return !strcmp(how, "writes") ? write(ends[1], much, sizeof much) < 0 : read(ends[0], much, 1) < 0;
	}
	if (!strcmp(how, "itself")) close(ends[1]);
	puts("ready"); fflush(stdout);
	return join(pid);
}
END
	gcc -g -O0 -o "$BATS_TEST_TMPDIR/child" "$BATS_TEST_TMPDIR/child.c"
	local how said
	for how in stopped writes reads itself; do
		watch "$BATS_TEST_TMPDIR/child" "$how"
		case $how in
		stopped) said='is stopped by a signal' ;;
		writes) said='is in system call write on descriptor *, one end of a pipe whose read end this process has, as descriptor *: nobody reads what it writes' ;;
		reads) said='is in system call read on descriptor *, one end of a pipe whose write end this process has, as descriptor *: while that is open' ;;
		itself) said='is in system call read on descriptor *, one end of a pipe whose write end it has itself, as descriptor *' ;;
		esac
		for _ in $(seq 40); do # until the child is there
			[[ "$(verdict evidence)" == *"process "*" \"child\" "$said* ]] && break
			sleep 0.05
		done
		# shellcheck disable=SC2053 # a pattern
		[[ "$(verdict class kind function evidence | tr '\n' ' ')" == "hang other process join "*$said* ]]
		finish
	done
}

# bats test_tags=long
@test "a lock whose owner has ended, beside a thread that goes on; not while the owner lives" {
	cat >"$BATS_TEST_TMPDIR/left.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stays;
static void *take(void *arg) { pthread_mutex_lock(&lock); if (stays) for (;;) sleep(1); return arg; }
static void *tick(void *arg) { for (;;) usleep(100000); return arg; }
__attribute__((noinline)) int want(void) { return pthread_mutex_lock(&lock); }
int main(int argc, char **argv) {
	pthread_t t, u;
	stays = !strcmp(argv[argc - 1], "stays");
	pthread_create(&u, 0, tick, 0);
	pthread_create(&t, 0, take, 0);
	if (stays) usleep(200000); else pthread_join(t, 0);
	puts("ready"); fflush(stdout);
	return want();
}
END
	gcc -g -O0 -pthread -o "$BATS_TEST_TMPDIR/left" "$BATS_TEST_TMPDIR/left.c"
	watch "$BATS_TEST_TMPDIR/left" ends
	expect deadlock "dead owner" likely want
	# shellcheck disable=SC2016 # as it is written
	[[ "$(verdict cause)" == *'mutex `lock` in want'*'does not exist any more'* ]]
	finish
	watch "$BATS_TEST_TMPDIR/left" stays
	expect hang "lock held" guess take
}

# bats test_tags=long
@test "each waits for the other: pipes that are both full, a file lock; not where the other one reads" {
	cat >"$BATS_TEST_TMPDIR/pair.c" <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>
static char much[1 << 20];
static int down[2], up[2], spool;
__attribute__((noinline)) int put(int fd) { return write(fd, much, sizeof much) < 0; }
__attribute__((noinline)) int take_lock(const char *how) {
	struct flock l = {.l_type = F_WRLCK};
	return !strcmp(how, "flock") ? flock(spool, LOCK_EX) : fcntl(spool, F_SETLKW, &l); }
static int copies(void) { ssize_t n; while ((n = read(down[0], much, 4096)) > 0) if (write(up[1], much, n) != n) return 1; return 0; }
static int swallows(void) { ssize_t n; while ((n = read(down[0], much, 100)) > 0) usleep(10000); return 0; }
static int locks(const char *how) {
	char c;
	if ((spool = open("spool", O_RDWR)) < 0 || take_lock(how) || write(up[1], "r", 1) != 1) return 1;
	return read(down[0], &c, 1) < 0; }
int main(int argc, char **argv) {
	const char *how = argv[argc - 1];
	int files = strstr(how, "lock") || !strcmp(how, "range") || !strcmp(how, "self");
	char c;
	if (pipe(down) || pipe(up)) return 1;
	spool = open("spool", O_RDWR | O_CREAT, 0600);
	if (!strcmp(how, "self")) {
		puts("ready"); fflush(stdout);
		flock(open("spool", O_RDWR), LOCK_EX);
		return take_lock("flock");
	}
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(down[1]); close(up[0]);
		return files ? locks(how) : !strcmp(how, "copies") ? copies() : swallows();
	}
	close(down[0]); close(up[1]);
	if (files && read(up[0], &c, 1) != 1) return 1;
	puts("ready"); fflush(stdout);
	return files ? take_lock(how) : put(down[1]);
}
END
	gcc -g -O0 -o "$BATS_TEST_TMPDIR/pair" "$BATS_TEST_TMPDIR/pair.c"
	local how said
	cd "$BATS_TEST_TMPDIR" || return 1
	for how in copies flock range self; do
		watch "$BATS_TEST_TMPDIR/pair" "$how"
		case $how in
		copies) said='has the read end of that pipe, as descriptor *, and is in system call write on descriptor *: nobody reads what it writes' ;;
		self) said='this process took the lock of that file itself' ;;
		*) said='took the lock of that file, and is in system call read on descriptor *, one end of a pipe whose write end this process has' ;;
		esac
		for _ in $(seq 40); do # until both wait
			# shellcheck disable=SC2053 # a pattern
			[[ "$(verdict evidence)" == *$said* ]] && break
			sleep 0.05
		done
		# shellcheck disable=SC2053 # a pattern
		[[ "$(verdict evidence)" == *$said* ]]
		[ "$(verdict class)" = hang ]
		if [ "$how" = self ]; then
			[ "$(verdict confidence)" = guess ]
		else
			[[ "$(verdict headline)" == "hang: this process and process "*" wait for each other" ]]
			[ "$(verdict confidence)" = likely ]
		fi
		finish
	done
	# the other end is read, slowly
	watch "$BATS_TEST_TMPDIR/pair" swallows
	[[ "$(verdict evidence headline)" != *"wait for each other"* ]]
	[[ "$(verdict evidence headline)" != *"nobody reads"* ]]
}

# bats test_tags=long
@test "waits that perhaps nobody ends: a semaphore, a pipe of its own, a lock whose holder runs" {
	told gcc -O2 waits.c semaphore "all wait" likely take_slot
	told gcc -O0 waits.c rendezvous "all wait" likely take_order take_slot
	told gcc -O2 waits.c pipe "all wait" guess drain
	hang gcc -O0 waits.c spin
	if "$XCORE" bt --thread all "$TARGET" | grep -q 'sampled while it ran'; then
		expect hang "busy wait" likely await_flag
		[[ "$(verdict cause evidence)" == *"that ends only by \`sink\` (0)"*"in set_flag "*" holds: it runs, in await_flag "* ]]
	else # perf events are refused here
		expect hang "lock held" guess None
		[[ "$(verdict cause)" == *"in set_flag "*" holds: it runs" ]]
	fi
	PROGRAM=$STARTED
	take_core
	expect hang "busy wait" likely await_flag
	[[ "$(verdict evidence)" == *"in set_flag "*" holds: it runs, in await_flag "* ]]
}

# bats test_tags=long
@test "pipes whose both ends are in the process: who reads and writes, and which descriptor is the other end" {
	cat >"$BATS_TEST_TMPDIR/pipes.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int question[2], answer[2];
static void *serve(void *unused) {
	char c = 0;
	return read(question[0], &c, 1) == 1 && write(answer[1], &c, 1) == 1 ? unused : NULL;
}
static void *fill(void *unused) {
	static char much[1 << 20];
	return write(question[1], much, sizeof much) > 0 ? unused : NULL;
}
static long ask(int from) {
	char c;
	return read(from, &c, 1);
}
int main(int argc, char **argv) {
	pthread_t thread;
	if (argc < 2 || pipe(question) || pipe(answer)) return 1;
	puts("ready"), fflush(stdout);
	if (argv[1][0] == 'i') return pthread_create(&thread, NULL, serve, NULL) || ask(0) < 0;
	pthread_create(&thread, NULL, argv[1][0] == 'f' ? fill : serve, NULL);
	return argv[1][0] == 'f' ? pthread_join(thread, NULL) : (int)ask(answer[0]);
}
C
	${CC:-cc} -g -pthread -o "$BATS_TEST_TMPDIR/pipes" "$BATS_TEST_TMPDIR/pipes.c"
	watch "$BATS_TEST_TMPDIR/pipes" both
	expect deadlock "all wait" guess ask serve
	verdict cause evidence >"$BATS_TEST_TMPDIR/both"
	grep -q 'no other process has them, too' "$BATS_TEST_TMPDIR/both"
	[ "$(grep -oE 'the write end of the pipe at descriptor [0-9]+, from which thread [0-9]+ reads, is descriptor [0-9]+ of this process' "$BATS_TEST_TMPDIR/both" | sort -u | wc -l)" = 2 ]
	grep -Eq "from which thread $STARTED reads, is descriptor [0-9]+ of" "$BATS_TEST_TMPDIR/both"
	finish
	watch "$BATS_TEST_TMPDIR/pipes" full
	expect deadlock "all wait" guess fill
	verdict evidence | grep -Eq 'the read end of the pipe at descriptor [0-9]+, to which thread [0-9]+ writes, is descriptor [0-9]+ of this'
	finish
	# the other end of one pipe is elsewhere: its input may come
	mkfifo "$BATS_TEST_TMPDIR/elsewhere"
	# shellcheck disable=SC2016
	watch sh -c 'exec "$0" input <>"$1"' "$BATS_TEST_TMPDIR/pipes" "$BATS_TEST_TMPDIR/elsewhere"
	sleep 0.3
	[ "$(verdict class)" = None ]
}

@test "programs that wait for a client, for time, for their input: no verdict" {
	for case in serves naps input; do
		hang gcc -O2 waits.c "$case"
		[ "$(verdict class)" = None ]
		finish
	done
}
