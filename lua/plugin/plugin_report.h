/* plugin_report: what `xcore plugin` tells about what is installed. */
#ifndef XC_PLUGIN_REPORT_H
#define XC_PLUGIN_REPORT_H

#include "core/report/report.h"
#include "lua/plugin/plugin.h"

/* A table of all plugins, and what is wrong with some; reads every manifest. With a process also which are for it, and why not. */
void xc_plugin_report_list(struct xc_report *report, struct xc_plugins *plugins, const struct xc_process *process);

/* One plugin: what it says of itself, its commands with their usage, its flame graphs. */
void xc_plugin_report_doc(struct xc_report *report, const struct xc_plugin *plugin);

#endif
