/* bind_rule: heap:rule and heap:header, which define types of pointers (heap/graph/claim.h). */
#ifndef XC_BIND_RULE_H
#define XC_BIND_RULE_H

#include "lua/vm/bind.h"

struct xc_heap;

/* The table of the rule, or of the headers, is at index 2. Raise. */
void xc_bind_rule(lua_State *L, struct xc_heap *heap);
void xc_bind_header(lua_State *L, struct xc_heap *heap);

#endif
