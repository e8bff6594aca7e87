/* What the programs share: keeping the optimiser in the dark, and dying. */
#ifndef CRASH_H
#define CRASH_H

#include <stddef.h>

#define NOINLINE __attribute__((noinline))

/* The optimiser must believe that the bytes of x are read here: x is live up to this line, in memory.
 * An expression (GNU), so that several stand in a line with commas. */
#define KEEP(x) ({ __asm__ volatile("" : : "m"(x)); })
/* The same for a scalar, which may stay in a register. */
#define KEEP_VALUE(x) ({ __asm__ volatile("" : : "r"(x)); })

/* An operand in the registers that hold floats. */
#if defined(__x86_64__)
#define FLOAT_REGISTER "x"
#elif defined(__i386__)
#define FLOAT_REGISTER "m" /* the x87 stack takes no two */
#elif defined(__powerpc64__)
#define FLOAT_REGISTER "d"
#elif defined(__riscv)
#define FLOAT_REGISTER "f"
#else
#define FLOAT_REGISTER "w"
#endif

/* The same pointer, of which the optimiser no longer knows where it points; memory may have changed. */
static inline void *opaque(const volatile void *pointer)
{
	void *out = (void *)(size_t)pointer;
	__asm__ volatile("" : "+r"(out) : : "memory");
	return out;
}

/* Dies of a write to address 0. Returns as far as the compiler knows, so that its callers' values stay needed. */
static NOINLINE __attribute__((unused)) void crash(void)
{
	*(volatile int *)opaque(NULL) = 1;
}

#endif
