/* grid: how many compilers, optimisation levels and random cases a test uses.
 *
 * One configuration shows a claim. The next test case takes the next configuration, so that all occur if there are
 * enough cases. With XC_GRID=all, each case takes every configuration (suite "grids" of tests/suites.py). */
#ifndef XC_TEST_GRID_H
#define XC_TEST_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static inline bool grid_all(void)
{
	const char *all = getenv("XC_GRID");
	return all && strcmp(all, "all") == 0;
}

/* `few`, or `all` with XC_GRID=all. */
static inline size_t grid_count(size_t few, size_t all)
{
	return grid_all() ? all : few;
}

/* The first index of `count` that a case takes. The cases of a program take turns. */
static inline size_t grid_first(size_t count)
{
	static size_t turn;
	return grid_all() ? 0 : turn++ % count;
}

/* Loops over the indexes of `count` that a case takes: GRID(i, XC_COUNT(compilers)) judge(compilers[i], …); */
#define GRID(i, count) for (size_t i = grid_first(count), i##_end = grid_all() ? (count) : i + 1; i < i##_end; i++)

#endif
