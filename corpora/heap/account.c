/* account: see account.h. The book is an array of entries and an open hash over their addresses, both static: no block of its
 * own. With hooks each function of malloc is looked up behind us (RTLD_NEXT), so another allocator may be preloaded. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "account.h"

#undef free
#ifndef ACCOUNT_BLOCKS
#define ACCOUNT_BLOCKS (1 << 17)
#endif
#define ACCOUNT_SAMPLE 997

enum { LIVE, LEAKED, POSSIBLE, FREED };

struct entry {
	uintptr_t inverted;
	const char *type;
	uint32_t count, state;
};

static struct entry entries[ACCOUNT_BLOCKS];
static uint32_t places[2 * ACCOUNT_BLOCKS]; /* index + 1 */
static uint32_t entry_count;
static char lock;

static void take_lock(void)
{
	while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
		;
}

static void drop_lock(void)
{
	__atomic_clear(&lock, __ATOMIC_RELEASE);
}

static uint32_t place_of(uintptr_t inverted)
{
	return (uint32_t)((inverted >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % (2 * ACCOUNT_BLOCKS);
}

/* The entry of an address; a new one if there is none. */
static struct entry *find(void *block)
{
	uintptr_t inverted = ~(uintptr_t)block;
	uint32_t at = place_of(inverted);
	while (places[at] && entries[places[at] - 1].inverted != inverted)
		at = (at + 1) % (2 * ACCOUNT_BLOCKS);
	if (!places[at]) {
		if (entry_count == ACCOUNT_BLOCKS)
			_exit(99); /* a book that is too small is useless */
		entries[entry_count] = (struct entry){.inverted = inverted};
		places[at] = ++entry_count;
	}
	return &entries[places[at] - 1];
}

static void set(void *block, int state, const char *type, size_t count)
{
	if (!block)
		return;
	take_lock();
	struct entry *entry = find(block);
	entry->state = (uint32_t)state;
	if (type || state == FREED) {
		entry->type = type;
		entry->count = (uint32_t)count;
	}
	drop_lock();
}

void *account_possibly(void *block)
{
	set(block, POSSIBLE, NULL, 0);
	return block;
}

#ifdef ACCOUNT_TOTALS

/* All blocks in use, all leaked ones, and the number of calls of free: a row for each few threads. */
static struct {
	int64_t blocks, bytes, leaked, leaked_bytes, frees, unused[3];
} totals[256];

static void count_block(void *block, int sign, bool leaked)
{
	static __thread unsigned own;
	static unsigned threads;
	if (!own)
		own = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
	int64_t size = sign * (int64_t)malloc_usable_size(block), *row = &totals[own % 256].blocks + (leaked ? 2 : 0);
	__atomic_fetch_add(row, sign, __ATOMIC_RELAXED);
	__atomic_fetch_add(row + 1, size, __ATOMIC_RELAXED);
	if (sign < 0)
		__atomic_fetch_add(&totals[own % 256].frees, 1, __ATOMIC_RELAXED);
}

/* Without the lock: places only ever fill up. */
static bool is_known(void *block)
{
	uintptr_t inverted = ~(uintptr_t)block;
	uint32_t at = place_of(inverted);
	while (places[at] && entries[places[at] - 1].inverted != inverted)
		at = (at + 1) % (2 * ACCOUNT_BLOCKS);
	return places[at] != 0;
}

void *account_leaked(void *block)
{
	count_block(block, 1, true);
	if (is_known(block))
		set(block, LEAKED, NULL, 0);
	return block;
}

void account_freed(void *block)
{
	if (!block)
		return;
	count_block(block, -1, false);
	if (is_known(block))
		set(block, FREED, NULL, 0);
}

void *account_is(void *block, const char *type, size_t count)
{
	static __thread unsigned calls;
	if (calls++ % ACCOUNT_SAMPLE == 0)
		set(block, LIVE, type, count);
	return block;
}

#else

void *account_leaked(void *block)
{
	set(block, LEAKED, NULL, 0);
	return block;
}

void account_freed(void *block)
{
	set(block, FREED, NULL, 0);
}

void *account_is(void *block, const char *type, size_t count)
{
	set(block, LIVE, type, count);
	return block;
}

#endif

unsigned account_random(unsigned below)
{
	static uint64_t state = 88172645463325252;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % below;
}

/* ---- writing ---- */

static char *put(char *at, const char *text)
{
	size_t len = strlen(text);
	memcpy(at, text, len);
	return at + len;
}

static char *put_number(char *at, uint64_t number, unsigned base)
{
	char digits[24];
	size_t count = 0;
	do
		digits[count++] = "0123456789abcdef"[number % base];
	while (number /= base);
	while (count)
		*at++ = digits[--count];
	return at;
}

static char *put_entry(char *at, const struct entry *entry)
{
	static const char *const states[] = {"live", "leaked", "possible", "freed"};
	uintptr_t addr = ~entry->inverted;
	at = put_number(put(at, "{\"addr\":\"0x"), addr, 16);
	at = put_number(put(at, "\",\"size\":"), entry->state == FREED ? 0 : malloc_usable_size((void *)addr), 10);
	at = put(at, entry->type ? ",\"type\":\"" : ",\"type\":null");
	if (entry->type)
		at = put(put(at, entry->type), "\"");
	at = put_number(put(at, ",\"count\":"), entry->count, 10);
	return put(put(put(at, ",\"state\":\""), states[entry->state]), "\"}\n");
}

#ifdef ACCOUNT_TOTALS
static char *put_totals(char *at)
{
	static const char *const names[] = {
		"{\"totals\":{\"blocks\":", ",\"bytes\":", ",\"leaked\":", ",\"leaked_bytes\":", ",\"frees\":"};
	for (int column = 0; column < 5; column++) {
		int64_t sum = 0;
		for (int i = 0; i < 256; i++)
			sum += (&totals[i].blocks)[column]; // cppcheck-suppress objectIndex
		at = put_number(put(at, names[column]), (uint64_t)sum, 10);
	}
	return put(at, "}}\n");
}
#else
static char *put_totals(char *at)
{
	return at;
}
#endif

PART void account_write(void)
{
	static char text[1 << 16];
	const char *path = getenv("XCORE_ACCOUNT");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : STDOUT_FILENO;
	char *at = put_totals(text);
	for (uint32_t i = 0; i < entry_count; i++) {
		at = put_entry(at, &entries[i]);
		if (at - text > (1 << 16) - 4096 || i + 1 == entry_count) {
			if (write(fd, text, (size_t)(at - text)) != at - text)
				_exit(98);
			at = text;
		}
	}
}

/* Registers of vectors still hold values of the last copies. */
static void scrub_vectors(void)
{
#ifdef __i386__ /* the compiler uses no vectors, but the C library's memcpy does */
	__asm__ volatile("pxor %xmm0, %xmm0; pxor %xmm1, %xmm1; pxor %xmm2, %xmm2; pxor %xmm3, %xmm3;"
			 "pxor %xmm4, %xmm4; pxor %xmm5, %xmm5; pxor %xmm6, %xmm6; pxor %xmm7, %xmm7");
#else
	__asm__ volatile("pxor %%xmm0, %%xmm0; pxor %%xmm1, %%xmm1; pxor %%xmm2, %%xmm2; pxor %%xmm3, %%xmm3;"
			 "pxor %%xmm4, %%xmm4; pxor %%xmm5, %%xmm5; pxor %%xmm6, %%xmm6; pxor %%xmm7, %%xmm7;"
			 "pxor %%xmm8, %%xmm8; pxor %%xmm9, %%xmm9; pxor %%xmm10, %%xmm10; pxor %%xmm11, %%xmm11;"
			 "pxor %%xmm12, %%xmm12; pxor %%xmm13, %%xmm13; pxor %%xmm14, %%xmm14; pxor %%xmm15, %%xmm15"
			 :
			 :
			 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
			   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

PART void account_scrub(void)
{
	volatile char below[128 << 10];
	for (size_t i = 0; i < sizeof below; i++)
		below[i] = 0;
	scrub_vectors();
}

/* So do the registers that calls preserve. */
static PART void die(void)
{
	account_write();
	account_scrub();
#ifdef __i386__
	__asm__ volatile("xor %%ebx, %%ebx; xor %%esi, %%esi; xor %%edi, %%edi" : : : "ebx", "esi", "edi");
#else
	__asm__ volatile(
		"xor %%ebx, %%ebx; xor %%r12d, %%r12d; xor %%r13d, %%r13d; xor %%r14d, %%r14d; xor %%r15d, %%r15d"
		:
		:
		: "rbx", "r12", "r13", "r14", "r15");
#endif
	abort();
}

void (*volatile account_die)(void) = die;

/* ---- hooks ---- */

#ifndef ACCOUNT_NO_HOOKS

/* dlsym itself may allocate: from here, never freed. */
static char early[4096];
static size_t early_used;

static bool is_early(const void *block)
{
	return (const char *)block >= early && (const char *)block < early + sizeof early;
}

static void *early_block(size_t size)
{
	early_used = (early_used + 15) & ~(size_t)15;
	if (size > sizeof early - early_used)
		_exit(97);
	early_used += size;
	return early + early_used - size;
}

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*memalign)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void (*free)(void *);
} next;

static bool look_up(void)
{
	static __thread volatile bool looking; /* dlsym is declared as one that never calls back */
	if (next.free)
		return true;
	if (looking)
		return false;
	looking = true;
	next.malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	next.calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	next.realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
	next.memalign = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "memalign");
	next.posix_memalign = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
	next.aligned_alloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
	next.free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
	looking = false;
	return true;
}

static void *handed_out(void *block)
{
#ifdef ACCOUNT_TOTALS
	if (block)
		count_block(block, 1, false);
	return block;
#endif
	if (block) { /* the old block is gone, and its type too */
		take_lock();
		*find(block) = (struct entry){.inverted = ~(uintptr_t)block};
		drop_lock();
	}
	return block;
}

void *malloc(size_t size)
{
	return look_up() ? handed_out(next.malloc(size)) : early_block(size);
}

void *calloc(size_t count, size_t size)
{
	return look_up() ? handed_out(next.calloc(count, size)) : early_block(count * size);
}

/* The entry goes first: another thread may get the old address at once. */
void *realloc(void *block, size_t size)
{
	if (!look_up() || is_early(block))
		_exit(96);
	struct entry old = {0};
	if (block) {
		take_lock();
		old = *find(block);
		drop_lock();
		account_freed(block);
	}
	void *moved = handed_out(next.realloc(block, size));
	return moved && old.type ? account_is(moved, old.type, old.count) : moved;
}

void *memalign(size_t alignment, size_t size)
{
	look_up();
	return handed_out(next.memalign(alignment, size));
}

int posix_memalign(void **block_out, size_t alignment, size_t size)
{
	look_up();
	int bad = next.posix_memalign(block_out, alignment, size);
	if (!bad)
		handed_out(*block_out);
	return bad;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	look_up();
	return handed_out(next.aligned_alloc(alignment, size));
}

void free(void *block)
{
	if (!block || is_early(block))
		return;
	look_up();
	account_freed(block);
	next.free(block);
}
#endif
