/* classgroup: implements the table in classgroup.h. */
#include "batch/signature/classgroup.h"

#include <string.h>

#include "triage/util/names.h"
#include "batch/record/normalise.h"

enum detail {
	NOTHING,  /* the group name is complete */
	KIND,     /* the record's kind follows, after a colon */
	ACCESS,   /* the kind gives the group: "read", "write", "call" */
	HEADLINE, /* the headline gives it: "SIGSEGV: read 4 bytes at …" */
	DAMAGE,
	EXPRESSION,
	SIGNAL,
};

static const struct class_row {
	const char *class_name, *group;
	enum detail detail;
} table[] = {
	{"null-read", "read", NOTHING},
	{"wild-read", "read", NOTHING},
	{"null-write", "write", NOTHING},
	{"wild-write", "write", NOTHING},
	{"write-rodata", "write", NOTHING},
	{"use-after-free", "access", ACCESS},
	{"use-after-return", "access", ACCESS},
	{"heap-overrun", "access", ACCESS},
	{"protected-access", "access", HEADLINE},
	{"format-string", "access", HEADLINE},
	{"null-access", "access", NOTHING},
	{"wild-access", "access", NOTHING},
	{"memory-access", "access", NOTHING},
	{"call-null", "exec", NOTHING},
	{"pc-control", "exec", NOTHING},
	{"exec-data", "exec", NOTHING},
	{"heap-corruption", "heap", DAMAGE},
	{"assertion", "abort:assertion", EXPRESSION},
	{"uncaught-exception", "exception", KIND},
	{"terminate", "terminate", KIND},
	{"panic", "panic", KIND},
	{"deadlock", "deadlock", KIND},
	{"hang", "deadlock", KIND},
	{"stopped", "stopped", NOTHING},
	{"sanitizer", "sanitizer", KIND},
	{"seccomp-kill", "seccomp", KIND},
	{"trap-instruction", "trap", NOTHING},
	{"div-by-zero", "arithmetic", NOTHING},
	{"arithmetic", "arithmetic", NOTHING},
	{"file-truncated", "bus", NOTHING},
	{"bus-error", "bus", NOTHING},
	{"bad-hardware", "bus", NOTHING},
	{"killed", "sent", SIGNAL},
	{"dump-request", "sent", SIGNAL},
	{"sent-by-user", "sent", SIGNAL},
};

static const char *access_told(const char *headline)
{
	return !headline ? NULL : strstr(headline, ": read ") ? "read" : strstr(headline, ": wrote ") ? "write" : NULL;
}

/* A call through memory reads its target: in one instruction with one compiler, in two with another. */
static const char *access_of(const struct xc_record *record)
{
	static const char *const same[] = {"read", "write", NULL};
	const char *told = access_told(record->headline);
	if (record->kind && !strcmp(record->kind, "call"))
		return told ? told : "exec";
	return xc_names_find(same, record->kind);
}

static const char *damage_of(const char *kind)
{
	static const char *const damage[] = {"overrun", "underrun", "list damage", NULL};
	return xc_names_find(damage, kind) ? "damage" : kind;
}

/* said: normalised, or NULL */
static const char *joined(const char *group, const char *said, struct xc_arena *arena)
{
	return said && *said ? xc_arena_printf(arena, "%s:%s", group, said) : group;
}

static const char *in_row(const struct class_row *row, const struct xc_record *record, struct xc_arena *arena)
{
	const char *access = NULL;
	switch (row->detail) {
	case NOTHING:
		break;
	case KIND:
		return joined(row->group, xc_normalise_message(record->kind, arena), arena);
	case ACCESS:
		access = access_of(record);
		break;
	case HEADLINE:
		access = access_told(record->headline);
		break;
	case DAMAGE:
		return joined(row->group, xc_normalise_message(damage_of(record->kind), arena), arena);
	case EXPRESSION:
		return joined(row->group, xc_normalise_expression(record->expression, arena), arena);
	case SIGNAL:
		return joined(row->group, xc_normalise_message(record->signal, arena), arena);
	}
	return access ? access : row->group;
}

const char *xc_classgroup(const struct xc_record *record, const char *class_name, struct xc_arena *arena)
{
	for (size_t i = 0; class_name && i < XC_COUNT(table); i++)
		if (strcmp(table[i].class_name, class_name) == 0)
			return in_row(&table[i], record, arena);
	return class_name ? xc_arena_strdup(arena, class_name) : "unknown";
}

bool xc_classgroup_speaks(const char *group)
{
	static const char *const speaking[] = {
		"abort",       "heap",          "exception",         "panic",     "fortify", "sanitizer",
		"stack-smash", "out-of-memory", "pure-virtual-call", "terminate", NULL};
	return xc_names_begin(speaking, group) != NULL;
}
