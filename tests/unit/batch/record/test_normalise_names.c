/* layer: batch */
/* Names as compilers write them: names of one function are equal, names of two functions differ. Mangled names are
 * symbols of programs built for this test with g++ 12 and clang++ 14 (-std=c++20, -O0 and -O2) and with rustc 1.95
 * (both manglings); the others come from debug information, linkers and Go's run-time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "batch/record/normalise.h"
#include "core/base/text.h"
#include "dwarf/elf/demangle.h"

enum { SPELLINGS = 6 };

/* A function and its normalised name. */
struct function {
	const char *name;
	const char *spellings[SPELLINGS];
};

static const struct function cxx[] = {
	{"app::operator_x", {"_ZN3app10operator_xEi"}},
	{"app::(anonymous namespace)::Hid::f", {"_ZN3app12_GLOBAL__N_13Hid1fEi"}},
	{"app::(anonymous namespace)::Hid::In::g", {"_ZN3app12_GLOBAL__N_13Hid2In1gEv"}},
	{"app::(anonymous namespace)::hid", {"_ZN3app12_GLOBAL__N_13hidEi"}},
	{"app::(anonymous namespace)::hidt<T>",
	 {"_ZN3app12_GLOBAL__N_14hidtINS0_3HidEEEiT_", "_ZN3app12_GLOBAL__N_14hidtIiEEiT_"}},
	{"app::dt", {"_ZN3app2dtEi"}},
	{"app::en<T>", {"_ZN3app2enILNS_1EE0EEEiv"}},
	{"app::fp<T>", {"_ZN3app2fpIXadL_Z4c_fnEEEEiv"}},
	{"app::tr<T>", {"_ZN3app2trIcEEDTplfp_Li1EET_", "_ZN3app2trIiEEDTplfp_Li1EET_"}},
	{"app::v2::versioned", {"_ZN3app2v29versionedEi"}},
	{"app::Der::f", {"_ZN3app3Der1fEi", "_ZTv0_n24_N3app3Der1fEi"}},
	{"app::Der::g", {"_ZN3app3Der1gEv"}},
	{"app::Der::Der", {"_ZN3app3DerC1Ev"}},
	{"app::Der::~Der", {"_ZN3app3DerD0Ev", "_ZTv0_n32_N3app3DerD0Ev"}},
	{"app::Key::Key", {"_ZN3app3KeyC1Ei"}},
	{"app::Key::~Key", {"_ZN3app3KeyD1Ev"}},
	{"app::Key::operator&", {"_ZN3app3KeyadEv"}},
	{"app::Key::operator,", {"_ZN3app3KeycmEi"}},
	{"app::Key::operator*", {"_ZN3app3KeydeEv"}},
	{"app::Key::operator delete", {"_ZN3app3KeydlEPv"}},
	{"app::Key::operator<<=", {"_ZN3app3KeylSEi"}},
	{"app::Key::operator<<<T>", {"_ZN3app3KeylsIiEERS0_RKSt6vectorIT_SaIS4_EE"}},
	{"app::Key::operator--", {"_ZN3app3KeymmEi"}},
	{"app::Key::operator new[]", {"_ZN3app3KeynaEm"}},
	{"app::Key::operator new", {"_ZN3app3KeynwEm"}},
	{"app::Key::operator->*", {"_ZN3app3KeypmEi"}},
	{"app::Key::operator++", {"_ZN3app3KeyppEv"}},
	{"app::Key::operator->", {"_ZN3app3KeyptEv"}},
	{"app::Key::operator>>=", {"_ZN3app3KeyrSEi"}},
	{"app::inv<T>", {"_ZN3app3invIiJiEEET_PFS1_DpT0_ES3_"}},
	{"app::val<T>", {"_ZN3app3valILb1EEEiv", "_ZN3app3valILc60EEEiv", "_ZN3app3valILi3EEEiv"}},
	{"app::Base::f", {"_ZN3app4Base1fEi"}},
	{"app::Base::Base", {"_ZN3app4BaseC1Ev"}},
	{"app::Base::~Base", {"_ZN3app4BaseD0Ev"}},
	{"app::Ring<T>::begin", {"_ZN3app4RingIiLi3EE5beginEv"}},
	{"app::call<T>",
	 {"_ZN3app4callINS_3KeyEEEiT_", "_ZN3app4callIPFiiEEEiT_", "_ZN3app4callIZ4mainEUlT_E0_EEiS1_"}},
	{"app::conc<T>", {"_ZN3app4concIiEEDaT_"}},
	{"app::many<T>", {"_ZN3app4manyISt6vectorJiSaIiEEEEiT_IJDpT0_EES5_"}},
	{"app::memf<T>", {"_ZN3app4memfINS_4RingIiLi3EEEiJiEEET0_MT_KFS3_DpT1_ERKS4_S6_"}},
	{"app::name", {"_ZN3app4nameB5cxx11Ei"}},
	{"app::Base2::g", {"_ZN3app5Base21gEv"}},
	{"app::Base2::Base2", {"_ZN3app5Base2C1Ev"}},
	{"app::Base2::~Base2", {"_ZN3app5Base2D0Ev"}},
	{"app::getfn", {"_ZN3app5getfnEi"}},
	{"app::local", {"_ZN3app5localEi"}},
	{"app::twice<T>", {"_ZN3app5twiceIiEET_S1_", "_ZN3app5twiceIlEET_S1_"}},
	{"app::getarr", {"_ZN3app6getarrEi"}},
	{"app::thrice<T>", {"_ZN3app6thriceIiEET_S1_"}},
	{"app::operators", {"_ZN3app9operatorsEi"}},
	{"app::with_lambda", {"_ZN3appL11with_lambdaEi"}},
	{"app::operator==", {"_ZN3appeqERKNS_4RingIiLi3EE2ItES4_"}},
	{"app::operator\"\" _km", {"_ZN3appli3_kmEe"}},
	{"__gnu_cxx::__ops::_Iter_pred<T>::_Iter_pred",
	 {"_ZN9__gnu_cxx5__ops10_Iter_predIZN3appL11with_lambdaEiEUliE1_EC1ES3_",
	  "_ZN9__gnu_cxx5__ops10_Iter_predIZN3appL11with_lambdaEiE3$_1EC2ES3_"}},
	{"__gnu_cxx::__ops::_Iter_pred<T>::operator()<T>",
	 {"_ZN9__gnu_cxx5__ops10_Iter_predIZN3appL11with_lambdaEiEUliE1_EclIPiEEbT_",
	  "_ZN9__gnu_cxx5__ops10_Iter_predIZN3appL11with_lambdaEiE3$_1EclIPiEEbT_"}},
	{"__gnu_cxx::__ops::__pred_iter<T>",
	 {"_ZN9__gnu_cxx5__ops11__pred_iterIZN3appL11with_lambdaEiEUliE1_EENS0_10_Iter_predIT_EES5_",
	  "_ZN9__gnu_cxx5__ops11__pred_iterIZN3appL11with_lambdaEiE3$_1EENS0_10_Iter_predIT_EES5_"}},
	{"__gnu_cxx::__ops::_Iter_comp_val<T>::operator()<T>",
	 {"_ZN9__gnu_cxx5__ops14_Iter_comp_valIZ4mainEUliiE4_EclINS_17__normal_iteratorIPiSt6vectorIiSaIiEEEEiEEbT_"
	  "RT0_",
	  "_ZN9__gnu_cxx5__ops14_Iter_comp_valIZ4mainE3$_5EclINS_17__normal_iteratorIPiSt6vectorIiSaIiEEEEiEEbT_RT0_"}},
	{"__gnu_cxx::__ops::_Val_comp_iter<T>::_Val_comp_iter",
	 {"_ZN9__gnu_cxx5__ops14_Val_comp_iterIZ4mainEUliiE4_EC1EONS0_15_Iter_comp_iterIS2_EE",
	  "_ZN9__gnu_cxx5__ops14_Val_comp_iterIZ4mainE3$_5EC2EONS0_15_Iter_comp_iterIS2_EE"}},
	{"__gnu_cxx::__ops::_Val_comp_iter<T>::operator()<T>",
	 {"_ZN9__gnu_cxx5__ops14_Val_comp_iterIZ4mainEUliiE4_EclIiNS_17__normal_iteratorIPiSt6vectorIiSaIiEEEEEEbRT_"
	  "T0_",
	  "_ZN9__gnu_cxx5__ops14_Val_comp_iterIZ4mainE3$_5EclIiNS_17__normal_iteratorIPiSt6vectorIiSaIiEEEEEEbRT_T0_"}},
	{"__gnu_cxx::__ops::_Iter_comp_iter<T>::_Iter_comp_iter",
	 {"_ZN9__gnu_cxx5__ops15_Iter_comp_iterIZ4mainEUliiE4_EC1ES2_",
	  "_ZN9__gnu_cxx5__ops15_Iter_comp_iterIZ4mainE3$_5EC2ES2_"}},
	{"__gnu_cxx::__ops::_Iter_comp_iter<T>::operator()<T>",
	 {"_ZN9__gnu_cxx5__ops15_Iter_comp_iterIZ4mainEUliiE4_EclINS_17__normal_iteratorIPiSt6vectorIiSaIiEEEESA_EEbT_"
	  "T0_",
	  "_ZN9__gnu_cxx5__ops15_Iter_comp_iterIZ4mainE3$_5EclINS_17__normal_iteratorIPiSt6vectorIiSaIiEEEESA_EEbT_"
	  "T0_"}},
	{"__gnu_cxx::__ops::__val_comp_iter<T>",
	 {"_ZN9__gnu_cxx5__ops15__val_comp_iterIZ4mainEUliiE4_EENS0_14_Val_comp_iterIT_EENS0_15_Iter_comp_iterIS4_EE",
	  "_ZN9__gnu_cxx5__ops15__val_comp_iterIZ4mainE3$_5EENS0_14_Val_comp_iterIT_EENS0_15_Iter_comp_iterIS4_EE"}},
	{"__gnu_cxx::__ops::__iter_comp_iter<T>",
	 {"_ZN9__gnu_cxx5__ops16__iter_comp_iterIZ4mainEUliiE4_EENS0_15_Iter_comp_iterIT_EES4_",
	  "_ZN9__gnu_cxx5__ops16__iter_comp_iterIZ4mainE3$_5EENS0_15_Iter_comp_iterIT_EES4_"}},
	{"app::global_lambda::{lambda}", {"_ZNK3app13global_lambdaMUliE_clEi"}},
	{"app::Tr<T>::call", {"_ZNK3app2TrIFiicEE4callEic"}},
	{"app::Der::m::{lambda}", {"_ZNK3app3Der1mMUlvE_clEv"}},
	{"app::Der::fn::{lambda}", {"_ZNK3app3Der2fnMUliE_clEi"}},
	{"app::Key::operator()", {"_ZNK3app3KeyclEi", "_ZNO3app3KeyclEv"}},
	{"app::Key::operator()<T>", {"_ZNK3app3KeyclIdEEiT_i"}},
	{"app::Key::operator~", {"_ZNK3app3KeycoEv"}},
	{"app::Key::operator std::basic_string<T>",
	 {"_ZNK3app3KeycvNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEv"}},
	{"app::Key::operator char const*", {"_ZNK3app3KeycvPKcEv"}},
	{"app::Key::operator double*<T>", {"_ZNK3app3KeycvPT_IdEEv"}},
	{"app::Key::operator std::vector<T>", {"_ZNK3app3KeycvSt6vectorIiSaIiEEEv"}},
	{"app::Key::operator bool", {"_ZNK3app3KeycvbEv"}},
	{"app::Key::operator int", {"_ZNK3app3KeycviEv"}},
	{"app::Key::operator==", {"_ZNK3app3KeyeqERKS0_"}},
	{"app::Key::operator>=", {"_ZNK3app3KeygeERKS0_"}},
	{"app::Key::operator>", {"_ZNK3app3KeygtERKS0_"}},
	{"app::Key::operator[]", {"_ZNK3app3KeyixEi"}},
	{"app::Key::operator<=", {"_ZNK3app3KeyleERKS0_"}},
	{"app::Key::operator<<", {"_ZNK3app3KeylsEi"}},
	{"app::Key::operator<", {"_ZNK3app3KeyltERKS0_"}},
	{"app::Key::operator<<T>", {"_ZNK3app3KeyltIiEEbRKSt6vectorIT_SaIS3_EE"}},
	{"app::Key::operator-", {"_ZNK3app3KeymiEi", "_ZNK3app3KeyngEv"}},
	{"app::Key::operator!", {"_ZNK3app3KeyntEv"}},
	{"app::Key::operator>>", {"_ZNK3app3KeyrsEi"}},
	{"app::Key::operator<=>", {"_ZNK3app3KeyssEi"}},
	{"app::Ring<T>::It::operator!=", {"_ZNK3app4RingIiLi3EE2ItneERKS2_"}},
	{"app::Ring<T>::conv<T>", {"_ZNK3app4RingIiLi3EE4convIdEET_S3_", "_ZNK3app4RingIiLi3EE4convIiEET_S3_"}},
	{"app::Ring<T>::at", {"_ZNKR3app4RingIiLi3EE2atEi", "_ZNR3app4RingIiLi3EE2atEi"}},
	{"std::__new_allocator<T>::_M_max_size",
	 {"_ZNKSt15__new_allocatorIN3app3KeyEE11_M_max_sizeEv",
	  "_ZNKSt15__new_allocatorINSt8__detail10_Hash_nodeISt4pairIKN3app3KeyEiELb0EEEE11_M_max_sizeEv"}},
	{"std::hash<T>::operator()",
	 {"_ZNKSt4hashIN3app3KeyEEclERKS1_", "_ZNKSt4hashIN3app3KeyEEclERKS1_.constprop.0.isra.0"}},
	{"std::less<T>::operator()", {"_ZNKSt4lessIN3app4BaseEEclERKS1_S4_"}},
	{"std::vector<T>::_M_check_len", {"_ZNKSt6vectorIN3app3KeyESaIS1_EE12_M_check_lenEmPKc"}},
	{"std::vector<T>::size", {"_ZNKSt6vectorIN3app3KeyESaIS1_EE4sizeEv"}},
	{"std::vector<T>::max_size", {"_ZNKSt6vectorIN3app3KeyESaIS1_EE8max_sizeEv"}},
	{"std::function<T>::operator()", {"_ZNKSt8functionIFiRKN3app4RingIiLi3EEEEEclES4_"}},
	{"std::optional<T>::value", {"_ZNRSt8optionalIN3app3KeyEE5valueEv"}},
	{"std::allocator<T>::allocator",
	 {"_ZNSaIN3app3KeyEEC1Ev", "_ZNSaINSt8__detail10_Hash_nodeISt4pairIKN3app3KeyEiELb0EEEEC1Ev"}},
	{"std::allocator<T>::~allocator",
	 {"_ZNSaIN3app3KeyEED1Ev", "_ZNSaINSt8__detail10_Hash_nodeISt4pairIKN3app3KeyEiELb0EEEED1Ev"}},
	{"std::_Head_base<T>::_M_head",
	 {"_ZNSt10_Head_baseILm0ERKN3app3KeyELb0EE7_M_headERS4_",
	  "_ZNSt10_Head_baseILm0EZ4mainEUlvE1_Lb0EE7_M_headERS1_",
	  "_ZNSt10_Head_baseILm0EZ4mainE3$_9Lb0EE7_M_headERS1_"}},
	{"std::__new_allocator<T>::deallocate",
	 {"_ZNSt15__new_allocatorIN3app3KeyEE10deallocateEPS1_m",
	  "_ZNSt15__new_allocatorINSt8__detail10_Hash_nodeISt4pairIKN3app3KeyEiELb0EEEE10deallocateEPS7_m"}},
	{"std::__new_allocator<T>::allocate",
	 {"_ZNSt15__new_allocatorIN3app3KeyEE8allocateEmPKv",
	  "_ZNSt15__new_allocatorINSt8__detail10_Hash_nodeISt4pairIKN3app3KeyEiELb0EEEE8allocateEmPKv"}},
	{"std::__new_allocator<T>::__new_allocator",
	 {"_ZNSt15__new_allocatorIN3app3KeyEEC1Ev",
	  "_ZNSt15__new_allocatorINSt8__detail10_Hash_nodeISt4pairIKN3app3KeyEiELb0EEEEC1Ev"}},
	{"std::pair<T>::~pair",
	 {"_ZNSt4pairIKN3app3KeyEiED1Ev",
	  "_ZNSt4pairIKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt6vectorIN3app3KeyESaIS9_EEED1Ev"}},
	{"std::thread::_Invoker<T>::operator()",
	 {"_ZNSt6thread8_InvokerISt5tupleIJZ4mainEUlvE1_EEEclEv",
	  "_ZNSt6thread8_InvokerISt5tupleIJZ4mainE3$_9EEEclEv"}},
	{"std::thread::thread<T>",
	 {"_ZNSt6threadC1IZ4mainEUlvE1_JEvEEOT_DpOT0_", "_ZNSt6threadC2IZ4mainEUlvE1_JEvEEOT_DpOT0_",
	  "_ZNSt6threadC2IZ4mainE3$_9JEvEEOT_DpOT0_"}},
	{"std::vector<T>::_S_max_size", {"_ZNSt6vectorIN3app3KeyESaIS1_EE11_S_max_sizeERKS2_"}},
	{"std::vector<T>::_S_relocate", {"_ZNSt6vectorIN3app3KeyESaIS1_EE11_S_relocateEPS1_S4_S4_RS2_"}},
	{"std::vector<T>::end", {"_ZNSt6vectorIN3app3KeyESaIS1_EE3endEv"}},
	{"std::vector<T>::back", {"_ZNSt6vectorIN3app3KeyESaIS1_EE4backEv"}},
	{"std::vector<T>::begin", {"_ZNSt6vectorIN3app3KeyESaIS1_EE5beginEv"}},
	{"std::vector<T>::vector", {"_ZNSt6vectorIN3app3KeyESaIS1_EEC1Ev"}},
	{"std::vector<T>::~vector", {"_ZNSt6vectorIN3app3KeyESaIS1_EED1Ev"}},
	{"std::function<T>::~function", {"_ZNSt8functionIFiRKN3app4RingIiLi3EEEEED1Ev"}},
	{"main::{lambda}",
	 {"_ZZ4mainENKUlOT_E3_clIRNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEEDaS0_",
	  "_ZZ4mainENKUlOT_E3_clIRiEEDaS0_", "_ZZ4mainENKUlRKT_E2_clIN3app4RingIiLi3EEEEEDaS1_"}},
	{"app::local::L::go", {"_ZZN3app5localEiEN1L2goEi"}},
	{"app::local::L::operator bool", {"_ZZN3app5localEiENK1LcvbEv"}},
	{"app::local::L::operator+", {"_ZZN3app5localEiENK1LplERKS0_"}},
	{"app::with_lambda::{lambda}",
	 {"_ZZN3appL11with_lambdaEiENKUliE1_clEi", "_ZZN3appL11with_lambdaEiENKUliE_clEi",
	  "_ZZN3appL11with_lambdaEiENUlvE0_clEv"}},
	{"app::with_lambda::{lambda}::{lambda}",
	 {"_ZZZN3appL11with_lambdaEiENKUliE_clEiENKUlT_E_clIdEEDaS1_",
	  "_ZZZN3appL11with_lambdaEiENKUliE_clEiENKUlT_E_clIiEEDaS1_",
	  "_ZZZN3appL11with_lambdaEiENK3$_0clEiENKUlT_E_clIdEEDaS1_"}},
	{"operator<<<T>", {"_ZlsIiERSt6vectorIT_SaIS1_EES4_S1_"}},
	{"operator<", {"_ZltRKN3app4RingIiLi3EEERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"}},
	{"__gnu_cxx::__ops::_Iter_comp_val<T>::_Iter_comp_val",
	 {"_ZN9__gnu_cxx5__ops14_Iter_comp_valIZ4mainE3$_5EC2EONS0_15_Iter_comp_iterIS2_EE"}},
};

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

typedef const char *normalise_fn(const char *name, struct xc_arena *arena);

/* As in records: demangled, if the name was mangled. */
static const char *name_of(normalise_fn *normalise, const char *spelling, struct xc_arena *arena)
{
	xc_auto(xc_freep) char *demangled = xc_demangle(spelling, true);
	return normalise(demangled ? demangled : spelling, arena);
}

static void expect_one(normalise_fn *normalise, const struct function *function, struct xc_arena *arena)
{
	for (size_t i = 0; i < SPELLINGS && function->spellings[i]; i++) {
		const char *got = name_of(normalise, function->spellings[i], arena);
		if (strcmp(got, function->name) != 0)
			fail_msg("%s\n became %s\n  wanted %s", function->spellings[i], got, function->name);
	}
	if (strcmp(normalise(function->name, arena), function->name) != 0)
		fail_msg("%s, when done again, is %s", function->name, normalise(function->name, arena));
}

static int by_name(const void *a, const void *b)
{
	const struct function *left = a, *right = b;
	return strcmp(left->name, right->name);
}

static void expect(normalise_fn *normalise, const struct function *functions, size_t count)
{
	struct xc_arena arena = {0};
	struct function *sorted = xc_arena_alloc(&arena, count * sizeof *sorted);
	memcpy(sorted, functions, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, by_name);
	for (size_t i = 0; i < count; i++) {
		expect_one(normalise, &sorted[i], &arena);
		if (i && !strcmp(sorted[i - 1].name, sorted[i].name))
			fail_msg("%s stands for two functions", sorted[i].name);
	}
	xc_arena_fini(&arena);
}

static void functions_of_cxx_are_one_by_two_compilers(void **state)
{
	(void)state;
	expect(xc_normalise_name, cxx, XC_COUNT(cxx));
}

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

/* Without parameters, as in debug information. */
static void functions_are_one_with_and_without_parameters(void **state)
{
	(void)state;
	struct xc_arena arena = {0};
	for (size_t i = 0; i < XC_COUNT(cxx); i++) {
		xc_auto(xc_freep) char *bare = xc_demangle(cxx[i].spellings[0], false);
		assert_non_null(bare);
		assert_string_equal(xc_normalise_name(bare, &arena), cxx[i].name);
	}
	xc_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_cxx_are_one_by_two_compilers),
		cmocka_unit_test(functions_of_rust_are_one_in_both_manglings),
		cmocka_unit_test(functions_of_go_are_one_with_and_without_symbols),
		cmocka_unit_test(functions_are_one_however_they_are_written),
		cmocka_unit_test(functions_are_one_with_and_without_parameters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
