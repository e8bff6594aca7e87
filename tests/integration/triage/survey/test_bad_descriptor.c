/* layer: triage tier: long */
/* Programs that give up because a descriptor is not open. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <assert.h>\n#include <errno.h>\n#include <fcntl.h>\n#include <stdio.h>\n#include <stdlib.h>\n"       \
	"#include <string.h>\n#include <unistd.h>\n#define NOINLINE __attribute__((noinline))\n"                       \
	"struct store { long end; int fd; } store; struct client { char name[24]; int sock; } *client;\n"              \
	"NOINLINE void die(const char *why) { fprintf(stderr, \"%s: %s\\n\", why, strerror(errno)); abort(); }\n"      \
	"NOINLINE void append(struct store *s, const char *text) { if (pwrite(s->fd, text, strlen(text), s->end) < "   \
	"0) "                                                                                                          \
	"die(\"append\"); s->end++; }\n"                                                                               \
	"NOINLINE void finish(struct client *c) { close(c->sock); }\n"                                                 \
	"NOINLINE void check(int fd) { char text[8]; assert(read(fd, text, 8) >= 0); }\n"

static const char *const compilers[] = {"gcc -g -O0 -w -x c", "gcc -g -O2 -w -x c", "clang -g -O0 -w -x c",
					"clang -g -O2 -w -x c"};

/* The number belongs to somebody else when it is closed a second time. */
static void a_descriptor_that_was_closed_twice_is_told(void **state)
{
	(void)state;
	static const char live[] = HEAD
		"int main(void) { client = calloc(1, sizeof *client); client->sock = open(\"/dev/null\", O_RDWR); "
		"finish(client); store.fd = open(\"/dev/null\", O_RDWR); finish(client); append(&store, \"x\"); }\n";
	static const char freed[] =
		HEAD "struct server { int count; struct client *first; } server;\n"
		     "int main(void) { client = calloc(1, sizeof *client); server.first = client; client->sock = "
		     "open(\"/dev/null\", O_RDWR); finish(client); store.fd = open(\"/dev/null\", O_RDWR); "
		     "finish(client); free(client); append(&store, \"x\"); }\n";
	judged_expect(compilers[0], live, true,
		      &(struct wanted){.class_name = "abort",
				       .function = "append",
				       .says = ", `s->fd`, had been closed: by a second close()",
				       .also = "`client->sock` has the same number, "});
	judged_expect(
		compilers[0], freed, true,
		&(struct wanted){.class_name = "abort",
				 .says = ", `s->fd`, had been closed: by a second close()",
				 .also = "`server.first->sock`, of an object that was freed, has the same number, "});
}

static void a_descriptor_that_is_none_is_told(void **state)
{
	(void)state;
	static const char never[] = HEAD "int main(void) { store.fd = open(\"/nowhere/at/all\", O_RDWR); "
					 "append(&store, \"x\"); }\n";
	static const char variable[] = HEAD "int main(void) { check(-1); }\n";
	judged_expect(
		compilers[0], never, true,
		&(struct wanted){.class_name = "abort", .says = "likely `s->fd` is no open descriptor: it is -1"});
	judged_expect(
		compilers[0], variable, true,
		&(struct wanted){.class_name = "assertion", .says = "likely `fd` is no open descriptor: it is -1"});
}

/* Another reason, or no number that is named so. */
static void another_error_is_not_told_as_one(void **state)
{
	(void)state;
	static const char other[] = HEAD "int main(void) { close(999); store.fd = open(\"/dev/null\", O_RDWR); "
					 "store.end = -5; append(&store, \"x\"); }\n";
	static const char nameless[] =
		HEAD "NOINLINE void put(long to) { if (write((int)to, \"x\", 1) < 0) die(\"put\"); }\n"
		     "int main(void) { put(999); }\n";
	GRID(i, XC_COUNT(compilers)) {
		judged_expect(compilers[i], other, true,
			      &(struct wanted){.class_name = "abort", .without = "descriptor "});
		judged_expect(compilers[i], nameless, true,
			      &(struct wanted){.class_name = "abort", .without = "had been closed"});
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_descriptor_that_was_closed_twice_is_told),
		cmocka_unit_test(a_descriptor_that_is_none_is_told),
		cmocka_unit_test(another_error_is_not_told_as_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
