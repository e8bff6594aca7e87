/* plugin_report: the reports of `xcore plugin`. */
#ifndef XC_PLUGIN_REPORT_H
#define XC_PLUGIN_REPORT_H

#include "core/report/report.h"
#include "lua/plugin/plugin.h"

/* A table of all plugins, with problems; reads every manifest. With a process it also shows which match, and why
 * not. */
void xc_plugin_report_list(struct xc_report *report, struct xc_plugins *plugins, const struct xc_process *process);

/* One plugin: its description, its commands with their usage, its flame graphs. */
void xc_plugin_report_doc(struct xc_report *report, const struct xc_plugin *plugin);

#endif
