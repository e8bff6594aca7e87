/* scratch: temporary files of a test, removed when the program ends. */
#ifndef XC_TEST_SCRATCH_H
#define XC_TEST_SCRATCH_H

#include <stddef.h>

/* The directory of this program's temporary files; made at first use. */
const char *scratch_dir(void);

/* DIR/name (with its directories); the path lives until the program ends. */
const char *scratch_path(const char *name);

/* The same, written with these bytes. */
const char *scratch_file(const char *name, const void *bytes, size_t len);

/* A text as one word of a line of sh, whatever is in it; lives until the program ends. */
const char *scratch_word(const char *text);

#endif
