/* program_name: what a program is called, whatever its release: the name of a file without the numbers that the next one will have others of.
 *
 *	app-1.2.3  app_v2.0-rc1  python3.11      app  app  python
 *	app-1.2.3-1  app-1.0-rc  app-1.2~beta    app              (what stands behind the number goes with it)
 *	parse-9f2c01d4e5b6a788                   parse       (Cargo's hash of a build)
 *	md5  test_1  sha-256  app-20261122-1     as they are: without a dot a number is a part of the name, since programs are numbered, too */
#ifndef XC_PROGRAM_NAME_H
#define XC_PROGRAM_NAME_H

#include "core/base/arena.h"

/* In the arena; NULL for NULL. What would leave nothing stays. */
const char *xc_program_name(const char *name, struct xc_arena *arena);

#endif
