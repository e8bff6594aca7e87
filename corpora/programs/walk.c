/* walk: structures of every kind that plugins/lib/walk.lua walks, and a damaged one of each. It writes what is in them,
 * as
 *
 *	NAME CONTENTS            of a good one
 *	damaged NAME: MESSAGE    what there is to say of the other
 *
 * and aborts. Trees are made balanced at once from sorted keys: only how they are linked matters. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#define GARBAGE   ((void *)0x41414141)
#define NEW(type) ((type *)calloc(1, sizeof(type)))

/* ---- chains ---- */

struct node {
	int id;
	struct node *next;
};

struct list_head {
	struct list_head *next, *prev;
};

struct item {
	int id;
	struct list_head link;
};

struct element {
	int id;
	SLIST_ENTRY(element) single;
	LIST_ENTRY(element) both;
	STAILQ_ENTRY(element) tail;
	TAILQ_ENTRY(element) tailed;
};

struct node *list, *list_cycle, *list_garbage, *ring, *ring_open, *empty;
struct list_head items, items_empty, items_back, items_open;
SLIST_HEAD(slist, element) slist, slist_cycle;
LIST_HEAD(blist, element) blist, blist_back;
STAILQ_HEAD(stailq, element) stailq, stailq_empty, stailq_last;
TAILQ_HEAD(tailq, element) tailq, tailq_empty, tailq_back, tailq_last;

/* Nodes count, count + 1, … in an order that is not that of their addresses. Returns the last. */
static struct node *make_list(struct node **head, int count, struct node **all)
{
	struct node *pool = calloc((size_t)count, sizeof *pool);
	for (int i = 0; i < count; i++) {
		all[i] = &pool[i * 7 % count];
		all[i]->id = count + i;
		if (i)
			all[i - 1]->next = all[i];
	}
	*head = all[0];
	return all[count - 1];
}

static void say_list(const char *name, const struct node *head, const struct node *end)
{
	printf("%s", name);
	for (const struct node *n = head; n; n = n->next == end ? NULL : n->next)
		printf(" %d", n->id);
	putchar('\n');
}

static void damaged(const char *name, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	printf("damaged %s: ", name);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

static void make_lists(void)
{
	struct node *all[3001];
	make_list(&list, 3001, all);
	say_list("list", list, NULL);
	make_list(&ring, 8, all)->next = ring;
	say_list("ring", ring, ring);
	make_list(&list_cycle, 1205, all)->next = all[16];
	damaged("list_cycle", "cycle: node 1,205 (%p) leads back to node 17", (void *)all[1204]);
	make_list(&list_garbage, 30, all);
	all[17]->next = GARBAGE;
	damaged("list_garbage", "0x41414149 is not mapped");
	make_list(&ring_open, 8, all);
	damaged("ring_open", "not closed: %p leads to NULL", (void *)all[7]);
}

static struct list_head *make_items(struct list_head *head, int count)
{
	struct list_head *fourth = NULL;
	head->next = head->prev = head;
	for (int i = 0; i < count; i++) {
		struct item *item = NEW(struct item);
		item->id = i * i;
		item->link = (struct list_head){head, head->prev};
		head->prev->next = &item->link;
		head->prev = &item->link;
		if (i == 3)
			fourth = &item->link;
	}
	return fourth;
}

static void make_list_heads(void)
{
	struct list_head *fourth;
	make_items(&items, 12);
	make_items(&items_empty, 0);
	puts("items 0 1 4 9 16 25 36 49 64 81 100 121\nitems_empty");
	fourth = make_items(&items_back, 9);
	fourth->prev = items_back.next;
	damaged("items_back", "node 4 (%p): its back link is %p, not %p", (void *)fourth, (void *)items_back.next,
		(void *)items_back.next->next->next);
	fourth = make_items(&items_open, 9);
	fourth->next = NULL;
	damaged("items_open", "not closed: %p leads to NULL", (void *)fourth);
}

static struct element *element(int id)
{
	struct element *e = NEW(struct element);
	e->id = id;
	return e;
}

static void make_queues(void)
{
	struct element *e = NULL, *third = NULL;
	for (int i = 0; i < 6; i++) {
		e = element(i);
		SLIST_INSERT_HEAD(&slist, e, single);
		LIST_INSERT_HEAD(&blist, e, both);
	}
	puts("slist 5 4 3 2 1 0\nblist 5 4 3 2 1 0");
	STAILQ_INIT(&stailq);
	STAILQ_INIT(&stailq_empty);
	STAILQ_INIT(&stailq_last);
	TAILQ_INIT(&tailq);
	TAILQ_INIT(&tailq_empty);
	TAILQ_INIT(&tailq_back);
	TAILQ_INIT(&tailq_last);
	for (int i = 0; i < 6; i++) {
		e = element(10 + i);
		STAILQ_INSERT_TAIL(&stailq, e, tail);
		TAILQ_INSERT_TAIL(&tailq, e, tailed);
	}
	puts("stailq 10 11 12 13 14 15\nstailq_empty\ntailq 10 11 12 13 14 15\ntailq_empty");
	for (int i = 0; i < 6; i++) {
		e = element(i);
		third = i == 2 ? e : third;
		if (i == 0)
			SLIST_INSERT_HEAD(&slist_cycle, e, single);
		else
			e->single.sle_next = slist_cycle.slh_first, slist_cycle.slh_first = e;
		if (i < 3)
			LIST_INSERT_HEAD(&blist_back, e, both);
		STAILQ_INSERT_TAIL(&stailq_last, e, tail);
		TAILQ_INSERT_TAIL(&tailq_back, e, tailed);
	}
	struct element *last = slist_cycle.slh_first;
	while (last->single.sle_next)
		last = last->single.sle_next;
	last->single.sle_next = slist_cycle.slh_first->single.sle_next;
	damaged("slist_cycle", "cycle: node 6 (%p) leads back to node 2", (void *)last);
	struct element *second = LIST_NEXT(LIST_FIRST(&blist_back), both);
	second->both.le_prev = &blist_back.lh_first;
	damaged("blist_back", "node 2 (%p): its le_prev is %p, not %p", (void *)second, (void *)&blist_back.lh_first,
		(void *)&blist_back.lh_first->both.le_next);
	stailq_last.stqh_last = &third->tail.stqe_next;
	damaged("stailq_last", "stqh_last of its head is %p, not %p", (void *)&third->tail.stqe_next,
		(void *)&e->tail.stqe_next);
	third->tailed.tqe_prev = GARBAGE;
	damaged("tailq_back", "node 3 (%p): its tqe_prev is 0x41414141, not %p", (void *)third,
		(void *)&TAILQ_NEXT(TAILQ_FIRST(&tailq_back), tailed)->tailed.tqe_next);
	e = element(1);
	TAILQ_INSERT_TAIL(&tailq_last, e, tailed);
	tailq_last.tqh_last = &tailq_last.tqh_first;
	damaged("tailq_last", "tqh_last of its head is %p, not %p", (void *)&tailq_last.tqh_first,
		(void *)&e->tailed.tqe_next);
}

/* ---- hash tables ---- */

struct entry {
	int key;
	struct {
		struct entry *next;
	} chain;
};

enum { BUCKETS = 16 };
struct entry *buckets[BUCKETS], **buckets_cycle;

static void make_hashes(void)
{
	buckets_cycle = calloc(BUCKETS, sizeof *buckets_cycle);
	for (int i = 0; i < 40; i++) {
		struct entry *e = NEW(struct entry);
		e->key = i * 5;
		e->chain.next = buckets[e->key % BUCKETS / 2];
		buckets[e->key % BUCKETS / 2] = e;
	}
	printf("buckets");
	for (int b = 0; b < BUCKETS; b++)
		for (struct entry *e = buckets[b]; e; e = e->chain.next)
			printf(" %d:%d", b, e->key);
	putchar('\n');
	struct entry *e = buckets_cycle[5] = NEW(struct entry);
	e->chain.next = NEW(struct entry);
	e->chain.next->chain.next = e->chain.next;
	damaged("buckets_cycle", "bucket 5: cycle: node 2 (%p) leads back to node 2", (void *)e->chain.next);
}

/* ---- search trees ---- */

/* As in Linux: include/linux/rbtree_types.h. */
struct rb_node {
	unsigned long __rb_parent_color;
	struct rb_node *rb_right, *rb_left;
};

struct rb_item {
	int key;
	struct rb_node node;
};

struct {
	struct rb_node *rb_node;
} rb, rb_parent, rb_cycle;

static struct rb_node *make_rb(int lo, int hi, struct rb_node *parent)
{
	if (lo > hi)
		return NULL;
	struct rb_item *item = NEW(struct rb_item);
	item->key = lo + (hi - lo) / 2;
	item->node.__rb_parent_color = (uintptr_t)parent | 1;
	item->node.rb_left = make_rb(lo, item->key - 1, &item->node);
	item->node.rb_right = make_rb(item->key + 1, hi, &item->node);
	return &item->node;
}

/* As in nginx: src/core/ngx_rbtree.h. */
struct ngx_node {
	uintptr_t key;
	struct ngx_node *left, *right, *parent;
	unsigned char color, data;
};

struct {
	struct ngx_node *root, *sentinel;
} ngx, ngx_empty, ngx_parent;
struct ngx_node sentinel;

static struct ngx_node *make_ngx(uintptr_t lo, uintptr_t count, struct ngx_node *parent)
{
	if (count == 0)
		return &sentinel;
	struct ngx_node *n = NEW(struct ngx_node);
	n->key = lo + count / 2;
	n->parent = parent;
	n->left = make_ngx(lo, count / 2, n);
	n->right = make_ngx(n->key + 1, count - count / 2 - 1, n);
	return n;
}

struct avl {
	int key, balance;
	struct avl *child[2];
} * avl, *avl_cycle;

static struct avl *make_avl(int lo, int hi)
{
	if (lo > hi)
		return NULL;
	struct avl *n = NEW(struct avl);
	n->key = lo + (hi - lo) / 2;
	n->child[0] = make_avl(lo, n->key - 1);
	n->child[1] = make_avl(n->key + 1, hi);
	return n;
}

static void make_trees(void)
{
	rb.rb_node = make_rb(1, 25, NULL);
	avl = make_avl(1, 25);
	ngx.sentinel = ngx_empty.root = ngx_empty.sentinel = ngx_parent.sentinel = &sentinel;
	ngx.root = make_ngx(1, 25, NULL);
	for (const char *const *name = (const char *const[]){"rb", "ngx", "avl", NULL}; *name; name++) {
		printf("%s", *name);
		for (int i = 1; i <= 25; i++)
			printf(" %d", i);
		putchar('\n');
	}
	puts("ngx_empty");
	rb_parent.rb_node = make_rb(1, 25, NULL);
	struct rb_node *bad = rb_parent.rb_node->rb_right->rb_left;
	bad->__rb_parent_color = (uintptr_t)rb_parent.rb_node;
	damaged("rb_parent", "node %p: its parent is %p, not %p", (void *)bad, (void *)rb_parent.rb_node,
		(void *)rb_parent.rb_node->rb_right);
	rb_cycle.rb_node = make_rb(1, 3, NULL);
	rb_cycle.rb_node->rb_right->rb_right = rb_cycle.rb_node;
	damaged("rb_cycle", "its key 1 is below the previous key 3");
	ngx_parent.root = make_ngx(1, 25, NULL);
	ngx_parent.root->left->right->parent = GARBAGE;
	damaged("ngx_parent", "node %p: its parent is 0x41414140, not %p", (void *)ngx_parent.root->left->right,
		(void *)ngx_parent.root->left);
	avl_cycle = make_avl(1, 25);
	avl_cycle->child[0]->child[0]->child[0] = avl_cycle;
	damaged("avl_cycle", "is at depth 129: not a balanced tree");
}

/* ---- skip lists ---- */

/* As in Redis: src/server.h. */
struct skip {
	int key;
	struct {
		struct skip *forward;
		unsigned span;
	} level[];
} * skip, *skip_level;

/* As in LevelDB: db/skiplist.h. */
struct leap {
	int key;
	struct leap *next_[1];
} * leap;

static struct skip *make_skip(void)
{
	struct skip *last[4], *header = calloc(1, sizeof *header + 4 * sizeof header->level[0]);
	for (int l = 0; l < 4; l++)
		last[l] = header;
	for (int i = 1; i <= 30; i++) {
		int levels = i % 8 == 0 ? 4 : i % 4 == 0 ? 3 : i % 2 == 0 ? 2 : 1;
		struct skip *n = calloc(1, sizeof *n + (size_t)levels * sizeof n->level[0]);
		n->key = i;
		for (int l = 0; l < levels; l++) {
			last[l]->level[l].forward = n;
			last[l] = n;
		}
	}
	return header;
}

static void make_skips(void)
{
	struct leap *last;
	skip = make_skip();
	last = leap = NEW(struct leap);
	for (int i = 1; i <= 30; i++) {
		last->next_[0] = NEW(struct leap);
		last = last->next_[0];
		last->key = i;
	}
	printf("skip");
	for (int i = 1; i <= 30; i++)
		printf(" %d", i);
	printf("\nleap");
	for (int i = 1; i <= 30; i++)
		printf(" %d", i);
	skip_level = make_skip();
	/* Level 0 leaves node 8 out, which level 2 leads to behind node 4. */
	struct skip *n = skip_level;
	while (n->level[0].forward->key != 8)
		n = n->level[0].forward;
	struct skip *eight = n->level[0].forward;
	n->level[0].forward = eight->level[0].forward;
	putchar('\n');
	damaged("skip_level", "level 1 leads to %p, which does not follow the previous node on level 0", (void *)eight);
}

/* ---- other trees ---- */

struct radix {
	struct radix *slots[4];
} * radix, *radix_garbage;

struct family {
	int id, count;
	struct family *kids[3];
} * family, *family_cycle;

static struct radix *make_radix(const int *indexes, int count)
{
	struct radix *root = NEW(struct radix);
	for (int i = 0; i < count; i++) {
		struct radix *n = root;
		for (int shift = 4; shift > 0; shift -= 2) {
			struct radix **slot = &n->slots[indexes[i] >> shift & 3];
			n = *slot ? *slot : (*slot = NEW(struct radix));
		}
		int *value = NEW(int);
		*value = indexes[i] * 100;
		n->slots[indexes[i] & 3] = (struct radix *)value;
	}
	return root;
}

static struct family *make_family(int depth, int *id)
{
	struct family *f = NEW(struct family);
	f->id = (*id)++;
	f->count = depth ? 1 + depth % 3 : 0;
	for (int i = 0; i < f->count; i++)
		f->kids[i] = make_family(depth - 1, id);
	return f;
}

static void say_family(const struct family *f, int depth)
{
	printf(" %d@%d", f->id, depth);
	for (int i = 0; i < f->count; i++)
		say_family(f->kids[i], depth + 1);
}

static void make_others(void)
{
	static const int indexes[] = {0, 3, 17, 18, 44, 63};
	int id = 0;
	radix = make_radix(indexes, 6);
	radix_garbage = make_radix(indexes, 6);
	radix_garbage->slots[1] = GARBAGE;
	puts("radix 0:0 3:300 17:1700 18:1800 44:4400 63:6300");
	damaged("radix_garbage", "0x41414141 is not mapped");
	family = make_family(4, &id);
	printf("family");
	say_family(family, 0);
	putchar('\n');
	id = 0;
	family_cycle = make_family(4, &id);
	struct family *leaf = family_cycle;
	int depth = 0;
	for (; leaf->count; depth++)
		leaf = leaf->kids[0];
	leaf->count = 1;
	leaf->kids[0] = family_cycle->kids[0];
	damaged("family_cycle", "cycle: node %p leads back to %p, %d above it", (void *)leaf,
		(void *)family_cycle->kids[0], depth - 1);
}

/* ---- arrays ---- */

struct point {
	int x, y;
} points[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}}, *sparse[6];

int main(void)
{
	make_lists();
	make_list_heads();
	make_queues();
	make_hashes();
	make_trees();
	make_skips();
	make_others();
	sparse[1] = &points[3];
	sparse[4] = &points[0];
	puts("points 1 3 5 7\nsparse 1:7 4:1");
	damaged("sparse", "[0] is NULL: walk.pointers skips it");
	fflush(stdout);
	abort();
}
