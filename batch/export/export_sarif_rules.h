/* export_sarif_rules: a rule of SARIF for each class of crash, with what it means. */
#ifndef XC_EXPORT_SARIF_RULES_H
#define XC_EXPORT_SARIF_RULES_H

#include <jansson.h>

#include "batch/export/export_cluster.h"

struct xc_sarif_rule {
	char *id;      /* the class, as it is written */
	unsigned rank; /* of the worst severity of its clusters, or of the class itself */
};

/* Zeroed is an empty one. */
struct xc_sarif_rules {
	struct xc_sarif_rule *rules;
	size_t count, capacity;
};

/* The class of a cluster that is to be a result. */
void xc_sarif_rules_add(struct xc_sarif_rules *rules, const struct xc_export_cluster *cluster);

/* Each once, by id: what indexes count. */
void xc_sarif_rules_sort(struct xc_sarif_rules *rules);

/* Of a class that was added. */
size_t xc_sarif_rules_index(const struct xc_sarif_rules *rules, const char *class_name);

json_t *xc_sarif_rules_json(const struct xc_sarif_rules *rules);
void xc_sarif_rules_fini(struct xc_sarif_rules *rules);

/* "note", "warning" or "error" for the rank of a severity. */
const char *xc_sarif_level(unsigned rank);

/* What a class has to do with: "security" and the number of its weakness among it. */
json_t *xc_sarif_tags(const char *class_name);

#endif
