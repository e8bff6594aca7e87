/* Dies of SIGSEGV in printf() or a related function: the format is data, or its arguments are not what it says.
 * flags: -fno-optimize-sibling-calls -Wno-format -Wno-format-security -Wno-format-nonliteral -Wno-format-overflow */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>

#include "death.h"

struct message {
	int level;
	char text[48];
};

struct person {
	long id;
	struct person *next;
	char name[16];
};

volatile long sink;
static char line[64];

static NOINLINE const char *read_text(const char *text)
{
	strcpy(line, text);
	return opaque(line);
}

/* What the registers of a call's arguments hold where nothing was passed, depends on nobody else. */
static NOINLINE void say(const char *text, long a, long b, long c)
{
	KEEP(a);
	KEEP(b);
	KEEP(c);
	printf(text); /* dies: printed counted */
}

static NOINLINE void say_field(const struct message *message, long a)
{
	KEEP(a);
	fprintf(stdout, message->text); /* dies: field */
}

static NOINLINE void say_into(char *to, size_t size, const char *text)
{
	snprintf(to, size, text); /* dies: snprintf */
	sink = to[0];
}

static NOINLINE void say_log(const char *text)
{
	syslog(LOG_USER | LOG_DEBUG, text); /* dies: syslog */
}

static NOINLINE __attribute__((format(printf, 1, 2))) void note(const char *format, ...)
{
	char room[64];
	va_list list;
	va_start(list, format);
	vsnprintf(room, sizeof room, format, list);
	va_end(list);
	sink = room[0];
}

static NOINLINE void pass_text(const char *text)
{
	note(text); /* dies: wrapped */
	sink++;
}

enum { NAMED, COUNTED };
static const char *const templates[] = {[NAMED] = "%s of level %d\n", [COUNTED] = "%d messages of %s\n"};

/* The text is this function's: its callers pass what it asks for. */
static NOINLINE void note_of(int which, ...)
{
	char room[64];
	va_list list;
	va_start(list, which);
	vsnprintf(room, sizeof room, templates[which], list);
	va_end(list);
	sink = room[0];
}

static NOINLINE void say_listed(const struct message *message)
{
	note_of((int)opaque_long(COUNTED), 2L, message->level); /* dies: listed */
	sink++;
}

/* Leaves its arguments in the registers. */
static NOINLINE void leave(long a, long b, long c, long d)
{
	KEEP(a);
	KEEP(b);
	KEEP(c);
	KEEP(d);
}

static NOINLINE void say_count(const struct message *message)
{
	leave(6, 7, 8, 9);
	printf("%d messages of %s\n", message->level); /* dies: too-few */
	sink++;
}

static NOINLINE void say_number(const struct message *message)
{
	printf("level %s\n", message->level); /* dies: number */
	sink++;
}

static NOINLINE void say_name(const char *name, int width)
{
	printf("%*s\n", width, name); /* dies: bad-name */
	sink++;
}

static NOINLINE void say_person(const struct person *person)
{
	printf("%ld: %s\n", 1L, person->name); /* dies: null-member */
	sink++;
}

static NOINLINE void say_made(const char *name, int width)
{
	char format[16];
	snprintf(format, sizeof format, "%%-%ds|", width);
	KEEP(format);
	printf(format, name); /* dies: made */
	sink++;
}

static void die_printed(void)
{
	say(read_text("dear %s, from %s"), 6, 7, 8);
}

static void die_counted(void)
{
	say(read_text("100%n"), 6, 7, 8);
}

static void die_field(void)
{
	struct message *message = malloc(sizeof *message);
	message->level = 3;
	strcpy(message->text, "%x %s%s%s%s");
	say_field(opaque(message), 6);
}

static void die_snprintf(void)
{
	char room[64];
	say_into(opaque(room), sizeof room, read_text("%s%s%s%s%s%s%s%s%s%s%s%s"));
}

static void die_syslog(void)
{
	say_log(read_text("%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s"));
}

static void die_wrapped(void)
{
	pass_text(read_text("%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s"));
}

static void die_too_few(void)
{
	static const struct message message = {7, "seven"};
	say_count(opaque(&message));
}

static void die_number(void)
{
	static const struct message message = {7, "seven"};
	say_number(opaque(&message));
}

static void die_listed(void)
{
	static const struct message message = {7, "seven"};
	say_listed(opaque(&message));
}

static void die_bad_name(void)
{
	say_name(opaque((void *)0x7000000000), (int)opaque_long(12));
}

static void die_null_member(void)
{
	say_person(opaque(NULL));
}

static void die_made(void)
{
	say_made(opaque((void *)0x7000000000), (int)opaque_long(12));
}

DEATHS({"printed", die_printed}, {"counted", die_counted}, {"field", die_field}, {"snprintf", die_snprintf},
       {"syslog", die_syslog}, {"wrapped", die_wrapped}, {"too-few", die_too_few}, {"number", die_number},
       {"listed", die_listed}, {"bad-name", die_bad_name}, {"null-member", die_null_member}, {"made", die_made})
