/* layer: core */
#include <time.h>

#include "tests/support/check.h"

#include "core/report/scrub.h"

static struct xc_scrub scrub;

static int forget(void **state)
{
	(void)state;
	xc_scrub_fini(&scrub);
	scrub = (struct xc_scrub){0};
	return 0;
}

static void check(const char *text, bool code, const char *wanted)
{
	struct xc_text out = {0};
	xc_text_add(&out, ">");
	bool hides = xc_scrub_text(&scrub, text, code, &out);
	assert_string_equal(xc_text_string(&out) + 1, hides ? wanted : "");
	if (!hides)
		assert_string_equal(text, wanted);
	xc_text_fini(&out);
}

static void hides(const char *text, const char *wanted)
{
	check(text, false, wanted);
}

static void stays(const char *text)
{
	check(text, false, text);
}

static void a_value_goes_where_its_name_speaks_of_a_secret(void **state)
{
	(void)state;
	hides("token=k3yhole", "token=(redacted)");
	hides("curl --api-key=abc next", "curl --api-key=(redacted) next");
	hides("DB_PASSWORD='a b' x", "DB_PASSWORD=(redacted) x");
	hides("DB_PASSWORD='open", "DB_PASSWORD=(redacted)");
	hides("{\"secret\":\"a\",\"id\":1}", "{\"secret\":(redacted),\"id\":1}");
	hides("a?AUTH=1&b=2", "a?AUTH=(redacted)&b=2");
	hides("password: open", "password: (redacted)");
	hides("X-Api-Key: 17", "X-Api-Key: (redacted)");
	hides("Set-Cookie: a=b; c=d\nnext: 1", "Set-Cookie: (redacted)\nnext: 1");
	hides("Authorization: Digest x, y", "Authorization: (redacted)");
}

static void a_value_may_stand_behind_blanks_and_have_quotes(void **state)
{
	(void)state;
	hides("password = hunter2", "password = (redacted)");
	hides("{\"password\" : \"x\"}", "{\"password\" : (redacted)}");
	hides("API_TOKEN= x y", "API_TOKEN= (redacted) y");
	hides("password=\"a\\\"hunter2\" z", "password=(redacted) z");
	hides("password=\"a\\", "password=(redacted)");
	hides("run --password x --api-key 'a b' c", "run --password (redacted) --api-key (redacted) c");
	hides("pwd=x", "pwd=(redacted)");
	hides("Bearer abcdefghijkl", "Bearer (redacted)");
	stays("PWD=/srv, the key = 3, --token --next, key <= token, --password");
	hides("ftp://joe:pa/ss@h/x@y", "ftp://(redacted)@h/x@y");
	hides("ftp://joe:p@ss@h", "ftp://(redacted)@h");
	hides("ftp://joe:17@h", "ftp://(redacted)@h");
	stays("http://host:8080/joe@x http://[::1]/joe@x ://@x");
}

static void what_only_looks_so_stays(void **state)
{
	(void)state;
	stays("the assertion `key == token` did not hold");
	stays("key==3, secret!=4, cred<=5, pass>=6");
	stays("protection key: 3");
	stays("std::auth::token::next");
	stays("token=(redacted)");
	stays("token=<optimized out>");
	stays("token=");
	stays("=, :, name=value");
	stays("https://host/path?x=1");
	stays("");
	check("token=next(); password: x", true, "token=next(); password: x");
}

static void credentials_and_keys_are_known_by_their_shape(void **state)
{
	(void)state;
	hides("Bearer mF_9.B5f-4.1JqM!", "Bearer (redacted)!");
	hides("basic am9lOm9wZW4=", "basic (redacted)");
	stays("Basic functionality");
	stays("a Bearer of arms");
	hides("https://joe:x@host/a", "https://(redacted)@host/a");
	hides("ftp://joe@host", "ftp://(redacted)@host");
	stays("mail joe@host");
	stays("https://host/joe@x");
	hides("AKIAIOSFODNN7EXAMPLE.", "(redacted).");
	stays("NAKIAIOSFODNN7EXAMPLE AKIA1");
	hides("ghp_0123456789012345678901234567890123456789 x", "(redacted) x");
	hides("xoxb-1234567890-abc", "(redacted)");
	hides("eyJhbGciOi.eyJzdWIi.SflKxw_-RJ end", "(redacted) end");
	stays("eyJhbGciOi.x.y");
	hides("a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b", "a (redacted) b");
	hides("-----BEGIN PRIVATE KEY-----\nMIIE", "(redacted)");
	check("key = \"AKIAIOSFODNN7EXAMPLE\"", true, "key = \"(redacted)\"");
}

static void home_directories_become_a_tilde(void **state)
{
	(void)state;
	hides("/home/joe/src/a.c:12", "~/src/a.c:12");
	hides("in /Users/joe, /root and /root"
	      "/x",
	      "in ~, ~ and ~/x");
	hides("file:///home/joe/a", "file://~/a");
	stays("/home, /srv/home/main, /rootfs/bin, /home/ x");
}

static void an_address_of_letters_is_left_out(void **state)
{
	(void)state;
	hides("read at 0x626f6e2d6c6c6574, not mapped", "read at (redacted), not mapped");
	stays("0x7ffd51519fe0 0x55656d616d65 0x6161 0x4141414100414141 0xdeadbeefdeadbeef");
	assert_true(xc_scrub_is_letters(0x6e6f6e2d6c6c));  /* "ll-non" */
	assert_false(xc_scrub_is_letters(0x556f6e2d6c6c)); /* the program's address, more often than letters */
	assert_true(xc_scrub_is_letters(0x55556f6e2d6c6c));
	assert_false(xc_scrub_is_letters(0));
	hides("reading 0x73327265746e75c8", "reading (redacted)"); /* "hunter2s" + 0x60 */
	assert_true(xc_scrub_is_letters(0x7332726574700000));      /* and further on */
	assert_true(xc_scrub_is_letters(0x327265746e75c8));
	assert_true(xc_scrub_is_letters(0x6e6f6e2d6ccc));
	assert_false(xc_scrub_is_letters(0x7e6f6e2d6ccc)); /* a library's */
	assert_false(xc_scrub_is_letters(0x6e6f6e2dcc6c));
	assert_false(xc_scrub_is_letters(0x6e6f6e2dcc));
	assert_false(xc_scrub_is_letters(0x6e6fff2d6c6c6c6c));
	assert_false(xc_scrub_is_letters(0x61616161));
}

static void known_words_are_left_out_and_names_only_whole(void **state)
{
	(void)state;
	xc_scrub_secret(&scrub, "s3same-x", 6);
	xc_scrub_name(&scrub, "joe", 3, "(user)");
	xc_scrub_name(&scrub, "/data/joe", 9, "~");
	hides("the s3sames", "the (redacted)s");
	hides("/var/mail/joe and joey", "/var/mail/(user) and joey");
	hides("/data/joe/x", "~/x");
	stays("/data/joel");
	hides("/data/joe", "~");
}

/* As the kernel truncates a thread's name, and others their quotes. */
static void a_secret_that_is_cut_is_left_out(void **state)
{
	(void)state;
	xc_scrub_secret(&scrub, "hunter2swordfish", 16);
	xc_scrub_secret(&scrub, "correct-horse-battery", 21);
	xc_scrub_secret(&scrub, "/etc/ssl/private/7.pem", 22);
	hides("thread hunter2swordfis waits", "thread (redacted) waits");
	hides("\"hunter2s\", xhunter2swordfish", "\"(redacted)\", x(redacted)");
	stays("hunter2, hunter swordfish");
	hides("correct-horse-b, correct-horse-battery", "(redacted), (redacted)");
	stays("correct-horse");
	hides("/etc/ssl/private/7.pem", "(redacted)");
	stays("/etc/ssl/private");
}

static void a_word_without_a_digit_is_a_secret_where_it_stands_alone(void **state)
{
	(void)state;
	xc_scrub_secret(&scrub, "default", 7);
	hides("auth=default;", "auth=(redacted);");
	hides("the default one", "the (redacted) one");
	stays("handle_default, defaults, default_1");
}

static void a_word_that_is_known_is_not_kept_twice(void **state)
{
	(void)state;
	char word[] = "word-00";
	for (int i = 0; i < 100; i++) {
		word[5] = (char)('0' + i / 10);
		word[6] = (char)('0' + i % 10);
		xc_scrub_secret(&scrub, word, 7);
		xc_scrub_secret(&scrub, "word-00", 7);
	}
	assert_int_equal(scrub.count, XC_SCRUB_WORDS);
	assert_int_equal(scrub.left, 100 - XC_SCRUB_WORDS);
	hides("word-63 word-64", "(redacted) word-64");
}

/* Each position starts a possible token. */
static void a_long_text_of_beginnings_ends(void **state)
{
	(void)state;
	struct xc_text text = {0}, out = {0};
	for (int i = 0; i < 200000; i++)
		xc_text_add(&text, "eyJ-");
	assert_true(xc_scrub_text(&scrub, text.bytes, false, &out)); /* text of this length counts as a token */
	assert_true(out.len < text.len);
	xc_text_fini(&out);
	xc_text_fini(&text);
}

/* In steps shorter than a token, and with words that start alike. A naive search takes minutes. */
static void a_text_of_what_is_no_token_takes_its_time(void **state)
{
	(void)state;
	struct xc_text text = {0}, out = {0};
	for (int i = 0; i < 1000000; i++)
		xc_text_add(&text, i % 1000 ? "eyJ-" : " ");
	char word[4096];
	memset(word, 'a', sizeof word);
	word[0] = '/';
	for (size_t i = 0; i < XC_SCRUB_WORDS; i++)
		xc_scrub_name(&scrub, word, sizeof word - i, "~");
	assert_int_equal(scrub.count, XC_SCRUB_WORDS);
	for (int i = 0; i < 1000; i++) {
		xc_text_addn(&text, " ", 1);
		xc_text_addn(&text, word, 255);
	}
	clock_t began = clock();
	assert_false(xc_scrub_text(&scrub, text.bytes, false, &out));
	assert_true(clock() - began < 8 * CLOCKS_PER_SEC);
	xc_text_fini(&out);
	xc_text_fini(&text);
}

static void source(const char *text, const char *wanted)
{
	struct xc_text out = {0};
	const bool hides = xc_scrub_source(&scrub, text, &out);
	assert_string_equal(hides ? xc_text_string(&out) : text, wanted);
	xc_text_fini(&out);
}

static void a_decimal_number_of_letters_is_left_out(void **state)
{
	(void)state;
	hides("index 7310589545667981658 of", "index (redacted) of");
	hides("x=7310589545667981658", "x=(redacted)");
	hides("30526241306928428 b", "(redacted) b"); /* "lstime," */
	check("7310589545667981658", true, "7310589545667981658");
	stays("in 1732444685000000000 ns, 137975824416 bytes, 18446744073709551615, 73105895456679816587");
	stays("a7310589545667981658 7310589545667981658b");
}

static void a_literal_in_source_is_a_value(void **state)
{
	(void)state;
	source("const char *token = \"sk_live_4eC39HqLyjWDarjtT1zdp7dc\";", "const char *token = \"(redacted)\";");
	source("connect(\"db\", \"hunter2\");", "connect(\"(redacted)\", \"(redacted)\");");
	source("#define API_KEY \"a\\\"b\" x", "#define API_KEY \"(redacted)\" x");
	source("#define API_KEY 0x12ab34", "#define API_KEY (redacted)");
	source("long pin_key = 123456;", "long pin_key = (redacted);");
	source("token: 'correct horse'", "token: '(redacted)'");
	source("let key = `abc`;", "let key = `(redacted)`;");
	source("\"-----BEGIN PRIVATE KEY-----\\n\"\n\"MIIEow\\n\"", "\"(redacted)\"\n\"(redacted)\"");
	source("MIIEowIBAAKCAQEAx0x1x2x3x4x5x6x7x8x9", "(redacted)");
	source("x = \"open", "x = \"(redacted)");
	source("f(); // password: hunter2", "f(); // password: (redacted)");
	source(" * token=hunter2", " * token=(redacted)");
}

static void other_source_stays(void **state)
{
	static const char *const lines[] = {"int left = item->count - wanted;",
					    "#include \"shop.h\"",
					    "c = 'x'; d = '\\n'; e = \"\";",
					    "fn f<'a>(x: u8)",
					    "key = next(); token_count = 12; n = 1234567;",
					    "a = b * c;\n",
					    ""};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(lines); i++)
		source(lines[i], lines[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_value_goes_where_its_name_speaks_of_a_secret, forget),
		cmocka_unit_test_teardown(a_value_may_stand_behind_blanks_and_have_quotes, forget),
		cmocka_unit_test_teardown(what_only_looks_so_stays, forget),
		cmocka_unit_test_teardown(credentials_and_keys_are_known_by_their_shape, forget),
		cmocka_unit_test_teardown(home_directories_become_a_tilde, forget),
		cmocka_unit_test_teardown(an_address_of_letters_is_left_out, forget),
		cmocka_unit_test_teardown(known_words_are_left_out_and_names_only_whole, forget),
		cmocka_unit_test_teardown(a_secret_that_is_cut_is_left_out, forget),
		cmocka_unit_test_teardown(a_word_without_a_digit_is_a_secret_where_it_stands_alone, forget),
		cmocka_unit_test_teardown(a_word_that_is_known_is_not_kept_twice, forget),
		cmocka_unit_test_teardown(a_decimal_number_of_letters_is_left_out, forget),
		cmocka_unit_test_teardown(a_literal_in_source_is_a_value, forget),
		cmocka_unit_test_teardown(other_source_stays, forget),
		cmocka_unit_test_teardown(a_long_text_of_beginnings_ends, forget),
		cmocka_unit_test_teardown(a_text_of_what_is_no_token_takes_its_time, forget),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
