/* layer: dwarf tier: long */
/* The text of a value. Expected texts are gdb 13.1's, except where a comment says otherwise. */
#include "tests/support/compile_program.h"

static const char scalars[] =
	"#include <stdint.h>\n#include <wchar.h>\n#include <uchar.h>\n#include <complex.h>\n"
	"enum color {RED, GREEN, BLUE=7}; enum flag {FA=1,FB=2,FC=4,FD=0x10}; enum multi {MA=1,MB=6,MC=8};\n"
	"enum neg {N1=-1,N2=1}; enum zero {Z0, Z1, Z2}; enum huge {B0=0xffffffffffffffffULL};\n"
	"enum color e1=GREEN, e2=5; enum flag f0=0, f1=3, f2=8, f3=9; enum multi m1=7; enum neg n1=-1, n3=3;\n"
	"enum zero z3=3; enum huge b0=B0;\n"
	"float fl=1.1f; double db=1.1, dz=-0.0, dn, di=-__builtin_inf(), big=1e300, one=1; long double ld=1.1L;\n"
	"uint64_t nan_bits=0x7ff8000000000000; float _Complex fc=1+2*I; double _Complex dc=1-2*I;\n"
	"__int128 i128=-5; unsigned __int128 u128=((unsigned __int128)1<<100)+7;\n"
	"char c='A', cz=0, cm=-1, ce=27, cq='\\'', cb='\\\\', cn='\\n', cbell=7; int8_t i8=-3; uint8_t u8=200;\n"
	"wchar_t wc=L'x', we=0x20ac; char16_t c16=u'y'; char32_t c32=U'z';\n"
	"unsigned ui=4000000000u; long l=-1; unsigned long ul=-1; short sh=-2; long long ll=-9223372036854775807LL-1;\n"
	"_Bool bt=1, bf=0; _Bool bb[3]={1,0,1};\n";

static void expect_all(struct compiled *c, const char *const pairs[][2], size_t count)
{
	struct xc_format_options options = xc_format_defaults();
	options.symbols = false;
	for (size_t i = 0; i < count; i++) {
		struct xc_value value = value_of(c, pairs[i][0]);
		expect_text(&value, &options, pairs[i][0], pairs[i][1]);
	}
}

static const char *const scalar_texts[][2] = {
	{"e1", "GREEN"},
	{"e2", "5"},
	{"f0", "0"},
	{"f1", "(FA | FB)"},
	{"f2", "(unknown: 0x8)"},
	{"f3", "(FA | unknown: 0x8)"},
	{"m1", "7"},
	{"n1", "N1"},
	{"n3", "3"},
	{"z3", "(Z1 | Z2)"},
	{"b0", "B0"},
	{"fl", "1.10000002"},
	{"db", "1.1000000000000001"},
	{"dz", "-0"},
	{"di", "-inf"},
	{"big", "1.0000000000000001e+300"},
	{"one", "1"},
	{"ld", "1.10000000000000000002"},
	{"fc", "1 + 2i"},
	{"dc", "1 + -2i"},
	{"i128", "-5"},
	{"u128", "1267650600228229401496703205383"},
	{"c", "65 'A'"},
	{"cz", "0 '\\000'"},
	{"cm", "-1 '\\377'"},
	{"ce", "27 '\\033'"},
	{"cq", "39 '\\''"},
	{"cb", "92 '\\\\'"},
	{"cn", "10 '\\n'"},
	{"cbell", "7 '\\a'"},
	{"i8", "-3 '\\375'"},
	{"u8", "200 '\\310'"},
	{"wc", "120 L'x'"},
	{"we", "8364 L'\xe2\x82\xac'"},
	{"c16", "121 u'y'"},
	{"c32", "122 U'z'"},
	{"ui", "4000000000"},
	{"l", "-1"},
	{"ul", "18446744073709551615"},
	{"sh", "-2"},
	{"ll", "-9223372036854775808"},
	{"bt", "true"},
	{"bf", "false"},
	{"bb", "{true, false, true}"},
};

static void scalars_read_as_gdb_writes_them(void **state)
{
	(void)state;
	static const char *const compilers[] = {"gcc -g -gdwarf-5 -x c", "gcc -g -gdwarf-4 -x c", "clang -g -x c"};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct compiled *c = compile(compilers[i], scalars);
		expect_all(c, scalar_texts, XC_COUNT(scalar_texts));
		release(c);
	}
}

static void floats_of_gcc_have_all_their_digits(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -g -x c", "_Float16 h=1.5; __float128 q=1.1Q; double n=__builtin_nan(\"\");"
						    "float nf=-__builtin_nanf(\"\"); _Float16 tiny=5.9604645e-8;"
						    "union { unsigned long long bits[2]; long double number; }"
						    "pseudo_nan={{0x3fb2492492492492, 0x7fff}}, unnormal={{1, 0x4000}},"
						    "least={{1, 0}};");
	static const char *const texts[][2] = {{"h", "1.5"},
					       {"q", "1.10000000000000000000000000000000008"},
					       {"n", "nan(0x8000000000000)"},
					       {"nf", "-nan(0x400000)"},
					       {"tiny", "5.9605e-08"},
					       {"pseudo_nan", "{bits = {4589811391665874066, 32767}, number = <invalid "
							      "float value>}"},
					       {"unnormal", "{bits = {1, 16384}, number = <invalid float value>}"},
					       {"least", "{bits = {1, 0}, number = 3.64519953188247460253e-4951}"}};
	expect_all(c, texts, XC_COUNT(texts));
	release(c);
}

/* Encodings that only gcc has. gdb 13 does not know the type of complex integers. */
static void odd_numbers_of_gcc(void **state)
{
	(void)state;
	static const char source[] =
		"_Decimal32 a=9.999999E96DF, b=1E-101DF, c=0.000001234567DF, d=-0.DF, e=8388608.DF, f=0E5DF, "
		"inf=__builtin_infd32(), nd=__builtin_nand32(\"\");\n"
		"_Decimal64 g=9.999999999999999E384DD, h=0.0000001DD, i=-12.50DD, j=9007199254740993.DD;\n"
		"_Decimal128 k=9.999999999999999999999999999999999E6144DL, l=0.1DL, m=-1E-6176DL, "
		"n=123456789012345678901234567890.1234DL;\n"
		"unsigned wild=0x6cbfffff; int _Complex ci=3-4i; unsigned char _Complex cu=200+1i; long _Complex "
		"cl=-1+5i;\n"
		"typedef signed char v4 __attribute__((vector_size(4))); v4 vc={1,-2,65,0};\n"
		"_Float16 h1=65504, h2=0x1p-24f, h3=-0.1f; __float128 q=-1e4000Q, "
		"qn=__builtin_nanf128(\"0x123456789abcdef0123456\");\n";
	static const char *const texts[][2] = {
		{"a", "9.999999E+96"},
		{"b", "1E-101"},
		{"c", "0.000001234567"},
		{"d", "-0"},
		{"e", "8388608"},
		{"f", "0E+5"},
		{"inf", "Infinity"},
		{"nd", "NaN"},
		{"g", "9.999999999999999E+384"},
		{"h", "1E-7"},
		{"i", "-12.50"},
		{"j", "9007199254740993"},
		{"k", "9.999999999999999999999999999999999E+6144"},
		{"l", "0.1"},
		{"m", "-1E-6176"},
		{"n", "123456789012345678901234567890.1234"},
		{"ci", "3 + -4i"},
		{"cu", "<bytes c8 01>"} /* gcc names it __unknown__ */,
		{"cl", "<bytes ff ff ff ff ff ff ff ff 05 00 00 00 00 00 00 00>"},
		{"vc", "{1, -2, 65, 0}"},
		{"h1", "65504"},
		{"h2", "5.9605e-08"},
		{"h3", "-0.099976"},
		{"q", "-1.00000000000000000000000000000000004e+4000"},
		{"qn", "nan(0x800000123456789abcdef0123456)"},
	};
	struct compiled *c = compile("gcc -g -x c", source);
	expect_all(c, texts, XC_COUNT(texts));
	/* a coefficient with too many digits is 0 (IEEE 754-2019, 3.5.2) */
	struct xc_format_options options = xc_format_defaults();
	struct xc_value wild = value_of(c, "wild");
	wild.type = type_of(c, "a");
	expect_text(&wild, &options, "wild", "0");
	release(c);
}

/* Bytes after a NUL are data, unlike those of a char array, which are left over. */
static void arrays_of_bytes_hide_none(void **state)
{
	(void)state;
	struct compiled *c =
		compile("gcc -g -x c",
			"#include <stdint.h>\n"
			"unsigned char mac[3] = {0, 1, 2}, part[3] = {'a', 0, 200}, word[8] = \"hi\";\n"
			"uint8_t v4[4] = {192, 168, 0, 1}, id[6] = {'x', 0, 0, 7}; int8_t i8[3] = {-1, 0, 5};\n"
			"signed char sc[3] = {'x', 0, 'y'}; char buffer[4] = {'x', 0, 'y'};\n"
			"struct { unsigned char key[4]; char name[4]; } both = {{1, 0, 2, 0}, {'b', 0, 'c'}};\n");
	static const char *const texts[][2] = {{"mac", "\"\\000\\001\\002\""},
					       {"part", "\"a\\000\\310\""},
					       {"word", "\"hi\""},
					       {"v4", "\"\\300\\250\\000\\001\""},
					       {"id", "\"x\\000\\000\\007\\000\\000\""},
					       {"i8", "\"\\377\\000\\005\""},
					       {"sc", "\"x\\000y\""},
					       {"buffer", "\"x\"..."},
					       {"both", "{key = \"\\001\\000\\002\\000\", name = \"b\"...}"}};
	expect_all(c, texts, XC_COUNT(texts));
	release(c);
}

/* gcc 12 and clang 14 have no bfloat16, so its name is given to a half. */
static void the_name_tells_bfloat16(void **state)
{
	(void)state;
	struct compiled *c =
		compile("gcc -g -x c", "_Float16 half = 1; unsigned short bits[] = {0x3fc0, 0xff80, 0x7fc1};");
	struct xc_type brain = *type_of(c, "half");
	struct xc_format_options options = xc_format_defaults();
	struct xc_value value = value_of(c, "bits");
	brain.name = "__bf16";
	value.type = &brain;
	expect_text(&value, &options, "1.5", "1.5");
	value.addr += 2;
	expect_text(&value, &options, "-inf", "-inf");
	value.addr += 2;
	expect_text(&value, &options, "nan", "nan(0x41)");
	release(c);
}

static const char arrays[] =
	"#include <wchar.h>\n#include <uchar.h>\n"
	"char s32[32]=\"hi\", s4[4]=\"abcd\", s300[300]={[0 ... 298]='x'}, s0[8], semb[8]=\"a\\0b\";\n"
	"char srep[40]=\"aaaaaaaaaabbbbbbbbbbbccc\", binary[6]={1,2,0,'x',0,0}, garbage[12]=\"hi\\0\\1\\2xyz\";\n"
	"char utf[12]=\"h\\xc3\\xa9llo\", bad[8]=\"a\\x80\\xff\", many[20]={1,1,1,1,1,1,1,1,1,1,1,1,2,3,4,5,6,7,8,9};\n"
	"wchar_t ws[8]=L\"w\\u20acz\"; char16_t u16s[4]=u\"abc\"; unsigned char us[6]=\"uuu\";\n"
	"int ar[20]={1,2,3,3,3,3,3,3,3,3,3,3,3,3,7}, ten[12]={5,5,5,5,5,5,5,5,5,5,1}, "
	"eleven[12]={5,5,5,5,5,5,5,5,5,5,5,1};\n"
	"int m2d[3][4]={{1,2,3,4},{5}}; int a300[300]={[0 ... 299]=1,[0]=2,[2]=4}; int none[0]; char big[100000];\n"
	"char c2d[3][4]={\"ab\",\"cd\",\"\"}; typedef int v4 __attribute__((vector_size(16))); v4 vec={1,2,3,4};\n"
	"int seq[250]={0"
	",1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30};\n";

/* Unlike in gdb, a text ends at its NUL: the NULs are not written, and garbage after them is `...`. */
static const char *const array_texts[][2] = {
	{"s32", "\"hi\""},
	{"s4", "\"abcd\""},
	{"s300", "'x' <repeats 299 times>"},
	{"s0", "\"\""},
	{"semb", "\"a\"..."},
	{"srep", "\"aaaaaaaaaa\", 'b' <repeats 11 times>, \"ccc\""},
	{"binary", "\"\\001\\002\\000x\\000\\000\""},
	{"garbage", "\"hi\"..."},
	{"utf", "\"h\xc3\xa9llo\""},
	{"bad", "\"a\\200\\377\""},
	{"many", "'\\001' <repeats 12 times>, \"\\002\\003\\004\\005\\006\\007\\010\\t\""},
	{"ws", "L\"w\xe2\x82\xacz\""},
	{"u16s", "u\"abc\""},
	{"us", "\"uuu\""},
	{"ar", "{1, 2, 3 <repeats 12 times>, 7, 0, 0, 0, 0, 0}"},
	{"ten", "{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 1, 0}"},
	{"eleven", "{5 <repeats 11 times>, 1}"},
	{"m2d", "{{1, 2, 3, 4}, {5, 0, 0, 0}, {0, 0, 0, 0}}"},
	{"a300", "{2, 1, 4, 1 <repeats 297 times>}"},
	{"none", "{}"},
	{"big", "\"\""},
	{"c2d", "{\"ab\", \"cd\", \"\"}"},
	{"vec", "{1, 2, 3, 4}"},
};

static void arrays_fold_repeats_and_show_texts(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -g -x c", arrays);
	expect_all(c, array_texts, XC_COUNT(array_texts));
	release(c);
}

static void element_limit_ends_arrays_and_strings(void **state)
{
	(void)state;
	struct compiled *c =
		compile("gcc -g -x c", "int seq[5]={1,2,3,4,5}; char s[8]=\"abcdefg\"; char *p=\"abcdefg\";");
	struct xc_format_options options = {.depth = 3, .elements = 3, .length = 4096};
	struct xc_value value = value_of(c, "seq");
	expect_text(&value, &options, "seq", "{1, 2, 3...}");
	value = value_of(c, "s");
	expect_text(&value, &options, "s", "\"abc\"...");
	value = value_of(c, "p");
	struct xc_text text = {0};
	xc_format_value(&text, &value, &options);
	assert_non_null(strstr(xc_text_string(&text), " \"abc\"..."));
	xc_text_fini(&text);
	release(c);
}

static const char structs[] =
	"enum color {RED, GREEN, BLUE=7};\n"
	"struct in {int x; union {int i; float f;}; struct {short s1,s2;}; struct {int q;} named;} "
	"st={1,{2},{3,4},{5}};\n"
	"struct bf {unsigned a:3; int b:5; _Bool c:1; enum color d:3; unsigned long long e:40;}\n"
	"bfv={5,-3,1,BLUE,0x123456789aULL}; struct {} emp; struct in starr[12];\n"
	"struct __attribute__((packed)) odd {char pad; unsigned long long w:63; unsigned long long v:62;}\n"
	"oddv={1,0x5555555555555555ULL,0x3eadbeefdeadbeefULL};\n"
	"struct dd {struct {struct {struct {struct {int z;} d;} c;} b;} a;} deep;\n"
	"struct opaque; struct opaque *op; struct flex {int n; int d[];} fx={2,{3,4}};\n"
	"char *cbad=(char*)0x10, *cnull; char *strs[3]={0}; void *vp=(void*)0x1234; struct in *bad=(struct in*)0x20;\n";

static const char *const struct_texts[][2] = {
	{"st", "{x = 1, {i = 2, f = 2.80259693e-45}, {s1 = 3, s2 = 4}, named = {q = 5}}"},
	{"bfv", "{a = 5, b = -3, c = true, d = BLUE, e = 78187493530}"},
	{"oddv", "{pad = 1 '\\001', w = 6148914691236517205, v = 4516475938764865263}"},
	{"emp", "{<No data fields>}"},
	{"starr", "{{x = 0, {i = 0, f = 0}, {s1 = 0, s2 = 0}, named = {q = 0}} <repeats 12 times>}"},
	{"deep", "{a = {b = {c = {d = {...}}}}}"}, /* the default depth; gdb's is 20 */
	{"op", "0x0"},
	{"cnull", "0x0"},
	{"cbad", "0x10 <not mapped>"},
	{"vp", "0x1234"},
	{"bad", "0x20"},
	{"strs", "{0x0, 0x0, 0x0}"},
};

static void structs_show_their_members(void **state)
{
	(void)state;
	static const char *const compilers[] = {"gcc -g -gdwarf-5 -x c", "gcc -g -gdwarf-4 -gstrict-dwarf -x c",
						"gcc -g -gdwarf-2 -gstrict-dwarf -x c", "clang -g -gdwarf-4 -x c"};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct compiled *c = compile(compilers[i], structs);
		expect_all(c, struct_texts, XC_COUNT(struct_texts));
		release(c);
	}
}

static const char cxx[] =
	"namespace ns { enum Old {OA, OB=5}; enum class Color : unsigned char {RED=1, GREEN=2};\n"
	"struct Base {int b;}; struct Empty {}; struct Other {long o;};\n"
	"class Derived : public Base, public Empty, private Other {public: int d; static int shared; Color c;};\n"
	"template <class T, int N> struct Box {T items[N]; T *first;}; }\n"
	"ns::Derived der; ns::Box<int,3> box={{1,2,3},nullptr}; ns::Color col=ns::Color::GREEN, both=ns::Color(3);\n"
	"ns::Old old=ns::OB; int target=7; int &ref=target; ns::Base base={9}; const ns::Base &sref=base;\n"
	"int &&rref=static_cast<int&&>(target); bool yes=true; char8_t c8=u8'a'; char16_t c16=u'b'; wchar_t wc=L'c';\n"
	"int ns::Base::*mp=&ns::Base::b; int ns::Base::*mnull=nullptr; decltype(nullptr) np=nullptr;\n"
	"class Anon { union {int i; float f;}; int k; } anon;\n";

static void cxx_names_its_scopes(void **state)
{
	(void)state;
	static const char *const texts[][2] = {
		{"der",
		 "{<ns::Base> = {b = 0}, <ns::Empty> = {<No data fields>}, <ns::Other> = {o = 0}, d = 0, c = 0}"},
		{"box", "{items = {1, 2, 3}, first = 0x0}"},
		{"col", "ns::Color::GREEN"},
		{"both", "(ns::Color::RED | ns::Color::GREEN)"},
		{"old", "ns::OB"},
		{"yes", "true"},
		{"c8", "97 'a'"},
		{"c16", "98 u'b'"},
		{"wc", "99 L'c'"},
		{"mp", "&ns::Base::b"},
		{"mnull", "NULL"},
		{"np", "nullptr"},
		{"anon", "{{i = 0, f = 0}, k = 0}"},
	};
	static const char *const compilers[] = {"g++ -std=c++20 -g -x c++", "clang++ -std=c++20 -g -x c++"};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct compiled *c = compile(compilers[i], cxx);
		expect_all(c, texts, XC_COUNT(texts));
		release(c);
	}
}

static void pointers_to_members_have_names(void **state)
{
	(void)state;
	static const char members[] =
		"struct E {}; struct A { int a; virtual int f(); virtual int g(int); }; struct B { long b; virtual "
		"long h(); };\n"
		"struct D : E, A, B { int d; virtual int k(); }; struct F;\n"
		"int A::f() {return 1;} int A::g(int) {return 2;} long B::h() {return 3;} int D::k() {return 4;}\n"
		"int A::*pa=&A::a; int D::*pd=&D::d, D::*pda=&D::a; long D::*pdb=&D::b; int A::*none=nullptr;\n"
		"int (A::*vf)()=&A::f; int (A::*vg)(int)=&A::g; int (D::*vk)()=&D::k; int (D::*vdg)(int)=&D::g;\n"
		"long (D::*vh)()=&D::h; int (A::*fnone)()=nullptr; int F::*far=(int F::*)pa;\n"
		"extern \"C\" void *_ZTVN10__cxxabiv121__vmi_class_type_infoE=0;\n";
	static const char *const texts[][2] = {
		{"pa", "&A::a"},          {"pd", "&D::d"},         {"pda", "&A::a"},        {"pdb", "&B::b"},
		{"none", "NULL"},         {"vf", "&virtual A::f"}, {"vg", "&virtual A::g"}, {"vk", "&virtual D::k"},
		{"vdg", "&virtual A::g"}, {"vh", "&virtual B::h"}, {"fnone", "NULL"},
	};
	struct compiled *c = compile("g++ -g -fno-rtti -x c++", members);
	expect_all(c, texts, XC_COUNT(texts));
	release(c);
}

static void references_show_where_and_what(void **state)
{
	(void)state;
	struct compiled *c = compile("g++ -std=c++20 -g -x c++", cxx);
	struct xc_format_options options = {.depth = 3, .elements = 200, .length = 4096};
	struct xc_value target = value_of(c, "target"), base = value_of(c, "base"), value;
	char want[64];
	snprintf(want, sizeof want, "@0x%llx: 7", (unsigned long long)target.addr);
	value = value_of(c, "ref");
	expect_text(&value, &options, "ref", want);
	value = value_of(c, "rref");
	expect_text(&value, &options, "rref", want);
	snprintf(want, sizeof want, "@0x%llx: {b = 9}", (unsigned long long)base.addr);
	value = value_of(c, "sref");
	expect_text(&value, &options, "sref", want);
	release(c);
}

static void length_limit_closes_what_is_open(void **state)
{
	(void)state;
	struct compiled *c =
		compile("gcc -g -x c", "struct p {int a, b;} ps[100]={[0 ... 99]={1,2},[50]={3,4},[1]={5,6}};"
				       "int seq[6]={1111,2222,3333,4444,5555,6666};");
	struct xc_format_options options = {.depth = 3, .elements = 200, .length = 20};
	struct xc_value value = value_of(c, "ps");
	expect_text(&value, &options, "ps", "{{a = 1, b = 2}, {a = 5...}...}");
	options.length = 14;
	value = value_of(c, "seq");
	expect_text(&value, &options, "seq", "{1111, 2222, 3333...}");
	release(c);
}

static void what_is_missing_says_why(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -g -x c", structs);
	struct xc_format_options options = {.depth = 3, .elements = 200, .length = 4096};
	struct xc_value value = value_of(c, "st");
	value.addr = 0x10;
	expect_text(&value, &options, "st", "<0x10: not mapped>");
	struct xc_text text = {0};
	value = xc_value_absent(c->process, type_of(c, "cnull"), "optimized out");
	assert_false(xc_format_whole(&text, &value, &options));
	assert_string_equal(xc_text_string(&text), "optimized out");
	xc_text_fini(&text);
	release(c);
}

/* A struct with only its first member readable. */
static void half_a_struct_shows_the_half_that_is_there(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -g -x c", "struct p {int a; int b; char name[8];} v;");
	struct xc_value value = value_of(c, "v");
	struct xc_process *process = bare_process();
	static const uint8_t bytes[6] = {7, 0, 0, 0, 1, 2};
	struct xc_segment s = {.lo = 0x1000, .hi = 0x1005, .provenance = XC_FROM_CORE, .bytes = bytes};
	xc_space_add(process->space, &s);
	xc_space_seal(process->space);
	value.process = process;
	value.addr = 0x1000;
	struct xc_format_options options = xc_format_defaults();
	expect_text(&value, &options, "v", "{a = 7, b = <0x1006: not mapped>, name = <0x1008: not mapped>}");
	xc_process_close(process);
	release(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scalars_read_as_gdb_writes_them),
		cmocka_unit_test(floats_of_gcc_have_all_their_digits),
		cmocka_unit_test(odd_numbers_of_gcc),
		cmocka_unit_test(arrays_of_bytes_hide_none),
		cmocka_unit_test(the_name_tells_bfloat16),
		cmocka_unit_test(arrays_fold_repeats_and_show_texts),
		cmocka_unit_test(element_limit_ends_arrays_and_strings),
		cmocka_unit_test(structs_show_their_members),
		cmocka_unit_test(cxx_names_its_scopes),
		cmocka_unit_test(pointers_to_members_have_names),
		cmocka_unit_test(references_show_where_and_what),
		cmocka_unit_test(length_limit_closes_what_is_open),
		cmocka_unit_test(what_is_missing_says_why),
		cmocka_unit_test(half_a_struct_shows_the_half_that_is_there),
	};
	return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
