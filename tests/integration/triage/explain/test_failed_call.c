/* layer: triage tier: long */
/* What a call of the C library returned when it failed: by the names of the source, with errno. */
#include "tests/support/grid.h"
#include "tests/support/many_deaths.h"
#include "tests/support/run_verdict.h"

/* work() gets what leads to them, as programs do; the calls in front of it fail. */
#define HEAD                                                                                                           \
	"#define _GNU_SOURCE\n#include <dirent.h>\n#include <fcntl.h>\n#include <pthread.h>\n#include <stdio.h>\n"     \
	"#include <stdlib.h>\n#include <string.h>\n#include <sys/mman.h>\n#include <sys/resource.h>\n"                 \
	"#include <semaphore.h>\n#include <time.h>\n#include <unistd.h>\n"                                             \
	"struct conf { FILE *file; DIR *dir; struct head { int magic, count; } *map; pthread_mutex_t *lock; sem_t "    \
	"*sem; struct tm *tm; char *name; };\n"                                                                        \
	"struct conf *volatile conf; volatile long zero; static char line[100];\n"                                     \
	"static void fail(struct conf *c) { c->file = fopen(\"/proc/nonexistent/file\", \"r\"); }\n"                   \
	"static void fill(struct conf *c) { struct rlimit r = {16, 16}; setrlimit(RLIMIT_NOFILE, &r);\n"               \
	"	while (open(\"/dev/null\", O_RDONLY) >= 0); c->file = fopen(\"/etc/passwd\", \"r\"); }\n"                    \
	"static struct conf *made(void) { if (!conf) conf = calloc(1, sizeof *conf); return conf; }\n"                 \
	"#define c made()\n"

static void say(const struct wanted *cases, const char *const *bodies, size_t count)
{
	static const char *const compilers[] = {"gcc -g -O0 -x c", "clang -g -O2 -x c"};
	struct xc_text source = {0};
	many_deaths_begin(&source, HEAD);
	for (size_t i = 0; i < count; i++)
		many_deaths_add(&source, i, bodies[i]);
	many_deaths_end(&source);
	for (size_t i = 0; i < count; i++)
		GRID(k, XC_COUNT(compilers)) {
			struct wanted want = cases[i];
			want.argument = many_deaths_number(i);
			judged_expect(compilers[k], xc_text_string(&source), true, &want);
		}
	xc_text_fini(&source);
}

static void errno_tells_why_a_stream_is_none(void **state)
{
	(void)state;
	static const char *const bodies[] = {
		"fail(c); zero = fread(line, 1, 10, c->file);",
		"fill(c); zero = (long)fgets(line, 10, c->file);",
		"fail(c); zero = fclose(c->file);",
		"fail(c); zero = fseek(c->file, 0, SEEK_END);",
		"fail(c); zero = fprintf(c->file, \"%d\", 1);",
		"FILE *f = fopen(\"/\", \"w\"); zero = fputc('x', f);",
		"FILE *f = fopen(\"/proc/nonexistent/file\", \"r\"); if (fgets(line, 10, f)) puts(line); zero = 1;",
		"DIR *d = opendir(\"/proc/nonexistent\"); while (readdir(d)) zero++; zero = 1;",
		"c->dir = opendir(\"/dev/null\"); zero = (long)readdir(c->dir);",
	};
	static const struct wanted cases[] = {
		{.class_name = "null-read", .says = "in fread()", .also = "errno is 2, ENOENT"},
		{.class_name = "null-read", .says = "in fgets()", .also = "errno is 24, EMFILE"},
		{.class_name = "null-read", .says = "in fclose()", .also = "errno is 2, ENOENT"},
		{.class_name = "null-read", .says = "in fseek()", .also = "errno is 2, ENOENT"},
		{.class_name = "null-read", .says = "in fprintf()", .also = "errno is 2, ENOENT"},
		{.class_name = "null-read", .says = "fopen()", .also = "errno is 21, EISDIR"},
		{.class_name = "null-read", .says = "fopen()", .also = "errno is 2, ENOENT"},
		{.class_name = "null-write", .says = "opendir()", .also = "errno is 2, ENOENT"},
		{.class_name = "null-write", .says = "in readdir()", .also = "errno is 20, ENOTDIR"},
	};
	say(cases, bodies, XC_COUNT(cases));
}

static void a_failed_map_is_no_null_pointer(void **state)
{
	(void)state;
	static const char *const bodies[] = {
		"struct head *h = mmap(0, 4096, PROT_READ, MAP_SHARED, -1, 0); zero = h->count;",
		"struct head *h = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 1); h->magic "
		"= 1;",
	};
	static const struct wanted cases[] = {
		{.class_name = "wild-read", .says = "says that mmap() failed", .also = "errno is 9, EBADF"},
		{.class_name = "wild-write", .says = "says that mmap() failed", .also = "errno is 22, EINVAL"},
	};
	say(cases, bodies, XC_COUNT(cases));
}

/* errno is of some call that failed long ago. */
static void other_pointers_have_no_errno(void **state)
{
	(void)state;
	static const char *const bodies[] = {
		"fail(c); zero = c->map->count;",
		"fail(c); zero = strlen(c->name);",
		"fail(c); zero = pthread_mutex_lock(c->lock);",
	};
	static const struct wanted cases[] = {
		{.class_name = "null-read", .says = "map", .without = "errno"},
		{.class_name = "null-read", .says = "in strlen()", .without = "errno"},
		{.class_name = "null-read", .says = "in pthread_mutex_lock()", .without = "errno"},
	};
	say(cases, bodies, XC_COUNT(cases));
}

/* The function that was called jumps on to another one, or keeps a part of what it got in a variable of its own. */
static void a_library_that_passes_it_on_is_followed(void **state)
{
	(void)state;
	static const char *const bodies[] = {
		"zero = mktime(c->tm);",
		"zero = strftime(line, 100, \"%F\", c->tm);",
		"zero = pthread_mutex_unlock(c->lock);",
		"zero = sem_wait(c->sem);",
		"char *l = 0; size_t k = 0; zero = getline(&l, &k, c->file);",
	};
	static const struct wanted cases[] = {
		{.class_name = "null-read", .says = "tm` points to, in mktime()"},
		{.class_name = "null-read", .says = "tm` points to, in strftime()"},
		{.class_name = "null-read", .says = "lock` points to, in pthread_mutex_unlock()"},
		{.class_name = "null-read", .says = "sem` points to, in sem_wait()"},
		{.class_name = "null-read", .says = "file` points to, in get", .without = "returned"},
	};
	say(cases, bodies, XC_COUNT(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errno_tells_why_a_stream_is_none),
		cmocka_unit_test(a_failed_map_is_no_null_pointer),
		cmocka_unit_test(other_pointers_have_no_errno),
		cmocka_unit_test(a_library_that_passes_it_on_is_followed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
