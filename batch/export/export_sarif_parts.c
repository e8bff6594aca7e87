/* export_sarif_parts: messages and locations by the rules of SARIF. Messages are not plain text: brackets make links,
 * and braces are placeholders (3.11.5, 3.11.6). */
#include "batch/export/export_sarif_parts.h"

#include <string.h>

#include "core/text/jsonvalue.h"
#include "batch/export/export_cluster.h"

/* ---- texts ---- */

json_t *xc_sarif_message(struct xc_text *text)
{
	struct xc_text escaped = {0};
	for (const char *at = xc_text_string(text); *at; at++) {
		if (strchr("[]\\", *at))
			xc_text_char(&escaped, '\\');
		if (strchr("{}", *at))
			xc_text_char(&escaped, *at);
		xc_text_char(&escaped, *at);
	}
	xc_export_trim(&escaped);
	if (!escaped.bytes || !escaped.bytes[strspn(escaped.bytes, " ")])
		xc_text_char(&escaped, '?'); /* a message must not be empty */
	json_t *object = json_object();
	xc_jsonvalue_set(object, "text", xc_jsonvalue_text(xc_text_string(&escaped)));
	xc_text_fini(&escaped);
	xc_text_fini(text);
	return object;
}

json_t *xc_sarif_name(const char *string)
{
	struct xc_text text = {0};
	xc_export_name(&text, string);
	json_t *value = xc_jsonvalue_text(xc_text_string(&text));
	xc_text_fini(&text);
	return value;
}

json_t *xc_sarif_words(const char *string)
{
	struct xc_text text = {0};
	xc_export_name(&text, string);
	return xc_sarif_message(&text);
}

json_t *xc_sarif_plain(const char *string)
{
	json_t *object = json_object();
	xc_jsonvalue_set(object, "text", xc_jsonvalue_text(string));
	return object;
}

json_t *xc_sarif_list(json_t *only)
{
	json_t *array = json_array();
	json_array_append_new(array, only);
	return array;
}

/* ---- places ---- */

/* A URI reference. Characters that RFC 3986 does not allow in a path, and ':', which could end a scheme, become %XX. */
static json_t *uri(const char *before, const char *path)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/!$&'()*+,;=@";
	struct xc_text text = {0};
	xc_text_add(&text, before);
	for (; *path; path++)
		if (strchr(allowed, *path))
			xc_text_char(&text, *path);
		else
			xc_text_printf(&text, "%%%02X", (unsigned char)*path);
	json_t *value = xc_jsonvalue_text(xc_text_string(&text));
	xc_text_fini(&text);
	return value;
}

static json_t *artifact(const char *path, bool inside)
{
	json_t *object = json_object();
	xc_jsonvalue_set(object, "uri", uri(inside ? "" : "file://", path));
	if (inside)
		xc_jsonvalue_set(object, "uriBaseId", xc_jsonvalue_text("%SRCROOT%"));
	return object;
}

json_t *xc_sarif_physical(const char *path, unsigned line, bool inside)
{
	if (!path || (!inside && path[0] != '/'))
		return NULL;
	json_t *object = json_object(), *region = json_object();
	xc_jsonvalue_set(object, "artifactLocation", artifact(path, inside));
	xc_jsonvalue_set(region, "startLine", xc_jsonvalue_count(line));
	if (line)
		xc_jsonvalue_set(object, "region", region);
	else
		json_decref(region);
	return object;
}

json_t *xc_sarif_location(json_t *where, const char *function)
{
	json_t *object = json_object();
	if (where)
		xc_jsonvalue_set(object, "physicalLocation", where);
	if (!function)
		return object;
	json_t *logical = json_object();
	xc_jsonvalue_set(logical, "fullyQualifiedName", xc_sarif_name(function));
	xc_jsonvalue_set(logical, "kind", xc_jsonvalue_text("function"));
	xc_jsonvalue_set(object, "logicalLocations", xc_sarif_list(logical));
	return object;
}
