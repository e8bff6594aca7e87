/* index_scan_hash: the keys by which equal definitions of different units are recognized. */
#include <dwarf.h>
#include <string.h>

#include "dwarf/elf/name.h"
#include "dwarf/index/index_scan_impl.h"

enum { MAX_TARGET_MEMBERS = 16 };

/* Linkers fold equal strings, and units have many names in common: most hashes are found in the cache. */
uint64_t xc_index_scan_hash(struct xc_index_scan *s, struct xc_die_scan_string string)
{
	size_t len;
	uint64_t place = xc_index_pack_name(string);
	struct xc_index_hash *known = &s->hashes[xc_name_mix(0, place) >> (64 - s->hash_bits)];
	if (place && known->place == place)
		return known->hash;
	const char *text = xc_die_scan_text(s->space, string, &len);
	*known = (struct xc_index_hash){.place = place, .hash = text ? xc_name_hash(text, len) : 0};
	return known->hash;
}

uint32_t xc_index_scan_hash_last(const struct xc_index_scan *s, struct xc_die_scan_string string, uint64_t hash)
{
	size_t len, last_len;
	const char *text = s->is_rust ? xc_die_scan_text(s->space, string, &len) : NULL;
	if (!text || !memmem(text, len, "::", 2))
		return (uint32_t)hash;
	const char *last = xc_name_last(text, &len, &last_len);
	return (uint32_t)xc_name_hash(last, last_len);
}

uint64_t xc_index_scan_own_key(const struct xc_index_scan *s, uint64_t die)
{
	return xc_name_mix(xc_name_mix(0x756e6974, s->number), die);
}

uint64_t xc_index_scan_number(const struct xc_die_scan_entry *die, uint32_t fact, uint64_t number)
{
	return die->has & fact ? number : UINT64_MAX;
}

static uint64_t hash_member(struct xc_index_scan *s, const struct xc_die_scan_entry *die)
{
	uint64_t hash = die->has & XC_DIE_SCAN_NAME ? xc_index_scan_hash(s, die->name) : die->tag;
	return die->tag == DW_TAG_enumerator
		       ? xc_name_mix(hash, xc_index_scan_number(die, XC_DIE_SCAN_VALUE, die->value))
		       : hash;
}

bool xc_index_scan_hash_members(struct xc_index_scan *s, const struct xc_die_scan_entry *die, uint64_t *hash)
{
	struct xc_die_scan_entry child;
	bool good = true;
	while (die->children && (good = xc_die_scan_next(s->scan, &child)) && child.tag) {
		*hash = xc_name_mix(*hash, hash_member(s, &child));
		if (!(good = xc_die_scan_leave(s->scan, &child)))
			break;
	}
	return good;
}

bool xc_index_scan_enum_size(struct xc_index_scan *s, const struct xc_die_scan_entry *die, uint64_t *size_out)
{
	struct xc_die_scan_entry again;
	*size_out = xc_index_scan_number(die, XC_DIE_SCAN_SIZE, die->size);
	return !s->is_c ||
	       (xc_index_scan_hash_members(s, die, size_out) && xc_die_scan_at(s->scan, die->offset, &again));
}

bool xc_index_scan_hash_target(struct xc_index_scan *s, const struct xc_die_scan_entry *die, uint64_t *hash_out)
{
	struct xc_die_scan_entry type, child;
	*hash_out = xc_index_scan_number(die, XC_DIE_SCAN_SIZE, die->size);
	if (!s->is_c || !(die->has & XC_DIE_SCAN_TYPE))
		return true;
	bool named = true;
	if (xc_die_scan_at(s->scan, die->type, &type)) {
		named = type.has & XC_DIE_SCAN_NAME;
		*hash_out = xc_name_mix(xc_name_mix(type.tag, xc_index_scan_number(&type, XC_DIE_SCAN_SIZE, type.size)),
					named ? xc_index_scan_hash(s, type.name) : 0);
	}
	for (int i = 0; i < MAX_TARGET_MEMBERS && !named && type.children && xc_die_scan_next(s->scan, &child) &&
			child.tag && !child.children;
	     i++)
		*hash_out = xc_name_mix(*hash_out, hash_member(s, &child));
	return xc_die_scan_at(s->scan, die->offset, &child);
}

bool xc_index_scan_lacks_arguments(struct xc_index_scan *s, const struct xc_die_scan_entry *die)
{
	size_t len;
	struct xc_die_scan_entry child, again;
	const char *name = s->is_c || !die->children ? NULL : xc_die_scan_text(s->space, die->name, &len);
	if (!name || memchr(name, '<', len))
		return false;
	bool lacks =
		xc_die_scan_next(s->scan, &child) &&
		(child.tag == DW_TAG_template_type_parameter || child.tag == DW_TAG_template_value_parameter ||
		 child.tag == DW_TAG_GNU_template_template_param || child.tag == DW_TAG_GNU_template_parameter_pack);
	return xc_die_scan_at(s->scan, die->offset, &again) && lacks;
}
