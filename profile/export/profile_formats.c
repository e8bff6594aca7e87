#include "profile/export/profile_formats.h"

#include <string.h>

#include "core/report/stacktree.h"
#include "profile/data/profile_file.h"
#include "profile/export/profile_firefox.h"
#include "profile/view/profile_page.h"
#include "profile/export/profile_pprof.h"
#include "profile/view/profile_tree.h"

const char *const xc_profile_kinds[] = {"folded", "svg", "speedscope", "pprof", "firefox", "html", "xprof", NULL};

static const struct {
	const char *kind, *end; /* of a file's name */
	struct xc_error *(*write)(const struct xc_profile_data *data, FILE *out);
} own[] = {
	{"html", ".html", xc_profile_page},
	{"pprof", ".pb.gz", xc_profile_pprof},
	{"firefox", ".firefox.json", xc_profile_firefox},
	{"xprof", ".xprof", xc_profile_file_write},
};

const char *xc_profile_kind_of(const char *file)
{
	for (size_t i = 0; i < XC_COUNT(own); i++)
		if (xc_ends_with(file, own[i].end))
			return own[i].kind;
	return xc_flame_kind_of(file);
}

bool xc_profile_is_binary(const char *kind)
{
	return strcmp(kind, "xprof") == 0 || xc_flame_is_binary(kind);
}

struct xc_error *xc_profile_write(const struct xc_profile_data *d, const char *kind, FILE *out)
{
	for (size_t i = 0; i < XC_COUNT(own); i++)
		if (strcmp(own[i].kind, kind) == 0)
			return own[i].write(d, out);
	struct xc_stacktree tree;
	xc_profile_tree(&tree, d);
	struct xc_error *err = xc_flame_write(&tree, kind, out);
	xc_stacktree_fini(&tree);
	return err;
}
