/* getter: what a small function of one object returns, told from its code without running it: std::exception::what() and the like. */
#ifndef XC_GETTER_H
#define XC_GETTER_H

#include "core/process/process.h"

/* Follow the function at `function`, given `object` as its only argument: moves, loads, additions, and calls of std::string's c_str() and
 * data(). False when it does anything else, a branch or a store outside its own frame. x86-64. */
bool xc_getter_value(const struct xc_process *process, xc_addr function, xc_addr object, uint64_t *value_out);

#endif
