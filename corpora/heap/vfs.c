/*
 * vfs - an in-memory file system's caches. Every object is linked by nodes that lie
 * somewhere inside it, most of them into several lists, trees and hashes at a time.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "account.h"

typedef uint64_t u64;
typedef uint32_t u32;

struct list_head {
	struct list_head *next, *prev;
};
struct hlist_node {
	struct hlist_node *next, **pprev;
};
struct hlist_head {
	struct hlist_node *first;
};
struct slist {
	struct slist *next;
};
struct rb_node {
	uintptr_t __rb_parent_color;
	struct rb_node *rb_right, *rb_left;
};
struct rb_root {
	struct rb_node *rb_node;
};

#define container_of(p, T, m) ((T *)((char *)(p)-offsetof(T, m)))
#define LIST_HEAD_INIT(l)                                                                                              \
	{                                                                                                              \
		&(l), &(l)                                                                                             \
	}
#define LIST_POISON1 ((void *)0x100)

struct super_block {
	struct list_head s_list;
	u32 s_dev, s_flags;
	struct list_head s_inodes;
	struct dentry *s_root;
	char s_id[32];
	struct rb_root s_quota;
	struct hlist_head s_hash[16];
};

struct inode {
	u64 i_ino;
	struct hlist_node i_hash;
	u32 i_mode, i_nlink;
	struct list_head i_sb_list;
	struct list_head i_lru;
	struct rb_root i_pages;
	struct list_head i_dentry;
	struct super_block *i_sb;
	struct slist *i_xattrs;
	union {
		char *i_link;
		struct pipe_info *i_pipe;
		u64 i_rdev;
	};
	struct hlist_head i_locks;
};

struct dentry {
	u32 d_flags, d_count;
	struct hlist_node d_hash;
	struct dentry *d_parent;
	struct inode *d_inode;
	const char *d_name;
	char d_iname[24];
	struct list_head d_child;
	struct list_head d_subdirs;
	struct list_head d_alias;
};

struct page {
	unsigned long index;
	struct rb_node rb;
	struct inode *host;
	struct list_head lru;
	u32 len;
	unsigned char data[];
};

struct bio_vec {
	struct page *bv_page;
	u32 bv_len, bv_offset;
};

struct bio {
	u64 bi_sector;
	struct bio *bi_next;
	void (*bi_end_io)(struct bio *);
	void *bi_private;
	unsigned short bi_vcnt;
	struct bio_vec bi_io_vec[];
};

struct request {
	int tag;
	struct list_head queuelist;
	struct bio *bio, *biotail;
	struct rb_node sort;
	u64 deadline;
};

struct xattr {
	u32 hash;
	struct slist link;
	unsigned short name_len, value_len;
	char text[];
};
struct file_lock {
	u64 start, end;
	struct hlist_node node;
	struct file *file;
	int type;
};
struct quota {
	int uid;
	u64 used, limit;
	struct rb_node by_uid;
	struct list_head dirty;
};
struct pipe_info {
	unsigned head, tail;
	struct page *bufs[4];
	struct list_head readers;
};
struct wait_entry {
	int flags;
	void *private;
	int (*func)(struct wait_entry *);
	struct list_head entry;
};

struct file {
	struct list_head f_list;
	struct dentry *f_dentry;
	u64 f_pos;
	unsigned f_mode;
	struct file_ra *f_ra;
};
struct file_ra {
	u64 start;
	u32 size, async;
};

static struct list_head super_blocks = LIST_HEAD_INIT(super_blocks), page_lru = LIST_HEAD_INIT(page_lru),
			inode_lru = LIST_HEAD_INIT(inode_lru), files = LIST_HEAD_INIT(files),
			dirty_quotas = LIST_HEAD_INIT(dirty_quotas);
static struct list_head dispatch = LIST_HEAD_INIT(dispatch);
static struct rb_root elevator;
static struct hlist_head dentry_hash[128];
static struct page *freed_pages;
static u64 ios;

static void list_add(struct list_head *n, struct list_head *h)
{
	n->next = h->next;
	n->prev = h;
	h->next->prev = n;
	h->next = n;
}
static void list_del(struct list_head *n)
{
	n->next->prev = n->prev;
	n->prev->next = n->next;
}
static void list_del_init(struct list_head *n)
{
	list_del(n);
	n->next = n->prev = n;
}
static void hlist_add(struct hlist_node *n, struct hlist_head *h)
{
	n->next = h->first;
	n->pprev = &h->first;
	if (h->first)
		h->first->pprev = &n->next;
	h->first = n;
}
static void hlist_del(struct hlist_node *n)
{
	*n->pprev = n->next;
	if (n->next)
		n->next->pprev = n->pprev;
	n->next = LIST_POISON1;
	n->pprev = NULL;
}
static void rb_link(struct rb_node *n, struct rb_node *parent, struct rb_node **link, int colour)
{
	n->__rb_parent_color = (uintptr_t)parent | (unsigned)(colour & 1);
	n->rb_left = n->rb_right = NULL;
	*link = n;
}

static PART char *kstrdup(const char *f, unsigned a, unsigned b)
{
	char tmp[96];
	size_t n = (size_t)snprintf(tmp, sizeof tmp, f, a, b) + 1;
	return memcpy(account_is(malloc(n), "char", n), tmp, n);
}

static PART struct page *page_alloc(u32 len)
{
	struct page *p = account_is(malloc(sizeof *p + len), "struct page", 1);
	memset(p, 0, sizeof *p);
	p->len = len;
	for (u32 i = 0; i < len; i++)
		p->data[i] = (unsigned char)(i % 5 ? account_random(256) : 0);
	p->lru.next = p->lru.prev = &p->lru;
	return p;
}

static PART void page_insert(struct inode *inode, unsigned long index)
{
	struct page *p = page_alloc(16 + account_random(5) * 32);
	struct rb_node **at = &inode->i_pages.rb_node, *parent = NULL;
	int depth = 0;
	for (; *at; depth++) {
		parent = *at;
		at = index < container_of(parent, struct page, rb)->index ? &parent->rb_left : &parent->rb_right;
	}
	p->index = index;
	p->host = inode;
	rb_link(&p->rb, parent, at, depth);
	list_add(&p->lru, &page_lru);
}

static PART struct inode *inode_new(struct super_block *sb, u64 ino, u32 mode)
{
	struct inode *i = NEW(struct inode);
	i->i_ino = ino;
	i->i_mode = mode;
	i->i_sb = sb;
	i->i_dentry.next = i->i_dentry.prev = &i->i_dentry;
	list_add(&i->i_sb_list, &sb->s_inodes);
	list_add(&i->i_lru, &inode_lru);
	hlist_add(&i->i_hash, &sb->s_hash[ino % 16]);
	if (mode == 1) {
		i->i_link = kstrdup("../target/%u/%u", (unsigned)ino, mode);
	} else if (mode == 2) {
		i->i_pipe = NEW(struct pipe_info);
		i->i_pipe->readers.next = i->i_pipe->readers.prev = &i->i_pipe->readers;
		for (unsigned k = 0; k < ino % 4; k++)
			i->i_pipe->bufs[i->i_pipe->head++] = page_alloc(24);
		for (unsigned k = 0; k < 2; k++) {
			struct wait_entry *w = NEW(struct wait_entry);
			w->private = i;
			list_add(&w->entry, &i->i_pipe->readers);
		}
	} else if (mode == 3) {
		i->i_rdev = 0x500 + ino;
	} else {
		unsigned n = 1 + account_random(5);
		while (n--)
			page_insert(i, account_random(1000));
	}
	for (unsigned k = 0; k < ino % 3; k++) {
		unsigned extra = 8 + account_random(24);
		struct xattr *x = account_is(calloc(1, sizeof *x + extra), "struct xattr", 1);
		x->hash = account_random(1u << 31);
		x->name_len = 6;
		x->value_len = (unsigned short)(extra - 6);
		snprintf(x->text, extra, "user.%u", k);
		x->link.next = i->i_xattrs;
		i->i_xattrs = &x->link;
	}
	return i;
}

static PART struct dentry *dentry_new(struct dentry *parent, struct inode *inode, unsigned n)
{
	struct dentry *d = NEW(struct dentry);
	d->d_count = 1;
	d->d_parent = parent;
	d->d_inode = inode;
	if (n % 4 == 0) {
		d->d_name = kstrdup("a rather long file name %u.%u", n, n % 7);
	} else {
		snprintf(d->d_iname, sizeof d->d_iname, "f%u", n);
		d->d_name = d->d_iname;
	}
	d->d_subdirs.next = d->d_subdirs.prev = &d->d_subdirs;
	d->d_child.next = d->d_child.prev = &d->d_child;
	if (parent)
		list_add(&d->d_child, &parent->d_subdirs);
	if (inode) {
		inode->i_nlink++;
		list_add(&d->d_alias, &inode->i_dentry);
	} else { /* a negative one */
		d->d_alias.next = d->d_alias.prev = &d->d_alias;
	}
	hlist_add(&d->d_hash, &dentry_hash[(n * 2654435761u) >> 25]);
	return d;
}

static void end_read(struct bio *bio)
{
	ios += bio->bi_vcnt;
	((struct inode *)bio->bi_private)->i_nlink++;
}
static void end_sync(struct bio *bio)
{
	*(u64 *)bio->bi_private += 1;
}

static PART struct bio *bio_new(struct inode *inode, unsigned n)
{
	unsigned short count = (unsigned short)(1 + n % 4);
	struct bio *b = account_is(calloc(1, sizeof *b + count * sizeof(struct bio_vec)), "struct bio", 1);
	b->bi_sector = account_random(1u << 30);
	b->bi_end_io = n % 3 ? end_read : end_sync;
	b->bi_private = n % 3 ? (void *)inode : (void *)&ios;
	for (b->bi_vcnt = 0; b->bi_vcnt < count; b->bi_vcnt++)
		b->bi_io_vec[b->bi_vcnt] = (struct bio_vec){
			b->bi_vcnt % 2 ? page_alloc(8) : container_of(page_lru.next, struct page, lru), 512, 0};
	return b;
}

static PART void submit(struct inode *inode, unsigned n)
{
	struct request *rq = NEW(struct request);
	rq->tag = (int)n;
	rq->bio = bio_new(inode, n);
	rq->bio->bi_next = rq->biotail = bio_new(inode, n + 1);
	rq->deadline = 1000 + account_random(5000);
	struct rb_node **at = &elevator.rb_node, *parent = NULL;
	int depth = 0;
	for (; *at; depth++) {
		parent = *at;
		at = rq->deadline < container_of(parent, struct request, sort)->deadline ? &parent->rb_left
											 : &parent->rb_right;
	}
	rb_link(&rq->sort, parent, at, depth);
	if (n % 8)
		list_add(&rq->queuelist, &dispatch);
	else
		rq->queuelist.next = rq->queuelist.prev = &rq->queuelist;
}

static PART void open_file(struct dentry *d, unsigned n)
{
	struct file *f = NEW(struct file);
	f->f_dentry = d;
	f->f_pos = account_random(4096);
	f->f_ra = n % 2 ? NEW(struct file_ra) : NULL;
	list_add(&f->f_list, &files);
	for (unsigned k = 0; k < n % 3; k++) {
		struct file_lock *l = NEW(struct file_lock);
		l->start = k * 100;
		l->end = l->start + 50;
		l->file = f;
		hlist_add(&l->node, &d->d_inode->i_locks);
	}
}

static PART void add_quota(struct super_block *sb, int uid)
{
	struct quota *q = NEW(struct quota);
	struct rb_node **at = &sb->s_quota.rb_node, *parent = NULL;
	int depth = 0;
	for (; *at; depth++) {
		parent = *at;
		at = uid < container_of(parent, struct quota, by_uid)->uid ? &parent->rb_left : &parent->rb_right;
	}
	q->uid = uid;
	q->limit = 1u << 20;
	rb_link(&q->by_uid, parent, at, depth);
	if (uid % 3 == 0)
		list_add(&q->dirty, &dirty_quotas);
}

static PART void mount(unsigned dev)
{
	struct super_block *sb = NEW(struct super_block);
	sb->s_dev = dev;
	snprintf(sb->s_id, sizeof sb->s_id, "sd%c1", 'a' + dev);
	sb->s_inodes.next = sb->s_inodes.prev = &sb->s_inodes;
	list_add(&sb->s_list, &super_blocks);
	struct dentry *dir = sb->s_root = dentry_new(NULL, inode_new(sb, 2, 0), dev);
	for (unsigned n = 3; n < 140; n++) {
		struct inode *inode = inode_new(sb, n, n % 9 < 4 ? n % 9 : 0);
		struct dentry *d = dentry_new(dir, inode, dev * 1000 + n);
		if (n % 10 == 0)
			dentry_new(sb->s_root, inode, dev * 1000 + 500 + n);
		if (n % 11 == 0)
			dentry_new(dir, NULL, dev * 1000 + 700 + n);
		if (n % 12 == 0)
			dir = d;
		if (n % 3 == 0)
			open_file(d, n);
		if (n % 4 == 0)
			submit(inode, n);
		if (n % 5 == 0)
			add_quota(sb, (int)account_random(10000));
	}
}

/* Evicted from all lists, but not freed: an inode with its pages, and a dentry that points to live ones. */
static PART void lose(unsigned n)
{
	struct super_block *sb = container_of(super_blocks.next, struct super_block, s_list);
	struct inode *inode = account_leaked(inode_new(sb, 900 + 3 * n, 3));
	list_del_init(&inode->i_lru);
	list_del_init(&inode->i_sb_list);
	hlist_del(&inode->i_hash);
	struct dentry *d = account_leaked(dentry_new(NULL, inode, 4 * n + 1));
	hlist_del(&d->d_hash);
	d->d_parent = sb->s_root;
	struct page *p = account_leaked(page_alloc(40));
	p->host = inode;
	inode->i_pages.rb_node = &p->rb;
	struct page *alone = account_leaked(page_alloc(20));
	list_add(&alone->lru, &page_lru);
	list_del(&alone->lru);
	alone->host = container_of(sb->s_inodes.next, struct inode, i_sb_list);
	struct file *f = account_leaked(NEW(struct file));
	f->f_list.next = f->f_list.prev = &f->f_list;
	f->f_dentry = d;
}

int main(void)
{
	for (unsigned dev = 0; dev < 4; dev++)
		mount(dev);
	for (unsigned n = 0; n < 9; n++)
		lose(n);
	freed_pages = NULL;
	account_die();
}
