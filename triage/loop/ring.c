/* ring: Brent's search for a cycle, bounded. */
#include "triage/loop/ring.h"

#include <string.h>

#include "triage/util/same_type.h"

enum { STEPS = 1 << 20, MEMBERS = 64 };

static bool points_to(const struct xc_type *pointer, const struct xc_type *record)
{
	const struct xc_type *stripped = pointer ? xc_type_strip(pointer) : NULL;
	return stripped && stripped->kind == XC_TYPE_POINTER && xc_same_type_pointed(pointer) == record;
}

static size_t add_links(const struct xc_type *record, const struct xc_member *outer, struct xc_ring_link *out,
			size_t most)
{
	size_t count, found = 0;
	const struct xc_member *members = xc_type_members(record, &count);
	for (size_t i = 0; i < count && i < MEMBERS && found < most; i++)
		if (members[i].name && !members[i].dynamic && points_to(members[i].type, record))
			out[found++] = (struct xc_ring_link){.record = record,
							     .outer = outer && !outer->base ? outer->name : NULL,
							     .name = members[i].name,
							     .inside = outer ? outer->offset : 0,
							     .offset = members[i].offset};
	return found;
}

size_t xc_ring_links(const struct xc_type *record, struct xc_ring_link *out, size_t most)
{
	size_t count, found = add_links(record, NULL, out, most);
	const struct xc_member *members = xc_type_members(record, &count);
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		const struct xc_type *type = xc_type_complete(xc_type_strip(members[i].type));
		if (!members[i].dynamic && xc_same_type_is_record(type))
			found += add_links(type, &members[i], out + found, most - found);
	}
	return found;
}

static bool next(const struct xc_process *p, const struct xc_ring_link *link, xc_addr *at)
{
	return xc_space_peek_uint(p->space, *at + link->offset, p->arch->word, at) && *at;
}

static bool find_length(const struct xc_process *p, const struct xc_ring_link *link, xc_addr start, uint64_t *length)
{
	xc_addr turtle = start, hare = start;
	uint64_t power = 1, steps = 0;
	for (uint64_t all = 0; all < STEPS; all++) {
		if (!next(p, link, &hare))
			return false;
		steps++;
		if (hare == turtle) {
			*length = steps;
			return true;
		}
		if (steps == power) {
			turtle = hare;
			power *= 2;
			steps = 0;
		}
	}
	return false;
}

bool xc_ring_find(const struct xc_process *p, const struct xc_ring_link *link, xc_addr start, struct xc_ring *out)
{
	*out = (struct xc_ring){.process = p, .link = *link, .start = start, .node = start};
	if (!find_length(p, link, start, &out->length))
		return false;
	xc_addr ahead = start;
	for (uint64_t i = 0; i < out->length; i++)
		if (!next(p, link, &ahead))
			return false;
	while (ahead != out->node && out->before++ < STEPS)
		if (!next(p, link, &ahead) || !next(p, link, &out->node))
			return false;
	return ahead == out->node;
}

/* Are they "next" and "prev", or "lru_next" and "lru_prev": the same but for the direction? */
static bool is_opposite(const char *name, const char *back)
{
	static const char *const ways[][2] = {{"next", "prev"}, {"next", "previous"}, {"forward", "backward"},
					      {"fwd", "back"},  {"flink", "blink"},   {"succ", "pred"}};
	for (size_t i = 0; i < XC_COUNT(ways); i++) {
		const char *one = strstr(name, ways[i][0]), *other = strstr(back, ways[i][1]);
		if (one && other && one - name == other - back && !strncmp(name, back, (size_t)(one - name)) &&
		    !strcmp(one + strlen(ways[i][0]), other + strlen(ways[i][1])))
			return true;
	}
	return false;
}

/* The link of the same record by which that list is gone through backwards; NULL: none. */
static const struct xc_member *find_back(const struct xc_ring_link *link)
{
	size_t count;
	const struct xc_member *members = xc_type_members(link->record, &count);
	for (size_t i = 0; i < count && i < MEMBERS; i++)
		if (members[i].name && !members[i].dynamic && points_to(members[i].type, link->record) &&
		    is_opposite(link->name, members[i].name))
			return &members[i];
	return NULL;
}

bool xc_ring_find_seam(const struct xc_ring *ring, uint64_t most, struct xc_ring_seam *out)
{
	const struct xc_process *p = ring->process;
	const struct xc_member *back = find_back(&ring->link);
	size_t seams = 0;
	xc_addr at = ring->node;
	if (!back || ring->length > most)
		return false;
	for (uint64_t i = 0; i < ring->length; i++) {
		uint64_t leads_to;
		const xc_addr before = at;
		if (!next(p, &ring->link, &at) ||
		    !xc_space_peek_uint(p->space, at + back->offset, p->arch->word, &leads_to))
			return false;
		if (leads_to == before)
			continue;
		seams++;
		*out = (struct xc_ring_seam){.before = before, .node = at, .back = back->name, .leads_to = leads_to};
	}
	return seams == 1;
}

enum xc_ring_place xc_ring_place(const struct xc_ring *ring, uint64_t addr)
{
	xc_addr at = ring->start;
	for (uint64_t i = 0; i < ring->before + ring->length; i++) {
		if (addr == at || addr == at - ring->link.inside)
			return i < ring->before ? XC_RING_BEFORE : XC_RING_IN;
		if (!next(ring->process, &ring->link, &at))
			break;
	}
	return XC_RING_NOT_IN;
}
