/* bind_histogram: xcore.histogram: counts by bucket, and as an item of a section.
 *
 * A bucket is a number: for log2 the exponent (and one for zero), for linear the quotient by the width, for exact
 * the value itself. Buckets are counted in a hash table in a userdata of its own, so that Lua's memory limit
 * applies. Integers are unsigned for log2, as sizes and counts are, and signed otherwise. Once a value with a
 * fraction was added (or with seconds) the bounds are real numbers, and the upper ones exclusive. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lua/report/bind_report.h"

enum { FIRST_SLOTS = 64, MOST_BUCKETS = 1 << 20, SHOWN_BUCKETS = 100000 };

#define ZERO_BUCKET INT64_MIN

static const struct xc_bind_class histogram_class;

enum scale { LOG2, LINEAR, EXACT };

struct slot {
	int64_t bucket;
	uint64_t count; /* 0: the slot is free */
};

/* User value 1: the slots. */
struct lua_histogram {
	enum scale scale;
	enum xc_field_kind unit; /* COUNT, BYTES or SECONDS */
	double width;
	int64_t whole_width; /* 0: width is not an integer */
	struct slot *slots;
	size_t capacity, used;
	bool real;
	uint64_t count;
	uint64_t sum; /* sum of integers, in their own signedness, while it fits */
	bool sum_fits;
	double real_sum;
	uint64_t least, greatest; /* compared signed, or unsigned for log2 */
	double real_least, real_greatest;
};

/* ---- counting ---- */

static struct slot *find_slot(struct slot *slots, size_t capacity, int64_t bucket)
{
	size_t at = (size_t)((uint64_t)bucket * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (capacity - 1);
	while (slots[at].count && slots[at].bucket != bucket)
		at = (at + 1) & (capacity - 1);
	return &slots[at];
}

static void grow(lua_State *L, struct lua_histogram *self)
{
	size_t capacity = self->capacity * 2;
	if (self->used >= MOST_BUCKETS)
		xc_bind_fail(L, XC_ERR_LIMIT, "the histogram has more than %d buckets", MOST_BUCKETS);
	struct slot *slots = lua_newuserdatauv(L, capacity * sizeof *slots, 0);
	memset(slots, 0, capacity * sizeof *slots);
	for (size_t i = 0; i < self->capacity; i++)
		if (self->slots[i].count)
			*find_slot(slots, capacity, self->slots[i].bucket) = self->slots[i];
	lua_setiuservalue(L, 1, 1);
	self->slots = slots;
	self->capacity = capacity;
}

static void count_in(lua_State *L, struct lua_histogram *self, int64_t bucket, uint64_t weight)
{
	if (self->used >= self->capacity / 2)
		grow(L, self);
	struct slot *slot = find_slot(self->slots, self->capacity, bucket);
	slot->bucket = bucket;
	self->used += slot->count == 0;
	if (__builtin_add_overflow(slot->count, weight, &slot->count))
		slot->count = UINT64_MAX;
	if (__builtin_add_overflow(self->count, weight, &self->count))
		self->count = UINT64_MAX;
}

static int64_t floor_divide(int64_t value, int64_t width)
{
	int64_t quotient = value / width; /* width > 0: nothing overflows */
	return quotient - (value % width < 0);
}

static int64_t bucket_of_real(lua_State *L, const struct lua_histogram *self, double value)
{
	int exponent;
	if (self->scale == EXACT)
		xc_bind_fail(L, XC_ERR_USAGE, "%f is not an integer: scale = \"linear\" has a width for such", value);
	if (self->scale == LOG2 && value < 0)
		xc_bind_fail(L, XC_ERR_USAGE, "%f is negative: log2 has no buckets for it", value);
	if (self->scale == LOG2 && value == 0)
		return ZERO_BUCKET;
	if (self->scale == LOG2) {
		frexp(value, &exponent);
		return exponent - 1;
	}
	double quotient = floor(value / self->width);
	if (fabs(quotient) > 0x1p62)
		xc_bind_fail(L, XC_ERR_USAGE, "%f is out of range for buckets of width %f", value, self->width);
	return (int64_t)quotient;
}

static int64_t bucket_of_integer(lua_State *L, const struct lua_histogram *self, int64_t value)
{
	switch (self->scale) {
	case LOG2:
		return value ? 63 - __builtin_clzll((unsigned long long)value) : ZERO_BUCKET;
	case LINEAR:
		return self->whole_width ? floor_divide(value, self->whole_width)
					 : bucket_of_real(L, self, (double)value);
	default:
		return value;
	}
}

static double as_real(const struct lua_histogram *self, uint64_t integer)
{
	return self->scale == LOG2 ? (double)integer : (double)(int64_t)integer;
}

static bool is_less(const struct lua_histogram *self, uint64_t a, uint64_t b)
{
	return self->scale == LOG2 ? a < b : (int64_t)a < (int64_t)b;
}

static void add_to_sum(struct lua_histogram *self, uint64_t value, uint64_t weight)
{
	int64_t product, sum = (int64_t)self->sum;
	uint64_t wide;
	if (self->scale == LOG2) {
		self->sum_fits = self->sum_fits && !__builtin_mul_overflow(value, weight, &wide) &&
				 !__builtin_add_overflow(self->sum, wide, &self->sum);
		return;
	}
	self->sum_fits = self->sum_fits && !__builtin_mul_overflow((int64_t)value, weight, &product) &&
			 !__builtin_add_overflow(sum, product, &sum);
	self->sum = (uint64_t)sum;
}

static void add_integer(lua_State *L, struct lua_histogram *self, uint64_t value, uint64_t weight)
{
	bool first = self->count == 0;
	double real = as_real(self, value);
	count_in(L, self, bucket_of_integer(L, self, (int64_t)value), weight);
	add_to_sum(self, value, weight);
	self->real_sum += real * (double)weight;
	if (first || is_less(self, value, self->least))
		self->least = value;
	if (first || is_less(self, self->greatest, value))
		self->greatest = value;
	self->real_least = first || real < self->real_least ? real : self->real_least;
	self->real_greatest = first || real > self->real_greatest ? real : self->real_greatest;
}

static void add_real(lua_State *L, struct lua_histogram *self, double value, uint64_t weight)
{
	bool first = self->count == 0;
	if (!isfinite(value))
		xc_bind_fail(L, XC_ERR_USAGE, "%f cannot be counted", value);
	count_in(L, self, bucket_of_real(L, self, value), weight);
	self->real = true;
	self->real_sum += value * (double)weight;
	self->real_least = first || value < self->real_least ? value : self->real_least;
	self->real_greatest = first || value > self->real_greatest ? value : self->real_greatest;
}

static void add(lua_State *L, struct lua_histogram *self, int arg, uint64_t weight)
{
	int is_integer;
	lua_Integer integer = lua_type(L, arg) == LUA_TNUMBER ? lua_tointegerx(L, arg, &is_integer) : 0;
	if (lua_type(L, arg) != LUA_TNUMBER)
		xc_bind_fail(L, XC_ERR_USAGE, "only numbers can be counted, not a %s value", luaL_typename(L, arg));
	if (weight == 0)
		return;
	if (is_integer)
		add_integer(L, self, (uint64_t)integer, weight);
	else
		add_real(L, self, lua_tonumber(L, arg), weight);
}

static struct lua_histogram *self_of(lua_State *L)
{
	return xc_bind_class_check(L, 1, &histogram_class);
}

static int histogram_add(lua_State *L)
{
	struct lua_histogram *self = self_of(L);
	lua_Integer weight = luaL_optinteger(L, 3, 1);
	luaL_argcheck(L, weight >= 0, 3, "the weight is negative");
	lua_settop(L, 2);
	if (!lua_istable(L, 2)) {
		add(L, self, 2, (uint64_t)weight);
		return 0;
	}
	size_t count = lua_rawlen(L, 2);
	xc_limit_spend(L, count);
	for (size_t i = 1; i <= count; i++) {
		lua_rawgeti(L, 2, (lua_Integer)i);
		add(L, self, 3, (uint64_t)weight);
		lua_settop(L, 2);
	}
	return 0;
}

/* ---- telling ---- */

static int by_bucket(const void *a, const void *b)
{
	const struct slot *left = a, *right = b;
	return left->bucket < right->bucket ? -1 : left->bucket > right->bucket;
}

/* The buckets in order, in a userdata that is pushed. */
static const struct slot *push_sorted(lua_State *L, const struct lua_histogram *self)
{
	size_t count = 0;
	xc_limit_spend(L, self->used * 8);
	struct slot *sorted = lua_newuserdatauv(L, (self->used + 1) * sizeof *sorted, 0);
	for (size_t i = 0; i < self->capacity; i++)
		if (self->slots[i].count)
			sorted[count++] = self->slots[i];
	qsort(sorted, count, sizeof *sorted, by_bucket);
	return sorted;
}

static bool is_real(const struct lua_histogram *self)
{
	return self->real || self->unit == XC_FIELD_SECONDS || (self->scale == LINEAR && !self->whole_width);
}

static void integer_bounds(const struct lua_histogram *self, int64_t bucket, uint64_t *lo, uint64_t *hi)
{
	*lo = *hi = (uint64_t)bucket;
	if (self->scale == LOG2) {
		*lo = bucket == ZERO_BUCKET ? 0 : UINT64_C(1) << bucket;
		*hi = bucket == ZERO_BUCKET ? 0 : *lo + (*lo - 1);
	} else if (self->scale == LINEAR) {
		__int128 low = (__int128)bucket * self->whole_width, high = low + self->whole_width - 1;
		*lo = (uint64_t)(int64_t)(low < INT64_MIN ? INT64_MIN : low);
		*hi = (uint64_t)(int64_t)(high > INT64_MAX ? INT64_MAX : high);
	}
}

static void real_bounds(const struct lua_histogram *self, int64_t bucket, double *lo, double *hi)
{
	*lo = *hi = (double)bucket;
	if (self->scale == LOG2) {
		*lo = bucket == ZERO_BUCKET ? 0 : ldexp(1, (int)bucket);
		*hi = bucket == ZERO_BUCKET ? 0 : ldexp(1, (int)bucket + 1);
	} else if (self->scale == LINEAR) {
		*lo = (double)bucket * self->width;
		*hi = ((double)bucket + 1) * self->width;
	}
}

static void push_bounds(lua_State *L, const struct lua_histogram *self, int64_t bucket)
{
	uint64_t lo, hi;
	double real_lo, real_hi;
	if (is_real(self)) {
		real_bounds(self, bucket, &real_lo, &real_hi);
		lua_pushnumber(L, real_lo);
		lua_pushnumber(L, real_hi);
	} else {
		integer_bounds(self, bucket, &lo, &hi);
		lua_pushinteger(L, (lua_Integer)lo);
		lua_pushinteger(L, (lua_Integer)hi);
	}
}

static int histogram_buckets(lua_State *L)
{
	struct lua_histogram *self = self_of(L);
	const struct slot *sorted = push_sorted(L, self);
	size_t count = self->used;
	lua_createtable(L, (int)count, 0);
	for (size_t i = 0; i < count; i++) {
		lua_createtable(L, 0, 3);
		push_bounds(L, self, sorted[i].bucket);
		lua_setfield(L, -3, "hi");
		lua_setfield(L, -2, "lo");
		lua_pushinteger(L, (lua_Integer)sorted[i].count);
		lua_setfield(L, -2, "count");
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

static bool has_whole_sum(const struct lua_histogram *self)
{
	return !is_real(self) && self->sum_fits;
}

static double mean(const struct lua_histogram *self)
{
	return (has_whole_sum(self) ? as_real(self, self->sum) : self->real_sum) / (double)self->count;
}

static int histogram_summary(lua_State *L)
{
	const struct lua_histogram *self = self_of(L);
	lua_createtable(L, 0, 5);
	lua_pushinteger(L, (lua_Integer)self->count);
	lua_setfield(L, -2, "count");
	if (has_whole_sum(self))
		lua_pushinteger(L, (lua_Integer)self->sum);
	else
		lua_pushnumber(L, self->real_sum);
	lua_setfield(L, -2, "sum");
	if (self->count == 0)
		return 1;
	if (is_real(self)) {
		lua_pushnumber(L, self->real_least);
		lua_pushnumber(L, self->real_greatest);
	} else {
		lua_pushinteger(L, (lua_Integer)self->least);
		lua_pushinteger(L, (lua_Integer)self->greatest);
	}
	lua_setfield(L, -3, "max");
	lua_setfield(L, -2, "min");
	lua_pushnumber(L, mean(self));
	lua_setfield(L, -2, "mean");
	return 1;
}

/* ---- in a report ---- */

static enum xc_field_kind kind_of(const struct lua_histogram *self)
{
	if (self->unit == XC_FIELD_SECONDS)
		return XC_FIELD_SECONDS;
	if (is_real(self))
		return XC_FIELD_NUMBER;
	return self->scale != LOG2 && (int64_t)self->least < 0 ? XC_FIELD_INTEGER : self->unit;
}

static struct xc_cell cell_of(enum xc_field_kind kind, uint64_t integer, double real)
{
	if (kind == XC_FIELD_SECONDS)
		return xc_cell_seconds(real);
	return kind == XC_FIELD_NUMBER ? xc_cell_number(real) : (struct xc_cell){.kind = kind, .number = integer};
}

static struct xc_cell sum_of(const struct lua_histogram *self, enum xc_field_kind kind)
{
	if (has_whole_sum(self))
		return cell_of(kind, self->sum, 0);
	return kind == XC_FIELD_SECONDS ? xc_cell_seconds(self->real_sum) : xc_cell_number(self->real_sum);
}

static void fill(const struct lua_histogram *self, const struct slot *sorted, struct xc_histogram *out)
{
	enum xc_field_kind kind = out->kind;
	for (size_t i = 0; i < self->used; i++) {
		uint64_t lo, hi;
		double real_lo = 0, real_hi = 0;
		if (is_real(self))
			real_bounds(self, sorted[i].bucket, &real_lo, &real_hi);
		integer_bounds(self, is_real(self) ? 0 : sorted[i].bucket, &lo, &hi);
		out->buckets[i] =
			(struct xc_bucket){cell_of(kind, lo, real_lo), cell_of(kind, hi, real_hi), sorted[i].count};
	}
	out->bucket_count = self->used;
	out->count = self->count;
	out->least = out->greatest = out->mean = xc_cell_null(NULL);
	out->sum = sum_of(self, kind);
	if (self->count == 0)
		return;
	out->least = cell_of(kind, self->least, self->real_least);
	out->greatest = cell_of(kind, self->greatest, self->real_greatest);
	out->mean = kind == XC_FIELD_SECONDS ? xc_cell_seconds(mean(self)) : xc_cell_number(mean(self));
}

int xc_report_section_histogram(lua_State *L)
{
	struct xc_lua_section *section = xc_report_check_section(L);
	const char *key = xc_report_check_key(L, 2);
	const struct lua_histogram *self = xc_bind_class_check(L, 3, &histogram_class);
	lua_settop(L, 4);
	const struct xc_report_options options = xc_report_check_options(L, 4, "label");
	struct xc_histogram histogram = {.label = options.label, .kind = kind_of(self)};
	if (self->used > SHOWN_BUCKETS)
		xc_bind_fail(L, XC_ERR_LIMIT, "histogram '%s' has more than %d buckets", key, SHOWN_BUCKETS);
	if (!histogram.label)
		histogram.label = xc_report_push_label(L, key, false);
	const struct slot *sorted = push_sorted(L, self);
	histogram.buckets = lua_newuserdatauv(L, (self->used + 1) * sizeof *histogram.buckets, 0);
	xc_report_spend_item(L, section, self->used * sizeof *histogram.buckets + strlen(histogram.label));
	fill(self, sorted, &histogram);
	xc_section_histogram(section->section, key, &histogram);
	return 0;
}

/* ---- making ---- */

static const char *option(lua_State *L, const char *name, const char *otherwise)
{
	if (lua_isnoneornil(L, 1))
		return otherwise;
	lua_pushstring(L, name);
	int type = lua_rawget(L, 1);
	if (type != LUA_TNIL && type != LUA_TSTRING)
		xc_bind_fail(L, XC_ERR_USAGE, "%s: expected a string, not a %s", name, luaL_typename(L, -1));
	return type == LUA_TNIL ? otherwise : lua_tostring(L, -1);
}

static enum scale check_scale(lua_State *L)
{
	const char *name = option(L, "scale", "log2");
	if (strcmp(name, "log2") == 0)
		return LOG2;
	if (strcmp(name, "linear") == 0)
		return LINEAR;
	if (strcmp(name, "exact") != 0)
		xc_bind_fail(L, XC_ERR_USAGE, "'%.20s' is not a scale: log2 linear exact", name);
	return EXACT;
}

static enum xc_field_kind check_unit(lua_State *L)
{
	const char *name = option(L, "unit", "count");
	enum xc_field_kind kind = xc_report_kind(name);
	if (kind != XC_FIELD_COUNT && kind != XC_FIELD_BYTES && kind != XC_FIELD_SECONDS)
		xc_bind_fail(L, XC_ERR_USAGE, "'%.20s' is not a unit: count bytes seconds", name);
	return kind;
}

static void check_width(lua_State *L, struct lua_histogram *self)
{
	int is_integer = 0;
	lua_pushliteral(L, "width");
	int type = lua_istable(L, 1) ? lua_rawget(L, 1) : LUA_TNIL;
	if ((self->scale == LINEAR) != (type != LUA_TNIL))
		xc_bind_fail(L, XC_ERR_USAGE, "width: only scale \"linear\" has it");
	if (type == LUA_TNIL)
		return;
	self->width = type == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
	if (!(self->width > 0) || !isfinite(self->width))
		xc_bind_fail(L, XC_ERR_USAGE, "width: expected a number above 0");
	self->whole_width = lua_tointegerx(L, -1, &is_integer);
}

static int new_histogram(lua_State *L)
{
	lua_settop(L, 1);
	if (!lua_isnil(L, 1)) {
		luaL_checktype(L, 1, LUA_TTABLE);
		xc_report_check_names(L, 1, "scale width unit");
	}
	struct lua_histogram made = {.sum_fits = true, .capacity = FIRST_SLOTS};
	made.scale = check_scale(L);
	made.unit = check_unit(L);
	check_width(L, &made);
	struct lua_histogram *self = xc_bind_class_new(L, &histogram_class, sizeof *self);
	made.slots = lua_newuserdatauv(L, FIRST_SLOTS * sizeof *made.slots, 0);
	memset(made.slots, 0, FIRST_SLOTS * sizeof *made.slots);
	lua_setiuservalue(L, -2, 1);
	*self = made;
	return 1;
}

static const luaL_Reg methods[] = {
	{"add", histogram_add},
	{"buckets", histogram_buckets},
	{"summary", histogram_summary},
	{NULL, NULL},
};

static const struct xc_bind_class histogram_class = {
	.name = "xcore.Histogram", .noun = "a histogram", .methods = methods};

void xc_bind_histogram_open(lua_State *L)
{
	xc_bind_class_open(L, &histogram_class);
	lua_pushcfunction(L, new_histogram);
	lua_setfield(L, -2, "histogram");
}
