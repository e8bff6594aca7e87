/* scratch: temporary files of a test, removed when the program ends. */
#ifndef XC_TEST_SCRATCH_H
#define XC_TEST_SCRATCH_H

#include <stddef.h>

/* The directory of this program's temporary files; created on first use. */
const char *scratch_dir(void);

/* DIR/name; creates its directories. The path is valid until the program ends. */
const char *scratch_path(const char *name);

/* The same, written with these bytes. */
const char *scratch_file(const char *name, const void *bytes, size_t len);

/* A text quoted as one word for sh, whatever it contains; valid until the program ends. */
const char *scratch_word(const char *text);

#endif
