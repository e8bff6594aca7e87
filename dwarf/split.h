/* split: units whose functions, types and values stand in a file of their own, a .dwo or .dwp (DWARF 5, 7.3.2).
 *
 * They are not read yet: libdw 0.188 would open .dwo files by itself, by the names that the skeleton unit gives, and every
 * file that a target or its debug information names is opened by us (finder.h). What the skeleton has serves: lines,
 * and names from the symbol table. */
#ifndef XC_SPLIT_H
#define XC_SPLIT_H

#include <elfutils/libdw.h>

/* What is missing because the first skeleton unit of dwarf is one: a clause, malloc'ed. NULL when there is none among the
 * first units. The same words wherever the file is, so that a pack tells what its core told. */
char *xc_split_missing(Dwarf *dwarf);

#endif
