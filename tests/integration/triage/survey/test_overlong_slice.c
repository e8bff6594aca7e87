/* layer: triage tier: long */
/* Views of C++, and counts of C, that are longer than the block that they begin in. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <cstdlib>\n#include <span>\n#include <string_view>\n#include <vector>\n"                             \
	"struct packet { std::vector<char> raw; size_t claimed; }; static volatile long sink, zero;\n"                 \
	"[[gnu::noinline]] long sum(std::span<const long> words) { long n = 0; for (size_t i = 0; i < words.size(); "  \
	"i++) "                                                                                                        \
	"n += words[i]; return n; }\n"                                                                                 \
	"[[gnu::noinline]] long letters(std::string_view text) { long n = 0; for (size_t i = 0; i < text.size(); "     \
	"i++) n += "                                                                                                   \
	"text[i] == 'x'; return n; }\n"                                                                                \
	"[[gnu::noinline]] long beyond(std::span<const long> words, long *all) { long n = words[0]; for (long i = "    \
	"0;; i++) "                                                                                                    \
	"n += all[i]; return n; }\n"

static void expect(const char *source, const struct wanted *want)
{
	static const char *const compilers[] = {"g++ -std=c++20 -g -O0 -x c++", "clang++ -std=c++20 -g -O0 -x c++"};
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true, want);
}

static void a_view_longer_than_its_block_is_named(void **state)
{
	(void)state;
	expect(HEAD "int main() { std::vector<long> all(64 + zero, 1); sink = sum({all.data(), size_t(1) << 24}); }\n",
	       &(struct wanted){.class_name = "heap-overrun",
				.says = "likely `words` is longer than the memory that it refers to",
				.also = "`words` (std::span) has 16777216 elements, and the block at 0x"});
	expect(HEAD "int main() { packet p{std::vector<char>(300 + zero, 'x'), size_t(1) << 24}; sink = "
		    "letters({p.raw.data(), p.claimed}); }\n",
	       &(struct wanted){.class_name = "heap-overrun",
				.says = "likely `text` is longer than the memory that it refers to",
				.also = "has room for "});
}

static void one_that_fits_is_not_blamed(void **state)
{
	(void)state;
	expect(HEAD "int main() { std::vector<long> all(64 + zero, 1); sink = beyond({all.data(), 64}, (long "
		    "*)malloc(80)); }\n",
	       &(struct wanted){.class_name = "heap-overrun", .without = "longer than the memory"});
}

#define C_HEAD                                                                                                         \
	"#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n"                                              \
	"struct header { uint16_t type, flags; uint32_t length; };\n"                                                  \
	"struct packet { struct header head; uint32_t crc, stamp; unsigned char *body; };\n"                           \
	"struct list { long *items; unsigned count, limit; };\n"                                                       \
	"volatile long zero;\n"                                                                                        \
	"__attribute__((noinline)) void check(struct packet *p) { unsigned char part[512]; uint32_t c = 0;\n"          \
	"	for (uint32_t at = 0; at < p->head.length; at += 512) { memcpy(part, p->body + at, 512); c += "              \
	"part[9]; }\n"                                                                                                 \
	"	p->crc = c; }\n"                                                                                             \
	"__attribute__((noinline)) void sum(struct list *l) { for (unsigned i = 0; i < l->count; i++) zero += "        \
	"l->items[i]; }\n"                                                                                             \
	"__attribute__((noinline)) void all(struct packet *p) { for (long i = 0;; i++) zero += p->body[i]; }\n"

static void expect_c(const char *source, const struct wanted *want)
{
	static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O2 -x c"};
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true, want);
}

static void a_count_beside_a_smaller_block_is_named(void **state)
{
	(void)state;
	expect_c(C_HEAD "int main(void) { struct packet *p = calloc(1, sizeof *p); p->head.length = 1 << 28; p->body = "
			"malloc(72); check(p); }\n",
		 &(struct wanted){.class_name = "heap-overrun",
				  .says = "perhaps `p->head.length` is wrong: it is 268435456",
				  .also = "has room for 72"});
	expect_c(C_HEAD "int main(void) { struct list *l = calloc(1, sizeof *l); l->count = 1 << 26; l->items = "
			"malloc(80 * sizeof(long)); sum(l); }\n",
		 &(struct wanted){.class_name = "heap-overrun",
				  .says = "perhaps `l->count` is wrong: it is 67108864",
				  .also = "has room for 8"});
}

/* A loop without an end, beside a length that is right and a number that is none. */
static void other_numbers_are_not_blamed(void **state)
{
	(void)state;
	expect_c(C_HEAD
		 "int main(void) { struct packet *p = calloc(1, sizeof *p); p->head.length = 72; p->stamp = 1 << "
		 "30; p->body = malloc(72); all(p); }\n",
		 &(struct wanted){.class_name = "heap-overrun", .without = "has room for"});
	/* a list of buffers, which are right, and a length of -1 */
	expect_c("#include <stdlib.h>\nstruct chunk { struct chunk *next; char *data; size_t size; int length; };\n"
		 "volatile long sink;\n__attribute__((noinline)) void run(struct chunk *c, long *table) {\n"
		 " for (long i = 0;; i++) sink += table[i] + (c->size > 99); }\n"
		 "int main(void) { struct chunk *c = calloc(1, sizeof *c); c->next = calloc(1, 24); c->data = "
		 "malloc(4096); c->size = 4096; c->length = -1; run(c, calloc(64, sizeof(long))); }\n",
		 &(struct wanted){.class_name = "heap-overrun", .without = "is wrong"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_view_longer_than_its_block_is_named),
		cmocka_unit_test(one_that_fits_is_not_blamed),
		cmocka_unit_test(a_count_beside_a_smaller_block_is_named),
		cmocka_unit_test(other_numbers_are_not_blamed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
