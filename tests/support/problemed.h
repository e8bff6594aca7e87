/* problemed: records from one line each, and the problems found in them.
 *
 *	"a.core null-read parse loop"     path, class, functions innermost first (of the program "server" unless told: "parse@libx.so")
 *
 * Words with '=' before the functions set other fields: core=ID program=NAME severity=WORD stored=N size=N missing=N
 * kind=WORD. */
#ifndef XC_TEST_PROBLEMED_H
#define XC_TEST_PROBLEMED_H

#include <stdio.h>

#include "batch/problems/problems.h"
#include "core/base/text.h"
#include "tests/support/check.h"

struct problemed {
	struct xc_arena arena;
	struct xc_framerules *rules;
	struct xc_problem_options options;
	const struct xc_record **records;
	size_t count, capacity;
	struct xc_problems *problems;
};

static inline struct problemed *problemed_new(void)
{
	struct problemed *p = xc_alloc(sizeof *p);
	p->rules = xc_framerules_builtin();
	p->options = (struct xc_problem_options){.rules = p->rules, .today = "2026-11-22"};
	return p;
}

static inline void problemed_free(struct problemed *p)
{
	xc_problems_free(p->problems);
	xc_framerules_free(p->rules);
	xc_arena_fini(&p->arena);
	free(p->records);
	free(p);
}

static inline void problemed_frame(struct problemed *p, struct xc_record *r, const char *word)
{
	struct xc_record_frame *f = &r->frames[r->frame_count];
	const char *at = strchr(word, '@');
	*f = (struct xc_record_frame){.offset = 0x1000 + 0x10 * r->frame_count++, .has_offset = true, .trust = "cfi"};
	f->module = at ? xc_arena_strdup(&p->arena, at + 1) : r->program;
	if (*word != '?')
		f->function = at ? xc_arena_strndup(&p->arena, word, (size_t)(at - word)) : word;
}

static inline void problemed_set(struct xc_record *r, const char *name, const char *value)
{
	const struct {
		const char *name;
		const char **text;
		uint64_t *number;
	} members[] = {
		{"core", &r->core_id, NULL},    {"program", &r->program, NULL}, {"severity", &r->severity, NULL},
		{"kind", &r->kind, NULL},       {"stored", NULL, &r->stored},   {"size", NULL, &r->size},
		{"missing", NULL, &r->missing},
	};
	for (size_t i = 0; i < XC_COUNT(members); i++) {
		if (strcmp(members[i].name, name) != 0)
			continue;
		if (members[i].text)
			*members[i].text = value;
		else
			*members[i].number = strtoull(value, NULL, 0);
		return;
	}
	fail_msg("no such member: %s", name);
}

/* Quality 1: all names are known. */
static inline struct xc_record *problemed_add(struct problemed *p, const char *line)
{
	struct xc_record *r = xc_arena_alloc(&p->arena, sizeof *r);
	char *words = xc_arena_strdup(&p->arena, line), *saved = NULL, *equals;
	*r = (struct xc_record){.program = "server", .severity = "low", .confidence = "certain", .arch = "x86-64"};
	r->path = strtok_r(words, " ", &saved);
	r->class_name = strtok_r(NULL, " ", &saved);
	r->frames = xc_arena_alloc(&p->arena, XC_RECORD_FRAMES * sizeof *r->frames);
	for (char *word; (word = strtok_r(NULL, " ", &saved));) {
		if (r->frame_count || !(equals = strchr(word, '='))) {
			problemed_frame(p, r, word);
			continue;
		}
		*equals = '\0';
		problemed_set(r, word, equals + 1);
	}
	r->top = r->every = r->crashed = (struct xc_record_known){.named = 5, .all = 5};
	p->records = xc_grow(p->records, p->count, &p->capacity, sizeof *p->records);
	p->records[p->count++] = r;
	return r;
}

static inline struct xc_problems *problemed_find(struct problemed *p)
{
	xc_problems_free(p->problems);
	return p->problems = xc_problems_find(p->records, p->count, &p->options);
}

/* Records from lines; NULL ends the list. */
static inline struct problemed *problemed(const char *const *lines)
{
	struct problemed *p = problemed_new();
	for (; *lines; lines++)
		problemed_add(p, *lines);
	problemed_find(p);
	return p;
}

#define PROBLEMED(...) problemed((const char *const[]){__VA_ARGS__, NULL})

/* The problem with a member of this path, or NULL. */
static inline const struct xc_problem *problem_of(const struct problemed *p, const char *path)
{
	for (size_t i = 0; i < p->problems->count; i++)
		for (size_t k = 0; k < p->problems->problems[i].member_count; k++)
			if (!strcmp(p->problems->problems[i].members[k].record->path, path))
				return &p->problems->problems[i];
	return NULL;
}

static inline bool together(const struct problemed *p, const char *one, const char *other)
{
	assert_non_null(problem_of(p, one));
	assert_non_null(problem_of(p, other));
	return problem_of(p, one) == problem_of(p, other);
}

#endif
