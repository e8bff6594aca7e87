/* layer: batch */
/* Names as compilers write them: names of one function are equal, names of two functions differ. Mangled names are
 * symbols of programs built for this test with rustc 1.95 (both manglings); the others come from debug information,
 * linkers and Go's run-time. */
#include "batch/record/normalise.h"
#include "tests/unit/batch/record/same_names.h"

static const struct function rust[] = {
	{"<alloc::boxed::Box<T> as t::shop::Total>::total",
	 {"_ZN132_$LT$alloc..boxed..Box$LT$dyn$u20$core..error..Error$u2b$core..marker..Sync$u2b$core..marker..Send$GT$"
	  "$u20$as$u20$t..shop..Total$GT$5total17hb98659074708e9f0E",
	  "_RNvXsc_NtCsjMaewn57Afh_1t4shopINtNtCslNYArtu3iFV_5alloc5boxed3BoxDNtNtCsgEmfK2I1SDS_"
	  "4core5error5ErrorNtNtB16_6marker4SyncNtB1D_4SendEL_ENtB5_5Total5total"}},
	{"t::ünïcode", {"_ZN1t16_$ufc$n$uef$code17h3494f3244a3ba5d3E", "_RNvCsjMaewn57Afh_1tu11ncode_cta3g"}},
	{"t::cl", {"_ZN1t2cl17h81d26f3cd96a4dcbE", "_RNvCsjMaewn57Afh_1t2cl"}},
	{"t::cl::{closure}",
	 {"_ZN1t2cl28_$u7b$$u7b$closure$u7d$$u7d$17h742b964a2166305cE", "_RNCNvCsjMaewn57Afh_1t2cl0B3_"}},
	{"t::cl::{closure}::{closure}",
	 {"_ZN1t2cl28_$u7b$$u7b$closure$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$17hc7afb7b4404c8708E",
	  "_RNCNCNvCsjMaewn57Afh_1t2cl00B5_"}},
	{"t::cfn", {"_ZN1t3cfn17h9ecb4b9f2a996b27E", "_RNvCsjMaewn57Afh_1t3cfn"}},
	{"t::gen", {"_ZN1t3gen17h978485a638390beaE", "_RINvCsjMaewn57Afh_1t3genKj3_lEB2_"}},
	{"t::mac", {"_ZN1t3mac17h739d3b0d1efaf72cE", "_RNvCsjMaewn57Afh_1t3mac"}},
	{"t::cfn2", {"_ZN1t4cfn217h3745119a96817894E", "_RNvCsjMaewn57Afh_1t4cfn2"}},
	{"t::main", {"_ZN1t4main17hc89f1824c9b61e1dE", "_RNvCsjMaewn57Afh_1t4main"}},
	{"t::main::{closure}",
	 {"_ZN1t4main28_$u7b$$u7b$closure$u7d$$u7d$17h1bea430429780babE",
	  "_ZN1t4main28_$u7b$$u7b$closure$u7d$$u7d$17h62ba49645363ecf0E",
	  "_ZN1t4main28_$u7b$$u7b$closure$u7d$$u7d$17h7067081cc17fe6bbE"}},
	{"t::shop::Order<T>::map",
	 {"_ZN1t4shop14Order$LT$T$GT$3map17h56075667b22a3be7E",
	  "_RINvMNtCsjMaewn57Afh_1t4shopINtB3_5OrderhE3mapNCNvB5_4main0hEB5_"}},
	{"t::shop::Order<T>::take",
	 {"_ZN1t4shop14Order$LT$T$GT$4take17hed0daef807a0053dE", "_RNvMNtCsjMaewn57Afh_1t4shopINtB2_5OrderhE4takeB4_"}},
	{"t::shop::Order<T>::only",
	 {"_ZN1t4shop15Order$LT$u8$GT$4only17h419db1df2c584709E", "_RNvMs_NtCsjMaewn57Afh_1t4shopINtB4_5OrderhE4only"}},
	{"t::shop::Order<T>::only2",
	 {"_ZN1t4shop34Order$LT$alloc..string..String$GT$5only217hd2e16eb872b607daE",
	  "_RNvMs0_NtCsjMaewn57Afh_1t4shopINtB5_5OrderNtNtCslNYArtu3iFV_5alloc6string6StringE5only2"}},
	{"t::shop::Total::dflt", {"_ZN1t4shop5Total4dflt17hb8301d35bb52593dE"}},
	{"t::inner", {"_ZN1t5inner17h0ebfae5004a73081E", "_RNvCsjMaewn57Afh_1t5inner"}},
	{"t::inner::nested",
	 {"_ZN1t5inner6nested17h33e037002f416352E", "_ZN1t5inner6nested17h8d43de69b5ec2f29E",
	  "_RINvNvCsjMaewn57Afh_1t5inner6nestedhEB4_"}},
	{"<str as t::shop::Total>::total",
	 {"_ZN38_$LT$str$u20$as$u20$t..shop..Total$GT$5total17h0c51cc794fcac82cE",
	  "_RNvXs4_NtCsjMaewn57Afh_1t4shopeNtB5_5Total5total"}},
	{"<u32 as t::shop::Total>::total",
	 {"_ZN38_$LT$u32$u20$as$u20$t..shop..Total$GT$5total17hdb3a69dc5f76ac02E",
	  "_RNvXs2_NtCsjMaewn57Afh_1t4shopmNtB5_5Total5total"}},
	{"<&u8 as t::shop::Total>::total",
	 {"_ZN41_$LT$$RF$u8$u20$as$u20$t..shop..Total$GT$5total17hb3ec4296655fb396E",
	  "_RNvXs6_NtCsjMaewn57Afh_1t4shopRhNtB5_5Total5total"}},
	{"<t::A as core::fmt::Display>::fmt",
	 {"_ZN43_$LT$t..A$u20$as$u20$core..fmt..Display$GT$3fmt17h3789c2a8d7068a1aE",
	  "_RNvXs2_CsjMaewn57Afh_1tNtB5_1ANtNtCsgEmfK2I1SDS_4core3fmt7Display3fmt"}},
	{"<t::A as core::ops::arith::Add>::add",
	 {"_ZN46_$LT$t..A$u20$as$u20$core..ops..arith..Add$GT$3add17hdacd1e8777cd19b5E",
	  "_RNvXs_CsjMaewn57Afh_1tNtB4_1ANtNtNtCsgEmfK2I1SDS_4core3ops5arith3Add3add"}},
	{"<t::A as core::ops::drop::Drop>::drop",
	 {"_ZN46_$LT$t..A$u20$as$u20$core..ops..drop..Drop$GT$4drop17h9bd73fa2bd396c2cE",
	  "_RNvXCsjMaewn57Afh_1tNtB2_1ANtNtNtCsgEmfK2I1SDS_4core3ops4drop4Drop4drop"}},
	{"<[u16] as t::shop::Total>::total",
	 {"_ZN48_$LT$$u5b$u16$u5d$$u20$as$u20$t..shop..Total$GT$5total17hec1c662ba9e03a07E",
	  "_RNvXs3_NtCsjMaewn57Afh_1t4shopStNtB5_5Total5total"}},
	{"<*const T as t::shop::Total>::total",
	 {"_ZN50_$LT$$BP$const$u20$T$u20$as$u20$t..shop..Total$GT$5total17h9ca5ed45bff834d5E"}},
	{"<(u8,u16) as t::shop::Total>::total",
	 {"_ZN51_$LT$$LP$u8$C$u16$RP$$u20$as$u20$t..shop..Total$GT$5total17h8d814a7c3ecb5686E",
	  "_RNvXs5_NtCsjMaewn57Afh_1t4shopThtENtB5_5Total5total"}},
	{"<t::A as core::convert::From<T>>::from",
	 {"_ZN54_$LT$t..A$u20$as$u20$core..convert..From$LT$u8$GT$$GT$4from17hb4d0f6ae660b31fcE",
	  "_ZN55_$LT$t..A$u20$as$u20$core..convert..From$LT$u16$GT$$GT$4from17hc9172d9792f31909E",
	  "_RNvXs3_CsjMaewn57Afh_1tNtB5_1AINtNtCsgEmfK2I1SDS_4core7convert4FromhE4from"}},
	{"<[T; N] as t::shop::Total>::total",
	 {"_ZN57_$LT$$u5b$T$u3b$$u20$N$u5d$$u20$as$u20$t..shop..Total$GT$5total17hb2eead5440b7fd3fE"}},
	{"<t::A as core::ops::arith::Add<T>>::add",
	 {"_ZN57_$LT$t..A$u20$as$u20$core..ops..arith..Add$LT$i32$GT$$GT$3add17h193eac9033d1f6dcE",
	  "_RNvXs0_CsjMaewn57Afh_1tNtB5_1AINtNtNtCsgEmfK2I1SDS_4core3ops5arith3AddlE3add"}},
	{"<t::shop::Order<T> as t::shop::Total>::total",
	 {"_ZN58_$LT$t..shop..Order$LT$T$GT$$u20$as$u20$t..shop..Total$GT$5total17ha8997cee0011e78cE",
	  "_RNvXsb_NtCsjMaewn57Afh_1t4shopINtB5_5OrderhENtB5_5Total5totalB7_"}},
	{"<&mut [u8] as t::shop::Total>::total",
	 {"_ZN59_$LT$$RF$mut$u20$$u5b$u8$u5d$$u20$as$u20$t..shop..Total$GT$5total17h1e49dc927ab5213cE",
	  "_RNvXsd_NtCsjMaewn57Afh_1t4shopQShNtB5_5Total5total"}},
	{"<alloc::vec::Vec<T> as t::shop::Total>::total",
	 {"_ZN60_$LT$alloc..vec..Vec$LT$u8$GT$$u20$as$u20$t..shop..Total$GT$5total17h1bee1847c8875eafE",
	  "_RNvXs1_NtCsjMaewn57Afh_1t4shopINtNtCslNYArtu3iFV_5alloc3vec3VechENtB5_5Total5total"}},
	{"<t::A as core::ops::index::Index<T>>::index",
	 {"_ZN61_$LT$t..A$u20$as$u20$core..ops..index..Index$LT$usize$GT$$GT$5index17h4d782f45cc67ac1fE",
	  "_RNvXs1_CsjMaewn57Afh_1tNtB5_1AINtNtNtCsgEmfK2I1SDS_4core3ops5index5IndexjE5index"}},
	{"<t::A as core::iter::traits::iterator::Iterator>::next",
	 {"_ZN63_$LT$t..A$u20$as$u20$core..iter..traits..iterator..Iterator$GT$4next17hef45e218dbe0fd0bE",
	  "_RNvXs5_CsjMaewn57Afh_1tNtB5_1ANtNtNtNtCsgEmfK2I1SDS_4core4iter6traits8iterator8Iterator4next"}},
	{"<fn(u8) -> u8 as t::shop::Total>::total",
	 {"_ZN64_$LT$fn$LP$u8$RP$$u20$.$GT$$u20$u8$u20$as$u20$t..shop..Total$GT$5total17he65b0f016b62c1c4E",
	  "_RNvXs9_NtCsjMaewn57Afh_1t4shopFhEhNtB5_5Total5total"}},
	{"<t::A as core::iter::traits::iterator::Iterator>::map",
	 {"_RINvYNtCsjMaewn57Afh_1t1ANtNtNtNtCsgEmfK2I1SDS_4core4iter6traits8iterator8Iterator3maplNCNvB5_4mains4_"
	  "0EB5_"}},
	{"<t::main::{closure} as core::ops::function::FnOnce<T>>::call_once::{shim:vtable}",
	 {"_RNSNvYNCNvCsjMaewn57Afh_1t4mains_0INtNtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceThEE9call_once6vtableB8_"}},
	{"<t::A as core::iter::traits::collect::IntoIterator>::into_iter",
	 {"_RNvXNtNtNtCsgEmfK2I1SDS_4core4iter6traits7collectNtCsjMaewn57Afh_1t1ANtB2_12IntoIterator9into_iterBN_"}},
	{"<*const u8 as t::shop::Total>::total", {"_RNvXs7_NtCsjMaewn57Afh_1t4shopPhNtB5_5Total5totalB7_"}},
	{"<[u32; 3] as t::shop::Total>::total", {"_RNvXs8_NtCsjMaewn57Afh_1t4shopAmj3_NtB5_5Total5totalB7_"}},
	{"<dyn core::ops::function::Fn<T> as t::shop::Total>::total",
	 {"_RNvXsa_NtCsjMaewn57Afh_1t4shopDINtNtNtCsgEmfK2I1SDS_4core3ops8function2FnThEEp6OutputhEL_NtB5_"
	  "5Total5total"}},
	{"<alloc::vec::Vec<T> as t::shop::Total>::dflt",
	 {"_RNvYINtNtCslNYArtu3iFV_5alloc3vec3VechENtNtCsjMaewn57Afh_1t4shop5Total4dfltBF_"}},
	{"<t::main::{closure} as core::ops::function::FnOnce<T>>::call_once",
	 {"_RNvYNCNvCsjMaewn57Afh_1t4mains_0INtNtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceThEE9call_onceB6_"}},
};
/* From linkers, debug information, and other versions of compilers and their libraries. */
static const struct function written[] = {
	{"parse",
	 {"parse", "parse.part.0", "parse.isra.0", "parse.constprop.0", "parse.cold", "parse.llvm.1234567890"}},
	{"lex",
	 {"lex.constprop.0.isra.0", "lex.part.0.constprop.1", "lex.isra.0.cold", "lex.lto_priv.0", "lex.localalias.3",
	  "lex.cold.1"}},
	{"emit", {"emit.__uniq.184467440737095516", "emit.__uniq.12.llvm.34", "emit.specialized.1", "emit.0"}},
	{"work._omp_fn.0", {"work._omp_fn.0"}},
	{"work._omp_fn.1", {"work._omp_fn.1"}},
	{"memcpy",
	 {"memcpy", "memcpy@@GLIBC_2.14", "memcpy@GLIBC_2.2.5", "__memcpy_avx_unaligned_erms", "__GI_memcpy"}},
	{"memcpy@plt", {"memcpy@plt"}},
	{"free", {"free", "__libc_free", "__GI___libc_free", "cfree"}},
	{"raise", {"raise", "gsignal", "__GI_raise"}},
	{"__libc_start_main", {"__libc_start_main", "__libc_start_main@@GLIBC_2.34"}},
	{"_GLOBAL__sub_I_main", {"_GLOBAL__sub_I_main"}},
	{"shop::order",
	 {"shop::order", "shop::order(int)", "shop::order(int) [clone .cold]",
	  "shop::order(int) [clone .isra.0] [clone .part.1]", "shop::order(int) (.resume)",
	  "shop::order[abi:cxx11](int)"}},
	{"shop::order::{lambda}",
	 {"shop::order(int)::{lambda(int)#1}::operator()(int) const", "shop::order::<lambda(int)>::operator()",
	  "shop::order(int)::$_0::operator()(int) const", "shop::order(int)::'lambda'(int)::operator()(int) const",
	  "shop::order::{lambda}::operator()<int>"}},
	{"shop::order::{lambda}::_FUN",
	 {"shop::order(int)::{lambda(int)#1}::_FUN(int)", "shop::order::{lambda}::_FUN"}},
	{"shop::(anonymous namespace)::pack",
	 {"shop::(anonymous namespace)::pack(int)", "shop::{anonymous}::pack", "shop::<unnamed>::pack",
	  "shop::_GLOBAL__N_1::pack"}},
	{"shop::operator\"\" _kg",
	 {"shop::operator\"\" _kg(long double)", "shop::operator\"\"_kg", "_ZN4shopli3_kgEe"}},
	{"shop::Bag::operator std::basic_string<T>",
	 {"shop::Bag::operator std::__cxx11::basic_string<char>",
	  "shop::Bag::operator std::__1::basic_string<char>() const"}},
	{"shop::Bag::operator (anonymous namespace)::Box", {"shop::Bag::operator (anonymous namespace)::Box()"}},
	{"shop::Bag::operator auto", {"shop::Bag::operator auto() const"}},
	{"shop::Bag::operator co_await", {"shop::Bag::operator co_await()"}},
	{"operator new",
	 {"operator new(unsigned long)", "operator new(unsigned long, std::align_val_t)", "_Znwm",
	  "_ZnwmSt11align_val_t"}},
	{"operator new[]", {"operator new[](unsigned long)", "_Znam"}},
	{"operator delete", {"operator delete(void*, unsigned long)", "_ZdlPvm"}},
	{"shop::limits<T>::limits", {"shop::limits<int>::limits", "shop::limits<long>::limits()"}},
	{"shop::rate", {"TLS wrapper function for shop::rate", "TLS init function for shop::rate"}},
	{"std::vector<T>::at",
	 {"std::vector<int, std::allocator<int> >::at(unsigned long)", "std::__1::vector<int>::at",
	  "std::vector<bool>::at"}},
	{"std::chrono::steady_clock::now",
	 {"std::chrono::_V2::steady_clock::now()", "std::__1::chrono::steady_clock::now()"}},
	{"boost::asio::detail::scheduler::run", {"boost::asio::detail::scheduler::run(boost::system::error_code&)"}},
	{"boost::detail::function::functor_manager<T>::manage",
	 {"boost::detail::function::functor_manager<boost::_bi::bind_t<void, void (*)(int), "
	  "boost::_bi::list1<boost::arg<1> > > >::manage(boost::detail::function::function_buffer const&, "
	  "boost::detail::function::function_buffer&, boost::detail::function::functor_manager_operation_type)"}},
	{"boost::bind<T>",
	 {"boost::_bi::bind_t<void, boost::_mfi::mf1<void, X, int>, boost::_bi::list2<boost::_bi::value<X*>, "
	  "boost::arg<1> > > boost::bind<void, X, int, X*, boost::arg<1> >(void (X::*)(int), X*, boost::arg<1>)"}},
	{"ranges::sort_fn::operator()<T>",
	 {"auto ranges::sort_fn::operator()<int*, std::less<void> >(int*, int*, std::less<void>) const requires "
	  "(sortable<int*>)"}},
};

/* Of programs known to be Go's; with symbols, and without, where the function table omits type arguments. */
static const struct function go[] = {
	{"main.main", {"main.main"}},
	{"main.main.func1", {"main.main.func1"}},
	{"main.main.func2", {"main.main.func2"}},
	{"main.main.func1.1", {"main.main.func1.1"}},
	{"main.main.gowrap1", {"main.main.gowrap1"}},
	{"main.main.deferwrap1", {"main.main.deferwrap1"}},
	{"main.glob..func1", {"main.glob..func1"}},
	{"main.init", {"main.init"}},
	{"main.init.0", {"main.init.0"}},
	{"main.init.1", {"main.init.1"}},
	{"main.init.0.func1", {"main.init.0.func1"}},
	{"main.cold", {"main.cold"}},
	{"main.part", {"main.part"}},
	{"main.part.0", {"main.part.0"}},
	{"main.(*T).M", {"main.(*T).M", "main.(*T).M-fm"}},
	{"main.T.M", {"main.T.M", "main.T.M-fm"}},
	{"main.(*T).M.func1", {"main.(*T).M.func1"}},
	{"main.F<T>",
	 {"main.F[...]", "main.F[go.shape.int]", "main.F[go.shape.int_0]",
	  "main.F[go.shape.struct { main.a int; main.b []string }]"}},
	{"main.F<T>.func1", {"main.F[...].func1", "main.F[go.shape.string_0].func1"}},
	{"main.(*G<T>).Put",
	 {"main.(*G[...]).Put", "main.(*G[go.shape.int_0,go.shape.[]*main.T_1]).Put",
	  "main.(*G[go.shape.string,go.shape.int]).Put-fm"}},
	{"main.(*G<T>).Put.func2", {"main.(*G[...]).Put.func2", "main.(*G[go.shape.map[string]int]).Put.func2"}},
	{"main.G<T>.Len", {"main.G[...].Len", "main.G[go.shape.int].Len"}},
	{"runtime.raise", {"runtime.raise", "runtime.raise.abi0"}},
	{"runtime.memmove", {"runtime.memmove", "runtime.memmove.abiinternal"}},
	{"net/http.(*conn).serve", {"net/http.(*conn).serve"}},
	{"net/http.HandlerFunc.ServeHTTP", {"net/http.HandlerFunc.ServeHTTP"}},
	{"github.com/a/b.(*C).Do", {"github.com/a/b.(*C).Do"}},
	{"github.com/a/b.Do", {"github.com/a/b.Do"}},
	{"type..eq.main.T", {"type..eq.main.T"}},
};

static void functions_of_rust_are_one_in_both_manglings(void **state)
{
	(void)state;
	expect(xc_normalise_name, rust, XC_COUNT(rust));
}

static void functions_of_go_are_one_with_and_without_symbols(void **state)
{
	(void)state;
	expect(xc_normalise_go_name, go, XC_COUNT(go));
}

static void functions_are_one_however_they_are_written(void **state)
{
	(void)state;
	expect(xc_normalise_name, written, XC_COUNT(written));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_rust_are_one_in_both_manglings),
		cmocka_unit_test(functions_of_go_are_one_with_and_without_symbols),
		cmocka_unit_test(functions_are_one_however_they_are_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
