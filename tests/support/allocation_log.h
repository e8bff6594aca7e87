/* allocation_log: a C++ program that logs the type of each of its blocks, and the heap of its core.
 *
 * The program includes booked_source, calls note(pointer, type, count) for each block, and dies. The log is read from
 * its memory through the symbols `book` and `book_count`. */
#ifndef XC_TEST_ALLOCATION_LOG_H
#define XC_TEST_ALLOCATION_LOG_H

#include <stdio.h>

#include "core/base/text.h"
#include "dwarf/elf/symbol.h"
#include "heap/session/session.h"
#include "tests/support/opened.h"

static const char booked_source[] = "#include <stdlib.h>\n"
				    "#include <stddef.h>\n"
				    "struct entry { size_t block; const char *type; size_t count; };\n"
				    "extern \"C\" { entry book[4096]; size_t book_count; }\n"
				    "template <class T> T *note(T *p, const char *type, size_t count = 1) {\n"
				    "  if (book_count < 4096) book[book_count++] = {(size_t)p, type, count};\n"
				    "  return p; }\n";

struct booked {
	struct xc_process *process;
	struct xc_heap *heap;
	uint64_t count;
	xc_addr book;
};

struct booking {
	xc_addr block;
	char type[256];
	uint64_t count;
};

static inline uint64_t booked_word(const struct booked *b, xc_addr addr)
{
	uint64_t word;
	CHECK_OK(xc_space_uint(b->process->space, addr, 8, &word));
	return word;
}

/* Find the heap and the log of b->process. */
static inline void booked_read(struct booked *b)
{
	xc_addr count = 0;
	b->heap = xc_heap_open(b->process, &(struct xc_heap_options){0});
	assert_non_null(xc_symbol_find(b->process, "book", NULL, &b->book));
	assert_non_null(xc_symbol_find(b->process, "book_count", NULL, &count));
	b->count = booked_word(b, count);
	assert_true(b->count > 0);
}

/* Compile the program with a command such as "g++ -g -x c++" and run it until it dies. */
static inline struct booked booked_open(const char *compiler, const char *source)
{
	struct xc_text all = {0};
	struct booked b;
	xc_text_add(&all, booked_source);
	xc_text_add(&all, source);
	b.process = died(compiler, xc_text_string(&all));
	xc_text_fini(&all);
	booked_read(&b);
	return b;
}

static inline void booked_close(struct booked *b)
{
	xc_heap_close(b->heap);
	close_process(b->process);
}

static inline struct booking booked_get(const struct booked *b, uint64_t i)
{
	xc_addr entry = b->book + i * 24;
	struct booking booking = {.block = booked_word(b, entry), .count = booked_word(b, entry + 16)};
	assert_true(xc_space_peek_string(b->process->space, booked_word(b, entry + 8), booking.type,
					 sizeof booking.type - 1, NULL) >= 0);
	return booking;
}

#endif
