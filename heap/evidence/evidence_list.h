/* evidence_list: the sources of evidence that take part in typing beside DWARF and pointers (typing_evidence.h).
 *
 * Each source is one const table in a file of its own, evidence_NOUN.c, and a name in XC_EVIDENCE_SOURCES. The
 * order is the order in which sources are asked: the first one that knows a type decides. */
#ifndef XC_EVIDENCE_LIST_H
#define XC_EVIDENCE_LIST_H

#include "heap/types/typing_evidence.h"

#define XC_EVIDENCE_SOURCES(EACH) EACH(claim) EACH(vtable) EACH(std) EACH(erased) EACH(rust) EACH(text)

#define XC_DECLARE_EVIDENCE(name) extern const struct xc_evidence xc_evidence_##name;
XC_EVIDENCE_SOURCES(XC_DECLARE_EVIDENCE)
#undef XC_DECLARE_EVIDENCE

/* All sources in their order; ends with NULL. The value of xc_heap.evidence. */
extern const struct xc_evidence *const xc_evidence_list[];

#endif
