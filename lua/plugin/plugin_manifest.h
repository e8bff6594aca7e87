/* plugin_manifest: what a plugin says of itself, read from the table that its file returns. */
#ifndef XC_PLUGIN_MANIFEST_H
#define XC_PLUGIN_MANIFEST_H

#include "lua/plugin/plugin.h"

/* Run plugin->text in a state without a target, and fill name, about, doc, match, commands and flames. A name that is known before
 * must be the one in the table. Every key is checked: one that is unknown or of the wrong kind makes the plugin broken.
 * Errors: those of scripts, XC_ERR_LIMIT, XC_ERR_FORMAT for the table; the file is named. */
XC_MUST_CHECK struct xc_error *xc_manifest_read(struct xc_plugins *plugins, struct xc_plugin *plugin);

#endif
