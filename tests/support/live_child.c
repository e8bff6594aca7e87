#include "tests/support/live_child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/process/finder.h"

enum { WAIT_MS = 120000 };

struct shared *shared;
const char *data_path;
int memfd;

/* ---- the child ---- */

uint8_t big_byte(size_t at)
{
	return (uint8_t)(at * 2654435761u >> 13);
}

static void *anonymous(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		_exit(9);
	return at;
}

static xc_addr watch_by_userfaultfd(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = {.api = UFFD_API};
	void *at = anonymous(2 * PAGE);
	struct uffdio_register range = {.range = {(uintptr_t)at, 2 * PAGE}, .mode = UFFDIO_REGISTER_MODE_MISSING};
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
		return 0;
	return (uintptr_t)at;
}

static void prepare_memory(void)
{
	uint8_t *big = anonymous(BIG);
	madvise(big, BIG, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < BIG; i++)
		big[i] = big_byte(i);
	shared->big = (uintptr_t)big;
	void *untouched = anonymous(16 * PAGE);
	madvise(untouched, 16 * PAGE, MADV_NOHUGEPAGE);
	shared->untouched = (uintptr_t)untouched;
	char *fenced = anonymous(3 * PAGE);
	memset(fenced, 'x', 3 * PAGE);
	mprotect(fenced + PAGE, PAGE, PROT_NONE);
	shared->fenced = (uintptr_t)fenced;
	int fd = open(data_path, O_RDONLY);
	char *file = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	madvise(file, 3 * PAGE, MADV_RANDOM); /* no fault-around: touching one page maps one page */
	file[0] = 'A';
	shared->file = (uintptr_t)file;
	shared->memfd = (uintptr_t)mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, memfd, 0);
	shared->watched = watch_by_userfaultfd();
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *block_on_mutex(void *arg)
{
	prctl(PR_SET_NAME, "we(ird) n\nme");
	shared->futex_tid = (pid_t)syscall(SYS_gettid);
	pthread_mutex_lock(&held);
	return arg;
}

static void *spin(void *arg)
{
	prctl(PR_SET_NAME, "spinner");
	shared->spin_tid = (pid_t)syscall(SYS_gettid);
	for (volatile unsigned long n = 0;; n++)
		;
	return arg;
}

struct live_record live_record;

static void *write_record(void *arg)
{
	for (unsigned long n = 1;; n++) {
		live_record.gen++;
		__sync_synchronize();
		live_record.a = n;
		for (volatile int i = 0; i < 2000; i++)
			;
		live_record.b = n;
		__sync_synchronize();
		live_record.gen++;
		usleep(n % 4 ? 200 : 4000); /* even a slow reader finds a moment without a writer */
	}
	return arg;
}

static void *serve_from_thread(void *arg)
{
	pause();
	return arg;
}

/* The child's action for one character. */
static void obey(char command)
{
	pthread_t thread;
	switch (command) {
	case 't':
		pthread_mutex_lock(&held);
		pthread_create(&thread, NULL, block_on_mutex, NULL);
		break;
	case 's':
		pthread_create(&thread, NULL, spin, NULL);
		break;
	case 'u':
		munmap((void *)(uintptr_t)shared->untouched, 8 * PAGE);
		break;
	case 'w':
		pthread_create(&thread, NULL, write_record, NULL);
		break;
	case 'g':
		shared->grown = (uintptr_t)memset(anonymous(4 * PAGE), 'g', 4 * PAGE);
		break;
	case 'c':
		memset((void *)(uintptr_t)shared->big, 0x5a, PAGE);
		break;
	case 'n':
		if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
			_exit(9);
		prctl(PR_SET_DUMPABLE, 1);
		break;
	case 'd':
		prctl(PR_SET_DUMPABLE, 0);
		break;
	}
}

static void child_main(int commands, int answers)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prepare_memory();
	shared->code = (uintptr_t)child_main;
	for (char command = 'r'; write(answers, &command, 1) == 1 && read(commands, &command, 1) == 1;) {
		if (command == 'e')
			execl("/bin/sleep", "sleep", "60", (char *)NULL);
		if (command == 'm') {
			pthread_t thread;
			pthread_create(&thread, NULL, serve_from_thread, NULL);
			(void)!write(answers, &command, 1);
			pthread_exit(NULL);
		}
		obey(command);
	}
	_exit(0);
}

void tell(struct child *c, char command)
{
	char answer;
	assert_int_equal(write(c->command, &command, 1), 1);
	if (command != 'e')
		assert_int_equal(read(c->answer, &answer, 1), 1);
}

struct child start_child(void)
{
	int command[2], answer[2];
	char ready;
	assert_int_equal(pipe2(command, O_CLOEXEC) | pipe2(answer, O_CLOEXEC), 0);
	memset(shared, 0, sizeof *shared);
	struct child c = {.pid = fork(), .command = command[1], .answer = answer[0]};
	if (c.pid == 0) {
		close(command[1]);
		close(answer[0]);
		child_main(command[0], answer[1]);
	}
	close(command[0]);
	close(answer[1]);
	assert_int_equal(read(c.answer, &ready, 1), 1);
	return c;
}

void end_child(struct child *c)
{
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	close(c->command);
	close(c->answer);
	c->pid = 0;
}

struct xc_error *try_open(pid_t pid, struct xc_process **process)
{
	static const struct xc_finder finder;
	struct xc_open_options options = {.finder = &finder};
	return xc_process_open_live(pid, &options, process);
}

struct xc_process *open_pid(pid_t pid)
{
	struct xc_process *process = NULL;
	XC_OK(try_open(pid, &process));
	return process;
}

void assert_fault(const struct xc_process *p, xc_addr addr, const char *why)
{
	char byte;
	struct xc_error *err = xc_space_read(p->space, addr, &byte, 1);
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_FAULT);
	assert_int_equal(err->addr, addr);
	if (!strstr(err->message, why))
		fail_msg("expected '%s' in '%s'", why, err->message);
	xc_error_free(err);
}

void assert_big(const struct xc_process *p, size_t at, size_t len)
{
	uint8_t buf[3 * PAGE];
	assert_true(len <= sizeof buf);
	XC_OK(xc_space_read(p->space, shared->big + at, buf, len));
	for (size_t i = 0; i < len; i++)
		if (buf[i] != big_byte(at + i))
			fail_msg("byte %zu is %u, not %u", at + i, buf[i], big_byte(at + i));
}

void wait_for_state(pid_t pid, volatile pid_t *tid, char wanted)
{
	char path[64], text[512];
	for (int i = 0; i < WAIT_MS; i++) {
		usleep(1000);
		if (!*tid)
			continue;
		snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)*tid);
		int fd = open(path, O_RDONLY);
		ssize_t got = read(fd, text, sizeof text - 1);
		close(fd);
		text[got > 0 ? got : 0] = '\0';
		char *close_paren = strrchr(text, ')');
		if (close_paren && close_paren[2] == wanted)
			return;
	}
	fail_msg("thread never came to state %c", wanted);
}

/* ---- checks ---- */

void assert_no_error(struct xc_error *err, const char *call)
{
	if (err)
		fail_msg("%s: %s", call, err->message);
}

/* ---- files ---- */

int live_child_make_files(void **state)
{
	static char path[] = "/tmp/xcore-test-live-XXXXXX";
	char page[PAGE];
	(void)state;
	int fd = mkstemp(path);
	for (int i = 0; fd >= 0 && i < 3; i++) {
		memset(page, 'a' + i, sizeof page);
		if (write(fd, page, sizeof page) != PAGE)
			return 1;
	}
	fchmod(fd, 0644);
	close(fd);
	data_path = path;
	memfd = memfd_create("test", MFD_CLOEXEC);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return fd < 0 || memfd < 0 || ftruncate(memfd, 2 * PAGE) || shared == MAP_FAILED;
}

int live_child_remove_files(void **state)
{
	(void)state;
	return unlink(data_path);
}
