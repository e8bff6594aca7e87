/* layer: triage */
/* A fill pattern is told as an allocator's or a compiler's only where that is in the process. */
#include "triage/util/poison.h"

#include <elf.h>

#include "heap/blocks/allocator.h"
#include "tests/support/check.h"

static const char *whose(uint64_t value, const struct xc_allocator *allocator, const char *module, const char *producer)
{
	struct xc_heap_part part = {.allocator = allocator};
	struct xc_heap heap = {.parts = &part, .part_count = allocator != NULL};
	struct xc_module loaded = {.name = (char *)(uintptr_t)module}, *modules[] = {&loaded};
	struct xc_process process = {
		.arch = xc_arch_find(EM_X86_64, ELFCLASS64, false), .modules = modules, .module_count = module != NULL};
	struct xc_poison_owners owners = {&process, &heap, producer};
	struct xc_poison poison;
	if (!xc_poison_find(&owners, value, &poison))
		return "none";
	return poison.whose ? poison.whose : "nobody";
}

#define ALL(byte) (0x0101010101010101u * (byte))

static void a_fill_byte_is_that_of_an_allocator_in_the_process(void **state)
{
	(void)state;
	assert_non_null(strstr(whose(ALL(0x5aull), &xc_allocator_jemalloc, NULL, NULL), "jemalloc"));
	assert_non_null(strstr(whose(ALL(0xa5ull), &xc_allocator_jemalloc, NULL, NULL), "jemalloc"));
	assert_non_null(strstr(whose(ALL(0x5aull) + 16, NULL, "libjemalloc.so.2", NULL), "jemalloc"));
	assert_non_null(strstr(whose(ALL(0xdfull), &xc_allocator_mimalloc, NULL, NULL), "mimalloc"));
	assert_non_null(strstr(whose(ALL(0xddull), &xc_allocator_glibc, "python3.11", NULL), "Python"));
	assert_non_null(strstr(whose(ALL(0xaaull), NULL, NULL, "Debian clang version 14.0.6"), "clang"));
}

static void without_it_the_byte_is_nobodys(void **state)
{
	(void)state;
	static const uint8_t bytes[] = {0x5a, 0xe5, 0xa5, 0xdf, 0xd0, 0xcd, 0xab, 0xdd, 0xfd, 0xbe, 0xaa, 0xfe, 0x6b};
	for (size_t i = 0; i < sizeof bytes; i++) {
		assert_string_equal(whose(ALL(bytes[i]), &xc_allocator_glibc, "libc.so.6", "Rust"), "nobody");
		assert_string_equal(whose(ALL(bytes[i]) & UINT32_MAX, NULL, NULL, NULL), "nobody");
	}
	assert_string_equal(whose(ALL(0xaaull), NULL, NULL, "GNU C17 12.2.0"), "nobody");
	assert_string_equal(whose(ALL(0xddull), &xc_allocator_jemalloc, NULL, NULL), "nobody");
}

static void values_of_programs_need_no_owner(void **state)
{
	(void)state;
	assert_non_null(strstr(whose(0xdeadbeefdeadbeef, &xc_allocator_glibc, NULL, NULL), "programs"));
	assert_non_null(strstr(whose(0xdeadbeef, NULL, NULL, NULL), "programs"));
	assert_string_equal(whose(0x7f0012345678, NULL, NULL, NULL), "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fill_byte_is_that_of_an_allocator_in_the_process),
		cmocka_unit_test(without_it_the_byte_is_nobodys),
		cmocka_unit_test(values_of_programs_need_no_owner),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
