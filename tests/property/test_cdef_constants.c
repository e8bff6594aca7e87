/* layer: lua */
/* Constants of random expressions equal gcc's, for every machine. */
#include "tests/property/cdef_answers.h"

enum { EXPRESSIONS = 400 };

static void add_expression(struct rng *rng, struct xc_text *text, unsigned depth)
{
	static const char *const leaves[] = {"0",
					     "1",
					     "-1",
					     "7u",
					     "3L",
					     "0xffffffff",
					     "0x80000000",
					     "4294967296",
					     "'a'",
					     "'\\n'",
					     "0777",
					     "0xffffffffffffffff",
					     "2147483647",
					     "123ull",
					     "sizeof(long)",
					     "(unsigned char)300",
					     "P1",
					     "S0",
					     "W0",
					     "N0",
					     "_Alignof(double)",
					     "sizeof(pair_t)",
					     "__builtin_offsetof(pair_t, b)",
					     "'\\377'",
					     "(enum small)200",
					     "sizeof(int (*[3])(void))",
					     "(_Bool)12",
					     "1lu"};
	static const char *const binary[] = {"+", "-",  "*",  "&",  "|",  "^",  "<",
					     ">", "<=", ">=", "==", "!=", "&&", "||"};
	static const char *const unary[] = {
		"-", "~", "!", "+", "(short)", "(unsigned)", "(long)", "(unsigned long long)", "(char)"};
	static const char *const forms[] = {"/ ((", "% ((", "<< ((", ">> (("};
	size_t form;
	switch (depth > 4 ? 0 : rng_below(rng, 8)) {
	case 0:
	case 1:
		xc_text_add(text, leaves[rng_below(rng, XC_COUNT(leaves))]);
		return;
	case 2:
		xc_text_printf(text, "%s(", unary[rng_below(rng, XC_COUNT(unary))]);
		add_expression(rng, text, depth + 1);
		xc_text_char(text, ')');
		return;
	case 3:
		xc_text_char(text, '(');
		add_expression(rng, text, depth + 1);
		xc_text_add(text, " ? ");
		add_expression(rng, text, depth + 1);
		xc_text_add(text, " : ");
		add_expression(rng, text, depth + 1);
		xc_text_char(text, ')');
		return;
	case 4:
		form = rng_below(rng, XC_COUNT(forms));
		xc_text_char(text, '(');
		add_expression(rng, text, depth + 1);
		xc_text_add(text, forms[form]);
		add_expression(rng, text, depth + 1);
		xc_text_add(text, form < 2 ? " & 15) + 1))" : " & 15)))");
		return;
	default: /* without parentheses: this tests precedence */
		xc_text_add(text, rng_below(rng, 2) ? "(" : "1 + (");
		add_expression(rng, text, depth + 1);
		xc_text_printf(text, " %s ", binary[rng_below(rng, XC_COUNT(binary))]);
		add_expression(rng, text, depth + 1);
		xc_text_printf(text, " %s ", binary[rng_below(rng, XC_COUNT(binary))]);
		add_expression(rng, text, depth + 1);
		xc_text_char(text, ')');
	}
}

static void constants_are_those_of_gcc(void **state)
{
	const struct machine *machine = *state;
	needs_compiler(machine);
	uint64_t seed = property_env("XC_SEED", 20261121);
	struct rng rng = {.state = seed + machine->machine};
	struct xc_process *process = process_of(machine);
	struct xc_cdef *cdef = xc_cdef_new(process);
	struct xc_text source = {0}, numbers = {0}, ours = {0};
	xc_text_add(&ours, preamble);
	for (int i = 0; i < EXPRESSIONS; i++) {
		xc_text_printf(&ours, "#define E%d ", i);
		add_expression(&rng, &ours, 0);
		xc_text_printf(&ours, "\n#define F%d sizeof(E%d)\n", i, i);
		xc_text_printf(&numbers, "(unsigned long long)(E%d), F%d, ", i, i);
	}
	CHECK_OK(xc_cdef_declare(cdef, ours.bytes));
	xc_text_printf(&source,
		       "#include <stdint.h>\n#include <stddef.h>\n%s\nconst unsigned long long numbers[] = {%s};\n",
		       ours.bytes, numbers.bytes);
	int fd;
	Elf *elf = compile(machine, source.bytes, &fd);
	struct answers answers = read_answers(elf, 1);
	for (int i = 0; i < 2 * EXPRESSIONS; i++) {
		char name[16];
		snprintf(name, sizeof name, "%c%d", i % 2 ? 'F' : 'E', i / 2);
		uint64_t value = constant(cdef, name);
		if (value != answers.numbers[i]) {
			xc_auto(xc_freep) char *key = xc_asprintf("#define E%d ", i / 2);
			fail_msg("%s: %s is %lld, not %lld: %.200s", machine->name, name, (long long)answers.numbers[i],
				 (long long)value, strstr(ours.bytes, key));
		}
	}
	free(answers.objects);
	elf_end(elf);
	close(fd);
	xc_text_fini(&source);
	xc_text_fini(&numbers);
	xc_text_fini(&ours);
	xc_cdef_free(cdef);
	xc_process_close(process);
}

int main(void)
{
	return run_on_machines("constants_are_those_of_gcc", constants_are_those_of_gcc);
}
