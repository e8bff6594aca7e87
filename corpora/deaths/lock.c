/* Hangs because threads wait for locks, until somebody who watches sends SIGABRT, or a thread that watches aborts.
 * flags: -fno-optimize-sibling-calls */
#include "asleep.h"
#include "hang.h"

struct account {
	pthread_mutex_t lock;
	long balance;
};

volatile long sink;
static struct account first = {PTHREAD_MUTEX_INITIALIZER, 10}, second = {PTHREAD_MUTEX_INITIALIZER, 20};
static pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;

static NOINLINE void transfer(struct account *from, struct account *to)
{
	pthread_mutex_lock(&from->lock);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&to->lock); /* dies: two watched */
	to->balance += from->balance;
	pthread_mutex_unlock(&to->lock);
	pthread_mutex_unlock(&from->lock);
}

static void *transfer_forth(void *argument)
{
	transfer(&first, &second);
	return argument;
}

static void *transfer_back(void *argument)
{
	transfer(&second, &first);
	return argument;
}

/* AB-BA; main waits for one of the two. */
static void die_two(void)
{
	pthread_barrier_init(&both, NULL, 2);
	pthread_t one = start(transfer_forth, NULL);
	start(transfer_back, NULL);
	tell();
	pthread_join(one, NULL);
}

/* The same, and a thread of the program's own notices. */
static NOINLINE void watch(void)
{
	await_asleep(getpid());
	abort();
}

static void die_watched(void)
{
	pthread_barrier_init(&both, NULL, 2);
	start(transfer_forth, NULL);
	start(transfer_back, NULL);
	watch();
}

static NOINLINE void save_again(void)
{
	pthread_mutex_lock(&journal); /* dies: self */
	sink++;
	pthread_mutex_unlock(&journal);
}

static NOINLINE void save(void)
{
	pthread_mutex_lock(&journal);
	save_again();
	pthread_mutex_unlock(&journal);
}

static void die_self(void)
{
	start(tell_later, NULL);
	save();
}

/* A reader that holds the lock and wants to write, as its own last reader. */
static NOINLINE void upgrade(void)
{
	pthread_rwlock_wrlock(&table_lock); /* dies: rwlock */
	sink++;
	pthread_rwlock_unlock(&table_lock);
}

static void *write_table(void *argument)
{
	pthread_rwlock_wrlock(&table_lock);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&journal);
	sink++;
	pthread_mutex_unlock(&journal);
	pthread_rwlock_unlock(&table_lock);
	return argument;
}

static void die_rwlock(void)
{
	pthread_barrier_init(&both, NULL, 2);
	pthread_mutex_lock(&journal);
	start(write_table, NULL);
	start(tell_later, NULL);
	pthread_barrier_wait(&both);
	upgrade();
}

/* The owner ended without unlocking. */
static void *leave_locked(void *argument)
{
	pthread_mutex_lock(&journal);
	return argument;
}

static void die_owner(void)
{
	pthread_join(start(leave_locked, NULL), NULL);
	start(tell_later, NULL);
	save();
}

/* Everybody waits for one who sleeps: slow, but no cycle. */
static void *queue_up(void *argument)
{
	pthread_mutex_lock(&journal);
	sink++;
	pthread_mutex_unlock(&journal);
	return argument;
}

static void die_convoy(void)
{
	pthread_mutex_lock(&journal);
	for (int i = 0; i < 5; i++)
		start(queue_up, NULL);
	tell();
	sleep(60);
}

/* Nobody signals the condition any more. */
static void die_condition(void)
{
	start(tell_later, NULL);
	pthread_mutex_lock(&journal);
	while (sink == 0)
		pthread_cond_wait(&changed, &journal);
}

/* A ring of three. */
static struct account ring[3] = {
	{PTHREAD_MUTEX_INITIALIZER, 1}, {PTHREAD_MUTEX_INITIALIZER, 2}, {PTHREAD_MUTEX_INITIALIZER, 3}};

static void *pass(void *argument)
{
	struct account *account = argument;
	transfer(account, account == &ring[2] ? &ring[0] : account + 1);
	return argument;
}

static void die_three(void)
{
	pthread_t last;
	pthread_barrier_init(&both, NULL, 3);
	for (int i = 0; i < 3; i++)
		last = start(pass, &ring[i]);
	tell();
	pthread_join(last, NULL);
}

DEATHS({"two", die_two}, {"watched", die_watched}, {"self", die_self}, {"rwlock", die_rwlock}, {"owner", die_owner},
       {"convoy", die_convoy}, {"condition", die_condition}, {"three", die_three})
