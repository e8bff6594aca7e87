/* grid: how many of the compilers, levels and random cases that a test is made for are used.
 *
 * A claim is shown by one of them; the next case takes the next, so that each occurs where there are as many cases as compilers.
 * XC_GRID=all: each case takes every one (suite "grids" of tests/suites.py). */
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

/* `few`, or `all` of them. */
static inline size_t grid_count(size_t few, size_t all)
{
	return grid_all() ? all : few;
}

/* The first that a case takes of `count`; a program's cases take turns. */
static inline size_t grid_first(size_t count)
{
	static size_t turn;
	return grid_all() ? 0 : turn++ % count;
}

/* For the numbers of those that a case takes of `count`: GRID(i, XC_COUNT(compilers)) judge(compilers[i], …); */
#define GRID(i, count) for (size_t i = grid_first(count), i##_end = grid_all() ? (count) : i + 1; i < i##_end; i++)

#endif
