/* name_query: components of a name compared with the names of an entry and its scopes. */
#include "dwarf/lookup/name_query.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/elf/name.h"
#include "dwarf/types/scope.h"

static bool is_anonymous(const struct xc_name_part *part)
{
	static const char name[] = "(anonymous namespace)";
	return part->len == sizeof name - 1 && !memcmp(part->text, name, part->len);
}

bool xc_name_query_split(const struct xc_query *query, struct xc_name_query *wanted)
{
	size_t len = query->name ? strlen(query->name) : 0;
	wanted->query = query;
	while (wanted->part_count < XC_NAME_QUERY_PARTS) {
		struct xc_name_part *part = &wanted->parts[wanted->part_count];
		part->text = xc_name_last(query->name, &len, &part->len);
		if (!part->text || (!part->len && !len))
			break;
		if (!part->len)
			return false;
		part->hash = (uint32_t)xc_name_hash(part->text, part->len);
		wanted->part_count += !is_anonymous(part);
	}
	return wanted->part_count > 0;
}

bool xc_name_query_make_bare(struct xc_name_query *wanted)
{
	memcpy(wanted->given, wanted->parts, wanted->part_count * sizeof *wanted->parts);
	for (size_t i = 0; i < wanted->part_count; i++) {
		struct xc_name_part *part = &wanted->parts[i];
		const char *at = memchr(part->text, '<', part->len);
		if (!at || at == part->text || strncmp(part->text, "operator", 8) == 0)
			continue;
		part->len = (size_t)(at - part->text);
		part->hash = (uint32_t)xc_name_hash(part->text, part->len);
		wanted->bare = true;
	}
	return wanted->bare;
}

static bool part_is(const struct xc_name_part *part, const char *name, size_t len)
{
	return xc_name_equal(name, len, part->text, part->len);
}

/* The number of parts, from `part` on, that make up the entry's own name: names of Rust's wide pointers have several
 * components. 0 when they differ. */
static size_t take_name(const struct xc_name_query *w, struct xc_index *index, const struct xc_index_entry *entry,
			size_t part)
{
	size_t len, own_len, count = 0;
	if (part == w->part_count || entry->hash != w->parts[part].hash)
		return 0;
	const char *own, *name = xc_index_name(index, entry, &len);
	if (!name)
		return 0;
	if (part_is(&w->parts[part], name, len))
		return 1;
	if (!memmem(name, len, "::", 2))
		return 0;
	for (; (own = xc_name_last(name, &len, &own_len)); count++)
		if (part + count == w->part_count || !part_is(&w->parts[part + count], own, own_len))
			return 0;
	return count;
}

static bool names_match(const struct xc_name_query *w, struct xc_index *index, const struct xc_index_entry *entry)
{
	struct xc_index_entry scope = *entry;
	size_t taken, part = take_name(w, index, entry, 0);
	for (int depth = 0; part && depth < XC_NAME_QUERY_PARTS && scope.parent; depth++) {
		if (!xc_index_table_entry(xc_index_table(index), scope.parent - 1, &scope))
			return false;
		if ((taken = take_name(w, index, &scope, part)))
			part += taken;
		else if (!(scope.flags & XC_INDEX_TRANSPARENT) && !(w->query->anywhere && part == w->part_count))
			return false;
	}
	return part && part == w->part_count;
}

static bool tag_matches(int wanted, int tag)
{
	bool record = tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_interface_type;
	if (wanted == DW_TAG_structure_type || wanted == DW_TAG_class_type)
		return record;
	return !wanted || wanted == tag;
}

bool xc_name_query_matches(const struct xc_name_query *w, struct xc_index *index, const struct xc_index_entry *entry)
{
	const struct xc_query *query = w->query;
	if (!(xc_index_kind(entry) & query->kinds) || !tag_matches(query->tag, entry->tag))
		return false;
	if ((entry->flags & XC_INDEX_DECLARATION) && !query->declarations)
		return false;
	return names_match(w, index, entry);
}

/* Which other components may be left out was checked by xc_name_query_matches. */
bool xc_name_query_has_arguments(const struct xc_name_query *wanted, const struct xc_process *process, Dwarf_Die *die)
{
	const char *name = xc_scope_name(xc_types_of(process), die);
	size_t len = name ? strlen(name) : 0, part = 0, part_len;
	for (int i = 0; i < XC_NAME_QUERY_PARTS && part < wanted->part_count; i++) {
		const char *text = xc_name_last(name, &len, &part_len);
		if (!text || (!part_len && !len))
			break;
		bool same = xc_name_equal(text, part_len, wanted->given[part].text, wanted->given[part].len);
		if (!same && part == 0)
			return false;
		part += same;
	}
	return part == wanted->part_count;
}
