/* layer: batch */
/* journal: both formats of journalctl, whole cores in entries, and files that are not journals. */
#include "tests/support/check.h"

#include "batch/input/journal.h"
#include "tests/support/scratch.h"

#define BOOT "0123456789abcdef0123456789abcdef"
#define NAME "core.nginx.33." BOOT ".7.1700000000000000"

static const char export[] =
	"__CURSOR=s=1;i=2\n__REALTIME_TIMESTAMP=1700000000000000\nMESSAGE_ID=fc2e22bc6ee647b6b90729ab34a250b1\n"
	"COREDUMP_UNIT=nginx.service\nCOREDUMP_COMM=nginx\nCOREDUMP_CMDLINE=nginx: a=b\n"
	"COREDUMP\n\x0c\0\0\0\0\0\0\0\177ELF\n\nCOMM=x\n"
	"COREDUMP_FILENAME=/var/lib/systemd/coredump/" NAME ".zst\n\n"
	"__CURSOR=s=1;i=3\nMESSAGE=other\nCOREDUMP_UNIT=lost.service\n\n"
	"__CURSOR=s=1;i=4\nCOREDUMP_COMM\n\x03\0\0\0\0\0\0\0a\nb\nCOREDUMP_USER_UNIT=app.slice\n";

static struct xc_journal *reading(const char *bytes, size_t len)
{
	struct xc_journal *journal = NULL;
	CHECK_OK(xc_journal_read(scratch_file("journal", bytes, len), &journal));
	return journal;
}

static void check_entry(const struct xc_journal_entry *entry, const char *file, const char *comm, const char *unit)
{
	if (file)
		assert_string_equal(entry->file, file);
	else
		assert_null(entry->file);
	assert_string_equal(entry->comm, comm);
	assert_string_equal(entry->unit, unit);
}

static void the_export_format_is_read(void **state)
{
	(void)state;
	struct xc_journal *journal = reading(export, sizeof export - 1);
	assert_int_equal(journal->count, 2);
	check_entry(&journal->entries[0], NULL, "a\nb", "app.slice");
	check_entry(&journal->entries[1], NAME ".zst", "nginx", "nginx.service");
	xc_journal_free(journal);
	xc_journal_free(NULL);
	journal = reading("", 0);
	assert_int_equal(journal->count, 0);
	xc_journal_free(journal);
}

static void json_is_read_in_all_its_forms(void **state)
{
	(void)state;
	static const char json[] =
		"{\"COREDUMP_COMM\":[97,27,98],\"COREDUMP_UNIT\":\"a.service\",\"COREDUMP\":null}\n"
		"\n\x1e{\"COREDUMP_COMM\":[\"first\",\"second\"],\"COREDUMP_UNIT\":\"b.service\",\"COREDUMP_FILENAME\":"
		"\"/x/core.b\"}\n"
		"data: {\"MESSAGE\":\"other\",\"COREDUMP_UNIT\":7}\n"
		"{\"COREDUMP_COMM\":\"c\",\"COREDUMP_UNIT\":\"c.service\",\"COREDUMP_FILENAME\":\"core.c\"}";
	struct xc_journal *journal = reading(json, sizeof json - 1);
	assert_int_equal(journal->count, 3);
	check_entry(&journal->entries[0], NULL, "a\033b", "a.service");
	check_entry(&journal->entries[1], "core.b", "first", "b.service");
	check_entry(&journal->entries[2], "core.c", "c", "c.service");
	xc_journal_free(journal);
}

static void cut_anywhere_it_is_read_or_refused(void **state)
{
	(void)state;
	for (size_t len = 0; len < sizeof export - 1; len++) {
		struct xc_journal *journal = NULL;
		struct xc_error *err = xc_journal_read(scratch_file("cut", export, len), &journal);
		assert_true(!err != !journal);
		if (err)
			assert_int_equal(err->code, XC_ERR_FORMAT);
		xc_error_free(err);
		xc_journal_free(journal);
	}
}

static void check_refused(const char *bytes, size_t len, const char *part)
{
	struct xc_journal *journal = NULL;
	CHECK_ERROR(xc_journal_read(scratch_file("no", bytes, len), &journal), XC_ERR_FORMAT, part);
}

static void what_is_no_journal_is_an_error(void **state)
{
	(void)state;
	struct xc_journal *journal = NULL;
	check_refused("Nov 22 06:54 host systemd-coredump[1]: dumped\n", 46, "entry 1 is not a journal entry");
	check_refused("-- No entries --\n", 17, "entry 1");
	check_refused("{\"a\":1}\n{\"b\":\n", 14, "entry 2");
	check_refused("[1]\n", 4, "entry 1");
	check_refused("COREDUMP\n\xff\xff\xff\xff\xff\xff\xff\xff"
		      "bytes",
		      22, "ends inside entry 1");
	check_refused("A=1\n\n=2\n", 8, "entry 2");
	CHECK_ERROR(xc_journal_read(scratch_path("absent"), &journal), XC_ERR_NOT_FOUND, "absent");
}

static void inputs_learn_their_unit(void **state)
{
	(void)state;
	static const char core[] = "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0\x3e";
	scratch_file("cores/" NAME, core, sizeof core); /* unpacked since then */
	scratch_file("cores/core.other.1", core, sizeof core);
	const char *operand = scratch_path("cores");
	struct xc_inputs *inputs = NULL;
	CHECK_OK(xc_inputs_find(&operand, 1, &inputs));
	struct xc_journal *journal = reading(export, sizeof export - 1);
	assert_int_equal(xc_journal_hint(journal, inputs), 1);
	xc_journal_free(journal);
	assert_string_equal(inputs->inputs[0].unit, "nginx.service");
	assert_string_equal(inputs->inputs[0].comm, "nginx");
	assert_null(inputs->inputs[1].unit);
	assert_string_equal(inputs->inputs[1].comm, "other");
	xc_inputs_free(inputs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_export_format_is_read),
		cmocka_unit_test(json_is_read_in_all_its_forms),
		cmocka_unit_test(cut_anywhere_it_is_read_or_refused),
		cmocka_unit_test(what_is_no_journal_is_an_error),
		cmocka_unit_test(inputs_learn_their_unit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
