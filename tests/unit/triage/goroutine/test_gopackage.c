/* layer: triage */
/* The owner of a Go function, by its name. */
#include "triage/goroutine/gopackage.h"
#include "tests/support/check.h"

static void the_library_is_known_by_the_first_element_of_its_path(void **state)
{
	(void)state;
	static const char *const names[] = {"strings.Repeat",
					    "net/http.(*conn).serve",
					    "sort.Slice.func1",
					    "sync.(*WaitGroup).Add",
					    "runtime.gopanic",
					    "runtime/debug.SetGCPercent",
					    "internal/bytealg.IndexByte.abi0",
					    "vendor/golang.org/x/net/idna.ToASCII",
					    "slices.SortFunc[go.shape.[]main.user,main.user]",
					    "sync/atomic.(*Pointer[example.com/shop.user]).Load",
					    "type..eq.main.key",
					    "type:.hash.main.key"};
	for (size_t i = 0; i < XC_COUNT(names); i++)
		if (!xc_gopackage_is_standard(names[i]))
			fail_msg("%s", names[i]);
}

static void what_others_wrote_is_not_the_library(void **state)
{
	(void)state;
	static const char *const names[] = {"main.work",
					    "main.(*queue).pop",
					    "main.first[net/http.Header]",
					    "main.(*cache[strings.Builder]).get",
					    "shop/store.Get",
					    "shop.Get",
					    "go.uber.org/zap.(*Logger).Info",
					    "log.example.com/text.New",
					    "github.com/pkg/errors.New",
					    "gopkg.in/yaml%2ev2.Unmarshal",
					    "go%2eexample%2ecom.New",
					    "stringsx.Repeat",
					    "string.Repeat",
					    "strings",
					    "memeqbody",
					    "give_up",
					    "",
					    ".",
					    "/",
					    "(strings.x)",
					    "[strings/x"};
	for (size_t i = 0; i < XC_COUNT(names); i++)
		if (xc_gopackage_is_standard(names[i]))
			fail_msg("%s", names[i]);
	assert_false(xc_gopackage_is_standard(NULL));
}

static void the_runtime_is_known(void **state)
{
	(void)state;
	assert_true(xc_gopackage_is_runtime("runtime.main"));
	assert_true(xc_gopackage_is_runtime("runtime/debug.Stack"));
	assert_false(xc_gopackage_is_runtime("runtimes.main"));
	assert_false(xc_gopackage_is_runtime("main.runtime.x"));
	assert_false(xc_gopackage_is_runtime(NULL));
}

static void files_without_a_root_are_known_by_their_folder(void **state)
{
	(void)state;
	assert_true(xc_gopackage_is_standard_file("strings/strings.go"));
	assert_true(xc_gopackage_is_standard_file("././internal/bytealg/equal_amd64.s"));
	assert_false(xc_gopackage_is_standard_file("/home/me/strings/strings.go"));
	assert_false(xc_gopackage_is_standard_file("./shop/store/store.go"));
	assert_false(xc_gopackage_is_standard_file("github.com/pkg/errors@v0.9.1/errors.go"));
	assert_false(xc_gopackage_is_standard_file("strings"));
	assert_false(xc_gopackage_is_standard_file(""));
	assert_false(xc_gopackage_is_standard_file("./"));
	assert_false(xc_gopackage_is_standard_file(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_library_is_known_by_the_first_element_of_its_path),
		cmocka_unit_test(what_others_wrote_is_not_the_library),
		cmocka_unit_test(the_runtime_is_known),
		cmocka_unit_test(files_without_a_root_are_known_by_their_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
