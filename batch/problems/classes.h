/* classes: the crash classes within a cluster. The same place may crash on a NULL pointer today and on freed memory
 * tomorrow: one core of each class is worth keeping, reporting and accepting. */
#ifndef XC_CLASSES_H
#define XC_CLASSES_H

#include "batch/problems/problem.h"

/* Sets the problem's classes and its members' class_at. The members and the representative are set already. Allocated
 * in the arena, with borrowed names. Cost: a sort of the members. */
void xc_classes_find(struct xc_problem *problem, struct xc_arena *arena);

#endif
