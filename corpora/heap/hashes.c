/* hashes: tables of void pointers, of unions with a tag, of pointers with bits in them; what lies behind is told by functions, tags
 * and siblings only. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "account.h"

struct entry {
	char *key;
	union {
		void *val;
		uint64_t number;
		double real;
	} v;
	struct entry *next;
};

struct kind {
	const char *name;
	uint64_t (*hash)(const void *);
	void (*release)(void *);
};

struct table {
	const struct kind *kind;
	struct entry **buckets;
	size_t size, used;
	void *private;
};

struct user {
	char *name;
	int age;
	struct user *boss;
};

struct session {
	struct user *user;
	char token[24];
	double started;
};

enum tag { NIL, INTEGER, TEXT, PAIR, LIST };

struct value {
	enum tag tag;
	union {
		int64_t integer;
		char *text;
		struct pair *pair;
		struct vector *list;
	} as;
};

struct pair {
	struct value first, second;
};

struct vector {
	size_t count;
	struct value items[];
};

/* Distinguished by the first word, which all have. */
struct shape {
	enum { CIRCLE, SQUARE, GROUP } type;
};

struct circle {
	struct shape shape;
	double radius, x, y;
};

struct square {
	struct shape shape;
	double side;
	char *label;
};

struct group {
	struct shape shape;
	int count;
	struct shape *members[6];
};

HELD struct table *users, *sessions, *numbers;
HELD struct value *values[200];
HELD struct shape *shapes[200];
HELD uintptr_t tagged[100];

static uint64_t hash_text(const void *key)
{
	uint64_t hash = 5381;
	for (const char *at = key; *at; at++)
		hash = hash * 33 + (unsigned char)*at;
	return hash;
}

static void release_user(void *user)
{
	free(((struct user *)user)->name);
	free(user);
}

static void release_session(void *session)
{
	free(session);
}

static const struct kind user_kind = {"users", hash_text, release_user};
static const struct kind session_kind = {"sessions", hash_text, release_session};
static const struct kind number_kind = {"numbers", hash_text, NULL};

static PART char *text(const char *what, unsigned number)
{
	char buffer[64];
	size_t size = (size_t)snprintf(buffer, sizeof buffer, "%s of number %u", what, number) + 1;
	return memcpy(account_is(malloc(size), "char", size), buffer, size);
}

static PART struct table *new_table(const struct kind *kind, size_t size)
{
	struct table *table = NEW(struct table);
	table->kind = kind;
	table->size = size;
	table->buckets = NEWS(struct entry *, size);
	return table;
}

static PART struct entry *add(struct table *table, char *key)
{
	struct entry *entry = NEW(struct entry), **bucket = &table->buckets[table->kind->hash(key) % table->size];
	entry->key = key;
	entry->next = *bucket;
	*bucket = entry;
	table->used++;
	return entry;
}

static PART void fill_tables(void)
{
	struct user *boss = NULL;
	users = new_table(&user_kind, 256);
	sessions = new_table(&session_kind, 256);
	numbers = new_table(&number_kind, 64);
	for (unsigned i = 0; i < 500; i++) {
		struct user *user = NEW(struct user);
		user->name = text("name", i);
		user->age = 20 + (int)account_random(50);
		user->boss = boss;
		boss = i % 10 ? boss : user;
		add(users, text("user", i))->v.val = user;
		struct session *session = NEW(struct session);
		session->user = user;
		memset(session->token, 'a' + (int)(i % 26), 20);
		add(sessions, text("session", i))->v.val = session;
		if (i % 4 == 0)
			add(numbers, text("count", i))->v.number = i;
	}
}

static PART void set(struct value *value, int depth);

static PART void set_list(struct value *value, int depth)
{
	size_t count = 1 + account_random(4);
	struct vector *list = account_is(calloc(1, sizeof *list + count * sizeof list->items[0]), "struct vector", 1);
	list->count = count;
	value->tag = LIST;
	value->as.list = list;
	for (size_t i = 0; i < count; i++)
		set(&list->items[i], depth - 1);
}

static PART void set(struct value *value, int depth)
{
	unsigned choice = account_random(depth ? 4 : 2);
	if (choice == 0) {
		value->tag = INTEGER;
		value->as.integer = account_random(1000);
	} else if (choice == 1) {
		value->tag = TEXT;
		value->as.text = text("text", account_random(1000));
	} else if (choice == 2) {
		struct pair *pair = NEW(struct pair);
		value->tag = PAIR;
		value->as.pair = pair;
		set(&pair->first, depth - 1);
		set(&pair->second, depth - 1);
	} else {
		set_list(value, depth);
	}
}

static PART struct shape *make_shape(unsigned i)
{
	if (i % 3 == CIRCLE) {
		struct circle *circle = NEW(struct circle);
		*circle = (struct circle){{CIRCLE}, i, 1, 2};
		return &circle->shape;
	}
	if (i % 3 == SQUARE) {
		struct square *square = NEW(struct square);
		*square = (struct square){{SQUARE}, i, text("label", i)};
		return &square->shape;
	}
	struct group *group = NEW(struct group);
	group->shape.type = GROUP;
	group->count = 6;
	for (int k = 0; k < 6; k++)
		group->members[k] = shapes[account_random(i)];
	return &group->shape;
}

int main(void)
{
	fill_tables();
	for (unsigned i = 0; i < 200; i++) {
		values[i] = NEW(struct value);
		set(values[i], 4);
		shapes[i] = make_shape(i);
	}
	for (unsigned i = 0; i < 100; i++) /* a tag in the low bits */
		tagged[i] = (uintptr_t)NEW(struct pair) | (i % 4);
	account_die();
}
