/* layer: batch */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "batch/signature/static_runtime.h"

enum { MAX = 16 };

/* One "name@module@file" per frame; the default module is the program's own file. One letter per frame tells which are
 * linked in. */
static void expect(const char *stack, const char *wanted)
{
	struct xc_arena arena = {0};
	struct xc_record_frame rows[MAX] = {0};
	struct xc_signature_frame frames[MAX] = {0};
	const struct xc_record record = {.frames = rows, .frame_count = strlen(wanted)};
	bool linked[MAX];
	char got[MAX + 1] = "", *rest = xc_arena_strdup(&arena, stack);
	for (size_t i = 0; i < record.frame_count; i++) {
		char *word = strtok_r(i ? NULL : rest, " ", &rest), *at;
		frames[i].name = word;
		rows[i].module = "server";
		if ((at = strchr(word, '@'))) {
			*at++ = '\0';
			char *file = strchr(at, '@');
			if (file)
				*file++ = '\0';
			rows[i].module = *at ? at : "server";
			rows[i].file = file;
		}
	}
	xc_static_runtime_find(&record, frames, linked);
	for (size_t i = 0; i < record.frame_count; i++)
		got[i] = linked[i] ? 'y' : 'n';
	if (strcmp(got, wanted) != 0)
		fail_msg("%s: %s, wanted %s", stack, got, wanted);
	xc_arena_fini(&arena);
}

static void a_static_program_is_told_by_its_start(void **state)
{
	(void)state;
	expect("abort check main __libc_start_call_main __libc_start_main _start", "yyyyyy");
	expect("strlen work start_thread clone3", "yyyy");
	expect("abort check main", "nnn");
	expect("abort check main __libc_start_main@libc.so.6 _start", "nnnnn");
}

static void what_has_a_file_of_its_own_is_the_programs(void **state)
{
	(void)state;
	expect("abort@@/srv/shop/end.c free@@./malloc/malloc.c main __libc_start_main", "nyyy");
	expect("abort@@/b/glibc-2.36/stdlib/abort.c main@@/srv/shop/main.c __libc_start_main", "yny");
}

static void a_users_start_thread_is_no_librarys(void **state)
{
	(void)state;
	expect("start_thread start_thread@libc.so.6 clone3@libc.so.6", "nnn");
	expect("start_thread run start_thread@libc.so.6 clone3@libc.so.6", "nnnn");
	/* in a static program it is the other one */
	expect("start_thread start_thread clone3", "nyy");
	expect("work start@@src/thread/pthread_create.c __clone", "yyy");
	expect("start run start __clone", "nyyy");
	expect("start_thread main", "nn");
	expect("free clone3 main __libc_start_main@libc.so.6", "nnnn");
}

static void a_sanitizers_functions_are_linked_in_beside_a_shared_library(void **state)
{
	(void)state;
	expect("__asan::Report free@@../../src/libsanitizer/asan/x.cpp mine@@/srv/a.c main@libc.so.6", "yynn");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_static_program_is_told_by_its_start),
		cmocka_unit_test(what_has_a_file_of_its_own_is_the_programs),
		cmocka_unit_test(a_users_start_thread_is_no_librarys),
		cmocka_unit_test(a_sanitizers_functions_are_linked_in_beside_a_shared_library),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
