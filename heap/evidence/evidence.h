/* evidence: what takes part in typing beside DWARF and pointers; each in a file of its own. The order is that in which they are asked;
 * the first that has something to say about a type has it. */
#ifndef XC_EVIDENCE_H
#define XC_EVIDENCE_H

#include "heap/types/typing_impl.h"

extern const struct xc_evidence xc_evidence_claim, xc_evidence_vtable, xc_evidence_std, xc_evidence_erased,
	xc_evidence_rust, xc_evidence_text;

#endif
