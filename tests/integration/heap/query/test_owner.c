/* layer: heap
 *
 * The holder of a block: names have priority over leftover words of earlier calls on the stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/text.h"
#include "dwarf/elf/symbol.h"
#include "heap/session/session.h"
#include "heap/query/owner.h"
#include "tests/support/opened.h"

/* `leave` writes addresses where the frame of `use` then has unnamed memory. Numbers are stored inverted, so that
 * they are not pointers. */
static const char source[] =
	"#include <alloca.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"struct node { struct node *next; char *label; };\n"
	"struct node *head; unsigned long label, mine, stale;\n"
	"static __attribute__((noinline)) void leave(unsigned long a, unsigned long b)\n"
	"{ volatile unsigned long c[1024]; for (int i = 0; i < 1024; i += 2) { c[i] = ~a; c[i + 1] = ~b; } }\n"
	"static __attribute__((noinline)) void use(void)\n"
	"{ volatile char *c = alloca(9000); c[0] = 0; __builtin_trap(); }\n"
	"int main(void) { char *local;\n"
	"	head = calloc(1, sizeof *head); head->label = strdup(\"a label of the node\");\n"
	"	label = ~(unsigned long)head->label; local = malloc(100); mine = ~(unsigned long)local;\n"
	"	stale = ~(unsigned long)malloc(200);\n"
	"	leave(label, stale); use(); return local[0]; }\n";

static struct xc_process *process;
static struct xc_heap *heap;

static int set_up(void **state)
{
	(void)state;
	process = died("gcc -g -O0 -x c", source);
	heap = xc_heap_of(process, NULL);
	return xc_heap_analyze(heap) == NULL ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	xc_heap_forget(process);
	close_process(process);
	return 0;
}

static void expect_owner(const char *name, const char *said)
{
	xc_addr addr;
	uint64_t value;
	struct xc_text text = {0};
	assert_true(xc_symbol_find(process, name, NULL, &addr) && xc_space_peek_uint(process->space, addr, 8, &value));
	uint32_t block = xc_blocks_find(&heap->blocks, ~value);
	assert_int_not_equal(block, XC_NO_BLOCK);
	xc_owner_text(heap, block, &text);
	if (!strstr(xc_text_string(&text), said))
		fail_msg("\"%s\" does not say %s", xc_text_string(&text), said);
	xc_text_fini(&text);
}

static void a_field_comes_before_a_nearer_word_without_a_name(void **state)
{
	(void)state;
	expect_owner("label", "struct node (heap, live, 24 bytes) .label");
}

static void a_variable_is_named(void **state)
{
	(void)state;
	expect_owner("mine", ", #1 main, local");
}

static void a_word_without_a_name_is_said_to_be_one(void **state)
{
	(void)state;
	expect_owner("stale", "a word of the stack of thread ");
	expect_owner("stale", "#0 use, no named variable: it may be left over from an earlier call");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_field_comes_before_a_nearer_word_without_a_name),
		cmocka_unit_test(a_variable_is_named),
		cmocka_unit_test(a_word_without_a_name_is_said_to_be_one),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
