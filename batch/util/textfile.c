/* textfile: implements textfile.h. An opened file is examined through its descriptor, so that it cannot be replaced in
 * between. */
#include "batch/util/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_standard(const char *path)
{
	return !strcmp(path, "-");
}

/* The problem with a descriptor; NULL if there is none. */
static struct xc_error *check(int fd)
{
	struct stat st;
	if (fstat(fd, &st))
		return xc_error_errno(errno, "looking at it");
	if (S_ISDIR(st.st_mode))
		return xc_error_errno(EISDIR, "reading it");
	if (S_ISREG(st.st_mode))
		return NULL;
	return xc_error_hint(xc_error_new(XC_ERR_UNSUPPORTED, "not a regular file"),
			     "lists and journals can be piped: `-` reads standard input");
}

struct xc_error *xc_textfile_open(const char *path, FILE **file_out)
{
	if (is_standard(path)) {
		*file_out = stdin;
		return NULL;
	}
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct xc_error *err = fd < 0 ? xc_error_errno(errno, "%s", path) : NULL;
	if (!err && (err = check(fd)))
		err = xc_error_wrap(err, "%s", path);
	if (!err && !(*file_out = fdopen(fd, "r")))
		err = xc_error_errno(errno, "%s", path);
	if (err && fd >= 0)
		close(fd);
	return err;
}

void xc_textfile_close(FILE *file)
{
	if (file && file != stdin)
		fclose(file);
}

const char *xc_textfile_name(const char *path)
{
	return is_standard(path) ? "standard input" : path;
}
