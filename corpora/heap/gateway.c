/* gateway: home automation. Everything generic stores void pointers: tables, lists, timers, a ring of work, sinks. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "account.h"

typedef struct hm_entry {
	struct hm_entry *next;
	uint32_t hash;
	char *key;
	void *value;
} hm_entry_t;

typedef struct {
	size_t count, nbuckets;
	hm_entry_t **buckets;
	void (*destroy)(void *);
} hm_t;

typedef struct dl_node {
	struct dl_node *prev, *next;
	void *data;
} dl_node_t;

typedef struct {
	dl_node_t *head, *tail;
	size_t len;
} dl_t;

typedef struct {
	char *name;
	uint8_t mac[6];
	uint16_t vendor;
	int32_t rssi;
	dl_t handlers; /* of handler_t */
	float *history;
	unsigned history_len;
} device_t;

typedef struct {
	int fd;
	unsigned flags;
	uint64_t since;
	char *user;
	dl_t *outbox; /* of packet_t */
} session_t;

typedef struct {
	char *path;
	dl_t subscribers; /* of session_t, not owned */
	void *retained;   /* packet_t */
} topic_t;

typedef struct {
	uint16_t type, len;
	uint32_t crc;
	uint8_t body[];
} packet_t;

typedef struct {
	int event;
	void (*fn)(void *self, int event);
	void *self; /* of fn */
} handler_t;

typedef struct {
	double low, high, step;
} setting_range_t;
typedef struct {
	int count;
	char *choices[6];
} setting_choice_t;
typedef struct {
	uint8_t r, g, b, a;
	uint32_t fade_ms;
} setting_color_t;

struct poll_ctx {
	device_t *dev;
	unsigned interval, misses;
	uint64_t last;
};
struct blink {
	uint16_t pin;
	bool on;
	unsigned left;
	setting_color_t *color;
};
struct scene {
	char *name;
	struct scene *fallback;
	double level[3];
};

typedef struct gw_timer {
	struct gw_timer *next;
	uint64_t due;
	void (*cb)(void *ctx);
	void *ctx;
} gw_timer_t;

enum op { OP_NONE, OP_PUBLISH, OP_FIRMWARE, OP_STATS, OP_RENAME, OP_JOIN };

struct work {
	uint8_t op, prio;
	uint16_t flags;
	uint32_t seq;
	void *arg;
};
struct publish {
	topic_t *topic;
	packet_t *packet;
	uint64_t stamp;
};
struct firmware {
	char *url;
	uint32_t size, done;
	uint8_t digest[32];
	struct firmware *delta;
};
struct join {
	device_t *dev;
	uint8_t key[16];
	uint32_t nonce;
};

struct ring {
	unsigned head, tail, mask;
	struct work *items;
};

struct sink_ops {
	const char *name;
	int (*write)(void *priv, double v);
	void (*close)(void *priv);
};
struct sink {
	const struct sink_ops *ops;
	void *priv;
	struct sink *next;
};
struct csv_sink {
	char *path;
	unsigned long rows;
	char sep;
};
struct avg_sink {
	unsigned n, cap;
	double *window;
	double sum;
};
struct tee_sink {
	struct sink *a, *b;
};

static hm_t devices, sessions, topics, settings;
static gw_timer_t *timers;
static struct ring *ring;
static struct sink *sinks;
static void **by_rank; /* of device_t */
static size_t by_rank_len;
static dl_t journal; /* of char */
HELD hm_t *maps[4] = {&devices, &sessions, &topics, &settings};
HELD dl_t *lists[1] = {&journal};

static PART void *xalloc(size_t n, const char *type, size_t count)
{
	void *p = malloc(n);
	if (!p)
		abort();
	return account_is(memset(p, 0, n), type, count);
}
#define ONE(T) ((T *)xalloc(sizeof(T), #T, 1))

static PART char *fmt(const char *f, unsigned a, unsigned b)
{
	char tmp[80];
	int n = snprintf(tmp, sizeof tmp, f, a, b);
	char *s = xalloc((size_t)n + 1, "char", (size_t)n + 1);
	return strcpy(s, tmp);
}

static uint32_t hm_hash(const char *s)
{
	uint32_t h = 2166136261u;
	while (*s)
		h = (h ^ (uint8_t)*s++) * 16777619u;
	return h;
}

static PART void hm_put(hm_t *m, const char *key, void *value)
{
	if (m->count >= m->nbuckets) {
		size_t n = m->nbuckets ? m->nbuckets * 2 : 8;
		hm_entry_t **fresh = xalloc(n * sizeof *fresh, "hm_entry_t *|struct hm_entry *", n);
		for (size_t i = 0; i < m->nbuckets; i++)
			for (hm_entry_t *e = m->buckets[i], *next; e; e = next) {
				next = e->next;
				e->next = fresh[e->hash % n];
				fresh[e->hash % n] = e;
			}
		free(m->buckets);
		m->buckets = fresh;
		m->nbuckets = n;
	}
	hm_entry_t *e = xalloc(sizeof *e, "hm_entry_t|struct hm_entry", 1);
	e->hash = hm_hash(key);
	size_t len = strlen(key) + 1;
	e->key = memcpy(xalloc(len, "char", len), key, len);
	e->value = value;
	e->next = m->buckets[e->hash % m->nbuckets];
	m->buckets[e->hash % m->nbuckets] = e;
	m->count++;
}

static PART void dl_push(dl_t *l, void *data)
{
	dl_node_t *n = xalloc(sizeof *n, "dl_node_t|struct dl_node", 1);
	n->data = data;
	n->prev = l->tail;
	if (l->tail)
		l->tail->next = n;
	else
		l->head = n;
	l->tail = n;
	l->len++;
}

static PART void *dl_pop(dl_t *l)
{
	dl_node_t *n = l->head;
	void *data = n->data;
	l->head = n->next;
	if (l->head)
		l->head->prev = NULL;
	else
		l->tail = NULL;
	l->len--;
	free(n);
	return data;
}

static PART packet_t *packet_new(unsigned i)
{
	unsigned len = 4 + account_random(40);
	packet_t *p = xalloc(sizeof *p + len, "packet_t", 1);
	p->type = i % 7;
	p->len = (uint16_t)len;
	for (unsigned k = 0; k < len; k++)
		p->body[k] = (uint8_t)account_random(256);
	p->crc = account_random(1u << 31);
	return p;
}

static void on_poll(void *ctx)
{
	struct poll_ctx *p = ctx;
	p->misses++;
	p->last += p->interval;
}
static void on_blink(void *ctx)
{
	struct blink *b = ctx;
	b->on = !b->on;
	b->left--;
}
static void on_log(void *ctx)
{
	puts((const char *)ctx);
}
static void scene_event(void *self, int event)
{
	((struct scene *)self)->level[event % 3] += 1;
}
static void csv_event(void *self, int event)
{
	struct csv_sink *s = self;
	s->rows += (unsigned)event;
}
static int csv_write(void *priv, double v)
{
	struct csv_sink *s = priv;
	s->rows++;
	return v > 0 && s->sep;
}
static int avg_write(void *priv, double v)
{
	struct avg_sink *s = priv;
	s->sum += v;
	s->window[s->n++ % s->cap] = v;
	return 0;
}
static int tee_write(void *priv, double v)
{
	struct tee_sink *t = priv;
	return t->a->ops->write(t->a->priv, v) + t->b->ops->write(t->b->priv, v);
}
static void close_any(void *priv)
{
	free(priv);
}
static const struct sink_ops csv_ops = {"csv", csv_write, close_any}, avg_ops = {"avg", avg_write, close_any},
			     tee_ops = {"tee", tee_write, close_any};

static PART struct sink *sink_new(const struct sink_ops *ops, void *priv)
{
	struct sink *s = ONE(struct sink);
	s->ops = ops;
	s->priv = priv;
	return s;
}

static PART struct sink *sink_make(unsigned i, unsigned depth)
{
	if (i % 3 == 0) {
		struct csv_sink *c = ONE(struct csv_sink);
		c->path = fmt("/var/log/gw/%u.%u.csv", i, depth);
		c->sep = ';';
		return sink_new(&csv_ops, c);
	}
	if (i % 3 == 1 || !depth) {
		struct avg_sink *a = ONE(struct avg_sink);
		a->cap = 4 + i % 9;
		a->window = xalloc(a->cap * sizeof(double), "double", a->cap);
		for (unsigned k = 0; k < 6; k++)
			avg_write(a, account_random(1000) / 10.0);
		return sink_new(&avg_ops, a);
	}
	struct tee_sink *t = ONE(struct tee_sink);
	t->a = sink_make(i + 1, depth - 1);
	t->b = sink_make(i + 2, depth - 1);
	return sink_new(&tee_ops, t);
}

static PART device_t *device_new(unsigned i)
{
	device_t *d = ONE(device_t);
	d->name = fmt("device-%u-%04x", i, account_random(65536));
	for (int k = 0; k < 6; k++)
		d->mac[k] = (uint8_t)account_random(256);
	d->rssi = -(int)account_random(90);
	d->history_len = 3 + i % 14;
	d->history = xalloc(d->history_len * sizeof(float), "float", d->history_len);
	for (unsigned k = 0; k < d->history_len; k++)
		d->history[k] = 20.0f + account_random(100) / 10.0f;
	for (unsigned k = 0; k < i % 3; k++) {
		handler_t *h = ONE(handler_t);
		h->event = (int)k;
		if (k == 0) {
			struct scene *s = ONE(struct scene);
			s->name = fmt("scene %u/%u", i, k);
			s->level[0] = 0.5;
			if (i % 5 == 0) {
				s->fallback = ONE(struct scene);
				s->fallback->level[1] = 0.25;
			}
			h->fn = scene_event;
			h->self = s;
		} else {
			struct csv_sink *c = ONE(struct csv_sink);
			c->path = fmt("/tmp/%u-%u", i, k);
			h->fn = csv_event;
			h->self = c;
		}
		dl_push(&d->handlers, h);
	}
	return d;
}

static PART void setting_put(unsigned i)
{
	char key[32];
	snprintf(key, sizeof key, "set.%u", i);
	if (i % 4 == 0) {
		setting_range_t *r = ONE(setting_range_t);
		*r = (setting_range_t){i * 0.5, i + 10.0, 0.125};
		hm_put(&settings, key, r);
	} else if (i % 4 == 1) {
		setting_choice_t *c = ONE(setting_choice_t);
		for (c->count = 0; c->count < (int)(i % 6); c->count++)
			c->choices[c->count] = fmt("choice %u%c", (unsigned)c->count, 'a');
		hm_put(&settings, key, c);
	} else if (i % 4 == 2) {
		hm_put(&settings, key, fmt("plain %u %u", i, i * 3));
	} else {
		setting_color_t *c = ONE(setting_color_t);
		*c = (setting_color_t){200, (uint8_t)i, 30, 255, 250};
		hm_put(&settings, key, c);
	}
}

static PART void timer_add(void (*cb)(void *), void *ctx, uint64_t due)
{
	gw_timer_t *t = xalloc(sizeof *t, "gw_timer_t|struct gw_timer", 1);
	*t = (gw_timer_t){timers, due, cb, ctx};
	timers = t;
}

static PART void work_add(uint8_t op, void *arg)
{
	struct work *w = &ring->items[ring->tail++ & ring->mask];
	*w = (struct work){op, (uint8_t)account_random(4), 0, ring->tail, arg};
}

static PART void populate(unsigned i)
{
	char key[40];
	device_t *d = device_new(i);
	hm_put(&devices, d->name, d);
	by_rank[by_rank_len++] = d;
	session_t *s = ONE(session_t);
	s->fd = (int)(4 + i);
	s->since = 1700000000u + i;
	s->user = i % 4 ? fmt("user%u.%u", i, i % 9) : NULL;
	s->outbox = ONE(dl_t);
	for (unsigned k = 0; k < 1 + i % 4; k++)
		dl_push(s->outbox, packet_new(i));
	snprintf(key, sizeof key, "sess:%08x", i * 2654435761u);
	hm_put(&sessions, key, s);
	topic_t *t = ONE(topic_t);
	t->path = fmt("home/floor%u/room%u", i % 3, i);
	t->retained = i % 2 ? packet_new(i) : NULL;
	dl_push(&t->subscribers, s);
	hm_put(&topics, t->path, t);
	setting_put(i);
	if (i % 2) {
		struct poll_ctx *p = ONE(struct poll_ctx);
		*p = (struct poll_ctx){d, 30, 0, 1000};
		timer_add(on_poll, p, i);
	} else {
		struct blink *b = ONE(struct blink);
		b->pin = (uint16_t)(i % 40);
		b->left = 6;
		b->color = ONE(setting_color_t);
		b->color->r = 255;
		timer_add(on_blink, b, i);
		timer_add(on_log, fmt("log line %u of %u", i, i + 1), i);
	}
	struct publish *pub = ONE(struct publish);
	*pub = (struct publish){t, packet_new(i), i};
	work_add(OP_PUBLISH, pub);
	struct firmware *f = ONE(struct firmware);
	f->url = fmt("https://fw.example/%u/%u.bin", i % 7, i);
	f->size = 100000 + i;
	if (i % 4 == 0) {
		f->delta = ONE(struct firmware);
		f->delta->size = 77;
	}
	work_add(OP_FIRMWARE, f);
	double *stats = xalloc(5 * sizeof(double), "double", 5);
	for (int k = 0; k < 5; k++)
		stats[k] = account_random(100000) / 3.0;
	work_add(OP_STATS, stats);
	work_add(OP_RENAME, fmt("new name %u-%u", i, i));
	struct join *j = ONE(struct join);
	j->dev = d;
	j->nonce = account_random(1u << 30);
	work_add(OP_JOIN, j);
	dl_push(&journal, fmt("[%u] joined, code %u", i, i * 7));
	struct sink *sink = sink_make(i, 2);
	sink->next = sinks;
	sinks = sink;
}

static PART void lose(unsigned i)
{
	session_t *s = account_leaked(ONE(session_t));
	s->outbox = account_leaked(ONE(dl_t));
	packet_t *p = account_leaked(packet_new(i));
	dl_push(s->outbox, p);
	account_leaked(s->outbox->head);
	dl_push(&journal, account_leaked(fmt("forgotten %u %u", i, i)));
	dl_push(&journal, fmt("kept %u %u", i, i));
}

static PART void trim(void)
{
	size_t n = journal.len;
	while (n--) {
		char *line = dl_pop(&journal); /* the forgotten are not freed */
		if (line[0] != 'f')
			dl_push(&journal, line);
	}
}

int main(void)
{
	ring = ONE(struct ring);
	ring->mask = 2047;
	ring->items = xalloc(2048 * sizeof(struct work), "struct work", 2048);
	by_rank = xalloc(256 * sizeof(void *), "void *|device_t *", 256);
	for (unsigned i = 0; i < 240; i++)
		populate(i);
	for (unsigned i = 0; i < 8; i++)
		lose(i);
	trim();
	account_die();
}
