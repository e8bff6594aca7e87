/* layer: triage tier: long */
/* Formats that are data, and constant ones that do not fit their call. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <stdarg.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"                          \
	"#define NOINLINE __attribute__((noinline))\nvolatile int sink; void *volatile way;\n"                         \
	"static inline void *hidden(void *p) { way = p; return way; }\n"                                               \
	"struct message { int level; char *text; double weight; };\n"
#define COMPILERS(level) "gcc -g " level " -w -x c", "clang -g " level " -w -x c"

static const char *const compilers[] = {COMPILERS("-O0"), COMPILERS("-O2"), COMPILERS("-O1"), COMPILERS("-O3")};

/* The function of variable arguments is called by a jump where that is optimized. */
static void the_caller_of_a_wrapper_is_blamed(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "NOINLINE void note(int level, const char *format, ...) { char room[256]; va_list list;\n"
		     "va_start(list, format); vsnprintf(room, sizeof room, format, list); va_end(list); puts(room); }\n"
		     "NOINLINE void greet(struct message *of, const char *text) { of->text = strdup(text); note(1, "
		     "of->text); }\n"
		     "int main(void) { struct message *one = hidden(calloc(1, sizeof *one));\n"
		     "greet(one, hidden(\"%s%s%s%s%s%s%s%s%s%s%s%s%n\")); return 0; }\n";
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true,
			      &(struct wanted){.class_name = "format-string",
					       .kind = "data",
					       .function = "greet",
					       .says = "the format is data",
					       .also = "is \"%s%s%s%s%s%s%s%s%s%s%s%s%n\""});
}

/* The register of its argument happens to be 0. */
static void a_count_through_null_is_data(void **state)
{
	(void)state;
	static const char source[] = HEAD
		"static char line[32];\nNOINLINE int show(char *to, const char *format, int count, long none) { "
		"sink = (int)none; return snprintf(to, 32, format, count); }\n"
		"int main(void) { char room[32]; strcpy(line, \"%d items%n\"); return show(room, hidden(line), 7, 0) + "
		"room[0]; }\n";
	struct judged j = judge(compilers[0], source, true);
	if (strcmp(j.verdict->class_name, "format-string") != 0 || strcmp(j.verdict->severity, "high") != 0 ||
	    !judged_says(&j, "`%n`"))
		judged_fail(&j, compilers[0], "format-string, high, %n");
	judged_free(&j);
}

static void a_constant_that_asks_for_text_where_a_number_is_does_not_fit(void **state)
{
	(void)state;
	static const char variable[] =
		HEAD "NOINLINE void show(const struct message *one) { printf(\"level %s\\n\", "
		     "one->level); sink++; }\nint main(void) { static struct message one = {7, 0, 0}; "
		     "show(hidden(&one)); return 0; }\n";
	static const char constant[] = HEAD
		"NOINLINE void show(const struct message *one) { printf(\"%d: %s of %d\\n\", one->level, one->weight, "
		"3); sink++; }\nint main(void) { static struct message one = {7, 0, 2.5}; show(hidden(&one)); return "
		"0; }\n";
	GRID(i, XC_COUNT(compilers)) {
		judged_expect(compilers[i], variable, true,
			      &(struct wanted){.class_name = "format-string",
					       .kind = "arguments",
					       .function = "show",
					       .expression = "one->level"});
		judged_expect(
			compilers[i], constant, true,
			&(struct wanted){.class_name = "format-string", .kind = "arguments", .says = "`3`, a number"});
	}
}

/* The text is one of a table, by a number that was passed; or that of an object. */
static void a_wrapper_with_texts_of_its_own_does_not_fit_its_call(void **state)
{
	(void)state;
#define WRAPPER(named, text)                                                                                           \
	HEAD "static const char *const texts[] = {\"%d: %s\\n\", \"%s\\n\"};\n"                                        \
	     "NOINLINE void note(" named ", ...) { char room[256]; va_list list; va_start(list, last);\n"              \
	     "vsnprintf(room, sizeof room, " text ", list); va_end(list); puts(room); }\n"                             \
	     "NOINLINE void show(struct message *one) { "
	static const char *const sources[] = {
		WRAPPER("int last", "texts[last]") "note(0, 2, one->level); sink++; }\n"
						   "int main(void) { static struct message one = {7, 0, 0}; "
						   "show(hidden(&one)); return 0; }\n",
		WRAPPER("double scale, struct message *to, int last",
			"to->text") "note(0.5, one, 3, 1.5, 2, one->level); sink++; }\nint main(void) { static struct "
				    "message one = {7, \"%g "
				    "%d %s\\n\", 0}; show(hidden(&one)); return 0; }\n",
	};
	GRID(i, XC_COUNT(compilers))
		for (size_t k = 0; k < XC_COUNT(sources); k++)
			judged_expect(compilers[i], sources[k], true,
				      &(struct wanted){.class_name = "format-string",
						       .kind = "arguments",
						       .function = "show",
						       .expression = "one->level"});
}

/* A pointer is what it asks for, and this one is bad. */
static void a_bad_pointer_passed_to_a_wrapper_keeps_its_class(void **state)
{
	(void)state;
	static const char source[] =
		WRAPPER("int last", "texts[last]") "note(0, 2, one->text); sink++; }\n"
						   "int main(void) { static struct message one = {7, (char "
						   "*)0x7000000000, 0}; show(hidden(&one)); "
						   "return 0; }\n";
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true,
			      &(struct wanted){.class_name = "wild-read", .expression = "one->text"});
}

/* What was passed is bad, and was meant for it. */
static void a_bad_pointer_keeps_its_class(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "NOINLINE void show(const char *text, int width) { printf(\"%*s|\\n\", width, text); sink++; }\n"
		     "int main(void) { show(hidden((void *)0x7000000000), 12); return 0; }\n";
	static const char made[] = HEAD "NOINLINE void show(const char *text, int width) { char format[16]; "
					"sprintf(format, \"%%%ds|\", width); "
					"printf(hidden(format), text); sink++; }\n"
					"int main(void) { show(hidden((void *)0x7000000000), 12); return 0; }\n";
	GRID(i, XC_COUNT(compilers)) {
		judged_expect(compilers[i], source, true,
			      &(struct wanted){.class_name = "wild-read", .function = "show", .expression = "text"});
		judged_expect(compilers[i], made, true,
			      &(struct wanted){.class_name = "wild-read", .function = "show", .expression = "text"});
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_caller_of_a_wrapper_is_blamed),
		cmocka_unit_test(a_count_through_null_is_data),
		cmocka_unit_test(a_constant_that_asks_for_text_where_a_number_is_does_not_fit),
		cmocka_unit_test(a_wrapper_with_texts_of_its_own_does_not_fit_its_call),
		cmocka_unit_test(a_bad_pointer_passed_to_a_wrapper_keeps_its_class),
		cmocka_unit_test(a_bad_pointer_keeps_its_class),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
