/* layer: triage */
/* Texts written past the end of local arrays, detected before the stack protector's check; and the owner of an overrun
 * block. */
#include "tests/support/grid.h"
#include "tests/support/opened.h"

#include "core/report/report.h"
#include "heap/session/session.h"
#include "triage/cause.h"

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
		cmocka_unit_test(a_text_elsewhere_names_no_array),
		cmocka_unit_test(the_holder_of_an_overrun_block_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
