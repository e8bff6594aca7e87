/* Hangs in the C library, for locks that it has itself, until somebody who watches sends a signal.
 * flags: -fno-optimize-sibling-calls -fno-builtin */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#include "asleep.h"
#include "hang.h"

volatile long sink;
static pthread_barrier_t both;

/* Nobody reads what the owner of the stream writes. */
static FILE *report;

static void *reporter(void *argument)
{
	static char page[1 << 17];
	fwrite(page, 1, sizeof page, report);
	return argument;
}

static NOINLINE void add_line(void)
{
	fputs("one more\n", report); /* dies: stream */
}

static void die_stream(void)
{
	int ends[2];
	if (pipe(ends) || !(report = fdopen(ends[1], "w")))
		exit(2);
	start(reporter, NULL);
	await_asleep(getpid());
	start(tell_later, NULL);
	add_line();
}

/* A handler that asks for memory when the signal came while memory was asked for. */
static NOINLINE void on_alarm(int number)
{
	void *block = malloc(5000); /* dies: handler */
	sink = number + (block != NULL);
	free(block); /* dies: handler */
}

static NOINLINE void churn(void)
{
	void *blocks[16] = {NULL};
	for (unsigned i = 0;; i = (i + 1) % 16) {
		free(blocks[i]);
		blocks[i] = malloc(2000 + i * 3000);
	}
}

static void die_handler(void)
{
	static const struct itimerval often = {{0, 50}, {0, 50}};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	sigset_t alarms;
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	start(tell_later, NULL);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	churn();
}

/* malloc finds its heap damaged and aborts, with its lock held; the handler asks for memory. */
static NOINLINE void on_fatal(int number)
{
	void *block = malloc(5000); /* dies: aborted */
	sink = number + (block != NULL);
	free(block);
}

static void die_aborted(void)
{
	struct sigaction action = {.sa_handler = on_fatal};
	int quiet = open("/dev/null", O_WRONLY);
	start(tell_later, NULL);
	dup2(quiet, STDERR_FILENO); /* what is said is the message */
	char *name = opaque(malloc(40));
	sigaction(SIGABRT, &action, NULL);
	memset(opaque(name), 'x', 64); /* over the size of what is left of the heap */
	sink = opaque(malloc(3000)) != NULL;
}

/* Who lists the loaded libraries has the loader's lock, and waits for a thread that wants it. */
static void *load(void *argument)
{
	pthread_barrier_wait(&both);
	sink = dlopen(argument, RTLD_NOW) != NULL;
	return argument;
}

static NOINLINE int visit(struct dl_phdr_info *info, size_t size, void *argument)
{
	pthread_barrier_wait(&both);
	pthread_join(*(pthread_t *)argument, NULL); /* dies: loader */
	return info && size;
}

static void die_loader(void)
{
	static char library[] = "libresolv.so.2";
	pthread_barrier_init(&both, NULL, 2);
	pthread_t loader = start(load, library);
	start(tell_later, NULL); /* later it might wait, too */
	dl_iterate_phdr(visit, &loader);
}

/* ---- what is to be done once ---- */

static pthread_once_t tables = PTHREAD_ONCE_INIT, units = PTHREAD_ONCE_INIT;

static NOINLINE void make_tables_again(void)
{
	sink++;
	pthread_once(&tables, make_tables_again); /* dies: once-self */
}

static void die_once_self(void)
{
	start(tell_later, NULL);
	pthread_once(&tables, make_tables_again);
}

static void nothing(void)
{
}

static NOINLINE void make_tables(void)
{
	pthread_barrier_wait(&both);
	pthread_once(&units, nothing); /* dies: once-cross */
	sink++;
}

static NOINLINE void make_units(void)
{
	pthread_barrier_wait(&both);
	pthread_once(&tables, nothing); /* dies: once-cross */
	sink++;
}

static void *use_units(void *argument)
{
	pthread_once(&units, make_units);
	return argument;
}

static void die_once_cross(void)
{
	pthread_barrier_init(&both, NULL, 2);
	start(use_units, NULL);
	start(tell_later, NULL);
	pthread_once(&tables, make_tables);
}

/* ---- what has no owner ---- */

static struct {
	long count;
	sem_t free;
} rooms;

static NOINLINE void take_room(void)
{
	sem_wait(&rooms.free); /* dies: semaphore */
	rooms.count++;
}

static void die_semaphore(void)
{
	sem_init(&rooms.free, 0, 0);
	start(tell_later, NULL);
	take_room();
}

/* Three, each of which waits for the next one to end. */
static pthread_t chain[3];

static void *wait_for_next(void *argument)
{
	pthread_barrier_wait(&both);
	pthread_join(chain[(long)argument], NULL); /* dies: ends */
	sink++;
	return argument;
}

static void die_ends(void)
{
	pthread_barrier_init(&both, NULL, 4);
	for (long i = 0; i < 3; i++)
		chain[i] = start(wait_for_next, (void *)((i + 1) % 3));
	pthread_barrier_wait(&both);
	tell();
	for (;;)
		pause();
}

DEATHS({"stream", die_stream}, {"handler", die_handler}, {"aborted", die_aborted}, {"loader", die_loader},
       {"once-self", die_once_self}, {"once-cross", die_once_cross}, {"semaphore", die_semaphore}, {"ends", die_ends})
