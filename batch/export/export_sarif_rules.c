/* export_sarif_rules: ids are compared in their escaped form, so two classes that look the same are one rule. */
#include "batch/export/export_sarif_rules.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/jsonvalue.h"
#include "batch/signature/classhelp.h"
#include "batch/export/export_sarif_parts.h"

static char *id_of(const char *class_name)
{
	struct xc_text text = {0};
	xc_export_name(&text, class_name);
	return xc_text_take(&text);
}

/* ---- the list ---- */

void xc_sarif_rules_add(struct xc_sarif_rules *rules, const struct xc_export_cluster *cluster)
{
	unsigned usual = xc_severity_rank(xc_classhelp(cluster->class_name)->severity);
	rules->rules = xc_grow(rules->rules, rules->count, &rules->capacity, sizeof *rules->rules);
	rules->rules[rules->count++] = (struct xc_sarif_rule){.id = id_of(cluster->class_name),
							      .rank = cluster->rank > usual ? cluster->rank : usual};
}

static int by_id(const void *a, const void *b)
{
	const struct xc_sarif_rule *x = a, *y = b;
	return strcmp(x->id, y->id);
}

void xc_sarif_rules_sort(struct xc_sarif_rules *rules)
{
	size_t count = rules->count;
	rules->count = 0;
	if (count)
		qsort(rules->rules, count, sizeof *rules->rules, by_id);
	for (size_t i = 0; i < count; i++) {
		struct xc_sarif_rule *one = &rules->rules[i];
		struct xc_sarif_rule *last = rules->count ? &rules->rules[rules->count - 1] : NULL;
		if (!last || strcmp(last->id, one->id) != 0) {
			rules->rules[rules->count++] = *one;
		} else {
			last->rank = one->rank > last->rank ? one->rank : last->rank;
			free(one->id);
		}
	}
}

size_t xc_sarif_rules_index(const struct xc_sarif_rules *rules, const char *class_name)
{
	xc_auto(xc_freep) char *id = id_of(class_name);
	const struct xc_sarif_rule wanted = {.id = id};
	const struct xc_sarif_rule *found = bsearch(&wanted, rules->rules, rules->count, sizeof wanted, by_id);
	return (size_t)(found - rules->rules);
}

void xc_sarif_rules_fini(struct xc_sarif_rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		free(rules->rules[i].id);
	free(rules->rules);
}

/* ---- output ---- */

const char *xc_sarif_level(unsigned rank)
{
	static const char *const levels[] = {"note", "warning", "warning", "error", "error"};
	return levels[rank];
}

/* The thresholds of GitHub's severities: low up to 3.9, medium up to 6.9, high up to 8.9. */
static const char *score(unsigned rank)
{
	static const char *const scores[] = {"0.0", "3.0", "5.5", "8.0", "9.5"};
	return scores[rank];
}

json_t *xc_sarif_tags(const char *class_name)
{
	const struct xc_classhelp *help = xc_classhelp(class_name);
	json_t *tags = xc_sarif_list(xc_jsonvalue_text("crash"));
	if (help->memory)
		json_array_append_new(tags, xc_jsonvalue_text("security"));
	if (help->cwe) {
		char tag[40];
		snprintf(tag, sizeof tag, "external/cwe/cwe-%03u", help->cwe);
		json_array_append_new(tags, xc_jsonvalue_text(tag));
	}
	return tags;
}

/* Makes "NullRead" of "null-read". */
static json_t *name_of(const char *id)
{
	struct xc_text text = {0};
	bool first = true;
	for (; *id; id++) {
		if (isalnum((unsigned char)*id))
			xc_text_char(&text, first ? (char)toupper((unsigned char)*id) : *id);
		first = !isalnum((unsigned char)*id);
	}
	json_t *name = xc_jsonvalue_text(text.len ? text.bytes : "Class");
	xc_text_fini(&text);
	return name;
}

static json_t *rule_object(const struct xc_sarif_rule *rule)
{
	const struct xc_classhelp *help = xc_classhelp(rule->id);
	json_t *object = json_object(), *configuration = json_object(), *properties = json_object();
	xc_auto(xc_freep) char *advice = xc_asprintf("%s %s", help->meaning, help->advice);
	xc_jsonvalue_set(object, "id", xc_jsonvalue_text(rule->id));
	xc_jsonvalue_set(object, "name", name_of(rule->id));
	xc_jsonvalue_set(object, "shortDescription",
			 help->title ? xc_sarif_plain(help->title) : xc_sarif_words(rule->id));
	xc_jsonvalue_set(object, "fullDescription", xc_sarif_plain(help->meaning));
	xc_jsonvalue_set(object, "help", xc_sarif_plain(advice));
	xc_jsonvalue_set(configuration, "level", xc_jsonvalue_text(xc_sarif_level(rule->rank)));
	xc_jsonvalue_set(object, "defaultConfiguration", configuration);
	xc_jsonvalue_set(properties, "tags", xc_sarif_tags(rule->id));
	if (help->memory)
		xc_jsonvalue_set(properties, "security-severity", xc_jsonvalue_text(score(rule->rank)));
	xc_jsonvalue_set(object, "properties", properties);
	return object;
}

json_t *xc_sarif_rules_json(const struct xc_sarif_rules *rules)
{
	json_t *array = json_array();
	for (size_t i = 0; i < rules->count; i++)
		json_array_append_new(array, rule_object(&rules->rules[i]));
	return array;
}
