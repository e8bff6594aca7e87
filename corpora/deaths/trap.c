/* Dies because the processor or the kernel refuses an instruction or a system call. */
#include <fenv.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "death.h"

volatile long sink;
volatile double fraction;

static NOINLINE long divide(long sum, long count)
{
	return sum / count; /* dies: divide divide-overflow */
}

static NOINLINE int remainder_of(int sum, int count)
{
	return sum % count; /* dies: modulo */
}

struct window {
	unsigned count;
	unsigned sum;
};

static NOINLINE unsigned mean(const struct window *w)
{
	return w->sum / (w->count + 1); /* dies: divide-sum */
}

static NOINLINE double quotient(double a, double b)
{
	return a / b; /* dies: float */
}

static NOINLINE void never(int state)
{
	if (state != 1)
		__builtin_trap(); /* dies: trap */
	sink = state;
}

static NOINLINE void stop_here(void)
{
	__asm__ volatile("int3"); /* dies: int3 */
	sink = 1;
}

static NOINLINE void halt(void)
{
	__asm__ volatile("hlt"); /* dies: hlt */
	sink = 1;
}

static NOINLINE void ask_port(void)
{
	__asm__ volatile("outb %%al, $0x80" : : "a"(0)); /* dies: outb */
	sink = 1;
}

static NOINLINE void undefined(void)
{
	__asm__ volatile(".byte 0x06"); /* dies: undefined */
	sink = 1;
}

static NOINLINE int run_code(int (*code)(void))
{
	return code() + 1;
}

typedef float vector __attribute__((vector_size(16)));

static NOINLINE void add_vector(float *to)
{
	__asm__ volatile("movaps %%xmm0, (%0)" : : "r"(to) : "memory"); /* dies: misaligned-sse */
	sink = 1;
}

static NOINLINE long read_word(const char *at)
{
	return *(const volatile int *)(const void *)at + 1; /* dies: misaligned-ac */
}

static NOINLINE void forbidden(void)
{
	sink = syscall(SYS_getppid); /* dies: seccomp */
}

static void die_divide(void)
{
	sink = divide(opaque_long(10), opaque_long(0));
}

static void die_divide_overflow(void)
{
	sink = divide(opaque_long(INT64_MIN), opaque_long(-1));
}

static void die_divide_sum(void)
{
	struct window w = {.count = (unsigned)opaque_long(-1), .sum = 5};
	sink = mean(&w);
}

static void die_modulo(void)
{
	sink = remainder_of((int)opaque_long(7), (int)opaque_long(0));
}

static void die_float(void)
{
	feenableexcept(FE_DIVBYZERO);
	fraction = quotient((double)opaque_long(1), (double)opaque_long(0));
	sink = (long)fraction;
}

static void die_trap(void)
{
	never((int)opaque_long(5));
}

/* Bytes that are no instruction, on a page that holds code but belongs to no file. */
static void die_generated(void)
{
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page[0] = 0x06;
	sink = run_code((int (*)(void))opaque(page));
}

static void die_misaligned_sse(void)
{
	static float numbers[12] __attribute__((aligned(16)));
	add_vector(opaque((char *)numbers + 4));
}

static void die_misaligned_ac(void)
{
	static char bytes[16] __attribute__((aligned(16)));
	const char *at = opaque(bytes + 1);
	__asm__ volatile("pushfq\n\torq $0x40000, (%%rsp)\n\tpopfq" : : : "memory", "cc"); /* AC: alignment check */
	sink = read_word(at);
}

static void die_seccomp(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(2);
	forbidden();
}

DEATHS({"divide", die_divide}, {"divide-overflow", die_divide_overflow}, {"divide-sum", die_divide_sum},
       {"modulo", die_modulo}, {"float", die_float}, {"trap", die_trap}, {"int3", stop_here}, {"hlt", halt},
       {"outb", ask_port}, {"undefined", undefined}, {"generated", die_generated},
       {"misaligned-sse", die_misaligned_sse}, {"misaligned-ac", die_misaligned_ac}, {"seccomp", die_seccomp})
