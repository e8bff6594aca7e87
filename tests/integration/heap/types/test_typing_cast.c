/* layer: heap */
/* A program with ambiguous pointers records its blocks and dies. With rules typing agrees with the record.
 * Without them it cannot: the types that the rules distinguish have the same size and content. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dwarf/elf/symbol.h"
#include "heap/graph/claim.h"
#include "heap/types/typing.h"
#include "heap/session/session.h"
#include "tests/support/scratch.h"
#include "tests/support/opened.h"

static const char source[] =
	"#include <stdlib.h>\n#include <string.h>\n"
	"struct { unsigned long not_addr; char type[40]; } book[20000]; unsigned long booked;\n"
	"void *note(void *p, const char *type)\n"
	"{ book[booked].not_addr = ~(unsigned long)p; strcpy(book[booked++].type, type); return p; }\n"
	"#define NEW(t) ((t *)note(calloc(1, sizeof(t)), #t))\n"
	"struct red { long r[5]; }; struct blue { long b[5]; };\n"
	"struct ops { int hash; }; struct ops reds = {1}, blues = {2}, texts = {3};\n"
	"struct entry { void *key; union { void *val; long number; } v; struct entry *next; };\n"
	"struct table { struct ops *type; struct entry **slots[2]; long count; };\n"
	"struct box { long id; unsigned kind : 4, rest : 28; void *content; };\n"
	"struct small { unsigned char len, flags; char buf[]; } __attribute__((packed));\n"
	"struct large { unsigned len; unsigned char flags; char buf[]; } __attribute__((packed));\n"
	"typedef char *text;\n"
	"struct small *one_small; struct large *one_large; struct red *one_red; struct blue *one_blue;\n"
	"text new_text(int i) { if (i % 2) { struct large *l = note(malloc(sizeof *l + 41), \"struct large\");\n"
	"l->len = 40; l->flags = 1; memset(l->buf, 'l', 40); l->buf[40] = 0; return l->buf; }\n"
	"struct small *s = note(malloc(sizeof *s + 41), \"struct small\");\n"
	"s->len = 40; s->flags = 8; memset(s->buf, 's', 40); s->buf[40] = 0; return s->buf; }\n"
	"void *new_red(int i) { struct red *p = NEW(struct red); p->r[0] = i; return p; }\n"
	"void *new_blue(int i) { struct blue *p = NEW(struct blue); p->b[0] = i; return p; }\n"
	"struct table *tables[3]; struct box *boxes[90]; struct { text name; } named;\n"
	"void fill(struct table *t, struct ops *type) {\n"
	"t->type = type; t->slots[0] = note(calloc(64, 8), \"struct entry *\");\n"
	"for (int i = 0; i < 300; i++) { struct entry *e = NEW(struct entry); e->key = new_text(i);\n"
	"e->v.val = type == &reds ? new_red(i) : type == &blues ? new_blue(i) : new_text(i + 1);\n"
	"e->next = t->slots[0][i % 64]; t->slots[0][i % 64] = e; } }\n"
	"int main(void) { struct ops *types[] = {&reds, &blues, &texts};\n"
	"for (int i = 0; i < 3; i++) fill(tables[i] = NEW(struct table), types[i]);\n"
	"for (int i = 0; i < 90; i++) { boxes[i] = NEW(struct box); boxes[i]->kind = i % 3; boxes[i]->rest = i;\n"
	"boxes[i]->content = i % 3 == 0 ? new_red(i) : i % 3 == 1 ? new_blue(i) : (void *)~(long)book[7].not_addr; }\n"
	"named.name = new_text(0); abort(); }\n";

struct tally {
	unsigned blocks, right, strong_wrong;
};

static xc_addr symbol(const struct xc_process *process, const char *name)
{
	xc_addr addr = 0;
	assert_non_null(xc_symbol_find(process, name, NULL, &addr));
	return addr;
}

static struct tally compare(struct xc_heap *heap)
{
	const struct xc_process *process = heap->process;
	struct xc_typing *typing;
	struct tally t = {0};
	CHECK_OK(xc_typing_of(heap, &typing));
	uint64_t count;
	assert_int_equal(xc_space_peek(process->space, symbol(process, "booked"), &count, sizeof count), 8);
	for (uint64_t i = 0; i < count; i++) {
		struct {
			uint64_t not_addr;
			char type[40];
		} entry;
		xc_addr at = symbol(process, "book") + i * sizeof entry;
		assert_int_equal(xc_space_peek(process->space, at, &entry, sizeof entry), sizeof entry);
		uint32_t block = xc_blocks_find(&heap->blocks, ~entry.not_addr);
		assert_true(block != XC_NO_BLOCK);
		const struct xc_typed *typed = xc_typing_get(typing, block);
		bool right = typed && strcmp(xc_typing_name(typing, block), entry.type) == 0;
		t.blocks++;
		t.right += right;
		t.strong_wrong += typed && !right && typed->confidence >= XC_TYPE_STRONG;
		if (!right)
			print_message("a %s is taken for %s (%s)\n", entry.type,
				      typed ? xc_typing_name(typing, block) : "nothing", typed ? typed->via : "");
	}
	assert_true(t.blocks > 2000);
	return t;
}

static void add(struct xc_heap *heap, struct xc_claim_rule rule)
{
	CHECK_OK(xc_claim_add_rule(heap, &rule));
}

/* Entries of a table of this type: their keys are texts, their values are given. */
static void add_table(struct xc_heap *heap, const char *type, const char *value)
{
	uint32_t variant;
	CHECK_OK(xc_claim_variant(heap, &variant));
	add(heap, (struct xc_claim_rule){.type = "struct entry", .in = variant, .field = "key", .cast = "text"});
	add(heap, (struct xc_claim_rule){.type = "struct entry", .in = variant, .field = "v.val", .cast = value});
	add(heap, (struct xc_claim_rule){.type = "struct table",
					 .field = "slots",
					 .by = "type",
					 .value = symbol(heap->process, type),
					 .cast = "struct entry **",
					 .as = variant});
}

static void add_all(struct xc_heap *heap)
{
	static const struct xc_claim_header headers[] = {
		{.pointer = "text", .at = -1, .mask = 7, .value = 0, .header = "struct small"},
		{.pointer = "text", .at = -1, .mask = 7, .value = 1, .header = "struct large"},
		{.pointer = "text", .at = -1, .mask = 7, .value = 2, .header = "struct lacking"},
	};
	static const char *const kinds[] = {"struct red *", "struct blue *", "long"};
	for (size_t i = 0; i < XC_COUNT(headers); i++)
		CHECK_OK(xc_claim_add_header(heap, &headers[i]));
	for (size_t i = 0; i < XC_COUNT(kinds); i++)
		add(heap, (struct xc_claim_rule){
				  .type = "box", .field = "content", .by = "kind", .value = i, .cast = kinds[i]});
	add_table(heap, "reds", "struct red *");
	add_table(heap, "blues", "struct blue *");
	add_table(heap, "texts", "text");
}

static void rules_tell_what_memory_does_not(void **state)
{
	(void)state;
	struct xc_process *process = died("gcc -g -O0 -x c", source);
	struct xc_heap *heap = xc_heap_open(process, NULL);
	add_all(heap);
	struct tally t = compare(heap);
	assert_int_equal(t.right, t.blocks);
	xc_heap_close(heap);
	heap = xc_heap_open(process, NULL);
	t = compare(heap);
	assert_true(t.blocks - t.right > 300); /* or there is nothing to distinguish */
	xc_heap_close(heap);
	close_process(process);
}

/* The rules belong to one version of a program, the core to another. */
static void rules_for_what_the_program_lacks_do_nothing(void **state)
{
	(void)state;
	static const struct xc_claim_rule lacking[] = {
		{.type = "struct nothing", .field = "content", .cast = "struct red *"},
		{.type = "struct box", .field = "nothing", .cast = "struct red *"},
		{.type = "struct box", .field = "id.more", .cast = "struct red *"},
		{.type = "struct box", .field = "kind", .cast = "struct red *"},
		{.type = "struct box", .field = "", .cast = ""},
		{.type = "", .field = ".", .by = ".", .cast = "*"},
		{.type = "long", .field = "content", .cast = "struct red *"},
		{.type = "struct entry", .field = "key", .by = "nothing", .cast = "struct red *"},
		{.type = "struct entry", .field = "key", .by = "v", .value = 9, .cast = "struct nothing **"},
		{.type = "struct entry", .in = 77, .field = "next", .cast = "struct red *"},
	};
	struct xc_process *process = died("gcc -g -O0 -x c", source);
	struct xc_heap *heap = xc_heap_open(process, NULL);
	add_all(heap);
	for (size_t i = 0; i < XC_COUNT(lacking); i++)
		add(heap, lacking[i]);
	struct tally t = compare(heap);
	assert_int_equal(t.right, t.blocks);
	xc_heap_close(heap);
	close_process(process);
}

static void wrong_rules_do_no_harm(void **state)
{
	(void)state;
	struct xc_process *process = died("gcc -g -O0 -x c", source);
	struct xc_heap *heap = xc_heap_open(process, NULL);
	uint32_t variant;
	CHECK_OK(xc_claim_variant(heap, &variant));
	add(heap, (struct xc_claim_rule){.type = "table", .field = "slots", .cast = "table **", .as = variant});
	add(heap,
	    (struct xc_claim_rule){.type = "table", .in = variant, .field = "count", .cast = "box **************"});
	add(heap, (struct xc_claim_rule){.type = "entry", .field = "next", .cast = "box *", .as = variant});
	add(heap, (struct xc_claim_rule){.type = "entry", .field = "v", .cast = "text *"});
	add(heap, (struct xc_claim_rule){.type = "box", .field = "content", .cast = "box *", .as = variant});
	for (int at = -3; at < 4000; at += 1999) {
		const struct xc_claim_header header = {.pointer = "text", .at = at, .header = "struct table"};
		CHECK_OK(xc_claim_add_header(heap, &header));
	}
	(void)compare(heap);
	xc_heap_close(heap);
	close_process(process);
}

static void no_more_rules_than_there_may_be(void **state)
{
	(void)state;
	struct xc_process *process = died("gcc -g -O0 -x c", "int main(void) { __builtin_trap(); }");
	struct xc_heap *heap = xc_heap_open(process, NULL);
	const struct xc_claim_rule rule = {.type = "box", .field = "content", .cast = "box *"};
	struct xc_error *err = NULL;
	size_t count = 0;
	for (; !err && count <= XC_CLAIM_RULES; count++)
		err = xc_claim_add_rule(heap, &rule);
	assert_int_equal(count, XC_CLAIM_RULES + 1);
	assert_int_equal(err->code, XC_ERR_LIMIT);
	xc_error_free(err);
	xc_heap_close(heap);
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_tell_what_memory_does_not),
		cmocka_unit_test(rules_for_what_the_program_lacks_do_nothing),
		cmocka_unit_test(wrong_rules_do_no_harm),
		cmocka_unit_test(no_more_rules_than_there_may_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
