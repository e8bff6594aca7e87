/* layer: core
 *
 * The space against an array with one entry per address: the segment added last has priority. */
#include "tests/support/property.h"

#include "core/elf/space.h"

enum { SIZE = 512, BASES = 3, MAX_SEGMENTS = 24, READ_MAX = 96 };

/* The places of the array: low, in the middle, and with its last byte at 2^64 - 1. */
static const xc_addr bases[BASES] = {0, 0x7fff00001000, UINT64_MAX - SIZE + 1};

struct oracle {
	xc_addr base;
	enum xc_provenance provenance[SIZE];
	uint8_t bytes[SIZE];
	int layer[SIZE]; /* which segment, -1 for none */
	uint8_t contents[MAX_SEGMENTS][SIZE];
};

static size_t read_backing(void *ctx, uint64_t offset, void *buf, size_t len)
{
	memcpy(buf, (const uint8_t *)ctx + offset, len);
	return len;
}

static const struct xc_backing backing = {.read = read_backing};

static bool readable(enum xc_provenance p)
{
	return p == XC_FROM_CORE || p == XC_FROM_FILE || p == XC_FROM_LIVE;
}

static void lay_random(struct rng *rng, struct oracle *o, struct xc_space *space, int layer)
{
	static const enum xc_provenance kinds[] = {XC_FROM_CORE, XC_FROM_CORE,  XC_FROM_FILE,
						   XC_FROM_LIVE, XC_NOT_DUMPED, XC_CUT_SHORT};
	size_t lo = rng_below(rng, SIZE), len = 1 + rng_below(rng, rng_below(rng, 4) ? 40 : SIZE);
	size_t hi = len - 1 < SIZE - 1 - lo ? lo + len - 1 : SIZE - 1;
	struct xc_segment s = {
		.lo = o->base + lo, .hi = o->base + hi, .provenance = kinds[rng_below(rng, XC_COUNT(kinds))]};
	rng_fill(rng, o->contents[layer], SIZE);
	if (s.provenance == XC_FROM_LIVE) {
		s.backing = &backing;
		s.ctx = o->contents[layer];
		s.offset = lo;
	} else if (readable(s.provenance)) {
		s.bytes = o->contents[layer] + lo;
	}
	xc_space_add(space, &s);
	for (size_t i = lo; i <= hi; i++) {
		o->provenance[i] = s.provenance;
		o->bytes[i] = o->contents[layer][i];
		o->layer[i] = layer;
	}
}

static struct xc_space *random_space(struct rng *rng, struct oracle *o)
{
	struct xc_space *space = xc_space_new();
	o->base = bases[rng_below(rng, BASES)];
	for (size_t i = 0; i < SIZE; i++) {
		o->provenance[i] = XC_UNMAPPED;
		o->layer[i] = -1;
	}
	int count = (int)rng_below(rng, MAX_SEGMENTS);
	for (int i = 0; i < count; i++) {
		lay_random(rng, o, space, i);
		if (rng_below(rng, 8) == 0)
			xc_space_seal(space); /* seals in between must not matter */
	}
	xc_space_seal(space);
	return space;
}

/* The number of readable bytes from `at` on, up to len. */
static size_t expected_run(const struct oracle *o, size_t at, size_t len)
{
	size_t n = 0;
	while (n < len && at + n < SIZE && readable(o->provenance[at + n]))
		n++;
	return n;
}

static void check_read(struct rng *rng, const struct oracle *o, const struct xc_space *space, size_t at, size_t len)
{
	uint8_t buf[READ_MAX];
	size_t run = expected_run(o, at, len);
	memset(buf, 0xa5, sizeof buf);
	PROPERTY_CHECK(rng, xc_space_peek(space, o->base + at, buf, len) == run);
	PROPERTY_CHECK(rng, !memcmp(buf, o->bytes + at, run));
	for (size_t i = run; i < len; i++)
		PROPERTY_CHECK(rng, buf[i] == 0xa5);
	struct xc_error *err = xc_space_read(space, o->base + at, buf, len);
	PROPERTY_CHECK(rng, (err == NULL) == (run == len));
	if (err) {
		enum xc_provenance stopped = at + run < SIZE ? o->provenance[at + run] : XC_UNMAPPED;
		PROPERTY_CHECK(rng, err->addr == o->base + at + run);
		PROPERTY_CHECK(rng, strstr(err->message, xc_provenance_text(stopped)));
	}
	xc_error_free(err);
}

/* A view exists exactly if the range is in one visible piece of one mapped segment. */
static void check_view(struct rng *rng, const struct oracle *o, const struct xc_space *space, size_t at, size_t len)
{
	bool one = len > 0 && at + len <= SIZE && o->layer[at] >= 0 && o->provenance[at] != XC_FROM_LIVE &&
		   readable(o->provenance[at]);
	for (size_t i = 1; one && i < len; i++)
		one = o->layer[at + i] == o->layer[at];
	const void *view = xc_space_view(space, o->base + at, len);
	PROPERTY_CHECK(rng, (view != NULL) == one);
	PROPERTY_CHECK(rng, !view || !memcmp(view, o->bytes + at, len));
}

PROPERTY(space_agrees_with_flat_array, 2000, 6000)
{
	static struct oracle o;
	struct xc_space *space = random_space(rng, &o);
	for (int i = 0; i < 40; i++) {
		size_t at = rng_below(rng, SIZE), len = rng_below(rng, READ_MAX);
		check_read(rng, &o, space, at, len);
		check_view(rng, &o, space, at, len);
	}
	xc_space_free(space);
}

PROPERTY(sealed_segments_tile_what_was_laid, 1000, 3000)
{
	static struct oracle o;
	struct xc_space *space = random_space(rng, &o);
	size_t pieces = 0;
	for (size_t i = 0; i < SIZE; i++) {
		const struct xc_segment *s = xc_space_find(space, o.base + i);
		PROPERTY_CHECK(rng, (s != NULL) == (o.layer[i] >= 0));
		PROPERTY_CHECK(rng, !s || s->provenance == o.provenance[i]);
		PROPERTY_CHECK(rng, !s || (s->lo <= o.base + i && o.base + i <= s->hi));
		pieces += o.layer[i] >= 0 && (i == 0 || o.layer[i - 1] != o.layer[i]);
	}
	PROPERTY_CHECK(rng, xc_space_count(space) == pieces);
	for (size_t i = 1; i < pieces; i++)
		PROPERTY_CHECK(rng, xc_space_at(space, i - 1)->hi < xc_space_at(space, i)->lo);
	xc_space_free(space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(space_agrees_with_flat_array),
		cmocka_unit_test(sealed_segments_tile_what_was_laid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
