/* layer: batch */
/* The same crash in another build, at other addresses, in other folders, with other helpers called, has the same
 * signature; and a record of arbitrary bytes has one. */
#include <string.h>

#include "batch/signature/signature.h"
#include "tests/support/property.h"

enum { FRAMES = 40, NAMES = 6 };

struct death {
	struct xc_record record;
	struct xc_record_frame frames[XC_RECORD_FRAMES];
};

static struct xc_framerules *rules;

static const char *pick(struct rng *rng, const char *const *words, size_t count)
{
	return words[rng_below(rng, count)];
}

#define PICK(rng, ...) pick(rng, (const char *const[]){__VA_ARGS__}, XC_COUNT(((const char *const[]){__VA_ARGS__})))

static struct xc_record_frame *add(struct death *d, const char *function, const char *module)
{
	struct xc_record_frame *f = &d->frames[d->record.frame_count++];
	*f = (struct xc_record_frame){.function = function, .module = module, .has_offset = true};
	return f;
}

/* Functions of the program in two spellings; equal indexes mean the same function. */
static const char *const spelled[][NAMES] = {
	{"parse", "shop::order::check(int) const", "std_less<int>::go", "main::{lambda(int)#1}::operator()(int) const",
	 "<shop::Order as core::fmt::Display>::fmt", "main.(*queue).pop.func1"},
	{"parse.constprop.0", "shop::order::check", "std_less<long, char>::go", "main()::$_7::operator()",
	 "_$LT$shop..Order$u20$as$u20$core..fmt..Display$GT$::fmt::h0123456789abcdef", "main.(*queue).pop.func1"},
};

static void add_helpers(struct rng *rng, struct death *d)
{
	while (rng_below(rng, 3) == 0)
		add(d,
		    PICK(rng, "std::function<void ()>::operator()", "std::__1::vector<int>::at",
			 "__memcpy_avx_unaligned_erms", NULL),
		    "libc.so.6");
}

/* The end and the start differ; the frames between have the same names. */
static void make(struct rng *rng, struct death *d, const size_t *names, size_t count)
{
	bool aborted = rng_below(rng, 2);
	memset(d, 0, sizeof *d);
	d->record =
		(struct xc_record){.program = "server", .class_name = "abort", .severity = "low", .frames = d->frames};
	if (aborted)
		add(d, "__pthread_kill_implementation", "libc.so.6");
	if (aborted)
		add(d, NULL, "libc.so.6");
	add(d, "abort", "libc.so.6");
	for (size_t i = 0; i < count; i++) {
		add_helpers(rng, d);
		for (size_t times = 1 + rng_below(rng, 3); times-- > 0;)
			add(d, spelled[rng_below(rng, XC_COUNT(spelled))][names[i]], "server");
	}
	add(d, "main", "server");
	add(d, PICK(rng, "__libc_start_call_main", "__libc_start_main@@GLIBC_2.34"), "libc.so.6");
	for (size_t i = 0; i < d->record.frame_count; i++) {
		struct xc_record_frame *f = &d->frames[i];
		f->offset = rng_next(rng);
		f->build_id = PICK(rng, "aa", "bb", NULL);
		f->file = PICK(rng, "/srv/a/x.c", "/home/me/x.c", NULL);
		f->line = (unsigned)rng_below(rng, 1000);
		f->inlined = rng_below(rng, 2);
	}
}

PROPERTY(another_build_has_the_same_signature, 500, 3000)
{
	struct death a, b;
	struct xc_arena arena = {0};
	size_t names[8], count = 1 + rng_below(rng, 8);
	for (size_t i = 0; i < count; i++)
		do {
			names[i] = rng_below(rng, NAMES);
		} while (i && names[i] == names[i - 1]);
	make(rng, &a, names, count);
	make(rng, &b, names, count);
	struct xc_signature *x = xc_signature(&a.record, rules, NULL, &arena),
			    *y = xc_signature(&b.record, rules, NULL, &arena);
	PROPERTY_CHECK(rng, !strcmp(x->sig, y->sig) && !strcmp(x->loose, y->loose));
	struct xc_signature *again = xc_signature(&a.record, rules, NULL, &arena);
	PROPERTY_CHECK(rng, !strcmp(x->exact, again->exact) && !strcmp(x->text, again->text));
	xc_arena_fini(&arena);
}

PROPERTY(another_function_has_another_signature, 300, 1000)
{
	struct death a, b;
	struct xc_arena arena = {0};
	size_t names[3] = {rng_below(rng, 2), 2 + rng_below(rng, 2), 4 + rng_below(rng, 2)}, others[3];
	size_t which = rng_below(rng, 3);
	memcpy(others, names, sizeof others);
	others[which] ^= 1;
	make(rng, &a, names, 3);
	make(rng, &b, others, 3);
	struct xc_signature *x = xc_signature(&a.record, rules, NULL, &arena),
			    *y = xc_signature(&b.record, rules, NULL, &arena);
	PROPERTY_CHECK(rng, strcmp(x->sig, y->sig) != 0 && strcmp(x->exact, y->exact) != 0);
	xc_arena_fini(&arena);
}

/* Threads that wait for each other, starting from one of them. */
static void make_circle(struct rng *rng, struct death *d, const size_t (*names)[3], size_t count, size_t from)
{
	memset(d, 0, sizeof *d);
	d->record = (struct xc_record){
		.program = "server", .class_name = "deadlock", .severity = "low", .frames = d->frames};
	for (size_t i = 0; i < count; i++) {
		struct xc_record_frame *first = add(d, "futex_wait", "libc.so.6");
		first->thread = "thread 7";
		for (size_t k = 0; k < 3; k++) {
			const size_t name = names[(from + i) % count][k];
			add(d, spelled[rng_below(rng, XC_COUNT(spelled))][name], "server")->offset = name;
		}
		add(d, "start_thread", "libc.so.6");
	}
}

PROPERTY(a_circle_has_one_signature_wherever_it_begins, 500, 2000)
{
	struct death a, b;
	struct xc_arena arena = {0};
	size_t names[3][3], count = 2 + rng_below(rng, 2);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < 3; k++)
			names[i][k] = 2 * k + rng_below(rng, 2);
	make_circle(rng, &a, names, count, 0);
	make_circle(rng, &b, names, count, rng_below(rng, count));
	struct xc_signature *x = xc_signature(&a.record, rules, NULL, &arena),
			    *y = xc_signature(&b.record, rules, NULL, &arena);
	PROPERTY_CHECK(rng, !strcmp(x->sig, y->sig) && !strcmp(x->text, y->text) && x->complete);
	names[rng_below(rng, count)][2] ^= 1;
	make_circle(rng, &b, names, count, 0);
	y = xc_signature(&b.record, rules, NULL, &arena);
	/* of three, two may have been similar, and then the other two are */
	PROPERTY_CHECK(rng, strcmp(x->exact, y->exact) != 0 || count == 3);
	xc_arena_fini(&arena);
}

static const char *anything(struct rng *rng, struct xc_arena *arena)
{
	static const char *const pieces[] = {"<",        ">",     "(",    ")",    "{",     "}",        "[",
					     "]",        "::",    " ",    " as ", "impl ", "operator", "$_",
					     "'lambda'", "std::", "a",    "main", "raise", ".",        "@",
					     ".func1",   "$LT$",  "\xff", "\x1b", "*",     "abort",    "const"};
	char text[200] = "";
	for (size_t n = rng_below(rng, 12), len = 0; n-- > 0;) {
		const char *piece = pieces[rng_below(rng, XC_COUNT(pieces))];
		memcpy(text + len, piece, strlen(piece) + 1);
		len += strlen(piece);
	}
	return rng_below(rng, 5) ? xc_arena_strdup(arena, text) : NULL;
}

PROPERTY(a_record_of_anything_has_a_signature, 1000, 5000)
{
	struct death d = {0};
	struct xc_arena arena = {0};
	d.record = (struct xc_record){
		.program = anything(rng, &arena), .severity = "low", .frames = d.frames, .arch = "x86-64"};
	d.record.class_name = PICK(rng, "stack-overflow", "abort", "assertion", "use-after-free", "panic", "strange");
	d.record.kind = anything(rng, &arena);
	d.record.message = anything(rng, &arena);
	d.record.expression = anything(rng, &arena);
	d.record.function = anything(rng, &arena);
	d.record.frame_count = rng_below(rng, FRAMES);
	d.record.fault_at = rng_below(rng, d.record.frame_count + 1);
	d.record.elided = rng_below(rng, 2);
	d.record.elided_at = rng_below(rng, d.record.frame_count + 1);
	for (size_t i = 0; i < d.record.frame_count; i++)
		d.frames[i] = (struct xc_record_frame){.function = anything(rng, &arena),
						       .module = anything(rng, &arena),
						       .file = anything(rng, &arena),
						       .has_offset = rng_below(rng, 2),
						       .signal = rng_below(rng, 9) == 0,
						       .thread = rng_below(rng, 9) ? NULL : "thread 7"};
	struct xc_signature *s = xc_signature(&d.record, rules, NULL, &arena);
	PROPERTY_CHECK(rng, strlen(s->text) <= 255 && strlen(s->sig) == 64 && strlen(s->exact) == 64 &&
				    strlen(s->loose) == 64);
	PROPERTY_CHECK(rng, s->kept_count <= d.record.frame_count && (s->kept_count || s->frameless));
	for (size_t i = 0; i < s->kept_count; i++)
		PROPERTY_CHECK(rng, s->kept[i] < d.record.frame_count && s->frames[s->kept[i]].fate == XC_FRAME_KEPT);
	for (size_t i = 0; i < s->shown_count; i++)
		PROPERTY_CHECK(rng, s->shown[i] < d.record.frame_count);
	PROPERTY_CHECK(rng, xc_signature_place(&d.record, s) <= d.record.frame_count);
	xc_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_build_has_the_same_signature),
		cmocka_unit_test(another_function_has_another_signature),
		cmocka_unit_test(a_circle_has_one_signature_wherever_it_begins),
		cmocka_unit_test(a_record_of_anything_has_a_signature),
	};
	rules = xc_framerules_builtin();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	xc_framerules_free(rules);
	return failed;
}
