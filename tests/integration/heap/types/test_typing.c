/* layer: heap tier: long */
/* Programs record their blocks (addresses inverted, so that the record itself has no pointers) and die. The types
 * from typing are compared with the record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "heap/query/typing_report.h"
#include "tests/support/booked.h"
#include "tests/support/scratch.h"

static void expect_all(const char *source)
{
	struct tally t = compared("gcc -g -O0 -x c", source);
	assert_int_equal(t.right, t.blocks);
	assert_true(t.blocks > 0);
}

/* The same, without guesses. */
static void expect_strong(const char *source)
{
	struct tally t = compared("gcc -g -O0 -x c", source);
	assert_int_equal(t.strong_right, t.blocks);
	assert_true(t.blocks > 0);
}

static void types_flow_from_globals_along_pointers(void **state)
{
	(void)state;
	expect_strong("struct leaf { double weight; int id; };\n"
		      "struct node { struct node *next; struct leaf *leaf; };\n"
		      "struct node *head;\n"
		      "int main(void) { for (int i = 0; i < 500; i++) {\n"
		      "struct node *n = NEW(struct node); n->leaf = NEW(struct leaf); n->leaf->weight = i; n->next = "
		      "head; head = n; }\n"
		      "scrub(); abort(); }\n");
}

/* Blocks that were freed and handed out again: a pointer that was kept does not type them by what they were. */
static void stale_pointers_do_not_type_text(void **state)
{
	(void)state;
	struct tally t =
		compared("gcc -g -O0 -x c",
			 "struct order { long id; char *symbol; struct order *next; long count; };\n"
			 "struct note { long id; char *text; };\n"
			 "struct order *volatile best; struct note *notes;\n"
			 "int main(void) { best = calloc(1, sizeof *best); struct order *was = best; free(best);\n"
			 "char *text = malloc(sizeof *best); strcpy(text, \"accepted by the gateway\");\n"
			 "notes = NEW(struct note); notes->text = note(text, \"char\");\n"
			 "if (text != (char *)was) return 0; was = 0; text = 0; scrub(); abort(); }\n");
	assert_int_equal(t.right, t.blocks);
	assert_int_equal(t.blocks, 2);
}

static void statics_of_functions_are_roots(void **state)
{
	(void)state;
	expect_strong("struct leaf { double weight; int id; };\nstruct node { struct leaf *leaf; double more[4]; };\n"
		      "void keep(int i) { static struct node *kept[100]; { static struct leaf *inner[100]; inner[i] = "
		      "NEW(struct leaf); }\n"
		      "kept[i] = NEW(struct node); kept[i]->leaf = NEW(struct leaf); }\n"
		      "int main(void) { for (int i = 0; i < 100; i++) keep(i); scrub(); abort(); }\n");
}

static void arrays_of_pointers_and_numbers_are_followed(void **state)
{
	(void)state;
	expect_strong(
		"struct thing { long id; double *samples; char *name; };\n"
		"struct thing **things; static struct thing *fixed[10];\n"
		"int main(void) { things = (struct thing **)note(calloc(300, sizeof *things), \"struct thing *\");\n"
		"for (int i = 0; i < 300; i++) { things[i] = NEW(struct thing); things[i]->samples = NEWS(double, 1 "
		"+ i);\n"
		"things[i]->name = note(strdup(\"a name\"), \"char\"); }\n"
		"for (int i = 0; i < 10; i++) fixed[i] = NEW(struct thing);\n"
		"scrub(); abort(); }\n");
}

static void nodes_inside_are_owned_by_their_structs(void **state)
{
	(void)state;
	expect_strong("#include <stddef.h>\nstruct link { struct link *next, *prev; };\n"
		      "struct task { long id; char name[16]; struct link all; struct link ready; double load; };\n"
		      "struct lonely { struct link only; int number; long more[4]; };\n"
		      "struct link tasks = {&tasks, &tasks}, ready = {&ready, &ready}, others = {&others, &others};\n"
		      "void add(struct link *at, struct link *head)\n"
		      "{ at->next = head->next; at->prev = head; head->next->prev = at; head->next = at; }\n"
		      "int main(void) { for (int i = 0; i < 300; i++) {\n"
		      "struct task *t = NEW(struct task); t->id = i; t->load = 0.5 + i; strcpy(t->name, \"task\");\n"
		      "add(&t->all, &tasks); if (i % 3) add(&t->ready, &ready);\n"
		      "struct lonely *l = NEW(struct lonely); l->number = i; add(&l->only, &others); }\n"
		      "scrub(); abort(); }\n");
}

static void void_pointers_are_learned(void **state)
{
	(void)state;
	expect_all("struct job { char *title; struct job *after; int cost; };\n"
		   "struct cell { void *item; struct cell *next; };\n"
		   "struct cell *cells;\n"
		   "int main(void) { struct job *last = NULL; for (int i = 0; i < 200; i++) {\n"
		   "struct cell *c = NEW(struct cell); struct job *j = NEW(struct job);\n"
		   "j->title = note(strdup(\"some title\"), \"char\"); j->after = last; last = j; j->cost = i;\n"
		   "c->item = j; c->next = cells; cells = c; }\n"
		   "last = NULL; scrub(); abort(); }\n");
}

static void structs_that_begin_alike_are_told_by_their_kind(void **state)
{
	(void)state;
	expect_strong(
		"enum kind { NUMBER = 1, SUM, NAME };\nstruct base { enum kind kind; };\n"
		"struct number { struct base base; double value; double spare; };\n"
		"struct sum { struct base base; struct base *left, *right; };\n"
		"struct name { struct base base; char *text; long line; };\n"
		"struct base *trees[50];\n"
		"struct base *tree(int depth) {\n"
		"if (depth == 0) { struct number *n = NEW(struct number); n->base.kind = NUMBER; n->value = 1.25; "
		"return &n->base; }\n"
		"if (depth == 1) { struct name *n = NEW(struct name); n->base.kind = NAME; n->line = 12;\n"
		"n->text = note(strdup(\"identifier\"), \"char\"); return &n->base; }\n"
		"struct sum *s = NEW(struct sum); s->base.kind = SUM; s->left = tree(depth - 1); s->right = "
		"tree(depth - 2);\n"
		"return &s->base; }\n"
		"int main(void) { for (int i = 0; i < 50; i++) trees[i] = tree(4); scrub(); abort(); }\n");
}

static void arrays_of_structs_and_open_ends_are_followed(void **state)
{
	(void)state;
	expect_strong(
		"struct leaf { double weight; };\n"
		"struct slot { struct leaf *leaf; int used; };\n"
		"struct table { struct slot *slots; int count; };\n"
		"struct pack { int count; struct slot inside[]; };\n"
		"struct table tables[40]; struct pack *packs[40];\n"
		"int main(void) { for (int i = 0; i < 40; i++) {\n"
		"tables[i].count = 2 + i; tables[i].slots = NEWS(struct slot, 2 + i);\n"
		"packs[i] = note(calloc(1, sizeof(struct pack) + (1 + i) * sizeof(struct slot)), \"struct pack\");\n"
		"for (int k = 0; k <= i; k++) { tables[i].slots[k].leaf = NEW(struct leaf); tables[i].slots[k].used "
		"= 1;\n"
		"packs[i]->inside[k].leaf = NEW(struct leaf); packs[i]->inside[k].leaf->weight = k; } }\n"
		"scrub(); abort(); }\n");
}

static void leaked_blocks_are_known_by_what_lies_in_them(void **state)
{
	(void)state;
	expect_all("struct node { struct node *next; char name[24]; };\n"
		   "struct other { struct node *first; double value; };\nstruct other *kept;\n"
		   "struct node *list(int n) { struct node *head = NULL; for (int i = 0; i < n; i++) {\n"
		   "struct node *at = NEW(struct node); strcpy(at->name, \"a node\"); at->next = head; head = at; } "
		   "return head; }\n"
		   "int main(void) { kept = NEW(struct other); kept->first = list(10); list(100); list(3); scrub(); "
		   "abort(); }\n");
}

static uint64_t digest(struct xc_process *process, unsigned jobs)
{
	struct xc_heap *heap = xc_heap_open(process, &(struct xc_heap_options){.jobs = jobs});
	struct xc_typing *typing;
	uint64_t sum = 0;
	CHECK_OK(xc_typing_of(heap, &typing));
	for (size_t i = 0; i < heap->blocks.count; i++)
		sum = sum * 31 + typing->by_block[i];
	xc_heap_close(heap);
	return sum;
}

static void the_answer_does_not_depend_on_the_number_of_threads(void **state)
{
	(void)state;
	struct xc_process *process = died(
		"gcc -g -O0 -x c", BOOK
		"struct leaf { long a; }; struct node { struct node *left, *right; struct leaf *leaf; void *any; };\n"
		"struct node *root;\n"
		"struct node *make(int depth) { if (!depth) return NULL; struct node *n = calloc(1, sizeof *n);\n"
		"n->left = make(depth - 1); n->right = make(depth - 1); n->leaf = calloc(1, sizeof(struct leaf));\n"
		"n->any = depth & 1 ? (void *)n->leaf : calloc(1, sizeof *n); return n; }\n"
		"int main(void) { root = make(16); scrub(); abort(); }\n");
	uint64_t once = digest(process, 1);
	for (unsigned jobs = 2; jobs < 6; jobs++)
		assert_true(digest(process, jobs) == once);
	close_process(process);
}

/* ---- damaged memory ---- */

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005U + 1442695040888963407U;
	return *state >> 20;
}

static uint8_t *read_all(const char *path, size_t *size_out)
{
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	*size_out = (size_t)ftell(file);
	rewind(file);
	uint8_t *bytes = xc_alloc(*size_out);
	assert_int_equal(fread(bytes, 1, *size_out, file), *size_out);
	fclose(file);
	return bytes;
}

/* Words are replaced by other words of the core, near misses of them, small numbers, or anything. */
static void mutate(uint8_t *bytes, size_t size, uint64_t *seed)
{
	const size_t spared = 1 << 14; /* headers and notes have separate tests */
	for (int i = 0; i < 4000; i++) {
		size_t at = spared + (size_t)(next_random(seed) % (size - spared - 8)) / 8 * 8;
		size_t from = spared + (size_t)(next_random(seed) % (size - spared - 8)) / 8 * 8;
		uint64_t word;
		memcpy(&word, bytes + from, sizeof word);
		switch (next_random(seed) % 4) {
		case 0:
			word += next_random(seed) % 64;
			break;
		case 1:
			word = next_random(seed) % 4096;
			break;
		case 2:
			word = next_random(seed) << 32 | next_random(seed);
			break;
		default:
			break;
		}
		memcpy(bytes + at, &word, sizeof word);
	}
}

static void look_at_all(struct xc_process *process)
{
	struct xc_heap *heap = xc_heap_open(process, NULL);
	struct xc_report *report = xc_report_new("heap");
	struct xc_typing *typing;
	struct xc_vote votes[4];
	CHECK_OK(xc_typing_of(heap, &typing));
	for (uint32_t i = 0; i < heap->blocks.count; i++) {
		if (!typing->by_block[i])
			continue;
		assert_true(typing->by_block[i] < typing->item_count);
		assert_non_null(xc_typing_name(typing, i));
		if (i % 64 == 0)
			xc_typing_votes(typing, i, votes, 4);
	}
	xc_typing_report(xc_report_section(report, "heap", "Types"), heap,
			 &(struct xc_typing_options){.unknown = true});
	xc_report_free(report);
	xc_heap_close(heap);
}

static void damaged_memory_does_no_harm(void **state)
{
	(void)state;
	const char *core = dying_core(
		dying_program(
			"program", "gcc -g -O0 -x c",
			BOOK
			"enum kind { A, B }; struct link { struct link *next, *prev; }; struct leaf { long a[3]; };\n"
			"struct node { enum kind kind; struct node *left, *right; struct link link; void *any; char "
			"*name;\n"
			"union { struct leaf *leaf; struct node *node; long n; } u; struct leaf **leaves; int count; "
			"char tail[]; };\n"
			"struct node *root; struct link all;\n"
			"struct node *make(int depth) { if (!depth) return NULL; struct node *n = calloc(1, sizeof *n "
			"+ depth * 9);\n"
			"n->left = make(depth - 1); n->right = make(depth - 1); n->any = calloc(1, sizeof(struct "
			"leaf)); n->kind = depth & 1;\n"
			"n->u.leaf = calloc(depth, sizeof(struct leaf)); n->leaves = calloc(depth, 8); n->leaves[0] = "
			"n->any;\n"
			"n->link.next = all.next; all.next = &n->link; n->name = strdup(\"some name\"); return n; }\n"
			"int main(void) { root = make(9); abort(); }\n"),
		NULL);
	size_t size;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		uint64_t random = seed;
		uint8_t *bytes = read_all(core, &size);
		mutate(bytes, size, &random);
		struct xc_process *process = open_core(scratch_file("damaged", bytes, size));
		look_at_all(process);
		close_process(process);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_flow_from_globals_along_pointers),
		cmocka_unit_test(stale_pointers_do_not_type_text),
		cmocka_unit_test(statics_of_functions_are_roots),
		cmocka_unit_test(arrays_of_pointers_and_numbers_are_followed),
		cmocka_unit_test(nodes_inside_are_owned_by_their_structs),
		cmocka_unit_test(void_pointers_are_learned),
		cmocka_unit_test(structs_that_begin_alike_are_told_by_their_kind),
		cmocka_unit_test(arrays_of_structs_and_open_ends_are_followed),
		cmocka_unit_test(leaked_blocks_are_known_by_what_lies_in_them),
		cmocka_unit_test(the_answer_does_not_depend_on_the_number_of_threads),
		cmocka_unit_test(damaged_memory_does_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
