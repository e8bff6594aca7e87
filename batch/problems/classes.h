/* classes: the deaths of a cluster, by class. One place kills by a NULL pointer today and by freed memory tomorrow: what is worth keeping, telling
 * and accepting is one of each. */
#ifndef XC_CLASSES_H
#define XC_CLASSES_H

#include "batch/problems/problem.h"

/* Set the problem's classes and its members' class_at; the members and the representative are set. Into the arena, names borrowed. Cost: a sort of
 * the members. */
void xc_classes_find(struct xc_problem *problem, struct xc_arena *arena);

#endif
