/* error: a wrap prepends its text, so a message leads from the request to the cause. */
#include "core/base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *vformat(const char *format, va_list args)
{
	char *text = NULL;
	if (vasprintf(&text, format, args) < 0)
		return xc_strdup(format);
	return text;
}

static struct xc_error *make(enum xc_error_code code, char *message)
{
	struct xc_error *err = xc_alloc(sizeof *err);
	err->code = code;
	err->message = message;
	return err;
}

struct xc_error *xc_error_new(enum xc_error_code code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	struct xc_error *err = make(code, vformat(format, args));
	va_end(args);
	return err;
}

struct xc_error *xc_error_fault(xc_addr addr, const char *why)
{
	struct xc_error *err = make(XC_ERR_FAULT, xc_asprintf("0x%" PRIx64 ": %s", addr, why));
	err->addr = addr;
	return err;
}

static enum xc_error_code code_of_errno(int number)
{
	switch (number) {
	case EACCES:
	case EPERM:
		return XC_ERR_PERMISSION;
	case ENOMEM:
		return XC_ERR_LIMIT;
	case ENOENT:
	case ESRCH:
	case ENOTDIR:
		return XC_ERR_NOT_FOUND;
	default:
		return XC_ERR_IO;
	}
}

struct xc_error *xc_error_errno(int number, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	xc_auto(xc_freep) char *what = vformat(format, args);
	va_end(args);
	return make(code_of_errno(number), xc_asprintf("%s: %s", what, strerror(number)));
}

struct xc_error *xc_error_wrap(struct xc_error *err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	xc_auto(xc_freep) char *what = vformat(format, args);
	va_end(args);
	char *message = xc_asprintf("%s: %s", what, err->message);
	free(err->message);
	err->message = message;
	return err;
}

struct xc_error *xc_error_hint(struct xc_error *err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	free(err->hint);
	err->hint = vformat(format, args);
	va_end(args);
	return err;
}

struct xc_error *xc_error_lines(struct xc_error *err, const char *lines)
{
	free(err->lines);
	err->lines = xc_strdup(lines);
	return err;
}

void xc_error_free(struct xc_error *err)
{
	if (!err)
		return;
	free(err->message);
	free(err->hint);
	free(err->lines);
	free(err);
}

void xc_error_freep(struct xc_error **err)
{
	xc_error_free(*err);
}
