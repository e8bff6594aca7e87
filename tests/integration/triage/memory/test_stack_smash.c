/* layer: triage tier: long */
/* Texts written past the end of local arrays, detected before the stack protector's check; and the owner of an overrun
 * block. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

static const char *const compilers[] = {"gcc -g -O0", "gcc -g -O2", "clang -g -O0", "clang -g -O2"};

static bool has_evidence(const struct xc_verdict *v, const char *part)
{
	for (size_t i = 0; i < v->evidence_count; i++)
		if (strstr(v->evidence[i], part))
			return true;
	return false;
}

static void expect(const char *options, const char *source, const char *cause, const char *evidence, bool wanted)
{
	GRID(i, XC_COUNT(compilers)) {
		char command[200];
		snprintf(command, sizeof command, "%s %s -x c", compilers[i], options);
		struct xc_process *process = died(command, source);
		struct xc_report *report = xc_report_new("analyze");
		xc_cause(report, process, xc_heap_of(process, NULL));
		const struct xc_verdict *v = report->verdict;
		assert_non_null(v);
		bool told = v->cause && strstr(v->cause, cause) && has_evidence(v, evidence);
		for (size_t k = 0; told != wanted && k < v->evidence_count; k++)
			print_message("  %s\n", v->evidence[k]);
		if (told != wanted)
			fail_msg("%s: %s: %s\n%s", command, v->class_name, v->cause ? v->cause : "", source);
		xc_report_free(report);
		xc_heap_forget(process);
		close_process(process);
	}
}

/* The name overwrites the array, the return address and the caller's reader, which is used before the function
 * returns. */
#define LINE(length)                                                                                                   \
	"#include <stdlib.h>\n#include <string.h>\n"                                                                   \
	"struct reader { long *sum; char name[8]; }; long total; volatile long sink;\n"                                \
	"__attribute__((noinline)) void add(char *to, const char *name) { strcpy(to, name); }\n"                       \
	"__attribute__((noinline)) int line(struct reader *r, const char *name) { char buf[64]; add(buf, name); "      \
	"sink = *r->sum; return buf[0]; }\n"                                                                           \
	"int main(void) { char name[1024]; struct reader r = {&total, \"r\"}; long volatile pad[4] = {0}; "            \
	"memset(name, 'n', sizeof name); name[" #length "] = 0; sink = pad[0]; return line(&r, name); }\n"

static void a_text_over_the_return_address_names_its_array(void **state)
{
	(void)state;
	expect("-fno-stack-protector", LINE(400), "`buf` was written past its end", "buf (64 bytes", true);
	expect("-fstack-protector-strong", LINE(400), "`buf` was written past its end", "buf (64 bytes", true);
}

/* Two arrays: the name begins in the lower one, and runs over the other, an index, and the return address. */
#define PAIR(after)                                                                                                    \
	"#include <stdlib.h>\n#include <string.h>\n"                                                                   \
	"struct table { long cell[64]; } table; volatile long sink; char *volatile copied;\n"                          \
	"__attribute__((noinline)) void add(char *to, const char *name) { strcpy(to, name); }\n"                       \
	"__attribute__((noinline)) long get(const struct table *t, size_t i) { return t->cell[i]; }\n"                 \
	"__attribute__((noinline)) int pair(const char *one, const char *other) {\n"                                   \
	" struct { char a[40], b[48]; volatile size_t i; } f; f.i = 3; copied = strdup(other); add(f.b, one);\n"       \
	" add(f.a, other); " after " return f.a[3] + f.b[3]; }\n"                                                      \
	"int main(void) { char name[256]; volatile char pad[600]; pad[9] = 0; memset(name, 'n', sizeof name);\n"       \
	" strcpy(name + 128, \"-frontend-europe-west-3-of-the-cluster-in-the-hall\"); sink = pad[9];\n"                \
	" return pair(\"first\", name); }\n"

static void expect_pair(const char *source, const char *class_name, const char *kind)
{
	const struct wanted want = {.class_name = class_name,
				    .kind = kind,
				    .says = "was written past its end, over the return address of pair",
				    .also = "likely `f.a` was",
				    .without = "never was one"};
	const struct wanted place = {.class_name = class_name, .kind = kind, .without = "likely read"};
	GRID(i, XC_COUNT(compilers)) {
		char command[200];
		snprintf(command, sizeof command, "%s -fno-stack-protector -U_FORTIFY_SOURCE -x c", compilers[i]);
		/* clang -O2 finds variables by the stack pointer, which the return has moved */
		if (*kind == '\0' || strncmp(compilers[i], "clang -g -O2", 12) != 0)
			judged_expect(command, source, true, &want);
		judged_expect(command, source, true, &place);
	}
}

static void a_return_to_text_names_the_array_and_no_copy(void **state)
{
	(void)state;
	expect_pair(PAIR(""), "pc-control", "ret");
}

static void an_index_that_is_text_is_of_the_same_overrun(void **state)
{
	(void)state;
	expect_pair(PAIR("sink = get(&table, f.i + 4);"), "stack-smash", "");
}

/* Only a part of the return address is text: it leads to memory that is not mapped, and its frame is gone. */
static void a_return_to_the_end_of_a_text(void **state)
{
	(void)state;
	static const struct wanted want = {
		.class_name = "pc-control",
		.kind = "ret",
		.says = "its bytes are text: likely a string was written past the end of an array "
			"on the stack",
		.also = "it was read at 0x",
		.without = "likely read"};
	judged_expect(
		"gcc -g -O1 -fno-stack-protector -U_FORTIFY_SOURCE -x c",
		"#include <string.h>\n#include <stdlib.h>\nvolatile long sink; char *volatile copy;\n"
		"__attribute__((noinline)) void add(char *to, const char *from, size_t n) { memcpy(to, from, n); }\n"
		"__attribute__((noinline)) int line(const char *text) { char b[16]; copy = strdup(text);\n"
		" char *back = (char *)__builtin_frame_address(0) + 8; memset(b, 'b', sizeof b);\n"
		" add(back, text, 6); back[6] = back[7] = 0; return b[3]; }\n"
		"int main(void) { return line(\"Ending\"); }\n",
		true, &want);
}

/* A pointer that is text for another reason: the return address is intact. */
static void a_text_elsewhere_names_no_array(void **state)
{
	(void)state;
	expect("",
	       "#include <string.h>\nstruct reader { char name[8]; long *sum; } one; volatile long sink;\n"
	       "__attribute__((noinline)) int line(struct reader *r, const char *text) { char buf[64]; strcpy(buf, "
	       "text); "
	       "memcpy(r->name, \"nnnnnnnnnnnnnnnn\", 16); sink = *r->sum; return buf[0]; }\n"
	       "int main(void) { return line(&one, \"nnnnnnnnnnnnnnnnnnnn\"); }\n",
	       "`buf` was written past its end", "buf (64 bytes", false);
}

static void the_holder_of_an_overrun_block_is_told(void **state)
{
	(void)state;
	expect("",
	       "#include <stdlib.h>\n#include <string.h>\nstruct item { char *text; long n; } item; void *volatile "
	       "next;\n"
	       "int main(void) { item.text = malloc(24); next = malloc(2000); void *volatile last = malloc(24); "
	       "(void)last; "
	       "memset(item.text, 'x', 30); free(next); return 0; }\n",
	       "", "that block is pointed to by item", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_over_the_return_address_names_its_array),
		cmocka_unit_test(a_return_to_text_names_the_array_and_no_copy),
		cmocka_unit_test(an_index_that_is_text_is_of_the_same_overrun),
		cmocka_unit_test(a_return_to_the_end_of_a_text),
		cmocka_unit_test(a_text_elsewhere_names_no_array),
		cmocka_unit_test(the_holder_of_an_overrun_block_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
