/* layer: batch tier: test */
/* For any strings in a core, each export is valid by its readers' parsers, and the strings have no effect in it. */
#include <stdlib.h>

#include "tests/support/property.h"
#include "tests/support/exported.h"

enum { CLUSTERS = 60, PIECES = 9 };

/* Strings with a special meaning: for terminals, shells, XML, HTML, Markdown, CI systems, URIs, format strings; and
 * invalid text. */
static const char *const pieces[] = {
	"|",
	"`",
	"``",
	"\\",
	"<",
	">",
	"&",
	"]]>",
	"\n",
	"\r\n",
	"::error::",
	"##[x]",
	"##vso[x]y",
	" ::",
	"%0A",
	":",
	",",
	"\033[",
	"\033]0;",
	"\xc2\x9b",
	"\xff",
	"\xef\xbf\xbe",
	"\xe2\x80\xae",
	"[x](y)",
	"![",
	"https://a.bc",
	"www.a.bc",
	"a@b.cd",
	"@user",
	"#1",
	"{0}",
	"{",
	"}",
	"$(id)",
	"'",
	"\"",
	"\t",
	"  ",
	" ",
	"*a*",
	"_a_",
	"~~a~~",
	"<b>",
	"<!--",
	"-",
	"--",
	"&#60;",
	"\x7f",
	"\x01",
	"\xed\xa0\x80",
	"\xc0\x80",
	"\xf4\x90\x80\x80",
	"é",
	"→",
	"/",
	"../",
	"main",
	"[^1]",
	"[^1]: ",
	"***",
	"# ",
	"> ",
	"1. ",
	"\\|",
	"\\`",
	"%s",
	"%2e",
	"\xcc\x81",
};

static const char *draw(struct rng *rng, struct xc_arena *arena)
{
	char *text = xc_arena_alloc(arena, PIECES * 16);
	for (size_t n = rng_below(rng, PIECES); n > 0; n--)
		strcat(text, pieces[rng_below(rng, XC_COUNT(pieces))]);
	return text;
}

static const char *draw_or_null(struct rng *rng, struct xc_arena *arena)
{
	return rng_below(rng, 6) ? draw(rng, arena) : NULL;
}

static void damage_frames(struct rng *rng, struct xc_arena *arena, struct xc_record *r, struct xc_signature *s)
{
	for (size_t i = 0; i < r->frame_count; i++) {
		struct xc_record_frame *f = &r->frames[i];
		f->function = draw_or_null(rng, arena);
		f->module = draw_or_null(rng, arena);
		f->file = rng_below(rng, 2) ? draw_or_null(rng, arena)
					    : xc_arena_printf(arena, "/build/app/%s", draw(rng, arena));
		f->line = (unsigned)rng_below(rng, 3);
		s->frames[i].name = f->function;
		s->frames[i].shown = draw(rng, arena);
		s->frames[i].rule = draw_or_null(rng, arena);
		s->frames[i].foreign = rng_below(rng, 3) == 0;
	}
}

static void damage_member(struct rng *rng, struct xc_arena *arena, struct xc_problem_member *member)
{
	struct xc_record *r = (struct xc_record *)member->record;
	struct xc_signature *s = (struct xc_signature *)member->signature;
	const char **const texts[] = {&r->core_id,  &r->program,  &r->build_id, &r->package,    &r->arch,   &r->signal,
				      &r->kind,     &r->headline, &r->cause,    &r->expression, &r->origin, &r->message,
				      &r->function, &r->file,     &r->thread,   &r->cycle,      &r->stop};
	for (size_t i = 0; i < XC_COUNT(texts); i++)
		*texts[i] = draw_or_null(rng, arena);
	r->class_name = s->class_name = draw(rng, arena);
	r->severity = s->severity = draw(rng, arena);
	r->confidence = draw(rng, arena);
	s->text = xc_arena_printf(arena, "%s | %s", s->class_name, draw(rng, arena));
	s->class_group = draw(rng, arena);
	damage_frames(rng, arena, r, s);
}

/* The path of a core identifies it, so it is unique. */
static void damage(struct rng *rng, struct xc_problems *p)
{
	for (size_t i = 0; i < p->count; i++) {
		struct xc_problem *problem = &p->problems[i];
		struct xc_problem_member *member = &problem->members[0];
		damage_member(rng, &p->arena, member);
		((struct xc_record *)member->record)->path =
			xc_arena_printf(&p->arena, "%zu%s", i, draw(rng, &p->arena));
		problem->severity = member->record->severity;
		problem->note = draw_or_null(rng, &p->arena);
		p->counts[problem->state]--;
		problem->state = (enum xc_problem_state)(const int[]){XC_PROBLEM_NEW, XC_PROBLEM_KNOWN,
								      XC_PROBLEM_FLAKY}[rng_below(rng, 3)];
		p->counts[problem->state]++;
		problem->expired = problem->state != XC_PROBLEM_NEW && rng_below(rng, 2);
	}
	p->version = draw_or_null(rng, &p->arena);
	problems_class(p);
}

PROPERTY(exports_are_valid_and_inert_whatever_the_strings, 1, 2)
{
	struct xc_problems *p = problems_many(CLUSTERS);
	damage(rng, p);
	const struct xc_export_options options = {
		.source_root = rng_below(rng, 2) ? "/build/app" : NULL,
		.manifest = rng_below(rng, 2) ? "README.md" : NULL,
		.width = 80 + (unsigned)rng_below(rng, 80),
	};
	for (const struct xc_export *const *e = xc_exports; *e; e++) {
		xc_auto(xc_freep) char *text = exported_text((*e)->name, p, &options);
		exported_is_plain(text);
		exported_is_valid((*e)->name, text);
	}
	problems_unmake(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exports_are_valid_and_inert_whatever_the_strings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
