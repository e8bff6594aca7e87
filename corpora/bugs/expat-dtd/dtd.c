/* What the elements of a document type may hold, as expat tells it. */
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>

static void on_element(void *data, const XML_Char *name, XML_Content *model)
{
	printf("%s has %u parts\n", name, model->numchildren);
	XML_FreeContentModel((XML_Parser)data, model);
}

int main(int argc, char **argv)
{
	if (argc < 2 || freopen(argv[1], "r", stdin) == NULL)
		return EXIT_FAILURE;
	char buffer[65536];
	size_t got;
	XML_Parser parser = XML_ParserCreate(NULL);
	XML_SetUserData(parser, parser);
	XML_SetElementDeclHandler(parser, on_element);
	do {
		got = fread(buffer, 1, sizeof buffer, stdin);
		if (XML_Parse(parser, buffer, (int)got, got == 0) != XML_STATUS_OK) {
			fprintf(stderr, "line %lu: %s\n", XML_GetCurrentLineNumber(parser),
				XML_ErrorString(XML_GetErrorCode(parser)));
			return EXIT_FAILURE;
		}
	} while (got > 0);
	XML_ParserFree(parser);
	return EXIT_SUCCESS;
}
