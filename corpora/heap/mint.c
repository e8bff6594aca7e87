/* mint: a scripting language. Trees share a header with a kind (Node); values begin with a reference count and a pointer to
 * their type (Obj); pairs and slots of environments come from arenas with a free list; names are interned. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "account.h"

#define T(name, words) account_is(words, #name "|struct " #name, 1)

typedef struct Name {
	struct Name *chain;
	uint32_t hash;
	uint16_t len;
	uint8_t is_keyword;
	char s[];
} Name;

typedef enum { N_NUM, N_STR, N_NAME, N_BINARY, N_CALL, N_IF, N_BLOCK, N_FUNC } NodeKind;

typedef struct Node {
	uint8_t kind;
	uint8_t flags;
	uint16_t column;
	int line;
} Node;
typedef struct NumNode {
	Node n;
	double value;
} NumNode;
typedef struct StrNode {
	Node n;
	size_t len;
	char *bytes;
} StrNode;
typedef struct NameNode {
	Node n;
	Name *name;
	int slot;
} NameNode;
typedef struct BinaryNode {
	Node n;
	int op;
	Node *left, *right;
} BinaryNode;
typedef struct CallNode {
	Node n;
	Node *callee;
	int argc;
	Node *args[];
} CallNode;
typedef struct IfNode {
	Node n;
	Node *cond, *then, *otherwise;
} IfNode;
typedef struct BlockNode {
	Node n;
	Node **items;
	size_t count, cap;
} BlockNode;
typedef struct Param {
	Name *name;
	Node *dflt;
} Param;
typedef struct FuncNode {
	Node n;
	Name *name;
	Param *params;
	int nparams;
	BlockNode *body;
} FuncNode;

typedef struct Obj Obj;
typedef struct Type {
	const char *name;
	size_t size;
	void (*finalize)(Obj *);
	uint32_t (*hash)(Obj *);
} Type;

struct Obj {
	int64_t refs;
	const Type *type;
};
typedef struct IntObj {
	Obj base;
	int64_t value;
} IntObj;
typedef struct RealObj {
	Obj base;
	double value;
} RealObj;
typedef struct StrObj {
	Obj base;
	uint32_t hash, len;
	char s[1];
} StrObj;
typedef struct ListObj {
	Obj base;
	Obj **items;
	size_t count, cap;
} ListObj;
typedef struct DictEntry {
	Obj *key, *value;
	uint32_t hash;
} DictEntry;
typedef struct DictObj {
	Obj base;
	DictEntry *entries;
	uint32_t *index;
	uint32_t used, size;
} DictObj;
typedef struct FuncObj {
	Obj base;
	struct Proto *proto;
	struct Env *env;
} FuncObj;

typedef struct Proto {
	Name *name;
	uint32_t *code;
	size_t ncode, code_cap;
	Obj **consts;
	size_t nconsts, const_cap;
	struct Proto **protos;
	size_t nprotos, proto_cap;
	FuncNode *tree;
} Proto;

typedef struct Pair {
	Obj *head;
	struct Pair *tail;
} Pair;
typedef struct Env {
	struct Env *up;
	Name *name;
	Obj *value;
	struct Env *next;
} Env;
typedef union Cell {
	union Cell *free;
	Pair pair;
	Env env;
} Cell;
typedef struct Arena {
	struct Arena *next;
	size_t used;
	Cell cells[60];
} Arena;

typedef struct Frame {
	Proto *proto;
	uint32_t pc;
	Env *env;
	Obj **base;
} Frame;

typedef struct VM {
	Name **names;
	uint32_t name_count, name_mask;
	Arena *arenas;
	Cell *free_cells;
	Frame *frames;
	size_t nframes, frame_cap;
	Obj **stack, **top;
	DictObj *globals;
	Pair *history;
	Node *program;
} VM;

static VM *vm;

static PART void *grow(void *old, size_t used, size_t *cap, size_t item, const char *type)
{
	if (old && used < *cap)
		return old;
	*cap = *cap ? *cap * 2 : 4;
	if (old)
		account_freed(old);
	return account_is(realloc(old, *cap * item), type, *cap);
}
#define PUSH(array, count, cap, value, type)                                                                           \
	((array) = grow((array), (count), &(cap), sizeof *(array), type), (array)[(count)++] = (value))

static PART Name *intern(const char *s)
{
	uint32_t h = 5381;
	for (const char *p = s; *p; p++)
		h = h * 33 ^ (unsigned char)*p;
	for (Name *n = vm->names[h & vm->name_mask]; n; n = n->chain)
		if (n->hash == h && !strcmp(n->s, s))
			return n;
	size_t len = strlen(s);
	Name *n = T(Name, malloc(sizeof *n + len + 1));
	n->chain = vm->names[h & vm->name_mask];
	n->hash = h;
	n->len = (uint16_t)len;
	n->is_keyword = 0;
	memcpy(n->s, s, len + 1);
	vm->name_count++;
	return vm->names[h & vm->name_mask] = n;
}

static PART Name *any_name(unsigned of)
{
	char word[24];
	snprintf(word, sizeof word, "%s_%u", of % 3 ? "var" : "a_longer_identifier" + of % 7, account_random(of));
	return intern(word);
}

static PART char *copy(const char *s)
{
	size_t n = strlen(s) + 1;
	return memcpy(account_is(malloc(n), "char", n), s, n);
}

static PART Cell *cell(void)
{
	if (!vm->free_cells) {
		Arena *a = T(Arena, malloc(sizeof *a));
		a->next = vm->arenas;
		a->used = 0;
		vm->arenas = a;
		for (int i = 59; i >= 0; i--) {
			a->cells[i].free = vm->free_cells;
			vm->free_cells = &a->cells[i];
		}
	}
	Cell *c = vm->free_cells;
	vm->free_cells = c->free;
	return c;
}
static void release(Cell *c)
{
	c->free = vm->free_cells;
	vm->free_cells = c;
}

#define NODE(type, kind) ((type *)node(T(type, calloc(1, sizeof(type))), kind))
static Node *node(void *block, NodeKind kind)
{
	static int line;
	Node *n = block;
	n->kind = (uint8_t)kind;
	n->line = ++line;
	n->column = (uint16_t)account_random(80);
	return n;
}

static PART Node *expr(int depth);

static PART BlockNode *block(int depth)
{
	BlockNode *b = NODE(BlockNode, N_BLOCK);
	for (unsigned i = 0, n = 1 + account_random(4); i < n; i++)
		PUSH(b->items, b->count, b->cap, expr(depth - 1), "Node *|struct Node *");
	return b;
}

static PART FuncNode *func(int depth)
{
	FuncNode *f = NODE(FuncNode, N_FUNC);
	f->name = any_name(300);
	f->nparams = (int)account_random(4);
	if (f->nparams)
		f->params =
			account_is(calloc((size_t)f->nparams, sizeof(Param)), "Param|struct Param", (size_t)f->nparams);
	for (int i = 0; i < f->nparams; i++) {
		f->params[i].name = any_name(90);
		if (i)
			f->params[i].dflt = expr(0);
	}
	f->body = block(depth - 1);
	return f;
}

static PART Node *expr(int depth)
{
	char word[40];
	switch (depth > 0 ? account_random(8) : account_random(3)) {
	case 0: {
		NumNode *n = NODE(NumNode, N_NUM);
		n->value = account_random(1000) / (account_random(2) ? 1.0 : 7.0);
		return &n->n;
	}
	case 1: {
		StrNode *s = NODE(StrNode, N_STR);
		snprintf(word, sizeof word, "str %u", account_random(9999));
		s->bytes = copy(word);
		s->len = strlen(word);
		return &s->n;
	}
	case 2: {
		NameNode *n = NODE(NameNode, N_NAME);
		n->name = any_name(200);
		n->slot = (int)account_random(10) - 1;
		return &n->n;
	}
	case 3: {
		BinaryNode *b = NODE(BinaryNode, N_BINARY);
		b->op = "+-*/<>"[account_random(6)];
		b->left = expr(depth - 1);
		b->right = expr(depth - 1);
		return &b->n;
	}
	case 4: {
		int argc = (int)account_random(4);
		CallNode *c =
			(CallNode *)node(T(CallNode, calloc(1, sizeof *c + (size_t)argc * sizeof(Node *))), N_CALL);
		c->callee = expr(0);
		c->argc = argc;
		for (int i = 0; i < argc; i++)
			c->args[i] = expr(depth - 1);
		return &c->n;
	}
	case 5: {
		IfNode *n = NODE(IfNode, N_IF);
		n->cond = expr(depth - 1);
		n->then = &block(depth - 1)->n;
		n->otherwise = account_random(2) ? &block(depth - 1)->n : NULL;
		return &n->n;
	}
	case 6:
		return &block(depth)->n;
	default:
		return &func(depth)->n;
	}
}

static void no_finalize(Obj *o)
{
	o->refs = -1;
}
static void list_finalize(Obj *o)
{
	free(((ListObj *)o)->items);
}
static uint32_t int_hash(Obj *o)
{
	return (uint32_t)((IntObj *)o)->value * 2654435761u;
}
static uint32_t str_hash(Obj *o)
{
	return ((StrObj *)o)->hash;
}
static const Type int_type = {"int", sizeof(IntObj), no_finalize, int_hash},
		  real_type = {"real", sizeof(RealObj), no_finalize, NULL},
		  str_type = {"str", sizeof(StrObj), no_finalize, str_hash},
		  list_type = {"list", sizeof(ListObj), list_finalize, NULL},
		  dict_type = {"dict", sizeof(DictObj), no_finalize, NULL},
		  func_type = {"func", sizeof(FuncObj), no_finalize, NULL};

static PART Obj *obj(const Type *type, size_t extra)
{
	Obj *o = malloc(type->size + extra);
	memset(o, 0, type->size + extra);
	o->refs = 1;
	o->type = type;
	return o;
}
static PART Obj *str(const char *s)
{
	size_t len = strlen(s);
	StrObj *o = (StrObj *)T(StrObj, obj(&str_type, len));
	o->len = (uint32_t)len;
	o->hash = (uint32_t)len * 77;
	memcpy(o->s, s, len + 1);
	return &o->base;
}
static PART Obj *any_value(int depth);

static PART void dict_set(DictObj *d, Obj *key, Obj *value)
{
	if (d->used == d->size) {
		d->size = d->size ? 2 * d->size : 4;
		account_freed(d->entries);
		d->entries = account_is(realloc(d->entries, d->size * sizeof(DictEntry)), "DictEntry|struct DictEntry",
					d->size);
		free(d->index);
		d->index = NEWS(uint32_t, 2 * d->size);
	}
	d->index[d->used * 3 % (2 * d->size)] = d->used + 1;
	d->entries[d->used++] = (DictEntry){key, value, key->type->hash(key)};
}

static PART Env *env(Env *up, int count)
{
	Env *all = NULL;
	while (count--) {
		Env *e = &cell()->env;
		*e = (Env){up, any_name(100), any_value(0), all};
		all = e;
	}
	return all;
}

static PART Proto *proto(int depth)
{
	Proto *p = T(Proto, calloc(1, sizeof *p));
	p->name = any_name(100);
	for (unsigned i = 0, n = 3 + account_random(30); i < n; i++) {
		PUSH(p->code, p->ncode, p->code_cap,
		     account_random(60) | account_random(256) << 8 | account_random(3) << 24, "uint32_t");
		if (i % 6 == 0)
			PUSH(p->consts, p->nconsts, p->const_cap, any_value(0), "Obj *|struct Obj *");
	}
	for (unsigned i = 0; depth && i < 2; i++)
		PUSH(p->protos, p->nprotos, p->proto_cap, proto(depth - 1), "Proto *|struct Proto *");
	p->tree = account_random(2) ? func(2) : NULL;
	return p;
}

static PART Obj *any_value(int depth)
{
	char word[40];
	switch (account_random(depth > 0 ? 6 : 3)) {
	case 0: {
		IntObj *o = (IntObj *)T(IntObj, obj(&int_type, 0));
		o->value = (int64_t)account_random(100000);
		return &o->base;
	}
	case 1: {
		RealObj *o = (RealObj *)T(RealObj, obj(&real_type, 0));
		o->value = account_random(1000) / 9.0;
		return &o->base;
	}
	case 2:
		snprintf(word, sizeof word, "value %.*u", (int)account_random(12), account_random(50));
		return str(word);
	case 3: {
		ListObj *o = (ListObj *)T(ListObj, obj(&list_type, 0));
		for (unsigned i = 0, n = account_random(7); i < n; i++)
			PUSH(o->items, o->count, o->cap, any_value(depth - 1), "Obj *|struct Obj *");
		return &o->base;
	}
	case 4: {
		DictObj *o = (DictObj *)T(DictObj, obj(&dict_type, 0));
		for (unsigned i = 0, n = 1 + account_random(9); i < n; i++)
			dict_set(o, str("key"), any_value(depth - 1));
		return &o->base;
	}
	default: {
		FuncObj *o = (FuncObj *)T(FuncObj, obj(&func_type, 0));
		o->proto = proto(0);
		o->env = env(NULL, 3);
		return &o->base;
	}
	}
}

/* A reference too many: the list and the text are never released. */
static PART void lose(void)
{
	for (int i = 0; i < 10; i++) {
		ListObj *l = (ListObj *)account_leaked(T(ListObj, obj(&list_type, 0)));
		PUSH(l->items, l->count, l->cap, account_leaked(str("lost")), "Obj *|struct Obj *");
		account_leaked(l->items);
		l->items[1] = l->items[2] = l->items[3] = NULL;
		NumNode *n = account_leaked(NODE(NumNode, N_NUM));
		n->value = 3;
		release(cell());
	}
}

int main(void)
{
	vm = T(VM, calloc(1, sizeof *vm));
	vm->name_mask = 127;
	vm->names = account_is(calloc(128, sizeof(Name *)), "Name *|struct Name *", 128);
	vm->program = &block(7)->n;
	for (int i = 0; i < 12; i++) {
		FuncNode *f = func(6);
		BlockNode *b = (BlockNode *)vm->program;
		PUSH(b->items, b->count, b->cap, &f->n, "Node *|struct Node *");
	}
	vm->globals = (DictObj *)T(DictObj, obj(&dict_type, 0));
	for (unsigned i = 0; i < 120; i++)
		dict_set(vm->globals, str("global"), any_value(3));
	vm->stack = account_is(calloc(200, sizeof(Obj *)), "Obj *|struct Obj *", 200);
	vm->top = vm->stack;
	for (int i = 0; i < 60; i++)
		*vm->top++ = any_value(2);
	for (int i = 0; i < 9; i++) {
		Frame f = {proto(1), 3, env(NULL, 2), vm->stack + i};
		PUSH(vm->frames, vm->nframes, vm->frame_cap, f, "Frame|struct Frame");
	}
	for (int i = 0; i < 150; i++) {
		Cell *c = cell();
		c->pair = (Pair){any_value(1), vm->history};
		vm->history = &c->pair;
	}
	for (int i = 0; i < 20; i++) {
		Pair *p = vm->history;
		vm->history = p->tail;
		*vm->top++ = p->head;
		release((Cell *)p);
	}
	lose();
	account_die();
}
