/* layer: dwarf */
/* Random C expressions: value and type agree with the compiler's.
 *
 * The expressions are compiled into a program. On request it prints the type and bytes of each; otherwise it crashes,
 * and the same expressions are evaluated on its core. Undefined behaviour is not generated, except signed overflow,
 * which -fwrapv defines. */
#include <math.h>
#include <stdio.h>

#include "dwarf/cexpr/cexpr.h"
#include "tests/support/property.h"
#include "tests/support/scratch.h"
#include "tests/support/opened.h"

enum { FEW = 400, EXPRESSIONS = 1200, DEEPEST = 5, LONGEST = 4096, MAX_BYTES = 16 };

static const char globals[] =
	"#include <stdio.h>\n#include <stdbool.h>\n"
	"enum color { RED, GREEN = 7, BLUE = 200 };\n"
	"struct part { signed narrow : 3; unsigned seven : 7; unsigned long wide : 40; long deep : 50; unsigned whole "
	": 32;"
	" unsigned char byte; short pair[2]; struct part *self; } part, *whole = &part;\n"
	"char c = 'x'; signed char sc = -5; unsigned char uc = 250; short s = -1234; unsigned short us = 65000;\n"
	"int i = -77777; unsigned u = 4000000000u; long l = -5000000000; unsigned long ul = 18000000000000000000u;\n"
	"long long ll = 1234567890123; unsigned long long ull = 0xfedcba9876543210; bool yes = true; enum color color "
	"= GREEN;\n"
	"__int128 big = ((__int128)-7 << 70) + 5; unsigned __int128 ubig = ((unsigned __int128)9 << 100) + 3;\n"
	"float f = 1.7f; double d = -0.1; long double ld = 3.14159265358979323846L; float tiny = 1e-42f;\n"
	"int ia[8] = {5, -4, 3, -2, 1, 0, 7, 9}; double da[3] = {0.5, 1e300, -3}; int grid[3][4] = "
	"{{1,2,3,4},{5,6,7,8},{9}};\n"
	"int *ip = ia + 2; unsigned char *cp = (unsigned char *)ia; const char *text = \"hello\";\n"
	"#define NAME(x) _Generic((x), char: \"char\", signed char: \"signed char\", unsigned char: \"unsigned char\","
	" short: \"short\", unsigned short: \"unsigned short\", int: \"int\", unsigned: \"unsigned int\", long: "
	"\"long\","
	" unsigned long: \"unsigned long\", long long: \"long long\", unsigned long long: \"unsigned long long\","
	" __int128: \"__int128\", unsigned __int128: \"unsigned __int128\", float: \"float\", double: \"double\","
	" long double: \"long double\", bool: \"bool\")\n"
	"static void show(int n, const char *name, const void *bytes, unsigned size)\n"
	"{ printf(\"%d %u \", n, size == 16 && name[0] == 'l' ? 10 : size);"
	" for (unsigned k = 0; k < size; k++) printf(\"%02x\", ((unsigned char *)bytes)[k]); printf(\" %s\\n\", name); "
	"}\n"
	"#define SHOW(n, x) do { __typeof__(x) v_ = (x); show(n, NAME(v_), &v_, sizeof v_); } while (0)\n"
	"int main(int argc, char **argv)\n{\n"
	"part.narrow = -3; part.seven = 99; part.wide = 0xabcdef0123; part.deep = -999999999999; part.whole = "
	"3000000000u;"
	" part.byte = 200; part.pair[1] = -9; part.self = &part;\n"
	"if (argc == 1) __builtin_trap();\n";

/* ---- generation ---- */

struct maker {
	struct rng *rng;
	struct xc_text text;
};

static const char *pick(struct maker *m, const char *const *list, size_t count)
{
	return list[rng_below(m->rng, count)];
}
#define PICK(m, list) pick(m, list, XC_COUNT(list))

static void integer(struct maker *m, unsigned depth);

static void integer_leaf(struct maker *m)
{
	static const char *const leaves[] = {"c",
					     "sc",
					     "uc",
					     "s",
					     "us",
					     "i",
					     "u",
					     "l",
					     "ul",
					     "ll",
					     "ull",
					     "yes",
					     "color",
					     "big",
					     "ubig",
					     "+part.narrow",
					     "-part.seven",
					     "(unsigned long)whole->wide",
					     "(long)whole->deep",
					     "+part.whole",
					     "part.byte",
					     "whole->self->pair[1]",
					     "ia[3]",
					     "ip[-1]",
					     "*ip",
					     "*(ip + 2)",
					     "cp[5]",
					     "text[1]",
					     "grid[1][2]",
					     "(*grid)[3]",
					     "*&i",
					     "3[ia]",
					     "BLUE",
					     "GREEN",
					     "0",
					     "1",
					     "-1",
					     "2u",
					     "7L",
					     "0xffffffff",
					     "0x80000000",
					     "4294967296",
					     "0x7fffffffffffffff",
					     "0xffffffffffffffff",
					     "123ull",
					     "'a'",
					     "'\\n'",
					     "017",
					     "0b1011",
					     "2147483648",
					     "sizeof(struct part)",
					     "sizeof ia",
					     "sizeof grid[0]",
					     "sizeof(long double)",
					     "sizeof(char *[3])",
					     "(ip - ia)",
					     "(&grid[2] - grid)",
					     "(ip == ia + 2)",
					     "(ip > ia)",
					     "!ip",
					     "sizeof *whole",
					     "(long)d",
					     "(int)f",
					     "(unsigned char)ld",
					     "(short)-3.9",
					     "(bool)tiny",
					     "_Alignof(double)",
					     "_Alignof(struct part)",
					     "sizeof(int (*)(void))",
					     "sizeof \"four\"",
					     "\"text\"[2]",
					     "(ip && cp)",
					     "((char *)&i)[1]",
					     "*(unsigned char *)&u",
					     "(char)200"};
	xc_text_add(&m->text, PICK(m, leaves));
}

static void real(struct maker *m, unsigned depth);

static void binary(struct maker *m, unsigned depth, void (*operand)(struct maker *, unsigned), const char *op)
{
	xc_text_char(&m->text, '(');
	operand(m, depth + 1);
	xc_text_printf(&m->text, " %s ", op);
	operand(m, depth + 1);
	xc_text_char(&m->text, ')');
}

static void around(struct maker *m, unsigned depth, const char *before, const char *after)
{
	xc_text_add(&m->text, before);
	integer(m, depth + 1);
	xc_text_add(&m->text, after);
}

/* Divisors are positive and shifts narrow: anything else is undefined or traps. */
static void integer(struct maker *m, unsigned depth)
{
	static const char *const plain[] = {"+", "-", "*", "&", "|", "^", "<", ">", "<=", ">=", "==", "!=", "&&", "||"};
	static const char *const casts[] = {"(char)",     "(signed char)",   "(unsigned short)", "(int)",
					    "(unsigned)", "(unsigned long)", "(long long)",      "(bool)",
					    "(long)",     "(short)"};
	static const char *const unary[] = {"-", "~", "!", "+"};
	static const char *const compare[] = {"<", ">", "<=", ">=", "==", "!="};
	switch (depth >= DEEPEST ? 0 : rng_below(m->rng, 12)) {
	case 0:
	case 1:
		integer_leaf(m);
		break;
	case 2:
		xc_text_add(&m->text, PICK(m, casts));
		around(m, depth, "(", ")");
		break;
	case 3:
		xc_text_add(&m->text, PICK(m, unary));
		around(m, depth, "(", ")");
		break;
	case 4:
		around(m, depth, "(", rng_below(m->rng, 2) ? " / ((" : " % ((");
		around(m, depth, "", " & 15) + 1))");
		break;
	case 5:
		around(m, depth, "(", rng_below(m->rng, 2) ? " << ((" : " >> ((");
		around(m, depth, "", ") & 31))");
		break;
	case 6:
		around(m, depth, "(", " ? ");
		around(m, depth, "", " : ");
		around(m, depth, "", ")");
		break;
	case 7:
		binary(m, depth, real, PICK(m, compare));
		break;
	case 8:
		around(m, depth, "(", ", ");
		around(m, depth, "", ")");
		break;
	default:
		binary(m, depth, integer, PICK(m, plain));
	}
}

static void real(struct maker *m, unsigned depth)
{
	static const char *const leaves[] = {
		"f",           "d",          "ld",   "tiny",   "da[0]",           "*(da + 1)",
		"1.5",         "2.5f",       "0.1L", "1e-310", "0x1.8p3",         "(float)i",
		"(double)ull", "(float)big", "3.f",  ".25",    "(long double)ul", "(float)0.1"};
	static const char *const arithmetic[] = {"+", "-", "*", "/"};
	static const char *const casts[] = {"(float)(", "(double)(", "(long double)(", "-("};
	switch (depth >= DEEPEST ? 0 : rng_below(m->rng, 6)) {
	case 0:
		xc_text_add(&m->text, PICK(m, leaves));
		break;
	case 1:
		xc_text_add(&m->text, PICK(m, casts));
		real(m, depth + 1);
		xc_text_char(&m->text, ')');
		break;
	case 2:
		xc_text_char(&m->text, '(');
		integer(m, depth + 1);
		xc_text_printf(&m->text, " %s ", PICK(m, arithmetic));
		real(m, depth + 1);
		xc_text_char(&m->text, ')');
		break;
	case 3:
		around(m, depth, "(", " ? ");
		real(m, depth + 1);
		xc_text_add(&m->text, " : ");
		real(m, depth + 1);
		xc_text_char(&m->text, ')');
		break;
	default:
		binary(m, depth, real, PICK(m, arithmetic));
	}
}

static char *make_expression(uint64_t seed)
{
	struct rng rng = {.state = seed * UINT64_C(0xd1342543de82ef95), .seed = seed};
	struct maker m = {.rng = &rng};
	do {
		m.text.len = 0;
		if (rng_below(&rng, 3))
			integer(&m, 0);
		else
			real(&m, 0);
	} while (m.text.len > LONGEST);
	return xc_text_take(&m.text);
}

/* ---- comparison ---- */

struct answer {
	char type[32];
	uint8_t bytes[MAX_BYTES];
	unsigned size;
};

static bool read_answer(FILE *pipe, struct answer *out)
{
	unsigned number, byte;
	char hex[2 * MAX_BYTES + 8];
	if (fscanf(pipe, "%u %u %39s %31[^\n]", &number, &out->size, hex, out->type) != 4)
		return false;
	for (unsigned i = 0; i < out->size; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return false;
		out->bytes[i] = (uint8_t)byte;
	}
	return true;
}

static bool is_nan(const struct answer *a, const uint8_t *bytes)
{
	float f;
	double d;
	long double l = 0;
	memcpy(&f, bytes, sizeof f);
	memcpy(&d, bytes, sizeof d);
	memcpy(&l, bytes, 10);
	return !strcmp(a->type, "float") ? isnan(f) : !strcmp(a->type, "double") ? isnan(d) : isnan(l);
}

/* A character constant is a char here and an int in C; an enum is not its integer. */
static bool same_type(const struct xc_type *type, const char *wanted)
{
	const struct xc_type *plain = xc_type_strip(type);
	bool wide = plain->size == 16 && plain->kind == XC_TYPE_INT; /* gcc's debug information: __int128 unsigned */
	return strcmp(xc_type_name(plain), wanted) == 0 || wide || plain->kind == XC_TYPE_ENUM ||
	       plain->kind == XC_TYPE_BOOL || (plain->kind == XC_TYPE_CHAR && strcmp(wanted, "int") == 0);
}

static void compare(const struct xc_frame_scope *at, const char *text, const struct answer *wanted, uint64_t seed)
{
	struct xc_arena arena = {0};
	struct xc_value value;
	uint8_t got[MAX_BYTES] = {0};
	struct xc_error *err = xc_cexpr_value(at, text, &arena, &value);
	if (err)
		fail_msg("XC_SEED=%llu: %s\n%s", (unsigned long long)seed, err->message,
			 err->lines ? err->lines : text);
	unsigned __int128 bits;
	bool real = xc_type_strip(value.type)->kind == XC_TYPE_FLOAT;
	if (real || !xc_value_load_wide(&value, &bits))
		assert_true(xc_value_peek(&value, 0, got, wanted->size));
	else
		memcpy(got, &bits, wanted->size);
	bool same = memcmp(got, wanted->bytes, wanted->size) == 0 ||
		    (real && is_nan(wanted, got) && is_nan(wanted, wanted->bytes));
	if (!same || !same_type(value.type, wanted->type)) {
		struct xc_format_options options = xc_format_defaults();
		struct xc_text have = {0};
		xc_format_value(&have, &value, &options);
		fail_msg("XC_SEED=%llu: %s\nis %s %s, not a %s of bytes %02x %02x %02x %02x …",
			 (unsigned long long)seed, text, xc_type_name(value.type), xc_text_string(&have), wanted->type,
			 wanted->bytes[0], wanted->bytes[1], wanted->bytes[2], wanted->bytes[3]);
	}
	xc_arena_fini(&arena);
}

static void expressions_have_the_value_and_type_the_compiler_gives(void **state)
{
	(void)state;
	uint64_t seed = property_env("XC_SEED", 20261121),
		 count = property_env("XC_CASES", grid_count(FEW, EXPRESSIONS));
	struct xc_text source = {0};
	char **texts = xc_alloc(count * sizeof *texts);
	print_message("# expressions: seed %llu, %llu cases\n", (unsigned long long)seed, (unsigned long long)count);
	xc_text_add(&source, globals);
	for (uint64_t i = 0; i < count; i++) {
		texts[i] = make_expression(seed + i);
		xc_text_printf(&source, "SHOW(%llu, %s);\n", (unsigned long long)i, texts[i]);
	}
	xc_text_add(&source, "return 0; }\n");
	const char *program =
		dying_program("expressions", "gcc -w -g -O0 -fwrapv -ffp-contract=off -x c", source.bytes);
	xc_auto(xc_freep) char *command = xc_asprintf("%s show", scratch_word(program));
	struct xc_process *process = open_core(dying_core(program, NULL));
	struct xc_frame_scope at;
	CHECK_OK(xc_frame_scope_open(&at, process, NULL, 0));
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	for (uint64_t i = 0; i < count; i++) {
		struct answer wanted = {.size = 0};
		assert_true(read_answer(pipe, &wanted));
		compare(&at, texts[i], &wanted, seed + i);
		free(texts[i]);
	}
	assert_int_equal(pclose(pipe), 0);
	xc_frame_scope_fini(&at);
	close_process(process);
	xc_text_fini(&source);
	free(texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressions_have_the_value_and_type_the_compiler_gives),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
