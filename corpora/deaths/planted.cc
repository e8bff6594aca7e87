// Dies with secrets of its environment in what it throws; see planted.c.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "death.h"

volatile long sink;

struct failed_login : std::runtime_error {
	std::string password;
	explicit failed_login(const std::string &text) : std::runtime_error("no such password: " + text), password(text) {}
};

static const char *planted(const char *name)
{
	const char *text = std::getenv(name);
	if (!text)
		std::exit(2);
	return text;
}

static NOINLINE void log_in(const std::string &password)
{
	if (!password.empty())
		throw failed_login(password); // dies: what
	sink = 1;
}

static NOINLINE void refuse(const char *text)
{
	if (text)
		throw std::string(text); // dies: string
	sink = 1;
}

static void what()
{
	log_in(planted("PLANTED_TEXT"));
}

static void string()
{
	refuse(planted("PLANTED_TEXT"));
}

DEATHS({"what", what}, {"string", string})
