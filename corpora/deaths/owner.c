/* Hangs for a lock that somebody has who does not give it back, until somebody who watches sends a signal: of every kind of mutex,
 * and of reader-writer locks.
 * flags: -fno-optimize-sibling-calls -fno-builtin */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "asleep.h"
#include "hang.h"

volatile long sink;
static pthread_mutex_t ledger, cash = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t prices = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t rung = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;

static void make(pthread_mutex_t *mutex, int type, int protocol, int robust, int shared)
{
	pthread_mutexattr_t kind;
	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, type);
	pthread_mutexattr_setprotocol(&kind, protocol);
	pthread_mutexattr_setrobust(&kind, robust);
	pthread_mutexattr_setpshared(&kind, shared);
	if (pthread_mutex_init(mutex, &kind))
		exit(2);
}

/* ---- two that want each other's, of another kind ---- */

static NOINLINE void book(void)
{
	pthread_mutex_lock(&ledger);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&cash); /* dies: inherited checked recursive dead */
	sink++;
	pthread_mutex_unlock(&cash);
	pthread_mutex_unlock(&ledger);
}

static NOINLINE void pay(void)
{
	pthread_mutex_lock(&cash);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&ledger); /* dies: inherited checked recursive dead */
	sink++;
	pthread_mutex_unlock(&ledger);
	pthread_mutex_unlock(&cash);
}

static void *bookkeeper(void *argument)
{
	book();
	return argument;
}

static void *cashier(void *argument)
{
	pay();
	return argument;
}

static void cross(void)
{
	pthread_barrier_init(&both, NULL, 2);
	start(bookkeeper, NULL);
	start(cashier, NULL);
	tell();
	for (;;)
		pause();
}

static void die_inherited(void)
{
	make(&ledger, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED, 0);
	make(&cash, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED, 0);
	cross();
}

static void die_checked(void)
{
	make(&ledger, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, 0);
	make(&cash, PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, 0);
	cross();
}

/* Taken twice by its owner. */
static void *cautious_bookkeeper(void *argument)
{
	pthread_mutex_lock(&ledger);
	book();
	return argument;
}

static void die_recursive(void)
{
	make(&ledger, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, 0);
	pthread_barrier_init(&both, NULL, 2);
	start(cautious_bookkeeper, NULL);
	start(cashier, NULL);
	tell();
	for (;;)
		pause();
}

/* Its owner ended, the next one was told so and took no notice. */
static void *leave_locked(void *argument)
{
	pthread_mutex_lock(&ledger);
	return argument;
}

static void die_dead(void)
{
	make(&ledger, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST, 0);
	pthread_join(start(leave_locked, NULL), NULL);
	cross();
}

/* The owner ended; it inherits priorities, but is not robust: glibc lets the thread sleep forever. */
static NOINLINE void open_ledger(void)
{
	pthread_mutex_lock(&ledger); /* dies: orphan robust-self shared forked */
	sink++;
	pthread_mutex_unlock(&ledger);
}

static void die_orphan(void)
{
	make(&ledger, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED, 0);
	pthread_join(start(leave_locked, NULL), NULL);
	start(tell_later, NULL);
	open_ledger();
}

static void *keep_locked(void *argument)
{
	pthread_mutex_lock(&ledger);
	tell();
	for (;;)
		pause();
	return argument;
}

/* The owner lives, in the parent: fork() copies only the thread that calls it. */
static void die_forked(void)
{
	make(&ledger, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, 0);
	start(keep_locked, NULL);
	await_asleep(getpid());
	pid_t child = fork();
	if (!child)
		open_ledger();
	await_asleep(child);
	kill(child, SIGABRT);
	waitpid(child, NULL, 0);
	exit(0);
}

static void die_robust_self(void)
{
	make(&ledger, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST, 0);
	pthread_mutex_lock(&ledger);
	start(tell_later, NULL);
	open_ledger();
}

/* Another process has it. */
static NOINLINE void open_shared(pthread_mutex_t *shared)
{
	pthread_mutex_lock(shared); /* dies: shared */
	sink++;
	pthread_mutex_unlock(shared);
}

static void die_shared(void)
{
	pthread_mutex_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	make(shared, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, 1);
	pid_t owner = fork();
	if (owner == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_mutex_lock(shared);
		sleep(60);
		_exit(0);
	}
	await_asleep(owner);
	start(tell_later, NULL);
	open_shared(shared);
}

/* ---- reader-writer locks ---- */

static void *read_prices(void *argument)
{
	pthread_rwlock_rdlock(&prices);
	pthread_barrier_wait(&both);
	sleep(60);
	pthread_rwlock_unlock(&prices);
	return argument;
}

static NOINLINE void set_price(void)
{
	pthread_rwlock_wrlock(&prices); /* dies: reader */
	sink++;
	pthread_rwlock_unlock(&prices);
}

static void die_reader(void)
{
	pthread_barrier_init(&both, NULL, 2);
	start(read_prices, NULL);
	pthread_barrier_wait(&both);
	start(tell_later, NULL);
	set_price();
}

/* ---- an owner that waits for something else ---- */

static void *wait_for_bell(void *argument)
{
	pthread_mutex_lock(&cash);
	pthread_mutex_lock(&ledger);
	pthread_barrier_wait(&both);
	pthread_cond_wait(&rung, &ledger); /* cash stays locked */
	pthread_mutex_unlock(&ledger);
	pthread_mutex_unlock(&cash);
	return argument;
}

static NOINLINE void ring(void)
{
	pthread_mutex_lock(&cash); /* dies: nested */
	pthread_cond_signal(&rung);
	pthread_mutex_unlock(&cash);
}

static void die_nested(void)
{
	pthread_barrier_init(&both, NULL, 2);
	start(wait_for_bell, NULL);
	pthread_barrier_wait(&both);
	start(tell_later, NULL);
	ring();
}

/* Everybody waits for one that the kernel keeps: its pipe is full. */
static int full[2];

static void *journalist(void *argument)
{
	static char page[1 << 17];
	pthread_mutex_lock(&cash);
	pthread_barrier_wait(&both);
	sink = write(full[1], page, sizeof page);
	pthread_mutex_unlock(&cash);
	return argument;
}

static void *customer(void *argument)
{
	ring();
	return argument;
}

static void die_pipe(void)
{
	pthread_barrier_init(&both, NULL, 2);
	if (pipe(full))
		exit(2);
	start(journalist, NULL);
	pthread_barrier_wait(&both);
	for (int i = 0; i < 7; i++)
		start(customer, NULL);
	tell();
	for (;;)
		pause();
}

/* One that runs, and does not stop. */
static void *counter(void *argument)
{
	pthread_mutex_lock(&cash);
	pthread_barrier_wait(&both);
	for (;;)
		sink++;
	return argument;
}

static void die_busy(void)
{
	pthread_barrier_init(&both, NULL, 2);
	start(counter, NULL);
	pthread_barrier_wait(&both);
	for (int i = 0; i < 3; i++)
		start(customer, NULL);
	tell();
	for (;;)
		pause();
}

DEATHS({"inherited", die_inherited}, {"checked", die_checked}, {"recursive", die_recursive}, {"dead", die_dead},
       {"orphan", die_orphan}, {"forked", die_forked}, {"robust-self", die_robust_self}, {"shared", die_shared},
       {"reader", die_reader}, {"nested", die_nested}, {"pipe", die_pipe}, {"busy", die_busy})
