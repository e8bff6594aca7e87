/* program_name: a program's name without its version: the file name without numbers that change with the next release.
 *
 *	app-1.2.3  app_v2.0-rc1  python3.11      app  app  python
 *	app-1.2.3-1  app-1.0-rc  app-1.2~beta    app              (a suffix of the version is removed, too)
 *	parse-9f2c01d4e5b6a788                   parse       (Cargo's build hash)
 *	md5  test_1  sha-256  app-20261122-1     unchanged: a number without a dot is part of the name */
#ifndef XC_PROGRAM_NAME_H
#define XC_PROGRAM_NAME_H

#include "core/base/arena.h"

/* In the arena; NULL for NULL. A name that would become empty stays unchanged. */
const char *xc_program_name(const char *name, struct xc_arena *arena);

#endif
