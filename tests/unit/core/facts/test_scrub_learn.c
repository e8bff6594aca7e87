/* layer: core */
#include <elf.h>

#include "tests/support/check.h"

#include "core/facts/scrub_learn.h"

enum { STACK = 0x7ffd0000, SIZE = 4096 };

/* The end of a stack: the bytes before the program's file name, exactly. */
struct ended {
	struct xc_process *process;
	struct xc_scrub scrub;
	char bytes[SIZE];
};

static void setup(struct ended *e, const char *strings, size_t len, uid_t uid)
{
	*e = (struct ended){.process = xc_process_new("/tmp/core.77", false)};
	e->process->arch = xc_arch_host();
	e->process->uid = uid;
	memcpy(e->bytes + SIZE - len, strings, len);
	const struct xc_segment there = {
		.lo = STACK, .hi = STACK + SIZE - 1, .provenance = XC_FROM_CORE, .bytes = (const uint8_t *)e->bytes};
	xc_space_add(e->process->space, &there);
	xc_space_seal(e->process->space);
	e->process->auxv[AT_EXECFN] = STACK + SIZE;
	e->process->auxv_known |= (uint64_t)1 << AT_EXECFN;
	xc_scrub_learn(&e->scrub, e->process);
}

static void teardown(struct ended *e)
{
	xc_scrub_fini(&e->scrub);
	xc_process_close(e->process);
}

static const char *shown(const struct ended *e, const char *word)
{
	for (size_t i = 0; i < e->scrub.count; i++)
		if (strcmp(e->scrub.words[i].text, word) == 0)
			return e->scrub.words[i].shown;
	return NULL;
}

#define STRINGS                                                                                                        \
	"\0./program\0KEY\0API_TOKEN=s3same\0PATH=/bin\0EMPTY_KEY=\0SHORT_KEY=12345\0HOME=/data/"                      \
	"joe\0USER=joe\0LOGNAME=jo\0"                                                                                  \
	"HOSTNAME=build-7"

static void the_environment_tells_whose_the_process_was(void **state)
{
	(void)state;
	struct ended e;
	setup(&e, STRINGS, sizeof STRINGS, 1000);
	assert_string_equal(shown(&e, "s3same"), "(redacted)");
	assert_string_equal(shown(&e, "/data/joe"), "~");
	assert_string_equal(shown(&e, "joe"), "(user)");
	assert_string_equal(shown(&e, "build-7"), "(host)");
	assert_int_equal(e.scrub.count, 4);
	teardown(&e);
}

static void a_name_of_any_letters_does_not_end_the_environment(void **state)
{
	static const char strings[] =
		"\0./program\0API_TOKEN=s3same\0BASH_FUNC_module%%=() {  a=b\n}\0my.property=1\0A B=\0"
		"PATH=/bin";
	(void)state;
	struct ended e;
	setup(&e, strings, sizeof strings, 1000);
	assert_string_equal(shown(&e, "s3same"), "(redacted)");
	assert_int_equal(e.scrub.count, 1);
	teardown(&e);
}

static void the_name_of_a_services_user_is_no_persons(void **state)
{
	(void)state;
	struct ended e;
	setup(&e, STRINGS, sizeof STRINGS, 33);
	assert_null(shown(&e, "joe"));
	assert_int_equal(e.scrub.count, 3);
	teardown(&e);
}

/* In containers services run with user ids of 1000 and more, too. */
static void a_user_that_the_program_is_named_by_is_no_person(void **state)
{
	(void)state;
	static const struct {
		const char *comm, *exe_path, *shown;
	} programs[] = {{"joe-server", NULL, NULL},
			{"main", "/opt/joe-server", NULL},
			{NULL, "joe", NULL},
			{"joey", "/home/joe/bin/joey", "(user)"}};
	for (size_t i = 0; i < XC_COUNT(programs); i++) {
		struct ended e;
		setup(&e, "", 0, 1001);
		memcpy(e.bytes + SIZE - sizeof STRINGS, STRINGS, sizeof STRINGS);
		e.process->comm = programs[i].comm;
		e.process->exe_path = programs[i].exe_path;
		xc_scrub_learn(&e.scrub, e.process);
		const char *user = shown(&e, "joe");
		assert_true(programs[i].shown ? user && strcmp(user, programs[i].shown) == 0 : !user);
		assert_string_equal(shown(&e, "s3same"), "(redacted)");
		teardown(&e);
	}
}

static void what_is_no_environment_says_nothing(void **state)
{
	(void)state;
	struct ended e;
	setup(&e, "A_TOKEN=unended", strlen("A_TOKEN=unended"), 1000); /* no NUL before the file name */
	assert_int_equal(e.scrub.count, 0);
	teardown(&e);
	setup(&e, "\0A_TOKEN=before\0an argument", sizeof "\0A_TOKEN=before\0an argument", 1000);
	assert_int_equal(e.scrub.count, 0);
	teardown(&e);
}

static void a_stack_that_is_not_there_says_nothing(void **state)
{
	(void)state;
	struct xc_process *process = xc_process_new("/tmp/core.77", false);
	struct xc_scrub scrub = {0};
	xc_scrub_learn(&scrub, process);
	static const xc_addr places[] = {0, 1, STACK, UINT64_MAX};
	process->auxv_known |= (uint64_t)1 << AT_EXECFN;
	for (size_t i = 0; i < XC_COUNT(places); i++) {
		process->auxv[AT_EXECFN] = places[i];
		xc_scrub_learn(&scrub, process);
	}
	assert_int_equal(scrub.count, 0);
	xc_process_close(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_environment_tells_whose_the_process_was),
		cmocka_unit_test(a_name_of_any_letters_does_not_end_the_environment),
		cmocka_unit_test(the_name_of_a_services_user_is_no_persons),
		cmocka_unit_test(a_user_that_the_program_is_named_by_is_no_person),
		cmocka_unit_test(what_is_no_environment_says_nothing),
		cmocka_unit_test(a_stack_that_is_not_there_says_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
