/* layer: batch */
/* The rules that are built in: which frames of which modules they mean. */
#include <string.h>

#include "batch/signature/framerules.h"
#include "tests/unit/batch/signature/framed.h"

/* "go:log.Printf": the name of a frame in that language. */
static const char *in_language(const char *word)
{
	const char *colon = word ? strchr(word, ':') : NULL;
	bool told = colon && colon[1] != ':' && xc_language_named(word, (size_t)(colon - word), &language);
	language = told ? language : XC_LANGUAGE_UNKNOWN;
	return told ? colon + 1 : word;
}

static void names_that_any_program_may_use_are_meant_in_the_runtime_alone(void **state)
{
	(void)state;
	struct xc_framerules *rules = xc_framerules_builtin();
	assert_string_equal(found(rules, "abort", "libc.so.6", NULL), "RAISE abort");
	assert_string_equal(found(rules, "malloc", "ld-musl-x86_64.so.1", NULL), "SKIP-ABOVE malloc");
	static const char *const own[] = {"abort",        "free",        "exit",    "raise",      "malloc",
					  "handle_error", "memory_pool", "strip",   "freeze_ctx", "new_ctx",
					  "operatorish",  "do_assert",   "je_suis", "mi_handler"};
	for (size_t i = 0; i < XC_COUNT(own); i++)
		assert_string_equal(found(rules, own[i], "server", NULL), "- ");
	assert_string_equal(found(rules, "free", XC_FRAMES_LINKED_IN, NULL), "SKIP-ABOVE free");
	assert_string_equal(found(rules, "strip", XC_FRAMES_LINKED_IN, NULL), "- ");
	xc_framerules_free(rules);
}

static void the_runtimes_of_languages_are_known_by_name(void **state)
{
	(void)state;
	struct xc_framerules *rules = xc_framerules_builtin();
	static const struct {
		const char *name, *section;
	} known[] = {
		{"std::terminate", "SKIP-ABOVE"},
		{"__cxa_pure_virtual", "SKIP-ABOVE"},
		{"std::vector<T>::__throw_out_of_range", "SKIP-ABOVE"},
		{"std::__throw_bad_optional_access", "SKIP-ABOVE"},
		{"std::vector<T>::operator[]", "SKIP "},
		{"std::function<T>::operator()", "SKIP "},
		{"f::{lambda}::_FUN", "SKIP "},
		{"f::{lambda}::__invoke", "SKIP "},
		{"f::{lambda}", "-"},
		{"std::thread::_Invoker<T>::operator()", "STOP"},
		{"rust:core::panicking::panic_fmt", "SKIP-ABOVE"},
		{"rust:core::option::expect_failed", "SKIP-ABOVE"},
		{"std::panicking::begin_panic<T>", "SKIP-ABOVE"},
		{"std::panicking::catch_unwind::do_call<T>", "SKIP "},
		{"std::panicking::try", "SKIP "},
		{"std::sys::pal::unix::abort_internal", "SKIP-ABOVE"},
		{"rust:core::ops::function::FnOnce::call_once", "SKIP "},
		{"rust:core::ptr::drop_in_place<T>", "SKIP "},
		{"std::sys::backtrace::__rust_begin_short_backtrace", "STOP"},
		{"std::rt::lang_start", "STOP"},
		{"go:runtime.gopanic", "SKIP-ABOVE"},
		{"go:runtime.raise", "RAISE"},
		{"go:runtime.chansend1", "SKIP "},
		{"go:runtime.main", "STOP"},
		{"__asan_report_load8", "SKIP-ABOVE"},
		{"__interceptor_memcpy", "SKIP-ABOVE"},
		{"je_arena_malloc_hard", "SKIP-ABOVE"},
		{"main", "STOP"},
		{"_start", "STOP"},
		{"fuzzer::Fuzzer::ExecuteCallback", "STOP"},
		{"LLVMFuzzerTestOneInput", "-"},
		{"alloc::pool::give", "-"},
		{"core::reply", "-"},
		{"shop::main", "-"},
	};
	for (size_t i = 0; i < XC_COUNT(known); i++) {
		const char *got = found(rules, in_language(known[i].name), "server", NULL);
		if (strncmp(got, known[i].section, strlen(known[i].section)) != 0)
			fail_msg("%s: %s, wanted %s", known[i].name, got, known[i].section);
	}
	language = XC_LANGUAGE_UNKNOWN;
	xc_framerules_free(rules);
}

/* Rows of a frame with the section they belong to; "-" is kept. */
struct row {
	const char *name, *module, *path, *section;
};

static void expect(const struct row *rows, size_t count)
{
	struct xc_framerules *rules = xc_framerules_builtin();
	for (size_t i = 0; i < count; i++) {
		const char *got = found(rules, in_language(rows[i].name), rows[i].module, rows[i].path);
		if (strncmp(got, rows[i].section, strlen(rows[i].section)) != 0 || got[strlen(rows[i].section)] != ' ')
			fail_msg("%s of %s at %s: %s, wanted %s", rows[i].name, rows[i].module, rows[i].path, got,
				 rows[i].section);
	}
	language = XC_LANGUAGE_UNKNOWN;
	xc_framerules_free(rules);
}

#define EXPECT(...)                                                                                                    \
	do {                                                                                                           \
		static const struct row rows_[] = {__VA_ARGS__};                                                       \
		expect(rows_, XC_COUNT(rows_));                                                                        \
	} while (0)

static void packages_of_go_are_meant_in_go_alone(void **state)
{
	(void)state;
	EXPECT({"go:log.Printf", "server", NULL, "SKIP"}, {"go:net/http.(*conn).serve", "server", NULL, "SKIP"},
	       {"go:crypto/tls.Dial", "server", NULL, "SKIP"}, {"go:runtime.throw", "server", NULL, "SKIP-ABOVE"},
	       {"go:main.part", "server", NULL, "-"}, {"go:github.com/a/log.Print", "server", NULL, "-"},
	       {"log.write", "server", "/src/log.zig", "-"}, {"c++:net.x", "server", "/src/net.cc", "-"},
	       {"io.run", "server", NULL, "-"}, {"runtime.step", "server", NULL, "-"},
	       {"c++:runtime.raise", "server", NULL, "-"}, {"time.sleep", "server", NULL, "-"});
}

static void a_library_of_rust_has_both_the_type_and_the_trait(void **state)
{
	(void)state;
	EXPECT({"rust:<alloc::vec::Vec<T> as core::ops::Index<T>>::index", "server", NULL, "SKIP"},
	       {"rust:<core::iter::Map<T> as core::iter::Iterator>::fold", "server", NULL, "SKIP"},
	       {"rust:<usize as core::fmt::Display>::fmt", "server", NULL, "SKIP"},
	       {"rust:<T as core::convert::Into<T>>::into", "server", NULL, "SKIP"},
	       {"rust:<&dyn core::ops::Fn<T> + core::marker::Sync as core::ops::FnOnce<T>>::call_once", "server", NULL,
		"SKIP"},
	       {"rust:<alloc::vec::Vec<T> as shop::Total>::total", "server", NULL, "-"},
	       {"rust:<std::fs::File as app::Thing>::go", "server", "/src/app.rs", "-"},
	       {"rust:<core::option::Option<T> as app::Thing>::go", "server", NULL, "-"},
	       {"rust:<usize as app::Thing>::go", "server", NULL, "-"},
	       {"rust:<&app::M as core::ops::Add<T>>::add", "server", NULL, "-"},
	       {"rust:<app::M as core::ops::Drop>::drop", "server", NULL, "-"},
	       {"rust:app::<impl core::fmt::Debug for alloc::vec::Vec<T>>::fmt", "server", NULL, "-"},
	       {"rust:<fn() as core::ops::function::FnOnce<T>>::call_once", "server", NULL, "SKIP"},
	       {"rust:<app::main::{closure} as core::ops::function::FnMut<T>>::call_mut", "server", NULL, "SKIP"},
	       {"rust:<[T]>::sort_by<T>", "server", NULL, "SKIP"}, {"rust:usize::pow", "server", NULL, "SKIP"},
	       {"usize::pow", "server", NULL, "-"}, {"rust:core::mem::swap<T>", "server", NULL, "SKIP"},
	       {"c++:core::mem::Pool::give", "server", "/src/pool.cc", "-"},
	       {"core::option::parse_failed", "server", NULL, "-"}, {"alloc::rc::Pool::give", "server", NULL, "-"},
	       {"panic_abort::go", "server", NULL, "-"}, {"rust_panic_button", "server", NULL, "-"});
}

static void allocators_that_a_program_brings_are_its_own(void **state)
{
	(void)state;
	EXPECT({"__rust_alloc", "server", NULL, "SKIP"}, {"__rustc::__rust_alloc", "server", NULL, "SKIP"},
	       {"__rg_alloc", "server", NULL, "SKIP"}, {"__rdl_alloc", "server", NULL, "SKIP-ABOVE"},
	       {"rust:alloc::raw_vec::RawVec<T>::grow_one", "server", NULL, "SKIP"},
	       {"operator new", "server", NULL, "-"}, {"operator new", "libstdc++.so.6", NULL, "SKIP-ABOVE"},
	       {"PartitionAllocation::run", "server", NULL, "-"});
}

static void namespaces_and_folders_of_users_are_left_alone(void **state)
{
	(void)state;
	EXPECT({"strdup", "server", "/src/bits/strings.c", "-"},
	       {"memory_run", "server", "/usr/include/x86_64-linux-gnu/bits/x.h", "SKIP"},
	       {"memcpy", "server", "/usr/include/x86_64-linux-gnu/bits/string_fortified.h", "SKIP"},
	       {"memcpy", "server", "/opt/arm/usr/include/bits/string3.h", "SKIP"},
	       {"fuzzer::Fuzzer::ExecuteCallback", "fuzz", NULL, "STOP"}, {"fuzzer::RunOneTest", "fuzz", NULL, "STOP"},
	       {"fuzzer::TracePC::Run", "fuzz", "/b/compiler-rt/lib/fuzzer/FuzzerTracePC.cpp", "STOP"},
	       {"fuzzer::Pedal::press", "amp", "/src/pedal.cc", "-"},
	       {"fuzzer::Fuzzer::CrashCallback", "fuzz", NULL, "SKIP-ABOVE"},
	       {"__cxxabiv1::__terminate", "server", NULL, "SKIP-ABOVE"},
	       {"__cxxabiv1::__vmi_class_type_info::__do_dyncast", "server", NULL, "SKIP"},
	       {"__dynamic_cast", "server", NULL, "SKIP"}, {"__cxa_vec_ctor", "server", NULL, "SKIP"},
	       {"_Unwind_RaiseException", "server", NULL, "SKIP-ABOVE"}, {"_Unwind_Backtrace", "server", NULL, "SKIP"},
	       {"handle_error", "libX11-mine.so", NULL, "-"}, {"handle_error", "libX11.so.6", NULL, "SKIP-ABOVE"},
	       {"run", "libQtCoreless.so", NULL, "-"}, {"QEventDispatcherMine::run", "server", NULL, "-"},
	       {"QEventDispatcherGlib::processEvents", "libQt5Core.so.5", NULL, "STOP"},
	       {"go", "libc++mine.so", NULL, "-"}, {"go", "libunwinder.so.1", NULL, "-"});
}

static void what_users_specialise_of_a_library_is_theirs(void **state)
{
	(void)state;
	EXPECT({"c++:std::hash<T>::operator()", "server", "/src/key.h", "APP"},
	       {"c++:std::hash<T>::operator()", "server", "../src/key.cc", "APP"},
	       {"c++:std::swap<T>", "server", "key.h", "APP"}, {"c++:std::hash<T>::operator()", "server", NULL, "SKIP"},
	       {"std::hash<T>::operator()", "server", "/src/key.h", "SKIP"},
	       {"c++:std::hash<T>::operator()", "server", "/usr/include/c++/12/bits/functional_hash.h", "SKIP"},
	       {"c++:std::vector<T>::at", "server", "/usr/include/x86_64-linux-gnu/c++/12/bits/x.h", "SKIP"},
	       {"c++:std::vector<T>::at", "server", "/usr/lib/llvm-14/bin/../include/c++/v1/vector", "SKIP"},
	       {"c++:std::vector<T>::at", "server", "../../third_party/libc++/src/include/vector", "SKIP"},
	       {"c++:std::thread::join", "server", "../../../../../src/libstdc++-v3/src/c++11/thread.cc", "SKIP"},
	       {"c++:std::thread::join", "libstdc++.so.6", "/build/thread.cc", "SKIP"},
	       {"c++:std::terminate", "server", "/build/eh_terminate.cc", "SKIP-ABOVE"},
	       {"c++:std::__throw_bad_alloc", "server", "/build/functexcept.cc", "SKIP-ABOVE"},
	       {"c++:std::thread::_Invoker<T>::operator()", "server", "/src/thread.h", "STOP"},
	       {"rust:std::fs::read", "server", "/src/library/std/src/fs.rs", "SKIP"});
}

/* Every rule for the end, the helpers and the start of programs, with the modules it applies to. */
static void what_ends_programs_goes(void **state)
{
	(void)state;
	static const char *const raising[] = {
		"raise", "pthread_kill", "__pthread_kill_implementation", "__pthread_kill_internal", "tgkill",
		"kill",  "abort"};
	static const char *const ending[] = {"__libc_fatal",
					     "__libc_message",
					     "__assert_fail",
					     "__assert_fail_base",
					     "__assert_perror_fail",
					     "__fortify_fail",
					     "__chk_fail",
					     "__sprintf_chk",
					     "__stack_chk_fail",
					     "malloc_printerr",
					     "__malloc_assert",
					     "_int_malloc",
					     "_int_free",
					     "_int_realloc",
					     "_int_memalign",
					     "malloc_consolidate",
					     "unlink_chunk",
					     "sysmalloc",
					     "tcache_get",
					     "malloc",
					     "free",
					     "calloc",
					     "realloc",
					     "reallocarray",
					     "memalign",
					     "aligned_alloc",
					     "posix_memalign",
					     "valloc",
					     "pvalloc",
					     "__restore_rt",
					     "__kernel_rt_sigreturn"};
	struct xc_framerules *rules = xc_framerules_builtin();
	for (size_t i = 0; i < XC_COUNT(raising); i++)
		assert_int_equal(strncmp(found(rules, raising[i], "libc.so.6", NULL), "RAISE ", 6), 0);
	for (size_t i = 0; i < XC_COUNT(ending); i++)
		if (strncmp(found(rules, ending[i], "libc.so.6", NULL), "SKIP-ABOVE ", 11) != 0)
			fail_msg("%s", ending[i]);
	xc_framerules_free(rules);
	EXPECT({"__verbose_terminate_handler", "libstdc++.so.6", NULL, "SKIP"},
	       {"__gnu_cxx::__verbose_terminate_handler", "libstdc++.so.6", NULL, "SKIP-ABOVE"},
	       {"__cxa_rethrow", "libstdc++.so.6", NULL, "SKIP-ABOVE"},
	       {"__cxa_deleted_virtual", "server", NULL, "SKIP-ABOVE"},
	       {"__cxa_bad_cast", "server", NULL, "SKIP-ABOVE"}, {"__cxa_bad_typeid", "server", NULL, "SKIP-ABOVE"},
	       {"__cxa_call_unexpected", "server", NULL, "SKIP-ABOVE"},
	       {"__gxx_personality_v0", "server", NULL, "SKIP-ABOVE"},
	       {"_Unwind_Resume", "libgcc_s.so.1", NULL, "SKIP-ABOVE"},
	       {"std::__throw_bad_alloc", "server", NULL, "SKIP-ABOVE"},
	       {"std::__glibcxx_assert_fail", "server", NULL, "SKIP-ABOVE"},
	       {"std::__libcpp_verbose_abort", "server", NULL, "SKIP-ABOVE"},
	       {"abort_message", "libc++abi.so.1", NULL, "SKIP-ABOVE"},
	       {"demangling_terminate_handler", "libc++abi.so.1", NULL, "SKIP-ABOVE"},
	       {"abort_message", "server", NULL, "-"}, {"g_log", "libglib-2.0.so.0", NULL, "SKIP-ABOVE"},
	       {"g_logv", "libglib-2.0.so.0", NULL, "SKIP-ABOVE"},
	       {"_g_log_abort", "libglib-2.0.so.0", NULL, "SKIP-ABOVE"},
	       {"g_assertion_message_expr", "libglib-2.0.so.0", NULL, "SKIP-ABOVE"}, {"g_log", "server", NULL, "-"},
	       {"QMessageLogger::fatal", "libQt6Core.so.6", NULL, "SKIP-ABOVE"},
	       {"qt_message_output", "libQt5Core.so.5", NULL, "SKIP-ABOVE"},
	       {"_XError", "libX11.so.6", NULL, "SKIP-ABOVE"}, {"_XIOError", "libX11.so.6", NULL, "SKIP-ABOVE"},
	       {"__asan::ReportGenericError", "server", NULL, "SKIP-ABOVE"},
	       {"__ubsan_handle_add_overflow_abort", "server", NULL, "SKIP-ABOVE"},
	       {"__tsan_read8", "server", NULL, "SKIP-ABOVE"}, {"tc_malloc", "server", NULL, "SKIP-ABOVE"},
	       {"mi_free", "server", NULL, "SKIP-ABOVE"}, {"scudo::die", "server", NULL, "SKIP-ABOVE"},
	       {"go:runtime.fatalpanic", "server", NULL, "SKIP-ABOVE"},
	       {"go:runtime.panicmem", "server", NULL, "SKIP-ABOVE"},
	       {"go:runtime.dieFromSignal", "server", NULL, "RAISE"});
}

static void helpers_and_start_up_code_go(void **state)
{
	(void)state;
	EXPECT({"memcpy", "libc.so.6", NULL, "SKIP"}, {"wcslen", "libc.so.6", NULL, "SKIP"},
	       {"__vfprintf_internal", "libc.so.6", NULL, "SKIP"}, {"qsort", "libc.so.6", NULL, "SKIP"},
	       {"bsearch", "libc.so.6", NULL, "SKIP"}, {"std::__invoke<T>", "server", NULL, "SKIP"},
	       {"std::unique_ptr<T>::operator->", "server", NULL, "SKIP"}, {"parse@plt", "server", NULL, "SKIP"},
	       {"rust:core::ptr::drop_in_place<T>", "server", NULL, "SKIP"}, {"exit", "libc.so.6", NULL, "SKIP"},
	       {"__run_exit_handlers", "libc.so.6", NULL, "SKIP"},
	       {"__libc_start_call_main", "libc.so.6", NULL, "STOP"}, {"__libc_start_main", "libc.so.6", NULL, "STOP"},
	       {"_start", "server", NULL, "STOP"}, {"__libc_csu_init", "server", NULL, "STOP"},
	       {"start_thread", "libc.so.6", NULL, "STOP"}, {"start_thread", "libpthread-2.31.so", NULL, "STOP"},
	       {"start_thread", "server", NULL, "-"}, {"start", "server", NULL, "-"}, {"start", "libc.a", NULL, "STOP"},
	       {NULL, "libglib-2.0.so.0", NULL, "SKIP"}, {"parse", "libglib-2.0.so.0", NULL, "-"},
	       {"clone", "libc.so.6", NULL, "STOP"}, {"clone3", "libc.so.6", NULL, "STOP"},
	       {"std::rt::lang_start_internal", "server", NULL, "STOP"},
	       {"std::thread::_Invoker<T>::operator()", "server", NULL, "STOP"},
	       {"execute_native_thread_routine", "libstdc++.so.6", NULL, "STOP"},
	       {"__rust_begin_short_backtrace", "server", NULL, "STOP"},
	       {"g_main_loop_run", "libglib-2.0.so.0", NULL, "STOP"},
	       {"g_main_context_dispatch", "libglib-2.0.so.0", NULL, "STOP"},
	       {"QEventLoop::exec", "libQt5Core.so.5", NULL, "STOP"}, {"main", "server", NULL, "STOP"});
}

/* MyISAM's, and others that only begin like an allocator's or a sanitizer's. */
static void names_like_those_of_allocators_are_the_programs(void **state)
{
	(void)state;
	EXPECT({"_mi_search", "mariadbd", NULL, "-"},
	       {"_mi_ck_write", "mariadbd", "/src/storage/myisam/mi_write.c", "-"},
	       {"_mi_write_blob_record", "mariadbd", NULL, "-"}, {"mi_new", "app", NULL, "-"},
	       {"je_free_list", "app", NULL, "-"}, {"je_mallocator", "app", NULL, "-"},
	       {"je_arena_of", "app", NULL, "-"}, {"je_extent", "app", NULL, "-"},
	       {"tcmalloc::Report::send", "app", NULL, "-"}, {"mimalloc::Stats::show", "app", NULL, "-"},
	       {"__sanitizer_cov_trace_pc_guard", "app", NULL, "-"}, {"__sanitizers", "app", NULL, "-"},
	       {"_mi_search", "libmimalloc.so.2", NULL, "SKIP-ABOVE"},
	       {"je_free_list", "libjemalloc.so.2", NULL, "SKIP-ABOVE"},
	       {"_mi_arena_free", "app", "/b/mimalloc-2.1.7/src/arena.c", "SKIP-ABOVE"},
	       {"je_extent_recycle", "redis", "/r/deps/jemalloc/src/extent.c", "SKIP-ABOVE"},
	       {"tcmalloc::Static::InitStaticVars", "app", "/b/gperftools-2.15/src/static_vars.cc", "SKIP-ABOVE"},
	       {"main", "app", "/home/me/jemalloc/src/main.c", "STOP"},
	       {"_mi_malloc_generic", "app", NULL, "SKIP-ABOVE"}, {"mi_realloc", "app", NULL, "SKIP-ABOVE"},
	       {"je_sdallocx", "app", NULL, "SKIP-ABOVE"},
	       {"tcmalloc::ThreadCache::Scavenge", "app", NULL, "SKIP-ABOVE"},
	       {"__sanitizer::Die", "app", NULL, "SKIP-ABOVE"}, {"__sanitizer_ptr_cmp", "app", NULL, "SKIP-ABOVE"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_any_program_may_use_are_meant_in_the_runtime_alone),
		cmocka_unit_test(the_runtimes_of_languages_are_known_by_name),
		cmocka_unit_test(packages_of_go_are_meant_in_go_alone),
		cmocka_unit_test(a_library_of_rust_has_both_the_type_and_the_trait),
		cmocka_unit_test(allocators_that_a_program_brings_are_its_own),
		cmocka_unit_test(namespaces_and_folders_of_users_are_left_alone),
		cmocka_unit_test(what_users_specialise_of_a_library_is_theirs),
		cmocka_unit_test(what_ends_programs_goes),
		cmocka_unit_test(helpers_and_start_up_code_go),
		cmocka_unit_test(names_like_those_of_allocators_are_the_programs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
