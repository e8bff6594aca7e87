// Dies through a member that nothing has set: the object's memory holds what its last owner left there.
// flags: -fno-optimize-sibling-calls -Wno-uninitialized
// flags gcc: -Wno-maybe-uninitialized
#include <memory>
#include <string>
#include <vector>

#include <stdio.h>
#include <stdlib.h>

#include "death.h"

namespace
{

struct table {
	long rows;
	long *cells;
};

struct node {
	long key;
	node *left;
	node *right;
	long weight;
};

struct config {
	explicit config(long limit) : limit_(limit)
	{
	}
	long limit_;
	long spare_ = 0;
	table *table_;
	long more_ = 1;
};

struct session {
	int id;
	config *settings;
	void (*done)(session *);
	char name[24];
};

struct cache {
	cache() : name("a cache with a rather long name")
	{
	}
	std::string name;
	long hits;
	table *index;
};

struct entry {
	char text[64];
};

} // namespace

volatile long sink;

template <typename T> static T *hidden(T *pointer)
{
	return static_cast<T *>(opaque(pointer));
}

/* Leaves blocks of this size on the allocator's lists, filled. */
static NOINLINE void use(size_t size, int byte)
{
	void *blocks[4];
	for (auto &block : blocks) {
		block = malloc(size);
		memset(block, byte, size);
	}
	for (void *block : blocks)
		free(opaque(block));
}

/* The same with words that are no pointers and no text. */
static NOINLINE void use_numbers(size_t size)
{
	long *blocks[4];
	for (auto &block : blocks) {
		block = static_cast<long *>(malloc(size));
		for (size_t i = 0; i < size / sizeof(long); i++)
			block[i] = 0x0123456789000000 + (long)i;
	}
	for (long *block : blocks)
		free(opaque(block));
}

static NOINLINE long left_weight(const node *of)
{
	return of->left->weight; // dies: c-link
}

static NOINLINE node *new_node(long key)
{
	node *made = static_cast<node *>(malloc(sizeof *made));
	made->key = key;
	made->weight = 1;
	made->right = nullptr;
	return made;
}

static void c_link()
{
	use(sizeof(node), 'A');
	sink = left_weight(hidden(new_node(5)));
}

/* The second word of a block of glibc's thread cache: the key, which it clears; here the third is not set. */
static NOINLINE long right_weight(const node *of)
{
	return of->right->weight; // dies: c-numbers
}

static NOINLINE node *new_left(long key)
{
	node *made = static_cast<node *>(malloc(sizeof *made));
	made->key = key;
	made->left = nullptr;
	made->weight = 1;
	return made;
}

static void c_numbers()
{
	use_numbers(sizeof(node));
	sink = right_weight(hidden(new_left(5)));
}

static NOINLINE long rows_of(const config *of)
{
	return of->table_->rows; // dies: constructor local
}

static void constructor()
{
	use_numbers(sizeof(config));
	sink = rows_of(hidden(new config(3)));
}

static NOINLINE void finish(session *of)
{
	of->done(of); // dies: callback
	sink = of->id;
}

static NOINLINE session *new_session(int id, config *settings)
{
	session *made = new session;
	made->id = id;
	made->settings = settings;
	snprintf(made->name, sizeof made->name, "session %d", id);
	return made;
}

static void callback()
{
	use(sizeof(session), 'x');
	finish(hidden(new_session(1, nullptr)));
}

static NOINLINE long look_up(const cache *in)
{
	return in->index->rows; // dies: in-place
}

static void in_place()
{
	use_numbers(sizeof(cache));
	sink = look_up(hidden(new cache));
}

/* Nothing of this: the member was set, as in the objects that are free, and what it led to is gone. */
static NOINLINE long first_cell(const table *of)
{
	return of->cells[0]; // dies: shared-unmapped
}

static void shared_unmapped()
{
	long *cells = static_cast<long *>(calloc(1 << 20, 1));
	char *made[4];
	for (auto &one : made) {
		one = static_cast<char *>(malloc(2 * sizeof(table)));
		*hidden(reinterpret_cast<table *>(one + sizeof(table))) = {1, cells};
	}
	free(opaque(made[1]));
	free(opaque(made[2]));
	free(opaque(cells));
	sink = first_cell(hidden(reinterpret_cast<table *>(made[3] + sizeof(table))));
}

/* On the stack: what an earlier call left. */
static NOINLINE void scribble()
{
	volatile unsigned long words[160];
	for (size_t i = 0; i < 160; i++)
		words[i] = 0x1122334455660000 + i * 0x11;
	KEEP(words);
}

static NOINLINE long run(config *one)
{
	sink = one->limit_;
	return rows_of(one);
}

static NOINLINE long on_stack()
{
	config one(4);
	long room[6];
	KEEP(room);
	return run(hidden(&one)) + 1;
}

static void local()
{
	scribble();
	sink = on_stack();
}

DEATHS({"c-link", c_link}, {"c-numbers", c_numbers}, {"constructor", constructor}, {"callback", callback},
       {"in-place", in_place}, {"shared-unmapped", shared_unmapped}, {"local", local})
