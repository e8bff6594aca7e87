/* layer: dwarf tier: long */
/* Stacks through code without call frame information, of programs that die while the test runs: no frame is lost and
 * none invented, and what is guessed says so. Expected stacks are those of the source. */
#include "tests/support/scene.h"

#include <stdio.h>
#include <unistd.h>

#include "core/base/text.h"

/* The functions of the crashed thread's stack: "J" where none is known, '?' after a scanned frame, '~' after one by
 * the frame pointer; "|" and the reason why it ends. */
static char *stack_of(struct xc_process *p)
{
	struct xc_text text = {0};
	struct xc_unwinder *u = xc_unwinder_new(p);
	struct xc_frame frame;
	const char *stop = "";
	assert_true(xc_unwind_first(u, &p->threads[0], &frame));
	do {
		const char *name = function_of(p, &frame);
		xc_text_printf(&text, "%s%s ",
			       frame.signal ? "<signal>"
			       : *name      ? name
					    : "J",
			       frame.trust == XC_TRUST_SCAN ? "?"
			       : frame.trust == XC_TRUST_FP ? "~"
							    : "");
	} while (frame.index < 100 && xc_unwind_step(u, &frame, &frame, &stop));
	xc_text_printf(&text, "| %s", stop);
	xc_unwinder_free(u);
	return xc_text_take(&text);
}

static void expect_start(const char *compiler, const char *source, const char *argument, const char *want)
{
	struct xc_process *p = died_of(compiler, source, argument);
	xc_auto(xc_freep) char *got = stack_of(p);
	if (strncmp(got, want, strlen(want)) != 0)
		fail_msg("%s\n  got  %s\n  want %s", compiler, got, want);
	close_process(p);
}

static void expect_end(const char *compiler, const char *source, const char *want)
{
	struct xc_process *p = died(compiler, source);
	xc_auto(xc_freep) char *got = stack_of(p);
	size_t length = strlen(got), wanted = strlen(want);
	if (length < wanted || strcmp(got + length - wanted, want) != 0)
		fail_msg("%s\n  got %s\n  want …%s", compiler, got, want);
	close_process(p);
}

#define KEEP     "__attribute__((noinline, noclone)) "
#define NO_JUMPS " -fno-optimize-sibling-calls -x c"
#define BARE     " -g0 -fno-asynchronous-unwind-tables -fno-unwind-tables "

/* ---- generated code ---- */

/* The argument chooses one of these; the code is copied to anonymous memory and called with a function to call. */
static const struct {
	const char *name, *code, *want;
} generated[] = {
	{"push and sub", "push %rbx; sub $0x40,%rsp; call *%rdi; add $0x40,%rsp; pop %rbx; ret", "leaf J runner? "},
	{"a frame of pages", "sub $0x1238,%rsp; call *%rdi; add $0x1238,%rsp; ret", "leaf J runner? "},
	{"rbp as any register",
	 "push %rbp; push %rbx; mov %rdi,%rbp; sub $8,%rsp; call *%rbp; add $8,%rsp; pop %rbx; pop %rbp; ret",
	 "leaf J runner? "},
	{"a frame pointer", "push %rbp; mov %rsp,%rbp; sub $0x20,%rsp; call *%rdi; leave; ret", "leaf J runner~ "},
	{"realigned", "push %rbp; mov %rsp,%rbp; and $-64,%rsp; sub $0x80,%rsp; call *%rdi; leave; ret",
	 "leaf J runner~ "},
	{"lea", "lea -0x48(%rsp),%rsp; call *%rdi; lea 0x48(%rsp),%rsp; ret", "leaf J runner? "},
	{"mov",
	 "sub $0x48,%rsp; mov %rbx,0x40(%rsp); mov %rdi,%rbx; call *%rbx; mov 0x40(%rsp),%rbx; add $0x48,%rsp; ret",
	 "leaf J runner? "},
	{"branches",
	 "push %rbx; mov %rdi,%rbx; test %rbx,%rbx; je 2f; call *%rbx; test %eax,%eax; jne 3f; 2: pop %rbx; ret; 3: "
	 "xor %eax,%eax; jmp 2b",
	 "leaf J runner? "},
	{"nested",
	 "push %rbx; call 1f; pop %rbx; ret; 1: push %r12; push %r13; sub $0x20,%rsp; call *%rdi; add $0x20,%rsp; pop "
	 "%r13; pop %r12; ret",
	 "leaf J J? runner? "},
	{"it never returns", "push %rbx; sub $0x40,%rsp; call *%rdi; ud2", "leaf J runner? "},
	{"other code behind it", "sub $0x48,%rsp; call *%rdi; nop; push %rbx; pop %rbx; ret", "leaf J runner? "},
	{"an old return address",
	 "push %rbx; sub $0x80,%rsp; mov 0x88(%rsp),%rax; mov %rax,0x10(%rsp); call *%rdi; add $0x80,%rsp; pop %rbx; "
	 "ret",
	 "leaf J runner? "},
	{"an interpreter that pushes its return address and jumps, to code that uses rbp as any register",
	 "push %rbp; mov %rsp,%rbp; lea 1f(%rip),%rax; push %rax; jmp 2f; .skip 16,0x90; 1: leave; ret; "
	 "2: push %rbp; sub $0x10,%rsp; mov $0x1234,%ebp; movl $0,0; jmp *%rbx",
	 "J J? runner~ "},
	{"dies at its entry", "movl $0,0; ret", "J runner? "},
	{"dies between its pushes",
	 "push %rbx; movl $0,0; push %r12; sub $48,%rsp; add $48,%rsp; pop %r12; pop %rbx; ret", "J runner? "},
	{"dies in its epilogue", "push %rbx; sub $0x40,%rsp; add $0x40,%rsp; pop %rbx; movl $0,0; ret", "J runner? "},
};

static char *generator(void)
{
	struct xc_text text = {0};
	xc_text_add(&text, "#include <stdlib.h>\n#include <string.h>\n#include <sys/mman.h>\n"
			   "typedef void (*code)(void (*)(void)); int *volatile null;\n" KEEP
			   "void leaf(void) { *null = 1; }\n" KEEP
			   "int runner(code j) { volatile int a = 3; j(leaf); return a; }\n" KEEP
			   "int outer(code j) { volatile int b = 4; return runner(j) + b; }\n"
			   "asm(\".section .rodata\\n.globl codes\\ncodes:\\n");
	for (size_t i = 0; i < XC_COUNT(generated); i++)
		xc_text_printf(&text, ".balign 256, 0xcc\\n%s\\n", generated[i].code);
	xc_text_add(&text,
		    ".balign 256, 0xcc\\n.text\\n\");\nextern char codes[];\n"
		    "int main(int c, char **v) { char *p = mmap(0, 8192, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n"
		    "  memset(p, 0xcc, 8192); memcpy(p, codes + 256 * atoi(v[1]), 256); return outer((code)p); }\n");
	return xc_text_take(&text);
}

static void generated_code_skips_no_caller(void **state)
{
	(void)state;
	static const char *const compilers[] = {"gcc -g -O0 -x c",     "gcc -g -O1" NO_JUMPS,
						"gcc -g -O2" NO_JUMPS, "gcc -g -O3 -fno-omit-frame-pointer" NO_JUMPS,
						"clang -g -O0 -x c",   "clang -g -O2" NO_JUMPS};
	xc_auto(xc_freep) char *source = generator();
	for (size_t c = 0; c < XC_COUNT(compilers); c++)
		for (size_t i = 0; i < XC_COUNT(generated); i++) {
			char argument[8], want[64];
			snprintf(argument, sizeof argument, "%zu", i);
			snprintf(want, sizeof want, "%souter main ", generated[i].want);
			print_message("# %s: %s\n", compilers[c], generated[i].name);
			expect_start(compilers[c], source, argument, want);
		}
}

/* ---- stacks begun by hand ---- */

static const char contexts[] =
	"#include <ucontext.h>\n#include <string.h>\n#include <stdint.h>\n"
	"int *volatile null; static ucontext_t first, a, b; static char stacks[2][65536];\n" KEEP
	"void deep(int n) { volatile char pad[32]; memset((void *)pad, n, 32); if (n) deep(n - 1); else "
	"swapcontext(&b, &a); pad[0]++; }\n" KEEP "void crash(int k) { *null = k; }\n"
	"void other(int x) { deep(3); null++; }\n"
	"void fiber(int x) { swapcontext(&a, &b); crash(x); null++; }\n"
	"static void make(ucontext_t *c, char *stack, void (*f)(int)) { getcontext(c); c->uc_stack.ss_sp = stack;\n"
	"  c->uc_stack.ss_size = 65536; c->uc_link = &first; makecontext(c, (void (*)(void))f, 1, 7); }\n"
	"int main(void) { make(&a, stacks[0], fiber); make(&b, stacks[1], other); swapcontext(&first, &a); return 0; "
	"}\n";

static void a_context_ends_where_it_was_made(void **state)
{
	(void)state;
	static const char want[] = "crash fiber __start_context | outermost frame",
			  guessed[] = "crash fiber? __start_context? | outermost frame";
	expect_start("gcc -g -O0 -x c", contexts, NULL, want);
	expect_start("gcc -g -O2 -x c", contexts, NULL, want);
	expect_start("gcc -g -O1 -static -x c", contexts, NULL, want);
	expect_start("clang -g -O2 -x c", contexts, NULL, want);
	expect_start("gcc -O1 -fomit-frame-pointer" BARE "-x c", contexts, NULL, guessed);
	expect_start("gcc -O2 -fomit-frame-pointer" BARE "-x c", contexts, NULL, guessed);
	expect_start("gcc -O0" BARE "-x c", contexts, NULL, "crash fiber~ __start_context~ | outermost frame");
}

/* As boost's and libco's: a switch in assembler, and a first return address of code that no call precedes, or of the
 * first instruction of a function. Behind the stack lies another with old return addresses. */
static const char coroutines[] =
	"#include <stdlib.h>\n#include <stdint.h>\nint *volatile null; void *before; static char stacks[2][65536];\n"
	"void change(void **from, void *to); void boost_end(void); void *boost_first(void);\n"
	"asm(\".text\\n.globl change\\n.type change,@function\\nchange: push %rbp; push %rbx; mov %rsp,(%rdi); mov "
	"%rsi,%rsp; pop %rbx; pop %rbp; ret\\n.size change,.-change\\n.balign 16\\n.globl make\\n.type "
	"make,@function\\nmake: lea finish(%rip),%rax; ret; jmp *%rbx\\nfinish: xor %edi,%edi; call _exit@PLT; hlt\\n"
	".size make,.-make\\n\");\nuintptr_t make(void);\n" KEEP "void ended(void) { abort(); }\n" KEEP
	"void crash(int k) { *null = k; null++; }\n"
	"void body(void) { crash(7); for (;;) null++; }\n"
	"int main(int c, char **v) { uintptr_t *other = (uintptr_t *)stacks[1], *sp = other - 8;\n"
	"  for (int i = 0; i < 400; i++) other[i] = i % 3 ? 0 : (uintptr_t)__builtin_return_address(0);\n"
	"  *--sp = v[1][0] == '0' ? 0 : v[1][0] == '1' ? (uintptr_t)ended : make(); *--sp = (uintptr_t)body;\n"
	"  *--sp = 0; *--sp = 0; change(&before, sp); return 0; }\n";

static void a_coroutine_ends_where_it_was_made(void **state)
{
	(void)state;
	static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O2 -x c"};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		expect_start(compilers[i], coroutines, "0", "crash body | outermost frame (return address 0)");
		expect_start(compilers[i], coroutines, "1", "crash body ended | outermost frame");
		expect_start(compilers[i], coroutines, "2", "crash body make | outermost frame");
	}
	expect_start("gcc -O2 -fomit-frame-pointer" BARE "-x c", coroutines, "0",
		     "crash body? | outermost frame (return address 0)");
}

/* ---- entry points ---- */

static const char program[] = "int *volatile null; int main(void) { *null = 1; return 0; }\n";

static void nothing_called_the_entry_point_of_a_c_library(void **state)
{
	(void)state;
	if (access("/usr/bin/musl-gcc", X_OK) == 0) {
		expect_end("musl-gcc -static -g -O1 -x c", program, "_start? | outermost frame");
		expect_end("musl-gcc -static -g -O0 -x c", program, "_start? | outermost frame");
		expect_end("musl-gcc -static -s -O2 -x c", program, "J? | outermost frame");
		expect_end("musl-gcc -g -O1 -x c", program, "| outermost frame");
	}
	expect_end("gcc -static -g -x c", program, "_start | outermost frame");
	expect_end("gcc -static -s -x c", program, "| outermost frame");
}

#define WITHOUT_LIBRARY                                                                                                \
	"volatile int sink; int *volatile null;\n" KEEP "void die(int k) { *null = k; sink++; }\n" KEEP                \
	"int work(int argc) { volatile int a[20]; a[argc & 7] = argc; die(argc); return a[3]; }\n" KEEP                \
	"void quit(int c) { sink = c; }\n"

static void nothing_called_an_entry_point_of_ones_own(void **state)
{
	(void)state;
	static const char sized[] = WITHOUT_LIBRARY "asm(\".text\\n.globl _start\\n.type _start,@function\\n_start: "
						    "pop %rdi; mov %rsp,%rsi; call work; mov "
						    "%eax,%edi; call quit; hlt\\n.size _start,.-_start\\n\");\n";
	static const char label[] = WITHOUT_LIBRARY
		"asm(\".text\\n.globl _start\\n_start: pop %rdi; and $-16,%rsp; push %rax; push %rsp; call work; mov "
		"%eax,%edi; call quit\\n.globl exit\\nexit: sub $8,%rsp; call quit; add $8,%rsp; ret\\n\");\n";
	static const char in_c[] = WITHOUT_LIBRARY "void _start(void) { quit(work(3)); quit(4); }\n";
	static const char *const sources[] = {sized, label, in_c};
	for (size_t i = 0; i < XC_COUNT(sources); i++) {
		expect_end("gcc -nostdlib -static -fno-stack-protector -g -O1 -x c", sources[i],
			   "die work _start | outermost frame");
		expect_end("gcc -nostdlib -static -fno-stack-protector -O2 -fomit-frame-pointer" BARE "-x c",
			   sources[i], "die work? _start? | outermost frame");
		expect_end("clang -nostdlib -static -fno-stack-protector -O0" BARE "-x c", sources[i],
			   "| outermost frame");
	}
}

/* ---- old return addresses ---- */

static const char stale[] =
	"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"struct node { struct node *next; int v; };\n" KEEP
	"int sum(struct node *p, int *q) { int b[20]; memset(b, 1, sizeof b); int s = 0;\n"
	"  for (; p; p = p->next) { s += p->v + b[p->v & 15]; if (p->v == 7) *q = s; } return s + b[3]; }\n" KEEP
	"int mid(struct node *p, int k, int *q) { char buf[64]; snprintf(buf, 64, \"%d\", k); int r = sum(p, q);\n"
	"  return r + buf[0] + k; }\n" KEEP "int top(int k) { struct node *h = 0;\n"
	"  for (int i = 0; i < 10; i++) { struct node *x = malloc(sizeof *x); x->next = h; x->v = i; h = x; }\n"
	"  int r = mid(h, k, (int *)(long)(k - 1)); return r * 2; }\n"
	"int compare(const void *a, const void *b) { int x = *(int *)a; return x == 5 ? top(1) + x : x; }\n"
	"int main(void) { int a[] = {3, 5, 1, 9}; qsort(a, 4, sizeof(int), compare); return printf(\"%d\", a[0]); }\n";

static void old_return_addresses_are_not_taken(void **state)
{
	(void)state;
	static const char want[] = "sum mid? top? compare? msort_with_tmp",
			  chained[] = "sum mid? top~ compare~ msort_with_tmp";
	expect_start("gcc -O1 -fomit-frame-pointer" BARE "-x c", stale, NULL, want);
	expect_start("gcc -O2 -fomit-frame-pointer" BARE "-x c", stale, NULL, want);
	expect_start("gcc -Os -fomit-frame-pointer" BARE "-x c", stale, NULL, want);
	expect_start("clang -O2 -fomit-frame-pointer" BARE "-x c", stale, NULL, want);
	expect_start("gcc -O2 -fno-omit-frame-pointer" BARE "-x c", stale, NULL, chained);
}

/* Functions that never return, so that no way out is known; a large host of old frames. */
static const char never[] =
	"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nvolatile int sink; int *volatile null;\n" KEEP
	"void die(int k) { char b[300]; memset(b, k, 300); *null = b[k]; abort(); }\n" KEEP
	"int gone(int k) { int big[400]; for (int i = 0; i < 400; i++) big[i] = i * k; sink = big[k]; die(k); abort(); "
	"}\n" KEEP "int before(int k) { char b[4000]; snprintf(b, 3000, \"%2000d\", k); return b[5]; }\n" KEEP
	"int host(int k) { int x[100]; x[k] = before(k); int r = gone(k); return r + x[k]; }\n"
	"int main(void) { sink = before(2); return host(3) + 1; }\n";

static void functions_that_never_return_are_left(void **state)
{
	(void)state;
	expect_start("gcc -O1 -fomit-frame-pointer" BARE "-x c", never, NULL, "die gone? host? main? ");
	expect_start("gcc -O2 -fomit-frame-pointer" BARE "-x c", never, NULL, "die gone? host? main? ");
	expect_start("clang -O1 -fomit-frame-pointer" BARE "-x c", never, NULL, "die gone? host? main? ");
}

/* The handler never returns either, so its return address is found by what it leads to. */
static const char handled[] =
	"#include <signal.h>\n#include <stdlib.h>\n#include <string.h>\nvolatile int sink; int *volatile null;\n"
	"static char stack[65536];\n" KEEP
	"void work(int k) { char b[64]; memset(b, k, 64); *null = b[3]; sink++; }\n" KEEP
	"void last(int k) { char b[128]; memset(b, k, 128); sink = b[k]; abort(); }\n" KEEP
	"void on(int s) { last(s); sink++; }\n" KEEP
	"int go(int k) { char b[500]; memset(b, 1, 500); work(k); return b[k]; }\n"
	"int main(void) { stack_t s = {.ss_sp = stack, .ss_size = sizeof stack}; sigaltstack(&s, 0);\n"
	"  struct sigaction a = {.sa_handler = on, .sa_flags = SA_ONSTACK}; sigaction(SIGSEGV, &a, 0);\n"
	"  return go(4) + 1; }\n";

static void handlers_that_never_return_are_left(void **state)
{
	(void)state;
	static const char *const compilers[] = {"gcc -O2 -fomit-frame-pointer" BARE "-x c",
						"gcc -s -O2 -fomit-frame-pointer" BARE "-x c",
						"clang -s -O2 -fomit-frame-pointer" BARE "-x c"};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct xc_process *p = died(compilers[i], handled);
		xc_auto(xc_freep) char *got = stack_of(p);
		const char *end = strstr(got, "<signal>? ");
		if (!end || strncmp(end, i ? "<signal>? J J? J? __libc" : "<signal>? work go? main? __libc", 24) != 0)
			fail_msg("%s: %s", compilers[i], got);
		close_process(p);
	}
}

/* The last call of `last` does not return: what follows is code of another function, as `array` has a cold part with a
 * stack of variable size. rbp is `array`'s all the while. */
static const char cold[] = "#include <stdlib.h>\nvolatile int sink; int *volatile null;\n"
			   "__attribute__((noreturn, noinline)) void last(int n) { sink = n; abort(); }\n" KEEP
			   "int array(int n) { int a[n]; for (int i = 0; i < n; i++) a[i] = sink + i; if (n > 3) "
			   "last(a[2]); return a[n / 2]; "
			   "}\n" KEEP "int outer(int n) { int r = array(n); sink += r; return r + 3; }\n"
			   "int main(void) { sink += outer(10); return 0; }\n";

/* The cold part of `array` has a name of its own with gcc, and none in stripped programs. */
static void code_behind_a_last_call_is_not_asked(void **state)
{
	(void)state;
	static const struct {
		const char *compiler, *want;
	} cases[] = {
		{"gcc -O2" BARE "-x c", "abort last array.cold? outer? main? "},
		{"gcc -s -O2" BARE "-x c", "abort J J? J~ J? __libc"},
		{"gcc -s -O3" BARE "-x c", "abort J J? J~ J? __libc"},
		{"gcc -s -O1" BARE "-x c", "abort J J? J~ J? __libc"},
		{"clang -s -O2" BARE "-x c", "abort J J? J~ J? __libc"},
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct xc_process *p = died(cases[i].compiler, cold);
		xc_auto(xc_freep) char *got = stack_of(p);
		const char *from = strstr(got, "abort ");
		if (!from || strncmp(from, cases[i].want, strlen(cases[i].want)) != 0)
			fail_msg("%s: %s", cases[i].compiler, got);
		close_process(p);
	}
}

/* gcc aligns the frame of `wide` to 32 bytes, and copies its return address. `made` returns to what makecontext() put. */
static const char realigned[] =
	"#include <string.h>\n#include <ucontext.h>\n#include <setjmp.h>\n"
	"typedef int v8 __attribute__((vector_size(32))); int *volatile null; volatile int sink; volatile v8 v;\n"
	"static char stack[65536]; static ucontext_t first, own; static jmp_buf env;\n" KEEP
	"void crash(void *p, int n) { memset(p, n, 8); *null = n; sink++; }\n" KEEP
	"int wide(int n) { v8 x = v; char b[n]; crash(b, n); crash(&x, n); v = x; return b[0] + x[1]; }\n"
	"static void made(int n) { if (!setjmp(env)) longjmp(env, 1); sink = wide(n + 9); swapcontext(&own, &first); "
	"sink++; }\n"
	"int main(void) { getcontext(&own); own.uc_stack.ss_sp = stack; own.uc_stack.ss_size = sizeof stack;\n"
	"  makecontext(&own, (void (*)(void))made, 1, 7); swapcontext(&first, &own); return 0; }\n";

static void a_realigned_frame_ends_where_its_caller_begins(void **state)
{
	(void)state;
	expect_start("gcc -O2 -mavx2" BARE "-x c", realigned, NULL, "crash wide? made? __start_context? | outermost");
	expect_start("gcc -s -O2 -mavx2" BARE "-x c", realigned, NULL, "J J? J~ __start_context? | outermost");
	expect_start("gcc -s -O1 -mavx2" BARE "-x c", realigned, NULL, "J J? J~ __start_context? | outermost");
}

/* An old frame pointer lies below the return address; neither function uses rbp, and no frame is at it. */
static void a_frame_pointer_that_nobody_uses_keeps_its_value(void **state)
{
	(void)state;
	struct scene *s =
		make_scene("gcc -g -x assembler",
			   ".globl leaf\n.type leaf,@function\nleaf: sub $40,%rsp; nop; add $40,%rsp; ret\n.size "
			   "leaf,.-leaf\n.globl plain\n.type plain,@function\nplain: sub $8,%rsp; call leaf; add "
			   "$8,%rsp; ret\n.size plain,.-plain\n.globl start\n.type start,@function\nstart: call "
			   "plain; hlt\n.size start,.-start\n");
	s->stack[15] = label(s, "plain") + 9;
	s->stack[17] = label(s, "start") + 5;
	s->stack[14] = word(30);
	s->stack[31] = label(s, "start") + 5;
	set_reg(s, RBP, 1);
	struct xc_frame leaf = first_frame(s, label(s, "leaf") + 4, word(10)), plain = step(s, &leaf),
			start = step(s, &plain);
	assert_int_equal(plain.pc, label(s, "plain") + 9);
	assert_int_equal(start.pc, label(s, "start") + 5);
	assert_int_equal(reg(&plain, RBP), 1);
	assert_int_equal(reg(&start, RBP), 1);
	end_scene(s);
}

/* `bare` uses rbp for anything, and never returns: rbp is not known in its callers, whose call frame information says
 * nothing of it. `framed` is found by rbp, if what was left leads on. */
static struct scene *bare_scene(uint64_t rbp)
{
	struct scene *s = make_scene(
		"gcc -g -x assembler",
		".macro begin name\n.globl \\name\n.type \\name,@function\n\\name:\n.endm\n"
		".macro end name\n.size \\name,.-\\name\n.endm\n"
		"begin bare\npush %rbx; sub $0x20,%rsp; nop; ud2\nend bare\n"
		"begin framed\n.cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6,-16\nmov %rsp,%rbp\n"
		".cfi_def_cfa_register 6\nsub %rax,%rsp; call bare\n.globl in_framed\nin_framed: "
		"leave\n.cfi_def_cfa 7,8\nret\n.cfi_endproc\nend framed\n"
		"begin plain\n.cfi_startproc\nsub $8,%rsp\n.cfi_def_cfa_offset 16\ncall bare\n.globl in_plain\n"
		"in_plain: add $8,%rsp\n.cfi_def_cfa_offset 8\nret\n.cfi_endproc\nend plain\n"
		"begin user\n.cfi_startproc\nsub $8,%rsp\n.cfi_def_cfa_offset 16\ncall framed\n.globl below_framed\n"
		"below_framed: call plain\n.globl below_plain\nbelow_plain: add "
		"$8,%rsp\n.cfi_def_cfa_offset 8\nret\n.cfi_endproc\nend user\n");
	s->stack[20] = word(60);
	set_reg(s, RBP, rbp);
	return s;
}

static void what_a_guess_left_in_the_frame_pointer_is_no_value(void **state)
{
	(void)state;
	struct scene *s = bare_scene(0x1234);
	s->stack[15] = label(s, "in_plain");
	s->stack[17] = label(s, "below_plain");
	struct xc_frame bare = first_frame(s, label(s, "bare") + 5, word(10)), plain = step(s, &bare),
			user = step(s, &plain);
	assert_int_equal(plain.pc, label(s, "in_plain"));
	assert_int_equal(user.pc, label(s, "below_plain"));
	assert_int_equal(reg(&bare, RBP), 0x1234);
	assert_false(xc_regs_known(&plain.regs, RBP));
	assert_false(xc_regs_known(&user.regs, RBP));
	end_scene(s);
}

static void what_a_guess_left_in_the_frame_pointer_must_lead_on(void **state)
{
	(void)state;
	for (int right = 0; right <= 1; right++) {
		struct scene *s = bare_scene(right ? word(20) : word(40));
		s->stack[15] = label(s, "in_framed");
		s->stack[21] = label(s, "below_framed");
		struct xc_frame bare = first_frame(s, label(s, "bare") + 5, word(10)), framed = step(s, &bare),
				user = step(s, &framed);
		assert_int_equal(framed.pc, label(s, "in_framed"));
		assert_int_equal(user.pc, label(s, "below_framed"));
		assert_int_equal(user.trust, right ? XC_TRUST_CFI : XC_TRUST_SCAN);
		assert_int_equal(xc_regs_known(&framed.regs, RBP), right);
		if (right)
			assert_int_equal(reg(&user, RBP), word(60));
		end_scene(s);
	}
}

/* Code that pushes nothing and leaves by a jump: no call put the word at sp there, unless it is where calls put it. */
static void a_null_that_no_call_left_is_no_end(void **state)
{
	(void)state;
	struct scene *s = make_scene("gcc -g -x assembler", ".globl closure\n.type closure,@function\nclosure: nop; "
							    "call other; nop; jmp *(%rbp)\n.size closure,.-closure\n"
							    "other: nop; ret\n");
	struct xc_frame interrupted = first_frame(s, label(s, "closure") + 1, word(10));
	check_text(stop_of(s, &interrupted), "keeps no return address");
	interrupted = first_frame(s, label(s, "closure") + 1, word(11));
	check_text(stop_of(s, &interrupted), "outermost frame (return address 0)");
	end_scene(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_null_that_no_call_left_is_no_end),
		cmocka_unit_test(what_a_guess_left_in_the_frame_pointer_is_no_value),
		cmocka_unit_test(what_a_guess_left_in_the_frame_pointer_must_lead_on),
		cmocka_unit_test(a_frame_pointer_that_nobody_uses_keeps_its_value),
		cmocka_unit_test(generated_code_skips_no_caller),
		cmocka_unit_test(a_context_ends_where_it_was_made),
		cmocka_unit_test(a_coroutine_ends_where_it_was_made),
		cmocka_unit_test(nothing_called_the_entry_point_of_a_c_library),
		cmocka_unit_test(nothing_called_an_entry_point_of_ones_own),
		cmocka_unit_test(old_return_addresses_are_not_taken),
		cmocka_unit_test(functions_that_never_return_are_left),
		cmocka_unit_test(handlers_that_never_return_are_left),
		cmocka_unit_test(code_behind_a_last_call_is_not_asked),
		cmocka_unit_test(a_realigned_frame_ends_where_its_caller_begins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
