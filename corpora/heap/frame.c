/* frame: a small data-frame engine. Values are tagged unions in four manners: an enum beside the union (attributes), a
 * bit-field (cells), the low bits of the pointer itself (references of the index), and a type that the enclosing struct
 * has for all its values (columns, parameters of queries). */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "account.h"

typedef struct zone {
	int minutes;
	char abbreviation[6];
} zone;

typedef struct date {
	int16_t year;
	uint8_t month, day;
	int32_t seconds;
	const zone *zone;
} date;

typedef struct blob {
	size_t len;
	unsigned char data[];
} blob;

typedef struct rope {
	struct rope *left, *right;
	size_t len;
	char *leaf;
} rope;

typedef struct geo {
	double lat, lon;
	char *label;
} geo;

typedef struct formula {
	int op, argc;
	double constant;
	struct formula *args[2];
	struct cellref *ref;
} formula;

struct cellref {
	int row, col;
	struct sheet *sheet;
};

/* ---- attributes: the enum is beside the union ---- */

enum attr_kind { A_NUM, A_INT, A_TEXT, A_GEO, A_WHEN, A_NESTED, A_VEC };

struct attr {
	struct attr *next;
	char *key;
	enum attr_kind kind;
	unsigned veclen;
	union {
		double num;
		int64_t i;
		char *text;
		geo *geo;
		date *when;
		struct attr *nested;
		double *vec;
	} v;
};

/* ---- cells: a bit-field tells ---- */

enum { C_EMPTY, C_NUM, C_TEXT, C_ROPE, C_FORMULA, C_BLOB };

struct cell {
	unsigned kind : 4, dirty : 1, locked : 1, style : 10;
	union {
		double num;
		char *text;
		rope *rope;
		formula *formula;
		blob *blob;
	};
};

struct row {
	unsigned count, capacity;
	struct cell *cells;
};

struct sheet {
	char *title;
	struct row *rows;
	unsigned nrows;
	struct attr *attrs;
	struct sheet *next;
};

/* ---- columns and queries: one type for all values ---- */
enum coltype { T_NUM, T_INT, T_TEXT, T_DATE, T_BLOB, T_GEO };

union scalar {
	double num;
	int64_t i;
	char *text;
	date *date;
	blob *blob;
	geo *geo;
};

struct column {
	char *name;
	enum coltype type;
	size_t rows;
	union {
		double *nums;
		int64_t *ints;
		char **texts;
		date *dates;
		blob **blobs;
		geo **geos;
	} data;
	uint8_t *nulls;
};

struct frame {
	char *name;
	unsigned ncols;
	struct column *cols[12];
	struct frame *next;
};

struct query {
	enum coltype type;
	unsigned n;
	union scalar *values;
	struct query *next;
};

/* ---- the index: low bits ---- */

typedef uintptr_t ref;
enum { R_POSTING, R_INT, R_RANGE, R_LEAF };

struct posting {
	uint32_t doc, freq;
	struct posting *next;
};

struct range {
	double low, high;
	struct posting *first;
};

struct leaf {
	uint32_t used, splits;
	ref down[6];
};

static struct {
	size_t used, capacity;
	ref *refs;
} catalog;

HELD struct frame *frames;
HELD struct sheet *sheets;
HELD struct query *queries;
HELD zone *zones[4];
static unsigned long sum;

static PART char *text(const char *format, ...)
{
	char buffer[96];
	va_list list;
	va_start(list, format);
	size_t size = (size_t)vsnprintf(buffer, sizeof buffer, format, list) + 1;
	va_end(list);
	return memcpy(account_is(malloc(size), "char", size), buffer, size);
}

static PART blob *new_blob(unsigned len)
{
	blob *b = account_is(malloc(sizeof *b + len), "blob|struct blob", 1);
	b->len = len;
	for (unsigned i = 0; i < len; i++)
		b->data[i] = (unsigned char)account_random(256);
	return b;
}

static void set_date(date *d, unsigned i)
{
	*d = (date){(int16_t)(1970 + i % 60), (uint8_t)(1 + i % 12), (uint8_t)(1 + i % 28),
		    (int32_t)account_random(86400), zones[i % 4]};
}

static PART geo *new_geo(unsigned i)
{
	geo *g = account_is(malloc(sizeof *g), "geo|struct geo", 1);
	g->lat = account_random(180000) / 1000.0 - 90;
	g->lon = account_random(360000) / 1000.0 - 180;
	g->label = i % 3 ? text("place %u", i) : NULL;
	return g;
}

static PART date *new_date(unsigned i)
{
	date *d = account_is(malloc(sizeof *d), "date|struct date", 1);
	set_date(d, i);
	return d;
}

static PART rope *new_rope(unsigned depth, unsigned i)
{
	rope *r = account_is(calloc(1, sizeof *r), "rope|struct rope", 1);
	if (depth == 0) {
		r->leaf = text("%s", i % 2 ? "the quick brown fox" : "ab");
		r->len = strlen(r->leaf);
	} else {
		r->left = new_rope(depth - 1, i);
		r->right = new_rope(depth - 1, i + 1);
		r->len = r->left->len + r->right->len;
	}
	return r;
}

static PART formula *new_formula(unsigned depth, struct sheet *sheet)
{
	formula *f = account_is(calloc(1, sizeof *f), "formula|struct formula", 1);
	f->op = "+-*/#$"[account_random(6)];
	if (depth && account_random(4)) {
		f->argc = 1 + (int)account_random(2);
		for (int i = 0; i < f->argc; i++)
			f->args[i] = new_formula(depth - 1, sheet);
	} else if (account_random(2)) {
		f->ref = NEW(struct cellref);
		*f->ref = (struct cellref){(int)account_random(40), (int)account_random(20), sheet};
	} else {
		f->constant = account_random(1000) / 8.0;
	}
	return f;
}

static PART struct attr *new_attrs(unsigned count, unsigned depth)
{
	struct attr *all = NULL;
	for (unsigned i = 0; i < count; i++) {
		struct attr *a = account_is(malloc(sizeof *a), "struct attr", 1);
		a->next = all;
		a->key = text("attr.%u", i);
		a->kind = account_random(depth ? 7 : 5);
		a->veclen = 0;
		switch (a->kind) {
		case A_NUM:
			a->v.num = account_random(1000) / 3.0;
			break;
		case A_INT:
			a->v.i = (int64_t)account_random(100000);
			break;
		case A_TEXT:
			a->v.text = text("value %u of %u", i, count);
			break;
		case A_GEO:
			a->v.geo = new_geo(i);
			break;
		case A_WHEN:
			a->v.when = new_date(i);
			break;
		case A_NESTED:
			a->v.nested = new_attrs(3, depth - 1);
			break;
		case A_VEC:
			a->veclen = 2 + account_random(9);
			a->v.vec = account_is(malloc(a->veclen * sizeof(double)), "double", a->veclen);
			for (unsigned k = 0; k < a->veclen; k++)
				a->v.vec[k] = account_random(500) * (i % 2 ? 1.0 : 0.37);
		}
		all = a;
	}
	return all;
}

static PART void set_cell(struct cell *c, unsigned i, struct sheet *sheet)
{
	c->kind = account_random(6);
	c->style = account_random(1000);
	switch (c->kind) {
	case C_NUM:
		c->num = account_random(100);
		break;
	case C_TEXT:
		c->text = text("%c%u", 'A' + i % 26, i);
		break;
	case C_ROPE:
		c->rope = new_rope(i % 3, i);
		break;
	case C_FORMULA:
		c->formula = new_formula(3, sheet);
		break;
	case C_BLOB:
		c->blob = new_blob(1 + account_random(60));
		break;
	}
}

static PART struct sheet *new_sheet(unsigned number)
{
	struct sheet *s = NEW(struct sheet);
	s->title = text("Sheet %u", number);
	s->nrows = 24;
	s->rows = NEWS(struct row, s->nrows);
	for (unsigned r = 0; r < s->nrows; r++) {
		struct row *row = &s->rows[r];
		row->capacity = 16;
		row->count = 4 + account_random(10);
		row->cells = account_is(calloc(row->capacity, sizeof(struct cell)), "struct cell", row->capacity);
		for (unsigned c = 0; c < row->count; c++)
			set_cell(&row->cells[c], r * 31 + c, s);
	}
	s->attrs = new_attrs(8, 2);
	return s;
}

static PART struct column *new_column(unsigned i)
{
	struct column *c = NEW(struct column);
	c->name = text("col_%u", i);
	c->type = i % 6;
	c->rows = 10 + account_random(20);
	c->nulls = NEWS(uint8_t, c->rows);
	for (size_t r = 0; r < c->rows; r++)
		c->nulls[r] = account_random(10) == 0;
	size_t n = c->rows;
	switch (c->type) {
	case T_NUM:
		c->data.nums = NEWS(double, n);
		break;
	case T_INT:
		c->data.ints = NEWS(int64_t, n);
		break;
	case T_TEXT:
		c->data.texts = NEWS(char *, n);
		break;
	case T_DATE:
		c->data.dates = account_is(calloc(n, sizeof(date)), "date|struct date", n);
		break;
	case T_BLOB:
		c->data.blobs = account_is(calloc(n, sizeof(blob *)), "blob *|struct blob *", n);
		break;
	case T_GEO:
		c->data.geos = account_is(calloc(n, sizeof(geo *)), "geo *|struct geo *", n);
		break;
	}
	for (unsigned r = 0; r < n; r++) {
		if (c->type == T_NUM)
			c->data.nums[r] = account_random(10000) / 7.0;
		else if (c->type == T_INT)
			c->data.ints[r] = (int64_t)account_random(90) + 20;
		else if (c->nulls[r] && c->type != T_DATE)
			continue;
		else if (c->type == T_TEXT)
			c->data.texts[r] = text("row %u", r);
		else if (c->type == T_DATE)
			set_date(&c->data.dates[r], r);
		else if (c->type == T_BLOB)
			c->data.blobs[r] = new_blob(8 + r);
		else
			c->data.geos[r] = new_geo(r);
	}
	return c;
}

static PART struct query *new_query(unsigned i, struct query *next)
{
	struct query *q = NEW(struct query);
	q->type = i % 6;
	q->n = 1 + account_random(6);
	q->values = NEWS(union scalar, q->n);
	q->next = next;
	for (unsigned k = 0; k < q->n; k++) {
		union scalar *v = &q->values[k];
		switch (q->type) {
		case T_NUM:
			v->num = k * 0.1;
			break;
		case T_INT:
			v->i = (int64_t)k + 40;
			break;
		case T_TEXT:
			v->text = text("param %u", k);
			break;
		case T_DATE:
			v->date = new_date(k);
			break;
		case T_BLOB:
			v->blob = new_blob(5 + k);
			break;
		case T_GEO:
			v->geo = new_geo(k);
			break;
		}
	}
	return q;
}

static PART struct posting *new_postings(unsigned count)
{
	struct posting *all = NULL;
	while (count--) {
		struct posting *p = NEW(struct posting);
		*p = (struct posting){account_random(100000), 1 + account_random(9), all};
		all = p;
	}
	return all;
}

static PART ref new_ref(unsigned depth)
{
	unsigned kind = account_random(depth ? 5 : 3);
	if (kind == R_INT)
		return (ref)account_random(100000) << 2 | R_INT;
	if (kind == R_POSTING)
		return (ref)new_postings(1 + account_random(3));
	if (kind == R_RANGE) {
		struct range *r = NEW(struct range);
		*r = (struct range){account_random(100), 100 + account_random(100), new_postings(account_random(3))};
		return (ref)r | R_RANGE;
	}
	struct leaf *l = NEW(struct leaf);
	for (l->used = 0; l->used < 6; l->used++)
		l->down[l->used] = new_ref(depth - 1);
	return (ref)l | R_LEAF;
}

static PART unsigned long count_refs(ref r)
{
	if ((r & 3) == R_INT)
		return r >> 2;
	if ((r & 3) == R_RANGE)
		return count_refs((ref)((struct range *)(r & ~(ref)3))->first);
	if ((r & 3) == R_LEAF) {
		struct leaf *l = (struct leaf *)(r & ~(ref)3);
		unsigned long n = 0;
		for (unsigned i = 0; i < l->used; i++)
			n += count_refs(l->down[i]);
		return n;
	}
	unsigned long n = 0;
	for (struct posting *p = (struct posting *)r; p; p = p->next)
		n += p->freq;
	return n;
}

static PART void add_ref(ref r)
{
	if (catalog.used == catalog.capacity) {
		catalog.capacity = catalog.capacity ? 2 * catalog.capacity : 16;
		account_freed(catalog.refs);
		catalog.refs = account_is(realloc(catalog.refs, catalog.capacity * sizeof(ref)), "uintptr_t|ref",
					  catalog.capacity);
	}
	catalog.refs[catalog.used++] = r;
}

/* Values that were dropped without what they hold. */
static PART void lose(void)
{
	for (unsigned i = 0; i < 12; i++) {
		account_leaked(new_date(i));
		union scalar *values = account_leaked(NEWS(union scalar, 3));
		values[0].text = account_leaked(text("lost %u", i));
		struct posting *p = account_leaked(NEW(struct posting));
		p->next = account_leaked(NEW(struct posting));
	}
}

int main(void)
{
	for (unsigned i = 0; i < 4; i++) {
		zones[i] = account_is(calloc(1, sizeof(zone)), "zone|struct zone", 1);
		*zones[i] = (zone){60 * (int)i, "CET"};
	}
	for (unsigned i = 0; i < 6; i++) {
		struct sheet *s = new_sheet(i);
		s->next = sheets;
		sheets = s;
		struct frame *f = NEW(struct frame);
		f->name = text("frame-%u", i);
		for (f->ncols = 0; f->ncols < 12 - i; f->ncols++)
			f->cols[f->ncols] = new_column(f->ncols);
		f->next = frames;
		frames = f;
	}
	for (unsigned i = 0; i < 150; i++)
		queries = new_query(i, queries);
	for (unsigned i = 0; i < 90; i++)
		add_ref(new_ref(3));
	for (size_t i = 0; i < catalog.used; i++)
		sum += count_refs(catalog.refs[i]);
	lose();
	account_die();
}
