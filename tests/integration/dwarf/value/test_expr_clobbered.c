/* layer: dwarf */
/* The three cases in which a caller-saved register is known in a caller, and the cases where it is not.
 *
 * The debug information at the return address of a function's first call is real; the frame is made by hand. */
#include "tests/support/compile_program.h"

#include "dwarf/value/expr_impl.h"

enum { RDX = 1, RBX = 3, RSI = 4, RDI = 5, LEFT = 0x1eff };

struct caller {
	struct compiled *c;
	Dwarf_Die die;
	struct xc_level level;
	struct xc_place place;
	struct xc_frame frame;
	struct xc_expr_context context;
};

/* The return address of the first call that a function makes. */
static uint64_t first_return(Dwarf_Die *function)
{
	Dwarf_Die site;
	Dwarf_Attribute attr;
	Dwarf_Addr at = 0;
	for (bool more = xc_die_child(function, &site); more; more = xc_die_next(&site)) {
		if (dwarf_tag(&site) != DW_TAG_call_site)
			continue;
		assert_non_null(dwarf_attr(&site, DW_AT_call_return_pc, &attr));
		assert_int_equal(dwarf_formaddr(&attr, &at), 0);
		return at;
	}
	fail_msg("%s calls nothing", dwarf_diename(function));
	return at;
}

/* A frame that waits for that call; the callee has written LEFT to all caller-saved registers. */
static struct caller *wait_in(const char *compiler, const char *source, const char *function)
{
	static const int scratch[] = {0, RDX, 2, RSI, RDI, 8, 9, 10, 11, RBX};
	struct caller *w = xc_alloc(sizeof *w);
	w->c = compile(compiler, source);
	w->die = find_die(w->c, function);
	w->level = (struct xc_level){.die = w->die, .blocks = &w->die, .block_count = 1};
	w->frame.pc = first_return(&w->die);
	w->place = (struct xc_place){
		.module = &w->c->module, .file_addr = w->frame.pc - 1, .levels = &w->level, .level_count = 1};
	assert_non_null(dwarf_diecu(&w->die, &w->place.unit, NULL, NULL));
	for (size_t i = 0; i < XC_COUNT(scratch); i++) {
		xc_regs_set(&w->frame.regs, scratch[i], LEFT);
		xc_regs_forget(&w->frame.regs, scratch[i]);
	}
	w->context = xc_expr_in_frame(w->c->process, NULL, NULL, &w->frame, &w->place, &w->c->scratch);
	return w;
}

static void go(struct caller *w)
{
	release(w->c);
	free(w);
}

static bool known(struct caller *w, uint64_t number, uint64_t *value_out)
{
	uint8_t bytes[16];
	size_t len;
	if (xc_expr_register(&w->context, number, bytes, &len))
		return false;
	memcpy(value_out, bytes, sizeof *value_out);
	return true;
}

static bool is_known(struct caller *w, uint64_t number)
{
	uint64_t value;
	return known(w, number, &value);
}

static struct xc_expr location_of(struct caller *w, const char *variable)
{
	Dwarf_Die die;
	Dwarf_Attribute attr;
	struct xc_expr expr;
	assert_true(find_in(&w->die, variable, &die));
	assert_non_null(dwarf_attr_integrate(&die, DW_AT_location, &attr));
	assert_true(xc_expr_of(xc_types_of(w->c->process), &attr, w->place.file_addr, &expr));
	return expr;
}

#define NOIPA    "__attribute__((noipa)) "
#define NOINLINE "__attribute__((noinline)) "

/* The callee is opaque: only its argument is known. */
static const char passing[] =
	NOIPA "long callee(long a) { return a; }\n" NOIPA "long outer(void) { return callee(42) + 1; }\n";

/* gcc sees that the callee preserves rdi, and does not save x; at the end rdi is reused. */
#define SPARING(end)                                                                                                   \
	"static " NOINLINE "long callee(void) { long r; __asm__ volatile(\"\" : \"=a\"(r)); return r; }\n" NOIPA       \
	"long outer(long x) { long y = callee(); y += x; " end " return y; }\n"
static const char sparing[] = SPARING("__asm__ volatile(\"xor %%edi, %%edi\" ::: \"rdi\");");
static const char whole[] = SPARING(""); /* in rdi from the first instruction to the last: not a list */

/* x is dead after the call. */
static const char leaving[] =
	NOINLINE "long callee(void) { long r; __asm__ volatile(\"\" : \"=a\"(r)); return r; }\n" NOINLINE
		 "long outer(long x) { return callee() + 1; }\n";

static void what_the_own_call_passes_is_known(void **state)
{
	(void)state;
	struct caller *w = wait_in("gcc -g -gdwarf-5 -O2 -x c", passing, "outer");
	uint64_t value = 0;
	assert_true(known(w, RDI, &value));
	assert_int_equal(value, 42);
	assert_false(w->context.guessed);
	assert_false(is_known(w, RSI));
	w->frame.pc++; /* no call ends there */
	assert_false(is_known(w, RDI));
	w->frame.pc--;
	w->frame.tail_call = true;
	assert_false(is_known(w, RDI));
	w->frame.tail_call = false;
	w->frame.interrupted = true;
	assert_false(is_known(w, RDI));
	go(w);
}

static void a_register_that_gcc_lets_outlive_the_call_is_what_the_callee_has(void **state)
{
	(void)state;
	struct caller *w = wait_in("gcc -g -gdwarf-5 -O2 -x c", sparing, "outer");
	struct xc_expr x = location_of(w, "x");
	struct xc_location location;
	struct xc_value value;
	Dwarf_Die die;
	uint64_t bits = 0;
	assert_true(x.survives_call);
	assert_true(find_in(&w->die, "x", &die));
	xc_expr_locate(&w->context, &x, NULL, &location);
	xc_expr_value(&w->context, &location, xc_type_of(xc_types_of(w->c->process), &die), &value);
	assert_true(xc_value_load(&value, &bits));
	assert_int_equal(bits, LEFT);
	assert_false(w->context.survives_call);
	go(w);
}

static void without_such_a_list_it_is_lost(void **state)
{
	(void)state;
	struct caller *w = wait_in("gcc -g -gdwarf-5 -O2 -x c", sparing, "outer");
	assert_false(is_known(w, RDI)); /* nothing proves that it survives */
	w->context.survives_call = true;
	assert_true(is_known(w, RDI));
	assert_false(is_known(w, RBX)); /* callee-saved: the callee may have saved and changed it */
	w->frame.interrupted = true;
	assert_false(is_known(w, RDI));
	go(w);
	w = wait_in("clang -g -gdwarf-5 -O2 -x c", leaving, "outer");
	w->context.survives_call = true; /* only gcc guarantees it */
	assert_false(is_known(w, RDI));
	go(w);
}

static void a_location_that_is_no_list_does_not_last(void **state)
{
	(void)state;
	struct caller *w = wait_in("gcc -g -gdwarf-5 -O2 -x c", whole, "outer");
	struct xc_expr x = location_of(w, "x");
	assert_int_equal(x.ops[0].atom, DW_OP_reg5);
	assert_false(x.survives_call);
	assert_null(x.next_ops);
	go(w);
}

static void an_entry_value_behind_the_call_stands_for_the_lost_register(void **state)
{
	(void)state;
	struct caller *w = wait_in("clang -g -gdwarf-5 -O2 -x c", leaving, "outer");
	struct xc_expr x = location_of(w, "x"), next;
	assert_int_equal(x.ops[0].atom, DW_OP_reg5);
	assert_false(x.survives_call);
	assert_true(xc_expr_after_call(&w->context, &x, &next));
	assert_int_equal(next.ops[0].atom, DW_OP_entry_value);
	assert_true(xc_expr_is_entry_of(xc_types_of(w->c->process), &next, RDI, 8));
	assert_false(xc_expr_is_entry_of(xc_types_of(w->c->process), &next, RSI, 8));
	assert_false(xc_expr_is_entry_of(xc_types_of(w->c->process), &x, RDI, 8));
	xc_regs_set(&w->frame.regs, RDI, 7); /* not lost */
	assert_false(xc_expr_after_call(&w->context, &x, &next));
	xc_regs_forget(&w->frame.regs, RDI);
	w->frame.interrupted = true;
	assert_false(xc_expr_after_call(&w->context, &x, &next));
	go(w);
}

static void when_the_entry_value_is_not_known_the_register_is_named(void **state)
{
	(void)state;
	struct caller *w = wait_in("clang -g -gdwarf-5 -O2 -x c", leaving, "outer");
	struct xc_expr x = location_of(w, "x");
	struct xc_location location;
	xc_expr_locate(&w->context, &x, NULL, &location); /* no unwinder, no caller */
	assert_int_equal(location.kind, XC_LOCATION_REGISTER);
	assert_int_equal(location.number, RDI);
	assert_false(location.guessed);
	go(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_own_call_passes_is_known),
		cmocka_unit_test(a_register_that_gcc_lets_outlive_the_call_is_what_the_callee_has),
		cmocka_unit_test(without_such_a_list_it_is_lost),
		cmocka_unit_test(a_location_that_is_no_list_does_not_last),
		cmocka_unit_test(an_entry_value_behind_the_call_stands_for_the_lost_register),
		cmocka_unit_test(when_the_entry_value_is_not_known_the_register_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
