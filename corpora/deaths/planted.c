/* Dies with secrets of its environment in many places: what `--redact` must not tell. PLANTED_TEXT is the user's in no way that its
 * name or shape would show; PLANTED_TOKEN is one by its name; PLANTED_NAME, a thread's name, by its shape.
 * flags: -D_GNU_SOURCE -fstack-protector-strong -fno-optimize-sibling-calls -U_FORTIFY_SOURCE */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "death.h"

struct session {
	char user[16];
	struct session *next;
	char *password;
	char notes[64];
	int age; /* at 0x60: what letters add up to with it has one that is no letter */
};

volatile long sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *planted(const char *name)
{
	const char *text = getenv(name);
	if (!text)
		exit(2);
	return text;
}

static char *copy_of(const char *text)
{
	char *copy = strdup(text);
	if (!copy)
		exit(2);
	return copy;
}

static NOINLINE int length_of(struct session *session)
{
	return (int)strlen(session->user) + session->next->user[0]; /* dies: local argv */
}

static NOINLINE int age_of(struct session *session)
{
	return session->next->age; /* dies: pointer */
}

/* A local array, and what a char pointer leads to. */
static void die_local(void)
{
	char typed[64];
	snprintf(typed, sizeof typed, "%s", planted("PLANTED_TEXT"));
	struct session session = {.user = "joe", .password = opaque(typed)};
	sink = length_of(opaque(&session));
	KEEP(typed);
}

/* The user's name goes over the pointer behind it, in the heap. */
static void die_pointer(void)
{
	struct session *session = calloc(1, sizeof *session);
	if (!session)
		exit(2);
	session->password = copy_of(planted("PLANTED_TOKEN"));
	memcpy(opaque(session->user), "sixteen letters.", sizeof session->user);
	memcpy((char *)opaque(session) + sizeof session->user, planted("PLANTED_TEXT"), 8);
	sink = age_of(session);
}

/* The program's arguments, where the kernel looks for them. */
static void die_argv(void)
{
	size_t room = strlen(program_invocation_name);
	const char *text = planted("PLANTED_TEXT");
	strncpy(program_invocation_name, text, room);
	struct session session = {.password = copy_of(text)};
	sink = length_of(opaque(&session));
}

static NOINLINE void give_up(const char *why)
{
	fprintf(stderr, "cannot go on: %s\n", why);
	abort(); /* dies: message */
}

static void die_message(void)
{
	give_up(planted("PLANTED_TEXT"));
	sink = 1;
}

/* As libraries do that make the text of an assertion themselves. */
static NOINLINE void check_equal(const char *wanted, const char *got)
{
	char text[128];
	snprintf(text, sizeof text, "password (%s) == %s", wanted, got);
	if (strcmp(wanted, got) != 0)
		__assert_fail(text, __FILE__, __LINE__, __func__); /* dies: assertion */
	sink = text[0];
}

static void die_assertion(void)
{
	check_equal("", planted("PLANTED_TEXT"));
	sink = 1;
}

static NOINLINE void copy_name(const char *from)
{
	char local[16];
	strcpy(opaque(local), from);
	KEEP(local); /* dies: smash */
} /* dies: smash */

/* Over the canary and the return address. */
static void die_smash(void)
{
	char longer[200] = "";
	for (int i = 0; i < 6; i++)
		strcat(longer, planted("PLANTED_TEXT"));
	copy_name(opaque(longer));
	sink = 1;
}

static NOINLINE void keep_name(const char *from)
{
	char *block = malloc(24);
	char *next = malloc(24);
	for (int i = 0; i < 6 && block; i++)
		memcpy((char *)opaque(block) + 16 * i, from, 16);
	free(opaque(next)); /* dies: header */
	free(opaque(block));
}

/* Over the header of the next block. */
static void die_header(void)
{
	keep_name(planted("PLANTED_TEXT"));
	sink = 1;
}

static NOINLINE void jump_to(const char *from)
{
	void (*how)(void);
	memcpy(&how, from, sizeof how);
	((void (*)(void))opaque((void *)(size_t)how))(); /* dies: jump */
	sink = 1;
}

/* To where eight letters lead. */
static void die_jump(void)
{
	jump_to(planted("PLANTED_TEXT"));
	sink = 1;
}

static NOINLINE void lock_twice(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&lock); /* dies: thread */
	sink++;
}

static void *lock_in_thread(void *argument)
{
	lock_twice();
	return argument;
}

/* The name of the thread that made one that waits for itself. */
static void die_thread(void)
{
	static const char ready[] = "ready\n";
	pthread_t thread;
	pthread_setname_np(pthread_self(), planted("PLANTED_NAME"));
	if (pthread_create(&thread, NULL, lock_in_thread, NULL))
		exit(2);
	usleep(50000);
	if (write(1, ready, sizeof ready - 1) < 0)
		exit(2);
	pthread_join(thread, NULL);
}

DEATHS({"local", die_local}, {"pointer", die_pointer}, {"argv", die_argv}, {"message", die_message},
       {"assertion", die_assertion}, {"smash", die_smash}, {"header", die_header}, {"jump", die_jump},
       {"thread", die_thread})
