/* Hangs, or only seems to, without a cycle of locks: for tests/live/hung.bats, which looks at the running process. */
#include <semaphore.h>
#include <sys/socket.h>

#include "hang.h"

volatile int sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t slots, orders;
static int pipe_ends[2];

/* ---- a semaphore that nobody is left to post ---- */

static NOINLINE void take_slot(void)
{
	sem_wait(&slots); /* dies: semaphore */
	sink++;
}

static void *consumer(void *argument)
{
	take_slot();
	return argument;
}

static void die_semaphore(void)
{
	sem_init(&slots, 0, 0);
	pthread_t thread = start(consumer, NULL);
	tell();
	pthread_join(thread, NULL);
}

/* Two wait for each other's post. */
static NOINLINE void take_order(void)
{
	sem_wait(&orders); /* dies: rendezvous */
	sem_post(&slots);
}

static void *waiter(void *argument)
{
	take_order();
	return argument;
}

static void die_rendezvous(void)
{
	sem_init(&slots, 0, 0);
	sem_init(&orders, 0, 0);
	start(waiter, NULL);
	tell();
	take_slot();
	sem_post(&orders);
}

/* ---- a pipe whose other end is in the process itself ---- */

static NOINLINE void drain(void)
{
	char bytes[64];
	while (read(pipe_ends[0], bytes, sizeof bytes) > 0) /* dies: pipe */
		sink++;
}

static void *reader(void *argument)
{
	drain();
	return argument;
}

static void die_pipe(void)
{
	if (pipe(pipe_ends))
		exit(2);
	pthread_t thread = start(reader, NULL);
	tell();
	pthread_join(thread, NULL);
}

/* ---- a lock whose holder is busy ---- */

static NOINLINE void await_flag(void)
{
	while (!sink) /* dies: spin */
		;
}

static void *spinner(void *argument)
{
	pthread_mutex_lock(&lock);
	await_flag();
	pthread_mutex_unlock(&lock);
	return argument;
}

static NOINLINE void set_flag(void)
{
	pthread_mutex_lock(&lock);
	sink = 1;
	pthread_mutex_unlock(&lock);
}

static void *setter(void *argument)
{
	usleep(20000);
	set_flag();
	return argument;
}

static void die_spin(void)
{
	pthread_t thread = start(spinner, NULL);
	start(setter, NULL);
	tell();
	pthread_join(thread, NULL);
}

/* ---- programs that do not hang ---- */

static NOINLINE void serve(void)
{
	struct sockaddr any = {.sa_family = AF_UNIX}; /* the kernel chooses an abstract name */
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (listener < 0 || bind(listener, &any, sizeof any.sa_family) || listen(listener, 1))
		exit(2);
	tell();
	accept(listener, NULL, NULL);
}

static void die_serves(void)
{
	sem_init(&slots, 0, 0);
	start(consumer, NULL);
	serve();
}

static void die_naps(void)
{
	sem_init(&slots, 0, 0);
	start(consumer, NULL);
	tell();
	for (;;)
		sleep(1);
}

static void die_input(void)
{
	if (pipe(pipe_ends))
		exit(2);
	start(tell_later, NULL);
	drain();
}

DEATHS({"semaphore", die_semaphore}, {"rendezvous", die_rendezvous}, {"pipe", die_pipe}, {"spin", die_spin},
       {"serves", die_serves}, {"naps", die_naps}, {"input", die_input})
