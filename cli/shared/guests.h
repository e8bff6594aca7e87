/* guests: the plugins that read the stacks of interpreted languages in the samples of a profile. */
#ifndef XC_CLI_GUESTS_H
#define XC_CLI_GUESTS_H

#include "cli/shared/plugins.h"
#include "lua/sample/plugin_guest.h"

struct xc_guests {
	struct xc_plugins plugins;
	struct xc_plugin_guest *guest; /* NULL: plugins are not wanted, or there are none */
};

/* Begin those that match the job's target. A plugin that fails is told by xc_guests_note. by: the dimension of a plugin
 * by which samples are to be told apart; borrowed; NULL: none. Errors: XC_ERR_USAGE, no plugin tells it. */
XC_MUST_CHECK struct xc_error *xc_guests_open(struct xc_guests *guests, struct xc_job *job, const char *by);
void xc_guests_fini(struct xc_guests *guests); /* also of zeroes */

/* For xc_profile_guests; NULL: nobody asks. */
struct xc_sample_guest *xc_guests_reader(const struct xc_guests *guests);

/* Failures: notes of the section, or, if it is NULL, messages. */
void xc_guests_note(const struct xc_guests *guests, struct xc_section *section);

#endif
