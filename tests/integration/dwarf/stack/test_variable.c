/* layer: dwarf */
/* Arguments and locals of a frame: the variables in scope, their order and their values.
 *
 * The frame is made by hand. The function's DIEs are compiled, and the stack is a byte array. A test writes values to
 * the locations that the debug information gives. */
#include "tests/support/compile_program.h"

#include "dwarf/stack/variable.h"

enum { STACK = 0x700000, STACK_SIZE = 4096, CFA = STACK + 2048, RBP = 6 };

struct fixture {
	struct compiled *c;
	uint8_t *stack;
	struct xc_frame frame;
	struct xc_level level;
	struct xc_place place;
	Dwarf_Die blocks[4];
	struct xc_arena arena;
	struct xc_stack_row row;
};

/* A frame in `function`; its lexical blocks (innermost first) contain variables with these names. */
static struct fixture *enter(const char *compiler, const char *source, const char *function)
{
	struct fixture *f = xc_alloc(sizeof *f);
	f->c = compile(compiler, source);
	f->stack = xc_arena_alloc(&f->c->process->arena, STACK_SIZE);
	struct xc_segment s = {
		.lo = STACK, .hi = STACK + STACK_SIZE - 1, .provenance = XC_FROM_CORE, .bytes = f->stack};
	xc_space_add(f->c->process->space, &s);
	xc_space_seal(f->c->process->space);
	Dwarf_Addr lo;
	f->level.die = find_die(f->c, function);
	f->level.blocks = f->blocks;
	f->blocks[f->level.block_count++] = f->level.die;
	assert_int_equal(dwarf_lowpc(&f->level.die, &lo), 0);
	f->place =
		(struct xc_place){.module = &f->c->module, .file_addr = lo + 8, .levels = &f->level, .level_count = 1};
	f->frame.pc = lo + 8;
	f->frame.cfa = CFA;
	f->frame.cfa_known = true;
	xc_regs_set(&f->frame.regs, RBP, CFA - 16);
	return f;
}

/* Move the lexical block that directly contains a variable before the other blocks. */
static void enter_block(struct fixture *f, const char *variable)
{
	Dwarf_Die block, found;
	for (bool more = xc_die_child(&f->blocks[0], &block); more; more = xc_die_next(&block)) {
		if (dwarf_tag(&block) != DW_TAG_lexical_block || !find_in(&block, variable, &found))
			continue;
		memmove(f->blocks + 1, f->blocks, f->level.block_count * sizeof *f->blocks);
		f->blocks[0] = block;
		f->level.block_count++;
		return;
	}
	fail_msg("no block with %s", variable);
}

static void poke(struct fixture *f, const char *variable, uint64_t number, size_t size)
{
	Dwarf_Die die;
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t count;
	assert_true(find_in(&f->level.die, variable, &die));
	assert_non_null(dwarf_attr(&die, DW_AT_location, &attr));
	assert_int_equal(dwarf_getlocation(&attr, &ops, &count), 0);
	assert_int_equal(ops[0].atom, DW_OP_fbreg);
	memcpy(f->stack + (int64_t)(CFA - STACK) + (int64_t)ops[0].number, &number, size);
}

static void fill(struct fixture *f)
{
	struct xc_format_options options = xc_format_defaults();
	options.symbols = false;
	struct xc_frame_context context = {.process = f->c->process, .frame = &f->frame, .place = &f->place};
	f->row = (struct xc_stack_row){0};
	xc_variables_fill(&context, 0, true, &options, &f->arena, &f->row);
}

static void leave(struct fixture *f)
{
	xc_arena_fini(&f->arena);
	release(f->c);
	free(f);
}

static void expect(const struct xc_variable_text *v, const char *name, const char *type, const char *value)
{
	assert_string_equal(v->name, name);
	assert_string_equal(v->type, type);
	assert_string_equal(v->value ? v->value : v->why, value);
	assert_true(!v->value != !v->why);
}

static const char source[] =
	"enum color {RED, GREEN}; struct pair {int a, b;};\n"
	"int work(int count, enum color color, char letter, unsigned long long big)\n"
	"{ struct pair pair = {1, 2}; int hidden = 3; static int calls = 42; extern int elsewhere;\n"
	"  { int inner = 4; { int hidden = 5; pair.a = inner + hidden; } }\n"
	"  { int other = 6; pair.b = other; }\n"
	"  return count + color + letter + (int)big + pair.a + hidden + calls++; }\n";

static void arguments_and_locals_come_in_order(void **state)
{
	(void)state;
	struct fixture *f = enter("gcc -g -O0 -x c", source, "work");
	poke(f, "count", (uint64_t)-7, 4);
	poke(f, "color", 1, 4);
	poke(f, "letter", 'z', 1);
	poke(f, "big", UINT64_MAX, 8);
	poke(f, "pair", 0x200000001, 8);
	poke(f, "hidden", 3, 4);
	fill(f);
	assert_int_equal(f->row.arg_count, 4);
	expect(&f->row.args[0], "count", "int", "-7");
	expect(&f->row.args[1], "color", "enum color", "GREEN");
	expect(&f->row.args[2], "letter", "char", "122 'z'");
	expect(&f->row.args[3], "big", "unsigned long long", "18446744073709551615");
	assert_int_equal(f->row.local_count, 3);
	expect(&f->row.locals[0], "pair", "struct pair", "{a = 1, b = 2}");
	expect(&f->row.locals[1], "hidden", "int", "3");
	expect(&f->row.locals[2], "calls", "int", "42");
	leave(f);
}

static void inner_blocks_come_first_and_keep_what_they_hide(void **state)
{
	(void)state;
	struct fixture *f = enter("gcc -g -O0 -x c", source, "work");
	enter_block(f, "inner");
	poke(f, "hidden", 3, 4);
	poke(f, "inner", 4, 4);
	enter_block(f, "hidden");
	fill(f);
	assert_int_equal(f->row.local_count, 5);
	assert_string_equal(f->row.locals[0].name, "hidden");
	expect(&f->row.locals[1], "inner", "int", "4");
	assert_string_equal(f->row.locals[2].name, "pair");
	expect(&f->row.locals[3], "hidden", "int", "3");
	leave(f);
}

static void plans_serve_every_frame_of_the_place(void **state)
{
	(void)state;
	struct fixture *f = enter("gcc -g -O0 -x c", source, "work");
	poke(f, "count", 1, 4);
	fill(f);
	const void *plan = f->level.variables;
	expect(&f->row.args[0], "count", "int", "1");
	poke(f, "count", 2, 4);
	fill(f);
	assert_ptr_equal(f->level.variables, plan);
	expect(&f->row.args[0], "count", "int", "2");
	leave(f);
}

static void lost_stacks_and_registers_say_so(void **state)
{
	(void)state;
	struct fixture *f = enter("gcc -g -O0 -x c", source, "work");
	f->frame.cfa = 0x100;
	fill(f);
	assert_null(f->row.args[0].value);
	assert_non_null(strstr(f->row.args[0].why, ": not mapped"));
	f->frame.cfa_known = false;
	fill(f);
	assert_string_equal(f->row.args[0].why, "no call frame information here");
	leave(f);
}

static void variable_length_arrays_have_their_length(void **state)
{
	(void)state;
	static const char vla[] =
		"int work(int n, int m[n][2]) { short list[n]; list[0] = 1; return list[n - 1] + m[0][0]; }";
	struct fixture *f = enter("gcc -g -O0 -x c", vla, "work");
	Dwarf_Die die;
	Dwarf_Attribute attr;
	bool is_bound;
	assert_true(find_in(&f->level.die, "list", &die));
	assert_true(xc_type_dimension(type_of(f->c, "list"), &attr, &is_bound));
	struct xc_location where;
	struct xc_expr expr;
	struct xc_expr_context context = xc_expr_in_frame(f->c->process, NULL, NULL, &f->frame, &f->place, &f->arena);
	assert_true(xc_expr_of(xc_types_of(f->c->process), &attr, f->place.file_addr, &expr));
	xc_expr_locate(&context, &expr, NULL, &where);
	assert_int_equal(where.number, 0); /* the stack is zero: a bound of 0 is one element */
	fill(f);
	assert_string_equal(f->row.locals[0].type, "short [1]");
	leave(f);
}

static void optimised_out_is_said_and_constants_are_known(void **state)
{
	(void)state;
	static const char optimised[] =
		"extern int sink; int sink; static inline int twice(int x) { int result = x * 2; return result; }\n"
		"int work(int n) { int fixed = 40; int gone = n * 3; sink = twice(21); return fixed + 2; }\n";
	struct fixture *f = enter("gcc -g -O2 -x c", optimised, "work");
	Dwarf_Addr lo, hi;
	assert_int_equal(dwarf_lowpc(&f->level.die, &lo), 0);
	assert_int_equal(dwarf_highpc(&f->level.die, &hi), 0);
	f->place.file_addr = hi - 1;
	fill(f);
	assert_int_equal(f->row.arg_count, 1);
	bool fixed = false, gone = false;
	for (size_t i = 0; i < f->row.local_count; i++) {
		const struct xc_variable_text *v = &f->row.locals[i];
		if (strcmp(v->name, "fixed") == 0) {
			fixed = true;
			expect(v, "fixed", "int", "40");
		} else if (strcmp(v->name, "gone") == 0) {
			gone = true;
			assert_null(v->value);
		}
	}
	assert_true(fixed && gone);
	leave(f);
}

static void inlined_calls_keep_their_whole_signature(void **state)
{
	(void)state;
	static const char inlined[] = "int sink; static inline __attribute__((always_inline)) int part(int unused, int "
				      "used) { sink = used; return 1; }\n"
				      "int work(int n) { return part(7, n) + part(8, n + 1); }\n";
	struct fixture *f = enter("gcc -g -O2 -x c", inlined, "work");
	Dwarf_Die child;
	assert_true(xc_die_child(&f->level.die, &child));
	while (dwarf_tag(&child) != DW_TAG_inlined_subroutine)
		assert_true(xc_die_next(&child));
	struct xc_level levels[2] = {{.die = child, .blocks = &child, .block_count = 1}, f->level};
	f->place.levels = levels;
	f->place.level_count = 2;
	fill(f);
	assert_int_equal(f->row.arg_count, 2);
	assert_string_equal(f->row.args[0].name, "unused");
	assert_string_equal(f->row.args[1].name, "used");
	leave(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_and_locals_come_in_order),
		cmocka_unit_test(inner_blocks_come_first_and_keep_what_they_hide),
		cmocka_unit_test(plans_serve_every_frame_of_the_place),
		cmocka_unit_test(lost_stacks_and_registers_say_so),
		cmocka_unit_test(variable_length_arrays_have_their_length),
		cmocka_unit_test(optimised_out_is_said_and_constants_are_known),
		cmocka_unit_test(inlined_calls_keep_their_whole_signature),
	};
	return cmocka_run_group_tests_name("variable", tests, NULL, NULL);
}
