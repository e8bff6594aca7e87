/* base: allocation that stops with a message instead of returning NULL. */
#include "core/base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *check(void *pointer, size_t size)
{
	if (pointer)
		return pointer;
	fprintf(stderr, "xcore: out of memory: %zu bytes\n", size);
	exit(5);
}

void xc_freep(void *pointer_to_pointer)
{
	void *pointer;
	memcpy(&pointer, pointer_to_pointer, sizeof pointer);
	free(pointer);
}

void *xc_alloc(size_t size)
{
	return check(calloc(1, size ? size : 1), size);
}

void *xc_realloc(void *old, size_t size)
{
	return check(realloc(old, size ? size : 1), size);
}

bool xc_begins_with(const char *text, const char *head)
{
	return strncmp(text, head, strlen(head)) == 0;
}

bool xc_ends_with(const char *text, const char *tail)
{
	size_t len = strlen(text), tail_len = strlen(tail);
	return len >= tail_len && strcmp(text + len - tail_len, tail) == 0;
}

char *xc_strdup(const char *text)
{
	return check(strdup(text), strlen(text) + 1);
}

char *xc_vasprintf(const char *format, va_list args)
{
	char *text = NULL;
	int len = vasprintf(&text, format, args);
	return check(len < 0 ? NULL : text, strlen(format));
}

char *xc_asprintf(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = xc_vasprintf(format, args);
	va_end(args);
	return text;
}

void *xc_grow(void *items, size_t count, size_t *capacity, size_t size)
{
	if (count < *capacity)
		return items;
#ifdef XC_HOSTILE
	size_t first = 1; /* makes arrays move early and often */
#else
	size_t first = 16;
#endif
	*capacity = *capacity ? *capacity * 2 : first;
	return check(reallocarray(items, *capacity, size), *capacity);
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t xc_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t xc_thread_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
