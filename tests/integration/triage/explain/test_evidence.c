/* layer: triage tier: long */
/* The report of a fault: the access in the headline, the instruction, its register and the owner of the register's
 * value. */
#include "tests/support/run_verdict.h"

#include "core/report/report.h"
#include "triage/cause.h"

struct case_ {
	const char *flags, *body, *headline;
	const char *evidence[3]; /* parts that some evidence has; NULL ends */
	const char *never;       /* a part that none has, or NULL */
};

#define HEAD                                                                                                           \
	"#include <signal.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/mman.h>\n"                       \
	"struct node { long a, b, c; struct node *next; };\nvolatile long sink;\n"

static const struct case_ cases[] = {
	{"-O0",
	 "void work(struct node *n, long v) { n->next = (struct node *)v; }\nint main(void) { work(0, 7); }\n",
	 "SIGSEGV: wrote 8 bytes at 0x18, address not mapped (SEGV_MAPERR)",
	 {"instruction: mov %rdx,0x18(%rax)", "rax = 0x0, the value of n", "a null pointer plus an offset"},
	 "rbx"},
	{"-O2",
	 "__attribute__((noinline)) long work(struct node *n) { return n->b + 1; }\nint main(void) { return "
	 "(int)work(0); }\n",
	 "SIGSEGV: read 8 bytes at 0x8, address not mapped (SEGV_MAPERR)",
	 {"rdi = 0x0 is n"},
	 "rax ="},
	{"-O0",
	 "int main(void) { char *p = mmap(0, 4096, 1, 34, -1, 0); *p = 1; }\n",
	 "SIGSEGV: wrote 1 byte at 0x",
	 {"the value of p", "mapped r--"},
	 NULL},
	{"-O0",
	 "int main(void) { char *p = mmap(0, 8192, 3, 34, -1, 0); munmap(p + 4096, 4096); sink = *(long *)(p + 4092); "
	 "}\n",
	 "ffc (faulted at 0x",
	 {"rax"},
	 NULL},
	{"-O0",
	 "int main(void) { unsigned long n = 0x4142434445464748; sink = *(volatile int *)n; }\n",
	 "SIGSEGV: read 4 bytes at 0x4142434445464748, not a canonical address (SI_KERNEL)",
	 {"is not canonical", "rax = 0x4142434445464748"},
	 NULL},
	{"-O0",
	 "int main(void) { void (*f)(void) = (void (*)(void))0x4142434445464748; f(); }\n",
	 "SIGSEGV: jumped to 0x4142434445464748, not a canonical address (SI_KERNEL)",
	 {"the value of f"},
	 NULL},
	{"-O0",
	 "int main(void) { void (*f)(void) = 0; f(); }\n",
	 "SIGSEGV: jumped to 0x0, address not mapped (SEGV_MAPERR)",
	 {"nothing is ever mapped at 0x0"},
	 NULL},
	{"-O0",
	 "int main(void) { char *p = (char *)0x10010; __asm__ volatile(\"movaps %%xmm0, 1(%0)\" : : "
	 "\"r\"(\"0123456789abcdef\" + 1)"
	 " : \"memory\"); (void)p; }\n",
	 "not aligned (SI_KERNEL)",
	 {"movaps"},
	 NULL},
	{"-O0",
	 "int main(void) { __asm__ volatile(\"rep stosb\" : : \"D\"(0x123456789000), \"c\"(64), \"a\"(0)); }\n",
	 "SIGSEGV: wrote 1 byte at 0x123456789000, address not mapped (SEGV_MAPERR)",
	 {"rdi = 0x123456789000", "rcx = 0x40 left"},
	 NULL},
	{"-O0",
	 "int main(void) { sink = 1 / (sink & 0); }\n",
	 "SIGFPE: arithmetic exception, integer division by zero (FPE_INTDIV)",
	 {"instruction: idiv"},
	 NULL},
	{"-O0",
	 "__attribute__((noinline)) void work(char *to, const char *from, int size) { int n = size - 100000000; "
	 "memcpy(to, "
	 "from, n); sink = to[0]; }\n"
	 "int main(void) { work(malloc(100), malloc(100), (int)sink + 2); }\n",
	 "address not mapped (SEGV_MAPERR)",
	 {"the length of memcpy(), `n`, is -99999998: a negative length"},
	 NULL},
	{"-O2",
	 "__attribute__((noinline)) void work(char *to, const char *from, int size) { int n = size - 100000000; "
	 "memcpy(to, "
	 "from, n); sink = to[0]; }\n"
	 "int main(void) { work(malloc(100), malloc(100), (int)sink + 2); }\n",
	 "address not mapped (SEGV_MAPERR)",
	 {"is -99999998: a negative length"},
	 NULL},
	{"-O0",
	 "int main(void) { volatile unsigned long n = 1 << 30; memset(malloc(100), 0, n); }\n",
	 "address not mapped (SEGV_MAPERR)",
	 {"is not mapped"},
	 "negative length"},
	{"-O0",
	 "int main(void) { int n = (int)sink - 2; memset((char *)0x123456789000, 0, (unsigned short)n); }\n",
	 "address not mapped (SEGV_MAPERR)",
	 {"is not mapped"},
	 "negative length"},
	{"-O0", "int main(void) { abort(); }\n", "SIGABRT: aborted", {NULL}, "instruction"},
	{"-O0",
	 "int main(void) { raise(SIGSEGV); }\n",
	 "SIGSEGV: invalid memory reference, sent by itself",
	 {NULL},
	 "instruction"},
};

static bool has_evidence(const struct xc_verdict *verdict, const char *part)
{
	for (size_t i = 0; i < verdict->evidence_count; i++)
		if (strstr(verdict->evidence[i], part))
			return true;
	return false;
}

static void check_case(const struct case_ *expected)
{
	char compiler[64], *source = xc_asprintf("%s%s", HEAD, expected->body);
	snprintf(compiler, sizeof compiler, "gcc -g %s -w -x c", expected->flags);
	struct xc_process *process = died(compiler, source);
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, process, NULL);
	const struct xc_verdict *got = report->verdict;
	assert_non_null(got);
	if (!strstr(got->headline, expected->headline))
		fail_msg("\"%s\" instead of \"%s\"", got->headline, expected->headline);
	for (size_t i = 0; i < XC_COUNT(expected->evidence) && expected->evidence[i]; i++)
		if (!has_evidence(got, expected->evidence[i]))
			fail_msg("%s: no evidence \"%s\", but \"%s\"", got->headline, expected->evidence[i],
				 got->evidence_count ? got->evidence[0] : "");
	if (expected->never && has_evidence(got, expected->never))
		fail_msg("%s: evidence \"%s\"", got->headline, expected->never);
	xc_report_free(report);
	close_process(process);
	free(source);
}

static void the_headline_and_the_evidence_tell_what_was_done(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++)
		check_case(&cases[i]);
}

#define FRAME                                                                                                          \
	HEAD "struct frame { int body; unsigned char *data; };\n"                                                      \
	     "__attribute__((noinline)) void take(struct frame *f, const char *wire, int length) { int body = length " \
	     "- 12; f->data = malloc(512); memcpy(f->data, wire, body); sink = body; }\n"                              \
	     "int main(void) { struct frame f; "

/* Which page ended the copy does not matter. */
static void a_negative_length_is_the_cause(void **state)
{
	(void)state;
	static const char *const compilers[] = {"gcc -g -O0 -w -x c", "gcc -g -O2 -w -x c"};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct judged j = judge(compilers[i], FRAME "take(&f, malloc(4096), (int)sink - 32763); }\n", false);
		if (!j.verdict->cause || !strstr(j.verdict->cause, "memcpy() was given a negative length, -32775"))
			judged_fail(&j, compilers[i], "a negative length as the cause");
		judged_free(&j);
		judged_expect(compilers[i], FRAME "take(&f, (const char *)sink, (int)sink + 112); }\n", false,
			      &(struct wanted){.class_name = "null-read", .without = "negative length"});
	}
}

/* A program's run-time messages may be secret: they stay in the message, which redaction omits. An assertion's text is
 * a constant of the program. */
static void last_words_are_in_the_message_only(void **state)
{
	(void)state;
	struct xc_process *process =
		died("gcc -g -O0 -x c",
		     "#include <assert.h>\n#include <string.h>\nint main(void) { char text[16]; strcpy(text, "
		     "\"hunter\"); strcat(text, \"2\");\n __assert_fail(text, \"file\", 1, \"main\"); }\n");
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, process, NULL);
	const struct xc_verdict *got = report->verdict;
	assert_non_null(strstr(got->message, "hunter2"));
	assert_null(strstr(got->headline, "hunter2"));
	assert_null(strstr(got->cause, "hunter2"));
	assert_false(has_evidence(got, "hunter2"));
	xc_report_free(report);
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_headline_and_the_evidence_tell_what_was_done),
		cmocka_unit_test(a_negative_length_is_the_cause),
		cmocka_unit_test(last_words_are_in_the_message_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
