/* framerules: exact names are looked up by hash. Patterns with a '*' are scanned; one that begins differently from the
 * name costs one comparison. Rules keep their order, because the last match decides. */
#include "batch/signature/framerules.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/embed.h"
#include "core/base/hashtable.h"
#include "dwarf/elf/name.h"
#include "batch/util/digest.h"
#include "batch/signature/framerules_impl.h"
#include "batch/util/glob.h"

XC_EMBED(xc_framerules_bytes, "batch/signature/frames.txt");

enum { NONE = UINT32_MAX };

struct rule {
	struct xc_framerule shown;
	const char *modules, *paths, *other_paths; /* alternatives separated by '|', or NULL */
	uint8_t languages;                         /* a bit for each; 0: any */
	uint32_t next;                             /* number + 1 of the previous rule with this hash, or 0 */
	char first;                                /* the pattern's first character; for patterns with '*' */
};

struct xc_framerules {
	struct xc_arena arena;
	struct rule *rules;
	size_t count, capacity;
	uint32_t *globs; /* rules with '*' */
	size_t glob_count, glob_capacity;
	struct xc_hashtable wholes; /* (hash, 1) → number + 1 of the last rule without '*' */
	struct xc_framerule_sets sets;
	char hash[SHA256_DIGEST_STRING_LENGTH];
};

static uint64_t hash_of(const char *name)
{
	return xc_name_hash(name, strlen(name));
}

/* ---- adding rules ---- */

static void index_rules(struct xc_framerules *rules)
{
	xc_hashtable_fini(&rules->wholes);
	rules->glob_count = 0;
	for (uint32_t i = 0; i < rules->count; i++) {
		struct rule *r = &rules->rules[i];
		if (strchr(r->shown.pattern, '*')) {
			rules->globs =
				xc_grow(rules->globs, rules->glob_count, &rules->glob_capacity, sizeof *rules->globs);
			rules->globs[rules->glob_count++] = i;
			continue;
		}
		uint64_t *last = &xc_hashtable_at(&rules->wholes, NULL, hash_of(r->shown.pattern), 1)->number;
		r->next = (uint32_t)*last;
		*last = i + 1;
	}
}

static void hash_rules(struct xc_framerules *rules)
{
	SHA2_CTX hash;
	SHA256Init(&hash);
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *r = &rules->rules[i];
		xc_digest_text(&hash, xc_framerules_section(r->shown.section));
		xc_digest_text(&hash, r->shown.pattern);
		xc_digest_text(&hash, r->modules);
		xc_digest_text(&hash, r->paths);
		xc_digest_text(&hash, r->other_paths);
		SHA256Update(&hash, &r->languages, sizeof r->languages);
	}
	SHA256End(&hash, rules->hash);
}

static void add_rule(void *user, const struct xc_framerule_line *line)
{
	struct xc_framerules *rules = user;
	rules->rules = xc_grow(rules->rules, rules->count, &rules->capacity, sizeof *rules->rules);
	rules->rules[rules->count++] = (struct rule){
		.shown = {line->section, line->pattern,
			  xc_arena_printf(&rules->arena, "%s:%u", line->file, line->number)},
		.modules = line->modules,
		.paths = line->paths,
		.other_paths = line->other_paths,
		.languages = (uint8_t)line->languages,
		.first = line->pattern[0],
	};
}

struct xc_error *xc_framerules_add(struct xc_framerules *rules, const char *text, size_t len, const char *name)
{
	size_t before = rules->count;
	struct xc_error *err = xc_framerules_text(text, len, name, &rules->arena, &rules->sets, add_rule, rules);
	if (err)
		rules->count = before;
	index_rules(rules);
	hash_rules(rules);
	return err;
}

struct xc_framerules *xc_framerules_builtin(void)
{
	struct xc_framerules *rules = xc_alloc(sizeof *rules);
	struct xc_error *err = xc_framerules_add(rules, xc_framerules_bytes, strlen(xc_framerules_bytes), "frames.txt");
	xc_error_free(err); /* a test reads the built-in file and checks its errors */
	return rules;
}

/* ---- matching ---- */

static bool any(const char *alternatives, const char *text)
{
	if (!alternatives)
		return true;
	for (const char *at = alternatives; text && *at;) {
		size_t len = strcspn(at, "|");
		if (xc_glob_matches(at, len, text))
			return true;
		at += len + (at[len] == '|');
	}
	return false;
}

static bool is_elsewhere(const char *paths, const char *path)
{
	return !paths || (path && !any(paths, path));
}

static bool holds(const struct rule *rule, unsigned sections, const struct xc_framerule_frame *frame)
{
	return (sections & 1u << rule->shown.section) &&
	       (!rule->languages || rule->languages & 1u << frame->language) && any(rule->modules, frame->module) &&
	       any(rule->paths, frame->path) && is_elsewhere(rule->other_paths, frame->path);
}

static uint32_t find_whole(const struct xc_framerules *rules, unsigned sections, const char *name,
			   const struct xc_framerule_frame *frame)
{
	const union xc_hashtable_value *last = xc_hashtable_find(&rules->wholes, hash_of(name), 1);
	for (uint64_t at = last ? last->number : 0; at; at = rules->rules[at - 1].next) {
		const struct rule *r = &rules->rules[at - 1];
		if (!strcmp(r->shown.pattern, name) && holds(r, sections, frame))
			return (uint32_t)at - 1;
	}
	return NONE;
}

const struct xc_framerule *xc_framerules_match(const struct xc_framerules *rules, unsigned sections,
					       const struct xc_framerule_frame *frame)
{
	const char *known = frame->name ? frame->name : "?";
	uint32_t found = find_whole(rules, sections, known, frame);
	for (size_t i = rules->glob_count; i-- > 0;) {
		uint32_t at = rules->globs[i];
		const struct rule *r = &rules->rules[at];
		if (found != NONE && at < found)
			break;
		if ((r->first == '*' || r->first == known[0]) && holds(r, sections, frame) &&
		    xc_glob_matches(r->shown.pattern, strlen(r->shown.pattern), known)) {
			found = at;
			break;
		}
	}
	return found == NONE ? NULL : &rules->rules[found].shown;
}

const char *xc_framerules_hash(const struct xc_framerules *rules)
{
	return rules->hash;
}

void xc_framerules_free(struct xc_framerules *rules)
{
	if (!rules)
		return;
	xc_arena_fini(&rules->arena);
	free(rules->rules);
	free(rules->globs);
	xc_hashtable_fini(&rules->wholes);
	free(rules);
}

void xc_framerules_freep(struct xc_framerules **rules)
{
	xc_framerules_free(*rules);
}
