/* typing_rule_impl: the rules that are learned for ambiguous pointers, shared by typing_rule.c and typing_kind.c. */
#ifndef XC_TYPING_RULE_IMPL_H
#define XC_TYPING_RULE_IMPL_H

#include "heap/types/typing_arm.h"

enum { XC_RULE_SAMPLES = 24, XC_RULE_VOTES = 4 };

struct xc_rule_vote {
	uint32_t map, count;
	uint64_t offset;
	uint8_t shape;
};

struct xc_rule {
	uint64_t key;
	struct xc_typemap_slot *slot;
	uint64_t offset, size;
	uint64_t kind; /* the value that distinguishes variants */
	uint32_t item; /* 0: undecided */
	uint32_t sure; /* the item, which was made weak; or 0 */
	uint32_t hits;
	uint32_t samples[XC_RULE_SAMPLES]; /* untyped blocks */
	unsigned sample_count, vote_count;
	struct xc_rule_vote votes[XC_RULE_VOTES]; /* typed blocks */
	uint64_t group;                           /* of a union's pointers: number + 1 */
	bool each;                                /* each block decides for itself */
	bool settled;                             /* by the other rules for objects of that kind */
};

struct xc_rules {
	struct xc_engine *engine;
	struct xc_rule *rules; /* in the order of discovery */
	size_t count, capacity;
	struct xc_hashtable numbers; /* of the rules, by key */
	struct xc_arms *groups;      /* of unions' pointers */
	size_t group_count, group_capacity;
	struct xc_window window;
};

/* Makes the item of a rule: objects of the map at the blocks' beginning. */
uint32_t xc_typing_rule_item(struct xc_engine *engine, const struct xc_rule *rule, uint32_t map,
			     enum xc_confidence confidence);

/* Is the pointer one to a header that several types begin with? */
static inline bool xc_typing_is_downcast(const struct xc_engine *engine, const struct xc_rule *rule)
{
	return rule->slot->kind == XC_SLOT_POINTER && !rule->slot->ambiguous && !rule->offset &&
	       engine->maps[rule->slot->target]->derived_count > 1;
}

/* ---- typing_kind ---- */

/* Compares the rules for pointers to headers with each other: objects of one kind have one type. True if a rule got a
 * type by it. */
bool xc_typing_compare_kinds(struct xc_rules *rules);

#endif
