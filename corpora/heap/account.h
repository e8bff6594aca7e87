/* account: a program's own book of its blocks, written down just before it dies, to compare an analyzer's answer with.
 *
 * The program says what each block is (account_is) and which ones nobody can reach any more (account_leaked). With
 * hooks, malloc and its relatives are defined here and pass everything on, so that the book has every block of every
 * library too; those nobody speaks of have no type. Without (ACCOUNT_NO_HOOKS, where a replaced malloc changes how the
 * C library itself allocates) the book has what it was told.
 *
 * With ACCOUNT_TOTALS it counts all blocks (a first line
 * {"totals":{"blocks":N,"bytes":N,"leaked":N,"leaked_bytes":N,"frees":N}}) and has each 997th of those that it was told
 * of: for programs with too many.
 *
 * The book must not be a reference to what is in it: addresses are kept inverted, sizes are asked for at the end.
 * account_die overwrites what dead calls left below it on the stack and in registers, so that "leaked" is the truth.
 *
 * Written to $XCORE_ACCOUNT, JSON lines: {"addr":"0x…","size":N,"type":"…"|null,"count":N,"state":"live|leaked|possible|freed"};
 * type may be several, separated by '|': any of them is right. "unknown" among them: no answer is right, too. A freed
 * address says that no live block covers it. */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <stddef.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A part of the program whose stack frame ends before the program dies. */
#define PART __attribute__((noinline, noclone))

/* A variable of a file that holds blocks, though the program itself may never read it; and what a frame holds until
 * here. */
#define HELD          static __attribute__((used))
#define HOLD(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

#define NEW(type)         ((type *)account_is(calloc(1, sizeof(type)), #type, 1))
#define NEWS(type, count) ((type *)account_is(calloc((size_t)(count), sizeof(type)), #type, (size_t)(count)))

/* The block is count items of that type; type is a constant. Returns block. */
void *account_is(void *block, const char *type, size_t count);
void *account_leaked(void *block);
void *account_possibly(void *block); /* leaked, but words that the program does not mean lead to it */
void account_freed(void *block);     /* before it is; the hooks do it by themselves */

/* Overwrites what ended calls left on the stack of this thread. */
void account_scrub(void);

/* Writes the book and aborts. Declared as if it might return, so that what the callers hold stays held. */
extern void (*volatile account_die)(void);

/* Writes the book only, for a program that dies in its own way. */
void account_write(void);

/* A small number from a sequence that is the same in each run. */
unsigned account_random(unsigned below);

#ifdef ACCOUNT_NO_HOOKS
static inline void account_free(void *block)
{
	account_freed(block);
	free(block);
}
#define free account_free
#endif

#ifdef __cplusplus
}
#endif
#endif
