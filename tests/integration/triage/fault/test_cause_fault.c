/* layer: triage tier: long */
/* Every row of the table of faults, on programs that die in that way while the test runs. */
#include "tests/support/grid.h"
#include "tests/support/many_deaths.h"
#include "tests/support/opened.h"

#include <elf.h>

#include "core/report/report.h"
#include "triage/cause.h"

struct expected {
	const char *source, *verdict; /* "wild-write (block), high, certain" */
	const char *words;            /* part of the cause */
};

static const char *verdict_of(const struct xc_verdict *v)
{
	static char text[200];
	snprintf(text, sizeof text, v->kind ? "%s (%s), %s, %s" : "%s%s, %s, %s", v->class_name, v->kind ? v->kind : "",
		 v->severity, v->confidence);
	return text;
}

static void expect_of(const char *compiler, const char *source, const char *argument, const struct expected *expected)
{
	struct xc_process *process = died_of(compiler, source, argument);
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, process, NULL);
	const struct xc_verdict *v = report->verdict;
	assert_non_null(v);
	if (strcmp(verdict_of(v), expected->verdict) != 0 || !v->cause || !strstr(v->cause, expected->words) ||
	    !v->function || strcmp(v->function, "work") != 0)
		fail_msg("%s\n%s: %s instead of %s in %s: %s", expected->source, compiler, verdict_of(v),
			 expected->verdict, v->function ? v->function : "?", v->cause ? v->cause : "");
	xc_report_free(report);
	close_process(process);
}

static void expect(const char *compiler, const struct expected *expected)
{
	expect_of(compiler, expected->source, NULL, expected);
}

#define HEAD                                                                                                           \
	"#define _GNU_SOURCE\n#include <fcntl.h>\n#include <stdint.h>\n#include <stdlib.h>\n"                          \
	"#include <string.h>\n#include <stdio.h>\n"                                                                    \
	"#include <sys/mman.h>\n#include <sys/prctl.h>\n#include <unistd.h>\n#include <stddef.h>\n"                    \
	"#include <linux/seccomp.h>\n#include <linux/filter.h>\n#include <sys/syscall.h>\n"                            \
	"volatile int zero; volatile double none, one = 1; char *volatile p; void (*volatile f)(void);\n"              \
	"struct s { int a; long b[4]; } *volatile s; static char data[64];\n"

static const char *const compilers[] = {"gcc -g -O0 -x c", "clang -g -O2 -x c"};

/* Each source is the body of work(). */
static void expect_each(const struct expected *cases, size_t count, size_t compiler_count)
{
	struct xc_text source = {0};
	many_deaths_begin(&source, HEAD);
	for (size_t i = 0; i < count; i++)
		many_deaths_add(&source, i, cases[i].source);
	many_deaths_end(&source);
	for (size_t i = 0; i < count; i++)
		GRID(c, compiler_count)
			expect_of(compilers[c], xc_text_string(&source), many_deaths_number(i), &cases[i]);
	xc_text_fini(&source);
}

static void dereferences(void **state)
{
	(void)state;
	static const struct expected cases[] = {
		{"s->b[2] = 1;", "null-write, medium, certain", "NULL"},
		{"zero = s->a;", "null-read, low, certain", "NULL"},
		{"s = (struct s *)16; zero = s->a;", "null-read, low, likely", ""},
		{"*(volatile int *)0x123456789000 = 1;", "wild-write, high, certain", ""},
		{"p = (char *)0x123456789000; __asm__ volatile(\"rep stosb\" :: \"D\"(p), \"c\"(64), \"a\"(0) : "
		 "\"memory\");",
		 "wild-write (block), high, certain", ""},
		{"p = (char *)0x123456789000; memset(p, a, 300 + zero);", "wild-write (block), high, certain", ""},
		{"p = (char *)0x8141424344454647; zero = *p;", "wild-read, medium, certain", "is not an address"},
		{"__asm__ volatile(\"movb $1, (%0,%1)\" :: \"r\"(data), \"r\"(1L << 46) : \"memory\");",
		 "wild-write, high, certain", "an index moved a valid pointer"},
		{"__asm__ volatile(\"movb $1, (%%rsp,%0)\" :: \"r\"(1L << 46) : \"memory\");", /* SIGBUS */
		 "wild-write, high, certain", "an index moved a valid pointer"},
		{"p = (char *)\"constant\"; *p = 'x';", "write-rodata, medium, certain", "read-only memory"},
		{"p = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); zero = *p;",
		 "protected-access, medium, certain", "not for this kind"},
		{"__asm__ volatile(\"movaps %%xmm0, (%0)\" :: \"r\"(data + 1 + (16 - (uintptr_t)data % 16) % 16) "
		 ": "
		 "\"memory\");",
		 "misaligned, low, likely", "not aligned"},
	};
	expect_each(cases, XC_COUNT(cases), XC_COUNT(compilers));
}

static void jumps(void **state)
{
	(void)state;
	static const struct expected cases[] = {
		{"f(); zero = 2;", "call-null, medium, certain", "NULL"},
		{"f = (void (*)(void))0x123456789000; f(); zero = 2;", "pc-control (call), critical, certain", ""},
		{"f = (void (*)(void))0x4141414141414141; f(); zero = 2;", "pc-control (call), critical, certain", ""},
		{"f = (void (*)(void))data; f(); zero = 2;", "exec-data (call), critical, certain", ""},
	};
	expect_each(cases, XC_COUNT(cases), XC_COUNT(compilers));
}

static void tail_calls(void **state)
{
	(void)state;
#define HOP(target)                                                                                                    \
	HEAD "__attribute__((noinline)) void hop(void) { f(); }\n"                                                     \
	     "__attribute__((noinline)) int work(int a) { f = (void (*)(void))" target "; hop(); return a + zero; }\n" \
	     "int main(void) { return work(1) + 1; }\n"
	static const struct expected jump = {HOP("0x123456789000"), "pc-control (jmp), critical, certain", ""};
	static const char *const optimising[] = {"gcc -g -O2 -x c", "clang -g -O2 -x c"};
	GRID(c, XC_COUNT(optimising))
		expect(optimising[c], &jump);
}

/* At every level: the value is used immediately afterwards. */
static void values_that_would_be_used(void **state)
{
	(void)state;
	static const struct expected cases[] = {
		{HEAD "struct t { void (*f)(void); struct t *next; long v; } *volatile t;\n"
		      "__attribute__((noinline)) int work(struct t *x) { x->f(); return zero; }\n"
		      "int main(void) { work((struct t *)0x123456789000); return 1; }\n",
		 "wild-read (tainted), high, certain", ""},
		{HEAD "struct t { void (*f)(void); struct t *next; long v; } *volatile t;\n"
		      "__attribute__((noinline)) int work(struct t *x) { x->next->v = 3; return zero; }\n"
		      "int main(void) { work((struct t *)0x123456789000); return 1; }\n",
		 "wild-read (tainted), high, certain", ""},
		{HEAD "struct t { void (*f)(void); struct t *next; long v; } *volatile t;\n"
		      "__attribute__((noinline)) int work(struct t *x) { x->next->v = 3; return zero; }\n"
		      "int main(void) { static struct t one; one.next = (struct t *)0x123456789000; work(&one); return "
		      "1; }\n",
		 "wild-write (tainted), critical, certain", ""},
		{HEAD "struct t { void (*f)(void); struct t *next; long v; } *volatile t;\n"
		      "__attribute__((noinline)) int work(struct t *x) { zero = (int)x->v; return zero; }\n"
		      "int main(void) { work((struct t *)0x123456789000); return 1; }\n",
		 "wild-read, medium, certain", ""},
	};
	static const char *const levels[] = {"gcc -g -O0 -x c", "gcc -g -O3 -x c", "clang -g -O2 -x c"};
	for (size_t i = 0; i < XC_COUNT(cases); i++)
		GRID(c, XC_COUNT(levels))
			expect(levels[c], &cases[i]);
}

/* With the return address overwritten, nothing identifies the function. */
static void returns(void **state)
{
	(void)state;
	static const char source[] = HEAD
		"__attribute__((noinline)) void work(uintptr_t to) {\n"
		" ((volatile uintptr_t *)__builtin_frame_address(0))[1] = to;\n"
		" ((volatile uintptr_t *)__builtin_frame_address(0))[2] = to; }\n"
		"int main(int argc, char **argv) { work(*argv[1] == 'd' ? (uintptr_t)data : strtoul(argv[1], 0, 16)); "
		"return 1; }\n";
	static const struct {
		const char *to, *verdict;
	} cases[] = {
		{"123456789000", "pc-control (ret), critical, certain"},
		{"4141414141414141", "pc-control (ret), critical, certain"},
		{"0", "pc-control (ret), critical, certain"},
		{"data", "exec-data (ret), critical, certain"},
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct xc_process *process = died_of("gcc -g -O0 -x c", source, cases[i].to);
		struct xc_report *report = xc_report_new("analyze");
		xc_cause(report, process, NULL);
		assert_string_equal(verdict_of(report->verdict), cases[i].verdict);
		assert_non_null(strstr(report->verdict->cause, "its return address on the stack"));
		xc_report_free(report);
		close_process(process);
	}
}

/* The effect of feenableexcept, which is in a separate library. */
#define FLOAT(mask, body)                                                                                              \
	"unsigned m; __asm__ volatile(\"stmxcsr %0\" : \"=m\"(m)); m &= ~(unsigned)(" mask ");"                        \
	"__asm__ volatile(\"ldmxcsr %0\" :: \"m\"(m)); " body " zero = (int)one;"

static void arithmetic(void **state)
{
	(void)state;
	static const struct expected cases[] = {
		{"zero = a / zero;", "div-by-zero, low, certain", "`zero` is 0"},
		{"struct s *t = (struct s *)data; t->a = -1; zero = a / (t->a + 1);", "div-by-zero, low, certain",
		 "dividing by `t->a + 1`: `t->a` is -1"},
		{"struct { unsigned n; } *t = (void *)data; t->n = -3u; zero = a / (int)(t->n + 3);",
		 "div-by-zero, low, certain", "dividing by `t->n + 3`: `t->n` is 4294967293"},
		{"unsigned short *t = (void *)data; *t = 7; zero = a / (*t - 7);", "div-by-zero, low, certain",
		 "dividing by `*t - 7`: `*t` is 7"},
		{"zero = -1; zero = (a - 2 - 2147483647) / zero;", "arithmetic (division overflow), low, certain",
		 "the quotient of a division by -1 does not fit into 32 bits"},
		{FLOAT("0x200", "one = one / none;"), "arithmetic (float division by zero), low, certain", ""},
		{FLOAT("0x400", "one = 1e300; one = one * one;"), "arithmetic (float overflow), low, certain", ""},
		{FLOAT("0x80", "one = none / none;"), "arithmetic (float invalid), low, certain", ""},
	};
	expect_each(cases, XC_COUNT(cases), 1);
}

static void traps(void **state)
{
	(void)state;
	static const struct expected last = {
		HEAD "__attribute__((noinline,noreturn)) void work(void) { __asm__ volatile(\"int3\"); "
		     "__builtin_unreachable(); }\n"
		     "__attribute__((noinline)) int other(void) { return 5; }\nint main(void) { work(); return "
		     "other(); }\n",
		"trap-instruction, low, certain", "breakpoint"};
	static const struct expected cases[] = {
		{"__builtin_trap();", "trap-instruction, low, certain", "ud2"},
		{"__asm__ volatile(\"int3\");", "trap-instruction, low, certain", "breakpoint"},
		{"__asm__ volatile(\".byte 0x06\");", "bad-instruction, high, likely", "not an instruction"},
		{"__asm__ volatile(\"hlt\");", "trap-instruction, low, likely", "hlt"},
		{"__asm__ volatile(\"cli\");", "bad-instruction, high, likely", "a privileged instruction"},
	};
	expect_each(cases, XC_COUNT(cases), XC_COUNT(compilers));
	GRID(c, XC_COUNT(compilers))
		expect(compilers[c], &last);
}

#define PROGRAM(body)                                                                                                  \
	HEAD "__attribute__((noinline)) int work(int a) {\n" body                                                      \
	     "\n return a + zero; }\nint main(void) { return work(1) + 1; }\n"

/* The compiler's own description: each check is the requested one. */
static void checks_of_clang_are_named(void **state)
{
	(void)state;
	static const struct {
		const char *flag;
		struct expected expected;
	} cases[] = {
		{"signed-integer-overflow",
		 {PROGRAM("volatile int m = 2147483647; zero = m + a;"),
		  "trap-instruction (integer addition overflow), low, likely",
		  "integer addition overflow; reached from line"}}, /* `return` adds, too: one ud1 for both */
		{"signed-integer-overflow",
		 {PROGRAM("volatile int m = 2147483647; zero = m * (a + 1);"),
		  "trap-instruction (integer multiplication overflow), low, certain", "multiplication"}},
		{"bounds",
		 {PROGRAM("volatile int i = 70; data[i] = 1; zero = data[3];"),
		  "trap-instruction (index out of bounds), low, certain", "index out of bounds"}},
		{"shift",
		 {PROGRAM("volatile int i = 70; zero = a << i;"),
		  "trap-instruction (shift out of bounds), low, certain", "shift"}},
		{"integer-divide-by-zero",
		 {PROGRAM("zero = a / zero;"), "trap-instruction (division overflow), low, certain", "division"}},
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		char compiler[200];
		snprintf(compiler, sizeof compiler, "clang -g -O1 -fsanitize=%s -fsanitize-trap=all -x c",
			 cases[i].flag);
		expect(compiler, &cases[i].expected);
	}
}

/* Without debug information the version of clang is unknown, and the numbers may belong to another one. */
static void checks_of_a_compiler_that_is_not_known_are_likely(void **state)
{
	(void)state;
	static const struct expected bounds = {PROGRAM("volatile int i = 70; data[i] = 1; zero = data[3];"),
					       "trap-instruction (index out of bounds), low, likely",
					       "by the numbering of clang 14"};
	expect("clang -O1 -fsanitize=bounds -fsanitize-trap=all -x c", &bounds);
}

static void buses_and_guards(void **state)
{
	(void)state;
	static const struct expected cases[] = {
		{"int fd = open(\"/proc/self/exe\", O_RDONLY); p = mmap(0, 1 << 20, PROT_READ, MAP_PRIVATE, fd, "
		 "0);"
		 " zero = p[(1 << 20) - 1];",
		 "file-truncated, low, likely", "truncated"},
		{"int fd = syscall(SYS_memfd_create, \"frames\", 0); p = mmap(0, 8192, PROT_READ | PROT_WRITE, "
		 "MAP_SHARED, "
		 "fd, 0); *p = 1;",
		 "file-truncated, low, likely", "never given that size by ftruncate()"},
		{"__asm__ volatile(\"pushf; orl $0x40000, (%rsp); popf; movl $1, data+1(%rip)\");",
		 "misaligned, low, certain", "not aligned"},
		{"struct sock_filter c[] = {{0x20, 0, 0, 0}, {0x15, 0, 1, SYS_getppid}, {6, 0, 0, "
		 "SECCOMP_RET_TRAP}, {6, 0, 0, SECCOMP_RET_ALLOW}};\n struct sock_fprog g = {4, c};"
		 " prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); prctl(PR_SET_SECCOMP, 2, &g);"
		 " __asm__ volatile(\"syscall\" :: \"a\"(SYS_getppid) : \"rcx\", \"r11\");",
		 "seccomp-kill (getppid), info, certain", "getppid"},
	};
	expect_each(cases, XC_COUNT(cases), 1);
}

/* Dumpers other than Linux write no permissions: the faulting address shows that it was not a jump. */
static void accesses_are_no_jumps_where_code_is_not_marked(void **state)
{
	(void)state;
	const char *core = dying_core(
		dying_program("unmarked", "gcc -g -O0 -x c", "int main(void) { *(volatile int *)8 = 1; return 0; }"),
		NULL);
	FILE *file = fopen(core, "r+b");
	Elf64_Ehdr header;
	assert_non_null(file);
	assert_int_equal(fread(&header, sizeof header, 1, file), 1);
	for (unsigned i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;
		long at = (long)(header.e_phoff + i * sizeof segment);
		assert_int_equal(fseek(file, at, SEEK_SET), 0);
		assert_int_equal(fread(&segment, sizeof segment, 1, file), 1);
		segment.p_flags &= ~(Elf64_Word)PF_X;
		assert_int_equal(fseek(file, at, SEEK_SET), 0);
		assert_int_equal(fwrite(&segment, sizeof segment, 1, file), 1);
	}
	assert_int_equal(fclose(file), 0);
	struct xc_process *process = open_core(core);
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, process, NULL);
	assert_string_equal(report->verdict->class_name, "null-write");
	xc_report_free(report);
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dereferences),
		cmocka_unit_test(jumps),
		cmocka_unit_test(tail_calls),
		cmocka_unit_test(values_that_would_be_used),
		cmocka_unit_test(returns),
		cmocka_unit_test(arithmetic),
		cmocka_unit_test(traps),
		cmocka_unit_test(checks_of_clang_are_named),
		cmocka_unit_test(checks_of_a_compiler_that_is_not_known_are_likely),
		cmocka_unit_test(buses_and_guards),
		cmocka_unit_test(accesses_are_no_jumps_where_code_is_not_marked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
