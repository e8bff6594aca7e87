/* common: the options that every command accepts. */
#ifndef XC_COMMON_H
#define XC_COMMON_H

#include "cli/options.h"

/* Default limits on reading running processes. */
#define XC_READ_RATE 100u
#define XC_READ_TIME 40u

struct xc_common {
	const char *exe, *sysroot, *store;
	struct xc_words debug_dirs, source_roots, plugin_paths, fail_on;
	const char *format, *output, *color; /* NULL when not given */
	unsigned jobs;                       /* 0 when not given */
	unsigned max_read_rate;              /* megabytes a second; 0: no limit */
	unsigned max_read_time;              /* milliseconds a second; 0: no limit */
	unsigned max_instructions;           /* millions; 0: no limit */
	unsigned max_memory;                 /* megabytes; 0: no limit */
	unsigned max_time;                   /* seconds; 0: no limit */
	unsigned max_output;                 /* megabytes; 0: no limit */
	unsigned io_timeout;                 /* seconds that a file may take to respond; 0: no limit */
	enum xc_switch debuginfod, strict, stats, quiet, redact, swap, cache, plugins;
	enum xc_switch help, version;
};

/* Ends with an entry without a name; offsets are into struct xc_common. */
extern const struct xc_option xc_common_options[];

/* The settings when no option is given. */
struct xc_common xc_common_defaults(void);

void xc_common_fini(struct xc_common *common);

#endif
