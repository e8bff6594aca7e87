/* guesses: blocks of which debug information and pointers do not tell the type, among others of the same sizes that
 * resemble them: numbers behind void *, values of several types in one table, objects that begin with another one, arms
 * of unions, lists of two kinds through one node. "unknown" is a right answer for them; a wrong type is not. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "account.h"

#define MAYBE(type) ((type *)account_is(calloc(1, sizeof(type)), #type "|unknown", 1))
#define MAYBES(type, count)                                                                                            \
	((type *)account_is(calloc((size_t)(count), sizeof(type)), #type "|unknown", (size_t)(count)))

enum { MANY = 60 };

/* ---- one table for all ---- */

struct entry {
	struct entry *next;
	unsigned hash;
	char *key;
	void *value;
};

struct login {
	uint64_t token;
	char *user;
	struct entry *roles;
	long since;
};

struct article {
	int number;
	char *title;
	float weight;
	struct entry *tags;
};

struct date {
	short year;
	char month, day;
	int zone;
};

struct place {
	double x, y, z;
};

struct ticket {
	char name[16];
	double low, high;
	long count;
};

HELD struct entry *table[16];
HELD struct login *last_login;
HELD struct article *last_article;
HELD struct date *last_date;
HELD struct place *last_place;
HELD struct ticket *last_ticket;

static char *text(const char *word)
{
	char line[64];
	int length = snprintf(line, sizeof line, "%s %u", word, account_random(100000));
	return memcpy(account_is(calloc(1, (size_t)length + 1), "char|unknown", (size_t)length + 1), line,
		      (size_t)length);
}

static void put(const char *key, void *value)
{
	struct entry *entry = NEW(struct entry);
	entry->key = text(key);
	entry->hash = account_random(1 << 30);
	entry->value = value;
	entry->next = table[entry->hash % 16];
	table[entry->hash % 16] = entry;
}

static PART void fill_table(void)
{
	for (int i = 0; i < MANY; i++) {
		struct login *login = MAYBE(struct login);
		*login =
			(struct login){account_random(1 << 30) * UINT64_C(1000003), text("user"), NULL, 1700000000 + i};
		struct article *article = MAYBE(struct article);
		*article = (struct article){i, text("article"), 1.5F + (float)i, NULL};
		struct date *date = MAYBE(struct date);
		*date = (struct date){(short)(1970 + i), (char)(1 + i % 12), 7, 60};
		struct place *place = MAYBE(struct place);
		*place = (struct place){i / 7.0, i * 1.5, -3};
		struct ticket *ticket = MAYBE(struct ticket);
		*ticket = (struct ticket){"t", i / 3.0, i * 2.5, i};
		snprintf(ticket->name, sizeof ticket->name, "ticket%d", i);
		long *number = MAYBE(long);
		*number = (long)account_random(60000);
		double *share = MAYBE(double);
		*share = i / 9.0;
		put("login", login), put("article", article), put("date", date), put("place", place);
		put("ticket", ticket), put("number", number), put("share", share), put("text", text("value"));
	}
}

/* ---- objects that begin with another one ---- */

struct shape {
	int kind;
	float x, y;
	struct shape *next;
};

struct circle {
	struct shape shape;
	float radius;
};

struct corner {
	float x, y;
};

struct polygon {
	struct shape shape;
	unsigned count;
	struct corner *corners;
};

struct caption {
	struct shape shape;
	char *text;
	unsigned color;
};

struct group {
	struct shape shape;
	struct shape *inner;
};

struct node {
	struct node *next, *prev;
};

struct packet {
	struct node link;
	uint16_t type, length;
	char body[];
};

HELD struct shape *shapes;
HELD struct node *packets;
HELD struct circle *last_circle;
HELD struct polygon *last_polygon;
HELD struct caption *last_caption;
HELD struct group *last_group;
HELD struct packet *last_packet;
HELD struct sockaddr *peers[12];

static struct shape *add_shape(struct shape *shape, int kind, struct shape *next)
{
	*shape = (struct shape){kind, 1.5F, (float)account_random(900) / 7, next};
	return shape;
}

static PART void fill_shapes(void)
{
	for (int i = 0; i < MANY; i++) {
		struct circle *circle = MAYBE(struct circle);
		shapes = add_shape(&circle->shape, 0, shapes);
		circle->radius = 2.5F;
		struct polygon *polygon = MAYBE(struct polygon);
		shapes = add_shape(&polygon->shape, 1, shapes);
		polygon->count = 4;
		polygon->corners = MAYBES(struct corner, 4);
		for (int k = 0; k < 4; k++)
			polygon->corners[k] = (struct corner){(float)k + 0.5F, 1.25F};
		struct caption *caption = MAYBE(struct caption);
		shapes = add_shape(&caption->shape, 2, shapes);
		caption->text = text("caption");
		caption->color = 0xffeedd;
		struct group *group = MAYBE(struct group);
		shapes = add_shape(&group->shape, 3, shapes);
		circle = MAYBE(struct circle);
		group->inner = add_shape(&circle->shape, 0, NULL);
		circle->radius = 3.5F;
	}
}

static PART void fill_packets(void)
{
	packets = NEW(struct node);
	packets->next = packets->prev = packets;
	for (int i = 0; i < MANY; i++) {
		struct packet *packet = account_is(calloc(1, sizeof *packet + 24), "struct packet|unknown", 1);
		*packet = (struct packet){{packets, packets->prev}, (uint16_t)(i % 2), 24};
		memcpy(packet->body, &(int){i}, sizeof i);
		strcpy(packet->body + 4, "bob");
		packets->prev->next = &packet->link;
		packets->prev = &packet->link;
	}
}

static PART void fill_peers(void)
{
	for (int i = 0; i < 12; i++) {
		struct sockaddr_un *peer = account_is(calloc(1, sizeof *peer), "struct sockaddr_un|unknown", 1);
		peer->sun_family = AF_UNIX;
		strcpy(peer->sun_path, "/tmp/s");
		peers[i] = (struct sockaddr *)peer;
	}
}

/* ---- two lists through one node ---- */

struct unit {
	char *name;
	int state, users;
	struct node link;
	long size;
};

struct region {
	long lowest;
	void *owner;
	struct node link;
	char *label;
};

HELD struct node units, regions;
HELD struct unit *first_unit;
HELD struct region *first_region;

static void append(struct node *list, struct node *node)
{
	node->next = list;
	node->prev = list->prev;
	list->prev->next = node;
	list->prev = node;
}

static PART void fill_lists(void)
{
	units.next = units.prev = &units;
	regions.next = regions.prev = &regions;
	for (int i = 0; i < MANY; i++) {
		struct unit *unit = MAYBE(struct unit);
		*unit = (struct unit){text("unit"), i % 3, i, {0}, i * 512L};
		append(&units, &unit->link);
		struct region *region = MAYBE(struct region);
		*region = (struct region){i * 4096L, unit, {0}, text("region")};
		append(&regions, &region->link);
		first_unit = unit;
		first_region = region;
	}
}

/* ---- arms of unions ---- */

struct term {
	unsigned op : 6, leaf : 1, negative : 1;
	unsigned count;
	union {
		struct term *pair[2];
		char *name;
		long number;
		struct {
			struct term **arguments;
			char *function;
		} call;
	};
};

enum tag { NONE, REAL, FLAG, STRING, LIST, FAULT };

struct list {
	int refs;
	unsigned used, size;
	struct value *items;
};

struct fault {
	int code, line;
	char *message;
	struct fault *cause;
};

struct value {
	enum tag tag;
	union {
		double real;
		int flag;
		char *string;
		struct list *list;
		struct fault *fault;
	};
};

enum form { LITERAL, PAIR, NAME };

struct tree {
	enum form form;
	int line;
	union {
		struct value literal;
		struct {
			char operation;
			struct tree *left, *right;
		} pair;
		char *name;
	} u;
};

HELD struct term *terms[MANY];
HELD struct tree *trees[MANY];

static struct term *new_term(int depth)
{
	struct term *term = MAYBE(struct term);
	unsigned choice = depth > 4 ? account_random(2) : account_random(5);
	term->leaf = choice < 2;
	term->op = choice;
	if (choice == 0) {
		term->name = text("variable");
	} else if (choice == 1) {
		term->number = account_random(10000);
	} else if (choice < 4) {
		term->pair[0] = new_term(depth + 1);
		term->pair[1] = new_term(depth + 1);
	} else {
		term->count = 1 + account_random(3);
		term->call.function = text("function");
		term->call.arguments = MAYBES(struct term *, term->count);
		for (unsigned i = 0; i < term->count; i++)
			term->call.arguments[i] = new_term(depth + 1);
	}
	return term;
}

static struct value new_value(void)
{
	struct value value = {.tag = REAL, .real = account_random(1000) / 7.0};
	if (account_random(3) == 0) {
		value = (struct value){.tag = STRING, .string = text("string")};
	} else if (account_random(3) == 0) {
		struct fault *fault = MAYBE(struct fault);
		*fault = (struct fault){400 + (int)account_random(99), 7, text("message"), NULL};
		value = (struct value){.tag = FAULT, .fault = fault};
	} else if (account_random(3) == 0) {
		struct list *list = MAYBE(struct list);
		*list = (struct list){1, 2, 4, MAYBES(struct value, 4)};
		list->items[0] = list->items[1] = value;
		value = (struct value){.tag = LIST, .list = list};
	}
	return value;
}

static struct tree *new_tree(int depth)
{
	struct tree *tree = MAYBE(struct tree);
	tree->line = 1 + (int)account_random(900);
	tree->form = depth > 3 ? 2 * account_random(2) : account_random(3);
	if (tree->form == LITERAL) {
		tree->u.literal = new_value();
	} else if (tree->form == NAME) {
		tree->u.name = text("name");
	} else {
		tree->u.pair.operation = "+-*/"[account_random(4)];
		tree->u.pair.left = new_tree(depth + 1);
		tree->u.pair.right = new_tree(depth + 1);
	}
	return tree;
}

int main(void)
{
	fill_table();
	fill_shapes();
	fill_packets();
	fill_peers();
	fill_lists();
	for (int i = 0; i < MANY; i++) {
		terms[i] = new_term(0);
		trees[i] = new_tree(0);
	}
	account_die();
}
