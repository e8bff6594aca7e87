/* Dies of SIGSEGV or SIGBUS through a pointer that is neither NULL nor good. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "death.h"

struct part {
	int kind;
	char label[8];
	struct part *owner;
	long weight;
	struct part *children[4];
};

struct cursor {
	long position;
	struct part *part;
};

volatile long sink;
static const struct part constant = {.kind = 4, .weight = 8};

/* ---- who dies ---- */

static NOINLINE long weigh(const struct part *part)
{
	return part->weight + 1; /* dies: unmapped-read noncanonical-read poison-read flipped-read guard-read */
}

static NOINLINE void load(struct part *part, long weight)
{
	part->weight = weight; /* dies: unmapped-write noncanonical-write poison-write readonly-write */
}

struct output {
	char buf[128];
	size_t at;
};

struct report {
	struct output *out;
};

static NOINLINE void finish(struct report *report)
{
	report->out->buf[report->out->at] = 0; /* dies: constant-index */
}

static NOINLINE long weigh_owner(const struct part *part)
{
	return part->owner->weight + 1; /* dies: text-read */
}

static NOINLINE void load_owner(const struct part *part, long weight)
{
	part->owner->weight = weight; /* dies: text-write */
}

static NOINLINE long weigh_child(const struct part *part, long i)
{
	return part->children[i]->weight + 1; /* dies: child-read */
}

static NOINLINE long read_item(const long *items, long index)
{
	return items[index] + 1; /* dies: index-read */
}

static NOINLINE void write_item(long *items, long index, long value)
{
	items[index] = value; /* dies: index-write */
}

static NOINLINE void capitalise(char *text)
{
	text[0] = 'X'; /* dies: constant-write */
}

static NOINLINE void clear(char *block, size_t size)
{
	memset(block, 0, size); /* dies: memset-write */
	KEEP(*block);
}

static NOINLINE void copy(char *to, const char *from, unsigned size)
{
	memmove(to, from, size); /* dies: memmove-negative */
	KEEP(*to);
}

static NOINLINE long first_byte(const char *mapped, long offset)
{
	return mapped[offset] + 1; /* dies: file-cut */
}

/* ---- how they come to it ---- */

static struct part *new_part(void)
{
	struct part *part = calloc(1, sizeof *part);
	part->kind = 1;
	return opaque(part);
}

static void unmapped_read(void)
{
	sink = weigh(opaque((void *)0x123456789000));
}

static void unmapped_write(void)
{
	load(opaque((void *)0x123456789000), 5);
}

static void noncanonical_read(void)
{
	sink = weigh(opaque((void *)0x7d31c0de98765400));
}

static void noncanonical_write(void)
{
	load(opaque((void *)0x7d31c0de98765400), 5);
}

static void poison_read(void)
{
	struct cursor *cursor = malloc(sizeof *cursor);
	memset(opaque(cursor), 0x5a, sizeof *cursor);
	sink = weigh(((struct cursor *)opaque(cursor))->part);
}

static void poison_write(void)
{
	load(opaque((void *)(uintptr_t)0xdeadbeefdeadbeef), 5);
}

/* A bit that memory, or a cosmic ray, turned. */
static void flipped_read(void)
{
	struct part *part = new_part();
	struct cursor cursor = {.part = (struct part *)((uintptr_t)part ^ (UINT64_C(1) << 41))};
	KEEP(part);
	sink = weigh(((struct cursor *)opaque(&cursor))->part);
}

static void guard_read(void)
{
	sink = weigh(mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static void readonly_write(void)
{
	load(opaque(&constant), 5);
}

static void constant_write(void)
{
	capitalise(opaque("a constant"));
}

static struct part *labelled(const char *text)
{
	struct part *part = new_part();
	strcpy(opaque(part->label), text);
	return opaque(part);
}

static void text_read(void)
{
	sink = weigh_owner(labelled(opaque("a label for the wide door")));
}

static void text_write(void)
{
	load_owner(labelled(opaque("a label for the wide door")), 5);
}

static void child_read(void)
{
	struct part *part = new_part();
	part->children[2] = (struct part *)0x123456789000;
	sink = weigh_child(part, opaque_long(2));
}

static void index_read(void)
{
	static long items[16];
	sink = read_item(opaque(items), opaque_long(0x100000000));
}

static void index_write(void)
{
	long *items = calloc(16, sizeof *items);
	write_item(opaque(items), opaque_long(-0x100000000), 9);
}

static void memset_write(void)
{
	char *block = malloc(100);
	clear(opaque(block), (size_t)opaque_long(1L << 30));
}

/* A length that became negative, without a sign. */
static void memmove_negative(void)
{
	char *from = malloc(64), *to = malloc(64);
	copy(opaque(to), opaque(from), (unsigned)opaque_long(4) - 8);
}

static void file_cut(void)
{
	char path[] = "mapped.XXXXXX";
	int fd = mkstemp(path);
	if (fd < 0 || ftruncate(fd, 3 * 4096))
		exit(2);
	char *mapped = mmap(NULL, 3 * 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED || ftruncate(fd, 100))
		exit(2);
	sink = first_byte(opaque(mapped), opaque_long(2 * 4096));
}

/* ---- locals that were never set, and those of functions that returned ---- */

static NOINLINE void scribble(void)
{
	unsigned long words[96];
	for (size_t i = 0; i < 96; i++)
		words[i] = 0x1122334455660000 + i * 0x11;
	KEEP(words);
}

static NOINLINE long seek(int how)
{
	struct part *part;
	struct part *unused[8];
	KEEP(unused);
	if (how == 77)
		part = new_part();
	return part->weight + 1; /* dies: uninitialised-read */
}

static NOINLINE long seek_below(int how)
{
	long room[8];
	KEEP(room);
	return seek(how) + 1;
}

static void uninitialised_read(void)
{
	scribble();
	sink = seek_below((int)opaque_long(3));
}

static NOINLINE struct cursor *begin(void)
{
	struct cursor cursor = {.position = 3, .part = new_part()};
	return opaque(&cursor);
}

static NOINLINE struct cursor *begin_below(void)
{
	long room[32];
	KEEP(room);
	return opaque(begin());
}

static NOINLINE long part_of(const struct cursor *cursor)
{
	return cursor->part->weight + 1; /* dies: returned-frame-read */
}

static void returned_frame_read(void)
{
	struct cursor *cursor = begin_below();
	scribble();
	sink = part_of(cursor);
}

static void constant_index(void)
{
	static const size_t numbers[40] = {[16] = (size_t)1 << 46};
	struct report report = {.out = opaque(numbers)};
	finish(&report);
}

DEATHS({"constant-index", constant_index}, {"unmapped-read", unmapped_read}, {"unmapped-write", unmapped_write},
       {"noncanonical-read", noncanonical_read}, {"noncanonical-write", noncanonical_write},
       {"poison-read", poison_read}, {"poison-write", poison_write}, {"flipped-read", flipped_read},
       {"guard-read", guard_read}, {"readonly-write", readonly_write}, {"constant-write", constant_write},
       {"text-read", text_read}, {"text-write", text_write}, {"child-read", child_read}, {"index-read", index_read},
       {"index-write", index_write}, {"memset-write", memset_write}, {"memmove-negative", memmove_negative},
       {"file-cut", file_cut}, {"uninitialised-read", uninitialised_read}, {"returned-frame-read", returned_frame_read})
