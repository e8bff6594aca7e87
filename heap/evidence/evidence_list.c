#include "heap/evidence/evidence_list.h"

#define SOURCE(name) &xc_evidence_##name,

const struct xc_evidence *const xc_evidence_list[] = {XC_EVIDENCE_SOURCES(SOURCE) NULL};
