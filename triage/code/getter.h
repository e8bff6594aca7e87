/* getter: the result of a small function of one object, evaluated from its code without running it:
 * std::exception::what() and similar. */
#ifndef XC_GETTER_H
#define XC_GETTER_H

#include "core/process/process.h"

/* Evaluate the function at `function` with `object` as its only argument. Follows moves, loads, additions, and calls
 * of c_str() and data() of std::string. False when it does anything else, a branch or a store outside its own frame
 * included. x86-64. */
bool xc_getter_value(const struct xc_process *process, xc_addr function, xc_addr object, uint64_t *value_out);

#endif
