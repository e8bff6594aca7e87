/* export_object: the parts of the json and jsonl exports as JSON objects, defined by triage.schema.json. */
#ifndef XC_EXPORT_OBJECT_H
#define XC_EXPORT_OBJECT_H

#include <jansson.h>

#include "batch/export/export.h"

/* New objects: of the whole, with the schema's name; of a cluster; of a core without a verdict. */
json_t *xc_export_object_head(const struct xc_problems *problems);
json_t *xc_export_object_cluster(const struct xc_problem *problem, const struct xc_export_options *options);
json_t *xc_export_object_failure(const struct xc_record *record);

#endif
