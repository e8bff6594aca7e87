/* layer: core
 *
 * jitdumps: functions, what was moved, lines, both byte orders; files that are cut or lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/perf/jitdump.h"

static bool big;

static void put(struct xc_text *to, uint64_t number, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		xc_text_char(to, (char)(number >> 8 * (big ? size - 1 - i : i)));
}

static void put_header(struct xc_text *to)
{
	put(to, 0x4A695444, 4), put(to, 1, 4), put(to, 40, 4), put(to, 62, 4), put(to, 0, 4), put(to, 7, 4);
	put(to, 0, 8), put(to, 0, 8);
}

static void put_load(struct xc_text *to, uint64_t at, uint64_t size, const char *name)
{
	put(to, 0, 4), put(to, 16 + 40 + strlen(name) + 1 + size, 4), put(to, 1, 8);
	put(to, 7, 4), put(to, 7, 4), put(to, at, 8), put(to, at, 8), put(to, size, 8), put(to, 1, 8);
	xc_text_addn(to, name, strlen(name) + 1);
	for (uint64_t i = 0; i < size; i++)
		xc_text_char(to, '\x90');
}

static void put_move(struct xc_text *to, uint64_t old, uint64_t at, uint64_t size)
{
	put(to, 1, 4), put(to, 16 + 48, 4), put(to, 1, 8);
	put(to, 7, 4), put(to, 7, 4), put(to, at, 8), put(to, old, 8), put(to, at, 8), put(to, size, 8), put(to, 1, 8);
}

/* Of two lines. */
static void put_lines(struct xc_text *to, uint64_t of, uint64_t second, uint64_t count)
{
	put(to, 2, 4), put(to, 16 + 16 + 16 + 5 + 16 + 2, 4), put(to, 1, 8), put(to, of, 8), put(to, count, 8);
	put(to, of, 8), put(to, 10, 4), put(to, 0, 4), xc_text_addn(to, "a.js", 5);
	put(to, second, 8), put(to, 11, 4), put(to, 0, 4), xc_text_addn(to, "\xff", 2);
}

static struct xc_code_names *read_all(const struct xc_text *from, bool known)
{
	struct xc_code_names *names = xc_code_names_new();
	assert_int_equal(xc_jitdump_read(names, from->bytes, from->len), known);
	return names;
}

static const char *name_at(struct xc_code_names *names, xc_addr addr)
{
	const struct xc_code_name *found = xc_code_names_find(names, addr);
	return found ? found->name : "";
}

static unsigned line_at(struct xc_code_names *names, xc_addr addr)
{
	const struct xc_code_name *found = xc_code_names_find(names, addr);
	const struct xc_code_line *line = found ? xc_code_name_line(found, addr) : NULL;
	if (line)
		assert_string_equal(line->file, "a.js");
	return line ? line->line : 0;
}

static void functions_have_names_and_lines(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct xc_text dump = {0};
		big = i == 1;
		put_header(&dump);
		put_lines(&dump, 0x1000, 0x1008, 2);
		put_load(&dump, 0x1000, 16, "first");
		put_load(&dump, 0x2000, 16, "second");
		struct xc_code_names *names = read_all(&dump, true);
		assert_string_equal(name_at(names, 0x100f), "first");
		assert_string_equal(name_at(names, 0x1010), "");
		assert_string_equal(name_at(names, 0x2000), "second");
		assert_int_equal(line_at(names, 0x1000), 10);
		assert_int_equal(line_at(names, 0x1007), 10);
		assert_int_equal(line_at(names, 0x1008), 11);
		assert_int_equal(line_at(names, 0x2000), 0); /* the lines are another function's */
		xc_code_names_free(names);
		xc_text_fini(&dump);
	}
	big = false;
}

static void what_was_loaded_or_moved_last_holds(void **state)
{
	(void)state;
	struct xc_text dump = {0};
	put_header(&dump);
	put_load(&dump, 0x1000, 16, "old");
	put_load(&dump, 0x1000, 16, "new");
	put_move(&dump, 0x1000, 0x3000, 16);
	put_load(&dump, 0x1000, 16, "third");
	put_move(&dump, 0x5555, 0x4000, 16); /* of nothing */
	struct xc_code_names *names = read_all(&dump, true);
	assert_string_equal(name_at(names, 0x1000), "third");
	assert_string_equal(name_at(names, 0x3008), "new");
	assert_string_equal(name_at(names, 0x4000), "");
	xc_code_names_free(names);
	xc_text_fini(&dump);
}

static void a_file_that_is_cut_gives_what_is_whole(void **state)
{
	(void)state;
	struct xc_text dump = {0};
	put_header(&dump);
	put_load(&dump, 0x1000, 16, "first");
	const size_t whole = dump.len;
	put_lines(&dump, 0x2000, 0x2008, 2);
	put_load(&dump, 0x2000, 16, "second");
	for (size_t len = 0; len < dump.len; len++) {
		uint8_t *copy = malloc(len ? len : 1); /* so that a sanitizer sees reads past its end */
		assert_non_null(copy);
		memcpy(copy, dump.bytes, len);
		struct xc_code_names *names = xc_code_names_new();
		assert_int_equal(xc_jitdump_read(names, copy, len), len >= 40);
		assert_string_equal(name_at(names, 0x1000), len >= whole ? "first" : "");
		assert_string_equal(name_at(names, 0x2000), "");
		xc_code_names_free(names);
		free(copy);
	}
	xc_text_fini(&dump);
}

static void what_lies_is_left_out(void **state)
{
	(void)state;
	struct xc_text dump = {0};
	put_header(&dump);
	put_lines(&dump, 0x1000, 0x1008, UINT64_MAX / 2); /* many more than there is room for */
	put_load(&dump, 0x1000, 16, "first");
	put_lines(&dump, 0x2000, 0x1ff0, 2); /* not in order: the second is not believed */
	put_load(&dump, 0x2000, 16, "second");
	put_load(&dump, UINT64_MAX - 3, 16, "beyond");
	struct xc_code_names *names = read_all(&dump, true);
	assert_int_equal(line_at(names, 0x1000), 0);
	assert_int_equal(line_at(names, 0x2008), 10);
	assert_string_equal(name_at(names, UINT64_MAX), "");
	xc_code_names_free(names);
	dump.bytes[4] = 9; /* a later version */
	xc_code_names_free(read_all(&dump, false));
	dump.bytes[0] = 'X';
	xc_code_names_free(read_all(&dump, false));
	xc_text_fini(&dump);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_names_and_lines),
		cmocka_unit_test(what_was_loaded_or_moved_last_holds),
		cmocka_unit_test(a_file_that_is_cut_gives_what_is_whole),
		cmocka_unit_test(what_lies_is_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
