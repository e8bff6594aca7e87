/* layer: heap
 *
 * glibc's malloc on this machine, against the block lists of programs. */
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/process/module.h"
#include "heap/blocks/allocator.h"
#include "heap/session/session.h"
#include "tests/support/heaped.h"

/* Threads that allocate, move and free at random, including each other's blocks, and then wait. */
static const char shuffle[] = HEAPED_PROLOGUE
	"enum { THREADS = 12, SLOTS = 1500, STEPS = 20000 };\n"
	"static struct { void *p; pthread_mutex_t lock; } slots[THREADS * SLOTS];\n"
	"static pthread_barrier_t done;\n"
	"static size_t some(unsigned *seed) { unsigned r = rand_r(seed) % 1000;\n"
	"	return r < 900 ? rand_r(seed) % 300 : r < 990 ? rand_r(seed) % 5000 : r < 998 ? rand_r(seed) % 100000 "
	":\n"
	"	200000 + rand_r(seed) % 300000; }\n"
	"static void step(unsigned *seed, int own) {\n"
	"	int at = rand_r(seed) % 4 ? own * SLOTS + rand_r(seed) % SLOTS : rand_r(seed) % (THREADS * SLOTS);\n"
	"	void *p; pthread_mutex_lock(&slots[at].lock);\n"
	"	p = slots[at].p;\n"
	"	if (p && rand_r(seed) % 3) { free(p); p = 0; }\n"
	"	else if (p) p = realloc(p, some(seed) + 1);\n"
	"	else if (rand_r(seed) % 20 == 0) { if (posix_memalign(&p, 32 << rand_r(seed) % 10, some(seed))) "
	"abort(); }\n"
	"	else p = rand_r(seed) % 2 ? malloc(some(seed)) : calloc(1, some(seed));\n"
	"	if (p) memset(p, rand_r(seed), malloc_usable_size(p));\n"
	"	slots[at].p = p; pthread_mutex_unlock(&slots[at].lock); }\n"
	"static void *run(void *number) { unsigned seed = 7 + (unsigned)(long)number;\n"
	"	for (int i = 0; i < STEPS; i++) step(&seed, (int)(long)number);\n"
	"	pthread_barrier_wait(&done); for (;;) pause(); }\n"
	"int main(int argc, char **argv) { pthread_t t;\n"
	"	if (argc > 1) mallopt(M_ARENA_MAX, atoi(argv[1]));\n"
	"	for (int i = 0; i < THREADS * SLOTS; i++) pthread_mutex_init(&slots[i].lock, 0);\n"
	"	pthread_barrier_init(&done, 0, THREADS + 1);\n"
	"	for (long i = 0; i < THREADS; i++) pthread_create(&t, 0, run, (void *)i);\n"
	"	pthread_barrier_wait(&done);\n"
	"	for (int i = 0; i < THREADS * SLOTS; i++) if (slots[i].p) live(slots[i].p);\n"
	"	own = 2 * THREADS + 1; /* tcaches and the threads' dtv */\n"
	"	abort(); }\n";

/* Each kind of free list and of alignment, in the main arena and in another one. malloc's rules say which list a
 * block goes to: a tcache takes seven of a size up to 1032, fastbins take blocks up to 120, bins the rest. */
static const char kinds[] = HEAPED_PROLOGUE
	"static void take(void **p, int n, size_t size) { for (int i = 0; i < n; i++) { p[i] = malloc(size);\n"
	"	live(malloc(24)); } }\n"
	"static void give(void **p, int n, int behind) { for (int i = 0; i < n; i++) gone(p[i], i < 7 ? 't' : behind); "
	"}\n"
	"static void *run(void *x) { void *fast[40], *small[40], *large[40], *p, *odd[9];\n"
	"	take(fast, 40, 56); take(small, 40, 200); take(large, 40, 2000);\n"
	"	for (int a = 16; a <= 65536; a *= 2) for (int n = 1; n < 9000; n = n * 5 + 3) {\n"
	"		if (posix_memalign(&p, a, n)) abort();\n"
	"		live(p); }\n"
	"	for (int a = 16; a <= 1 << 20; a *= 2) { if (posix_memalign(&p, a, 200000 + a)) abort(); live(p); }\n"
	"	for (int i = 0; i < 9; i++) odd[i] = malloc(300000 + 5000 * i);\n"
	"	for (int i = 0; i < 9; i++) if (i % 3 == 0) free(odd[i]); else live(odd[i] = realloc(odd[i], i % 3 == "
	"1 ?\n"
	"		4000000 : 250000));\n"
	"	live(calloc(1, 0)); live(calloc(10, 10)); live(realloc(malloc(20), 900)); live(malloc(1 << 27));\n"
	"	for (int i = 0; i < 9; i++) { live(malloc(56)); live(malloc(200)); } /* tcaches are empty now */\n"
	"	give(fast, 40, 'f'); give(small, 40, 'b'); for (int i = 0; i < 40; i++) gone(large[i], 'b');\n"
	"	return x; }\n"
	"static void *rest(void *x) { run(x); *(volatile int *)x = 1; for (;;) pause(); }\n"
	"int main(int argc, char **argv) { volatile int done = 0; pthread_t t; run(0);\n"
	"	pthread_create(&t, 0, rest, (void *)&done); while (!done) usleep(1000);\n"
	"	own = OWN; abort(); }\n";

/* Other code moves the break or is in its way, or a second libc has none. */
static const char breaks[] = HEAPED_PROLOGUE
	"#include <sys/mman.h>\n#include <dlfcn.h>\n"
	"static void some(int n) { for (int i = 0; i < n; i++) { void *p = malloc(100 + i % 3000);\n"
	"	if (i % 3) live(p); else { memset(p, 0x21, 100); free(p); } } }\n"
	"static void second(void) { void *libc = dlmopen(LM_ID_NEWLM, \"libc.so.6\", RTLD_NOW);\n"
	"	void *(*get)(size_t) = dlsym(libc, \"malloc\"); void (*give)(void *) = dlsym(libc, \"free\");\n"
	"	for (int i = 0; i < 2000; i++) { void *p = get(100 + i % 3000);\n"
	"		if (i % 3) live(p); else give(p); } }\n"
	"int main(int argc, char **argv) { some(500);\n"
	"	if (argv[1][0] == 'm') for (int i = 0; i < 20; i++) { memset(sbrk(777 * i), 0x41, 777 * i); some(300); "
	"}\n"
	"	if (argv[1][0] == 'b') { char *at = (char *)(((unsigned long)sbrk(0) + 4095) & -4096l);\n"
	"		if (mmap(at, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != at) "
	"abort();\n"
	"		live(malloc(150000)); some(9000); live(malloc(200000)); some(1000); }\n"
	"	if (argv[1][0] == '2') second();\n"
	"	own = argv[1][0] == '2' ? 11 : 1; abort(); }\n";

/* One thread that needs several heaps: the blocks freed first are in the older ones. */
static const char heaps[] = HEAPED_PROLOGUE
	"static void *run(void *x) { void *p[1500]; for (int i = 0; i < 1500; i++) p[i] = malloc(100000 + i);\n"
	"	for (int i = 0; i < 1500; i++) if (i % 5) live(p[i]); else free(p[i]);\n"
	"	*(volatile int *)x = 1; for (;;) pause(); }\n"
	"int main(void) { volatile int done = 0; pthread_t t; pthread_create(&t, 0, run, (void *)&done);\n"
	"	while (!done) usleep(1000);\n"
	"	own = 3; abort(); }\n";

/* Blocks of a tcache's size with pointers at its places, to blocks of the right class or of others. */
static const char doubles[] = HEAPED_PROLOGUE
	"int main(void) { live(malloc(100)); for (int i = 0; i < 64; i++) for (int n = 1; n < 4; n++) {\n"
	"	char *p = live(calloc(1, 640));\n"
	"	for (int k = 0; k < n; k++) {\n"
	"		void **to = live(malloc(24 + (i + k) % 64 * 16));\n"
	"		memset(to, 0, malloc_usable_size(to));\n"
	"		to[0] = n % 2 ? to : 0;\n"
	"		((void **)(p + 128))[(i + k) % 64] = to; p[(i + k) % 64 * 2] = n == 3; } }\n"
	"	own = 1; abort(); }\n";

/* Blocks of the size of a later release's tcache, as libgfortran has them (its units), whose pointers lead to blocks with
 * plain links; and lists of one chunk each, which end with a NULL that 2.32 and later store mangled. */
static const char units[] = HEAPED_PROLOGUE
	"int main(int argc, char **argv) { void *a = malloc(40), *b = malloc(56); live(malloc(24));\n"
	"	size_t slot = strtoul(argv[1], 0, 10);\n"
	"	for (int i = 0; i < 4; i++) { char *p = live(calloc(1, 760)); void **to = live(malloc(104));\n"
	"		to[0] = live(malloc(24)); ((void **)(p + 152))[slot] = to; }\n"
	"	gone(a, 't'); gone(b, 't'); own = OWN; abort(); }\n";

static struct xc_heap *checked(const char *program, const char *argument, struct xc_process **process_out)
{
	*process_out = open_core(dying_core(program, argument));
	struct xc_heap *heap = xc_heap_open(*process_out, NULL);
	heaped_check(*process_out, heap);
	return heap;
}

static void check(const char *program, const char *argument)
{
	struct xc_process *process;
	xc_heap_close(checked(program, argument, &process));
	close_process(process);
}

static void every_block_of_many_threads_is_found(void **state)
{
	(void)state;
	const char *program = dying_program("shuffle", "gcc -x c -g -pthread", shuffle);
	check(program, NULL);
	check(program, "1");
	check(program, "3");
}

static void long_lists_of_tcaches_are_followed(void **state)
{
	(void)state;
	const char *program = dying_program("shuffle", "gcc -x c -g -pthread", shuffle);
	setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=3000", 1);
	check(program, NULL);
	setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
	check(program, NULL);
	unsetenv("GLIBC_TUNABLES");
}

/* A link of a tcache's list is overwritten: the blocks after it are free all the same, and not leaked. */
static void blocks_behind_a_damaged_link_are_free(void **state)
{
	(void)state;
	static const char damaged[] =
		HEAPED_PROLOGUE "int main(void) { void *p[7], *q[4];\n"
				"	for (int i = 0; i < 7; i++) { p[i] = malloc(500); live(malloc(24)); }\n"
				"	for (int i = 0; i < 4; i++) { q[i] = malloc(100); live(malloc(24)); }\n"
				"	for (int i = 0; i < 7; i++) gone(p[i], 't');\n"
				"	for (int i = 0; i < 4; i++) gone(q[i], 't');\n"
				"	memcpy(p[4], \"AAAAAAAA\", 8); own = 1; abort(); }\n";
	struct xc_process *process = open_core(dying_core(dying_program("damaged", "gcc -x c -g", damaged), NULL));
	struct xc_heap *heap = xc_heap_open(process, NULL);
	assert_int_equal(heaped_check_rows(process, heap), 11);
	assert_true(xc_heap_totals(heap).count[XC_BLOCK_LIVE] - 11 <= 1); /* the tcache itself */
	assert_int_equal(heap->damage_count, 1);
	xc_heap_close(heap);
	close_process(process);
}

static void blocks_lie_on_the_list_that_malloc_puts_them_on(void **state)
{
	(void)state;
	struct xc_process *process;
	struct xc_heap *heap = checked(dying_program("kinds", "gcc -x c -g -pthread -DOWN=3", kinds), NULL, &process);
	assert_string_equal(heap->arenas[heap->arena_count - 1].name, "mmapped");
	assert_string_equal(heap->arenas[heap->arena_count - 1].evidence,
			    "33 by their headers, 33 by malloc's own count (mp_)");
	xc_heap_close(heap);
	close_process(process);
	/* its libc has the loader's values */
	check(dying_program("kinds", "gcc -x c -g -pthread -static -DOWN=8", kinds), NULL);
}

static void what_happens_to_the_break_does_not_hide_blocks(void **state)
{
	(void)state;
	const char *program = dying_program("breaks", "gcc -x c -g -D_GNU_SOURCE", breaks);
	check(program, "moved");
	check(program, "blocked");
	check(program, "2");
}

static void an_arena_of_several_heaps_is_whole(void **state)
{
	(void)state;
	struct xc_process *process;
	struct xc_heap *heap = checked(dying_program("heaps", "gcc -x c -g -pthread", heaps), NULL, &process);
	unsigned count = 0;
	for (size_t i = 0; i < heap->region_count; i++)
		count += strcmp(heap->regions[i].what, "heap of a sub-arena") == 0;
	assert_int_equal(count, 3);
	xc_heap_close(heap);
	close_process(process);
}

static void what_looks_like_a_tcache_at_first_is_none(void **state)
{
	(void)state;
	check(dying_program("doubles", "gcc -x c -g", doubles), NULL);
}

static void blocks_with_plain_pointers_do_not_say_how_links_are_stored(void **state)
{
	(void)state;
	static const char *const slots[] = {"3", "5", "70"}; /* of another class, of the block's, of a range of them */
	const char *programs[] = {dying_program("units", "gcc -x c -g -DOWN=1", units),
				  dying_program("static-units", "gcc -x c -g -static -DOWN=6", units)};
	for (size_t i = 0; i < XC_COUNT(programs) * XC_COUNT(slots); i++) {
		struct xc_process *process;
		struct xc_heap *heap = checked(programs[i / XC_COUNT(slots)], slots[i % XC_COUNT(slots)], &process);
		struct xc_audit_coverage coverage = {0};
		xc_allocator_glibc.audit(heap, heap->parts[0].state, &coverage);
		assert_int_equal(heap->damage_count, 0);
		xc_heap_close(heap);
		close_process(process);
	}
}

static void a_tcache_says_whose_it_is(void **state)
{
	(void)state;
	struct xc_process *process;
	struct xc_heap *heap = checked(dying_program("doubles", "gcc -x c -g", doubles), NULL, &process);
	struct xc_text text = {0}, want = {0};
	xc_text_printf(&want, "chunk 0x%lx: size 0x290, PREV_INUSE; the tcache of thread %d",
		       (unsigned long)xc_block_addr(&heap->blocks, 0) - 16, (int)process->threads[0].tid);
	xc_allocator_glibc.explain(heap, heap->parts[0].state, 0, &text);
	assert_string_equal(xc_text_string(&text), xc_text_string(&want));
	xc_text_fini(&text);
	xc_text_fini(&want);
	xc_heap_close(heap);
	close_process(process);
}

/* Cuts the core inside libc's data. */
static void cut_before_libc(const char *path)
{
	struct xc_process *process = open_core(path);
	const struct xc_module *libc = xc_module_by_name(process, "libc.so.6");
	struct xc_elf elf;
	uint64_t end = 0;
	assert_non_null(libc);
	CHECK_OK(xc_elf_parse(process->core->bytes, process->core->size, &elf));
	for (uint32_t i = 0; i < elf.phdrs_readable; i++) {
		struct xc_phdr p = xc_elf_phdr(&elf, i);
		if (p.type == PT_LOAD && p.vaddr >= libc->lo && p.vaddr <= libc->hi && p.flags & PF_W && !end)
			end = p.offset;
	}
	close_process(process);
	assert_int_not_equal(end, 0);
	assert_int_equal(truncate(path, (off_t)end), 0);
}

/* The place of an address's byte in a core. */
static uint64_t place_of(const char *path, xc_addr addr)
{
	struct xc_process *process = open_core(path);
	struct xc_elf elf;
	uint64_t place = 0;
	CHECK_OK(xc_elf_parse(process->core->bytes, process->core->size, &elf));
	for (uint32_t i = 0; i < elf.phdrs_readable; i++) {
		struct xc_phdr p = xc_elf_phdr(&elf, i);
		if (p.type == PT_LOAD && addr >= p.vaddr && addr - p.vaddr < p.filesz)
			place = p.offset + (addr - p.vaddr);
	}
	close_process(process);
	assert_int_not_equal(place, 0);
	return place;
}

/* All blocks are found if this word of the core is changed; returns the number of damages. */
static size_t survives(const char *path, xc_addr addr, uint64_t value)
{
	uint64_t before, place = place_of(path, addr);
	int fd = open(path, O_RDWR);
	assert_int_equal(pread(fd, &before, sizeof before, (off_t)place), sizeof before);
	assert_int_equal(pwrite(fd, &value, sizeof value, (off_t)place), sizeof value);
	struct xc_process *process = open_core(path);
	struct xc_heap *heap = xc_heap_open(process, NULL);
	size_t damages = heap->damage_count;
	heaped_check_rows(process, heap);
	xc_heap_close(heap);
	close_process(process);
	assert_int_equal(pwrite(fd, &before, sizeof before, (off_t)place), sizeof before);
	close(fd);
	return damages;
}

static void one_damaged_word_of_an_arena_hides_no_block(void **state)
{
	(void)state;
	const char *path = dying_core(dying_program("shuffle", "gcc -x c -g -pthread", shuffle), "3");
	struct xc_process *process;
	xc_addr arenas[3];
	process = open_core(path);
	struct xc_heap *heap = xc_heap_open(process, NULL);
	heaped_check(process, heap);
	assert_int_equal(heap->arena_count, 4);
	assert_non_null(strstr(heap->arenas[0].evidence, "the relocation of next agrees"));
	for (int i = 0; i < 3; i++)
		arenas[i] = heap->arenas[i].addr;
	xc_heap_close(heap);
	close_process(process);
	for (int i = 0; i < 3; i++)
		survives(path, arenas[i] + 0x870, 0x4141414141414141); /* next */
	survives(path, arenas[0] + 0x60, 0x1234);                      /* top */
	survives(path, arenas[0] + 0x888, 0x1234);                     /* system_mem */
	survives(path, arenas[0] + 0x170, 0x1234);                     /* a bin */
	assert_true(survives(path, arenas[1] - 0x30, 0) > 0);          /* ar_ptr */
	assert_true(survives(path, arenas[1] - 0x28, 0x77) > 0);       /* prev */
	assert_true(survives(path, arenas[1] - 0x20, 0x77) > 0);       /* size */
}

static void without_the_memory_of_libc_only_fastbins_are_lost(void **state)
{
	(void)state;
	const char *path = dying_core(dying_program("shuffle", "gcc -x c -g -pthread", shuffle), "3");
	struct xc_process *process = open_core(path);
	struct xc_heap *heap = xc_heap_open(process, NULL);
	const struct xc_heap_totals all = xc_heap_totals(heap);
	heaped_check(process, heap);
	xc_heap_close(heap);
	close_process(process);
	cut_before_libc(path);
	process = open_core(path);
	heap = xc_heap_open(process, NULL);
	const struct xc_heap_totals now = xc_heap_totals(heap);
	heaped_check_rows(process, heap);
	assert_in_range(now.count[XC_BLOCK_LIVE], all.count[XC_BLOCK_LIVE],
			all.count[XC_BLOCK_LIVE] + all.count[XC_BLOCK_FAST]);
	assert_int_equal(now.count[XC_BLOCK_CACHED], all.count[XC_BLOCK_CACHED]);
	assert_int_equal(now.count[XC_BLOCK_BIN], all.count[XC_BLOCK_BIN]);
	assert_int_equal(now.count[XC_BLOCK_TOP], all.count[XC_BLOCK_TOP]);
	xc_heap_close(heap);
	close_process(process);
}

/* A page of variables that resembles the start of an mmapped chunk is not one. */
static void what_variables_hold_is_no_chunk(void **state)
{
	(void)state;
	struct xc_process *process =
		died("gcc -g -O0 -x c",
		     "#include <stdlib.h>\n"
		     "_Alignas(4096) size_t pages[1024];\n"
		     "int main(void) { pages[1] = 0x1002; return malloc(100) ? *(volatile int *)0 : 1; }\n");
	const struct xc_heap *heap = xc_heap_of(process, NULL);
	xc_addr at;
	assert_true(xc_symbol_find(process, "pages", NULL, &at));
	assert_true(heap->blocks.count > 1);
	assert_int_equal(xc_blocks_find(&heap->blocks, at + 16), XC_NO_BLOCK);
	xc_heap_forget(process);
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_variables_hold_is_no_chunk),
		cmocka_unit_test(every_block_of_many_threads_is_found),
		cmocka_unit_test(long_lists_of_tcaches_are_followed),
		cmocka_unit_test(blocks_behind_a_damaged_link_are_free),
		cmocka_unit_test(blocks_lie_on_the_list_that_malloc_puts_them_on),
		cmocka_unit_test(what_happens_to_the_break_does_not_hide_blocks),
		cmocka_unit_test(an_arena_of_several_heaps_is_whole),
		cmocka_unit_test(what_looks_like_a_tcache_at_first_is_none),
		cmocka_unit_test(blocks_with_plain_pointers_do_not_say_how_links_are_stored),
		cmocka_unit_test(a_tcache_says_whose_it_is),
		cmocka_unit_test(without_the_memory_of_libc_only_fastbins_are_lost),
		cmocka_unit_test(one_damaged_word_of_an_arena_hides_no_block),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
