/* gopackage: a function has the name PATH.NAME. PATH is the import path of its package; a dot after its last slash is
 * written %2e (Go 1.19, cmd/internal/objabi/path.go). NAME may contain other names, of types, in brackets:
 *
 *	strings.Repeat   net/http.(*conn).serve   go.uber.org/zap.New   gopkg.in/yaml%2ev2.Unmarshal
 *	main.first[go.shape.int]
 *
 * The first element of the path decides. The library has few, and with modules the first element of a downloaded
 * package contains a dot. A program's own module needs none ("shop/store"), so the dot alone does not decide. */
#include "triage/goroutine/gopackage.h"

#include <stddef.h>

/* `go list std` of Go 1.19, and the additions of 1.21 (cmp, maps, slices), 1.23 (iter, structs, unique) and 1.24
 * (weak). */
static const char elements[] =
	"archive bufio builtin bytes cmp compress container context crypto database debug embed encoding "
	"errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path "
	"plugin reflect regexp runtime slices sort strconv strings structs sync syscall testing text time "
	"unicode unique unsafe vendor weak ";

static bool is_element(const char *text, size_t len)
{
	for (const char *at = elements; *at; at += strcspn(at, " ") + 1)
		if (strcspn(at, " ") == len && memcmp(at, text, len) == 0)
			return true;
	return false;
}

bool xc_gopackage_is_runtime(const char *function)
{
	return xc_gopackage_begins(function, "runtime.") || xc_gopackage_begins(function, "runtime/");
}

bool xc_gopackage_is_standard(const char *function)
{
	if (!function)
		return false;
	size_t plain = strcspn(function, "(["), first = strcspn(function, "/");
	if (first >= plain)
		first = strcspn(function, ".");
	if (first >= plain)
		return false;
	return is_element(function, first) || xc_gopackage_begins(function, "type..") ||
	       xc_gopackage_begins(function, "type:.");
}

bool xc_gopackage_is_standard_file(const char *file)
{
	while (xc_gopackage_begins(file, "./"))
		file += 2;
	size_t first = file ? strcspn(file, "/") : 0;
	return first && file[first] && is_element(file, first);
}
