/* export_sarif_rules: a SARIF rule for each class of crash, with its meaning. */
#ifndef XC_EXPORT_SARIF_RULES_H
#define XC_EXPORT_SARIF_RULES_H

#include <jansson.h>

#include "batch/export/export_cluster.h"

struct xc_sarif_rule {
	char *id;      /* the class, escaped */
	unsigned rank; /* the worst severity of its clusters and of the class itself */
};

/* A zeroed one is empty. */
struct xc_sarif_rules {
	struct xc_sarif_rule *rules;
	size_t count, capacity;
};

/* Adds the class of a cluster that will be a result. */
void xc_sarif_rules_add(struct xc_sarif_rules *rules, const struct xc_export_cluster *cluster);

/* Sorts by id and removes duplicates; indexes refer to this order. */
void xc_sarif_rules_sort(struct xc_sarif_rules *rules);

/* The index of a class that was added. */
size_t xc_sarif_rules_index(const struct xc_sarif_rules *rules, const char *class_name);

json_t *xc_sarif_rules_json(const struct xc_sarif_rules *rules);
void xc_sarif_rules_fini(struct xc_sarif_rules *rules);

/* "note", "warning" or "error", by the rank of a severity. */
const char *xc_sarif_level(unsigned rank);

/* The tags of a class, among them "security" and its CWE number. */
json_t *xc_sarif_tags(const char *class_name);

#endif
