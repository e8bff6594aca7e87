/* smashed: a program that fills its heap, damages it in one way, and dies; and its own list of live blocks.
 *
 * It writes the list before the damage: "ADDR SIZE" by malloc_usable_size for each live block, "free ADDR SIZE" for
 * freed blocks, "victim ADDR SIZE" for the block that it then misuses. */
#ifndef XC_TEST_SMASHED_H
#define XC_TEST_SMASHED_H

#include <inttypes.h>
#include <stdio.h>

#include "core/base/base.h"
#include "tests/support/check.h"
#include "tests/support/dying.h"
#include "tests/support/scratch.h"

enum { SMASHED_BLOCKS = 2400 };

struct smashed_block {
	uint64_t addr, size;
};

struct smashed {
	const char *core;
	struct smashed_block live[2 * SMASHED_BLOCKS], freed[2 * SMASHED_BLOCKS];
	size_t live_count, freed_count;
	struct smashed_block victim;
};

static const char smashed_source[] =
	"#include <malloc.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"enum { BLOCKS = 1200 };\n"
	"static char *keep[2][BLOCKS], *gone[2][BLOCKS];\n"
	"static char buffer[8192];\n"
	"static unsigned long seed = 42;\n"
	"static unsigned any(unsigned below) { seed = seed * 6364136223846793005 + 1442695040888963407;"
	"  return (seed >> 33) % below; }\n"
	"static size_t room(char *p) { return malloc_usable_size(p); }\n"
	/* contents: text, numbers, pointers, zeroes */
	"static void fill(char *p, int i) {\n"
	"	size_t n = room(p);\n"
	"	memset(p, 0, n);\n"
	"	for (size_t k = 0; k + 8 <= n; k += 8)\n"
	"		*(size_t *)(p + k) = i % 4 == 0 ? 0x7478657420656d6f : i % 4 == 1 ? any(10000)"
	"			: i % 4 == 2 ? (size_t)p + any(100) : 0;\n"
	"}\n"
	"static void *work(void *which) {\n"
	"	long w = (long)which;\n"
	"	for (int i = 0; i < BLOCKS; i++) {\n"
	"		size_t n = i % 97 == 0 ? 2000 + any(30000) : i % 10 == 0 ? any(3000) : 1 + any(200);\n"
	"		fill(keep[w][i] = malloc(n), i);\n"
	"	}\n"
	"	for (int i = 5; i < BLOCKS; i += 3 + any(12)) { gone[w][i] = keep[w][i]; keep[w][i] = 0; }\n"
	"	for (int i = 0; i < BLOCKS; i++) free(gone[w][i]);\n"
	"	return 0;\n"
	"}\n"
	"static char *pick(size_t least, size_t most) {\n" /* a block followed by a chunk in use */
	"	for (int i = BLOCKS / 2; i < BLOCKS - 1; i++)\n"
	"		if (keep[0][i] && keep[0][i + 1] && keep[0][i + 1] == keep[0][i] + room(keep[0][i]) + 8 &&\n"
	"		    room(keep[0][i]) >= least && room(keep[0][i + 1]) <= most) return keep[0][i];\n"
	"	abort();\n"
	"}\n"
	"static void book(FILE *f, char *victim) {\n"
	"	for (int w = 0; w < 2; w++)\n"
	"		for (int i = 0; i < BLOCKS; i++) {\n"
	"			char *p = keep[w][i] ? keep[w][i] : gone[w][i];\n"
	"			if (p) fprintf(f, \"%s%p %zu\\n\", keep[w][i] ? \"\" : \"free \", p, keep[w][i] ? "
	"room(p) : 0);\n"
	"		}\n"
	"	fprintf(f, \"victim %p %zu\\n\", victim, room(victim));\n"
	"	fflush(f);\n"
	"}\n"
	"int main(int argc, char **argv) {\n"
	"	char how[64], path[512];\n"
	"	pthread_t thread;\n"
	"	sscanf(argv[1], \"%63[^:]:%511[^\\n]\", how, path);\n"
	"	FILE *f = fopen(path, \"w\");\n" /* runs first: it takes none of the others' blocks */
	"	setvbuf(f, buffer, _IOFBF, sizeof buffer);\n"
	"	pthread_create(&thread, 0, work, (void *)1);\n"
	"	pthread_join(thread, 0);\n"
	"	work(0);\n"
	"	char *p = pick(24, 3000), *q, *end;\n"
	"	if (!strcmp(how, \"offbyone\")) p = pick(24, 200);\n"
	"	if (!strcmp(how, \"long\")) p = pick(24, 60);\n"
	"	if (!strcmp(how, \"alike\")) p = pick(24, 100);\n" /* the size behind it is a character */
	"	if (!strcmp(how, \"twice\") || !strcmp(how, \"after\")) {"
	"		for (int i = 0; i < 9; i++) q = malloc(72);\n" /* more than the tcache holds */
	"		p = malloc(72);\n"
	"		free(q);\n"
	"	}\n"
	"	if (!strcmp(how, \"fast\")) { for (int i = 0; i < 9; i++) p = malloc(40); q = malloc(40); }\n"
	"	if (!strcmp(how, \"binlink\")) { p = malloc(50000); q = malloc(50000); }\n"
	"	book(f, p);\n"
	"	end = p + room(p);\n"
	"	if (!strcmp(how, \"text\")) strcpy(end - 24, \"name=a value that is longer than its block\");\n"
	"	if (!strcmp(how, \"offbyone\")) { memset(end - 20, 'x', 20); *end = 0; }\n"
	"	if (!strcmp(how, \"alike\")) { memset(end - 20, 'v', 20); *end = (*end & 0xf0) | 2; memset(end + 1, "
	"'w', 20); }\n"
	"	if (!strcmp(how, \"fill\")) memset(end - 16, 0xfe, 24);\n"
	"	if (!strcmp(how, \"long\")) memset(end - 16, 'A', 120);\n"
	"	if (!strcmp(how, \"zero\")) *(size_t *)end = 0;\n"
	"	if (!strcmp(how, \"negative\")) ((size_t *)p)[-1] = 0xdeadbeefcafe;\n"
	"	if (!strcmp(how, \"larger\")) *(size_t *)end += 64;\n"
	"	if (!strcmp(how, \"flags\")) *(size_t *)end &= ~1ul;\n"
	"	if (!strcmp(how, \"twice\")) { free(p); ((volatile size_t *)p)[1] = 0; free(p); }\n"
	"	if (!strcmp(how, \"fast\")) {\n"
	"		char *more[7];\n"
	"		for (int i = 0; i < 7; i++) more[i] = malloc(40);\n"
	"		for (int i = 0; i < 7; i++) free(more[i]);\n"
	"		free(p); free(q); free(p);\n"
	"	}\n"
	"	if (!strcmp(how, \"after\")) { free(p); *(volatile size_t *)p = 0x4141414141414141; }\n"
	"	if (!strcmp(how, \"binlink\")) { free(p); *(volatile size_t *)p = 0x4242424242424242; }\n"
	"	seed = argc;\n"
	"	for (int i = 0; !strcmp(how, \"ten\") && i < 10; i++) {\n"
	"		int w = any(2), at = any(BLOCKS);\n"
	"		if (keep[w][at]) ((size_t *)keep[w][at])[-1] = (size_t)any(1u << 31) << any(34) | any(1u << "
	"31);\n"
	"	}\n"
	"	__builtin_trap();\n"
	"}\n";

static inline void smashed_read(struct smashed *s, const char *path)
{
	char line[128];
	FILE *book = fopen(path, "r");
	assert_non_null(book);
	while (fgets(line, sizeof line, book)) {
		struct smashed_block block;
		if (sscanf(line, "victim %" SCNx64 " %" SCNu64, &block.addr, &block.size) == 2)
			s->victim = block;
		else if (sscanf(line, "free %" SCNx64 " %" SCNu64, &block.addr, &block.size) == 2)
			s->freed[s->freed_count++] = block;
		else if (sscanf(line, "%" SCNx64 " %" SCNu64, &block.addr, &block.size) == 2)
			s->live[s->live_count++] = block;
	}
	fclose(book);
	assert_true(s->live_count > SMASHED_BLOCKS / 2);
}

/* Crash it after this kind of damage: none, text, offbyone, alike, fill, long, zero, negative, larger, flags, twice, fast,
 * after, binlink, ten. */
static inline struct smashed *smashed_new(const char *how)
{
	static const char *program;
	struct smashed *s = xc_alloc(sizeof *s);
	if (!program)
		program = dying_program("smashed", "gcc -g -O1 -x c -pthread", smashed_source);
	const char *path = scratch_path(how);
	char *argument = xc_asprintf("%s:%s", how, path);
	s->core = dying_core(program, argument);
	smashed_read(s, path);
	free(argument);
	return s;
}

#endif
