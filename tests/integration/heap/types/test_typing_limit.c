/* layer: heap
 *
 * Typing stores a limited number of facts: with room for only a few, the remaining results are unchanged, and the loss
 * is reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/render/render.h"
#include "heap/query/typing_report.h"
#include "heap/session/session.h"
#include "tests/support/grid.h"
#include "tests/support/opened.h"

static const char source[] =
	"#include <stdlib.h>\n#include <string.h>\n"
	"struct leaf { long value; char text[8]; }; struct link { struct link *next; };\n"
	"struct node { struct node *left, *right; char *name; void *any; int kind;\n"
	"	union { struct leaf *leaf; struct node *twin; } u; struct link link; struct leaf **leaves; };\n"
	"struct node *root; struct link all;\n"
	"struct node *make(int depth) { if (!depth) return NULL; struct node *n = calloc(1, sizeof *n);\n"
	"	n->left = make(depth - 1); n->right = make(depth - 1); n->any = calloc(1, sizeof(struct leaf));\n"
	"	n->kind = depth & 1; if (n->kind) n->u.twin = n->left; else n->u.leaf = calloc(1, sizeof(struct "
	"leaf));\n"
	"	n->leaves = calloc(depth, 8); n->leaves[0] = n->any; n->link.next = all.next; all.next = &n->link;\n"
	"	n->name = strdup(\"some name\"); return n; }\n"
	"int main(void) { root = make(8); abort(); }\n";

/* The number of typed blocks with room for that many facts (0: the default). */
static size_t typed_with(struct xc_process *process, size_t most, size_t *refused_out)
{
	struct xc_heap *heap = xc_heap_open(process, NULL);
	struct xc_typing *typing;
	struct xc_vote votes[4];
	size_t typed = 0;
	heap->most_items = most;
	CHECK_OK(xc_typing_of(heap, &typing));
	assert_true(most == 0 || typing->item_count <= most);
	for (uint32_t i = 0; i < heap->blocks.count; i++) {
		const struct xc_typed *what = xc_typing_get(typing, i);
		xc_typing_votes(typing, i, votes, 4);
		if (!what)
			continue;
		assert_true(typing->by_block[i] < typing->item_count);
		assert_non_null(what->type);
		assert_non_null(xc_typing_name(typing, i));
		typed++;
	}
	*refused_out = typing->refused;
	xc_heap_close(heap);
	return typed;
}

static void what_there_is_no_room_for_is_left_out(void **state)
{
	(void)state;
	struct xc_process *process = died("gcc -g -O0 -x c", source);
	size_t refused, none, all = typed_with(process, 0, &none), before = 0;
	assert_int_equal(none, 0);
	assert_true(all > 1000);
	for (size_t most = 1; most < 4000; most += most < 8 ? 1 : most / grid_count(1, 3)) {
		size_t typed = typed_with(process, most, &refused);
		assert_true(typed <= all && (most > 40 || refused > 0));
		before = typed > before ? typed : before;
	}
	assert_int_equal(before, all);
	assert_int_equal(typed_with(process, 1, &refused), 0);
	close_process(process);
}

/* The report with room for that many facts, as JSON. */
static char *told_with(struct xc_process *process, size_t most)
{
	struct xc_heap *heap = xc_heap_open(process, NULL);
	struct xc_report *report = xc_report_new("types");
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	heap->most_items = most;
	xc_typing_report(xc_report_section(report, "types", "Types"), heap,
			 &(struct xc_typing_options){.unknown = true});
	CHECK_OK(xc_render_json(report, &(struct xc_render_options){0}, out));
	fclose(out);
	xc_report_free(report);
	xc_heap_close(heap);
	return text;
}

static void the_report_tells_how_much(void **state)
{
	(void)state;
	struct xc_process *process = died("gcc -g -O0 -x c", source);
	char *whole = told_with(process, 0), *cut = told_with(process, 12);
	assert_null(strstr(whole, "facts about types were dropped"));
	assert_non_null(strstr(cut, "facts about types were dropped, since only 1"));
	free(whole);
	free(cut);
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_there_is_no_room_for_is_left_out),
		cmocka_unit_test(the_report_tells_how_much),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
