/* gopackage: a function is called PATH.NAME, where PATH is how its package is imported, a dot behind PATH's last slash is written
 * %2e (Go 1.19, cmd/internal/objabi/path.go), and NAME may hold other names, of types, in brackets:
 *
 *	strings.Repeat   net/http.(*conn).serve   go.uber.org/zap.New   gopkg.in/yaml%2ev2.Unmarshal   main.first[go.shape.int]
 *
 * The first element of a path tells: those of the library are few, and since modules came in, what is loaded from elsewhere has a dot in it.
 * A program's own module needs none ("shop/store"), so that the dot alone does not tell. */
#include "triage/go/gopackage.h"

#include <stddef.h>

/* `go list std` of Go 1.19, and what came with 1.21 (cmp, maps, slices), 1.23 (iter, structs, unique) and 1.24 (weak). */
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
