// deques: what was popped from a deque stays in its first and last node; 30 of it are leaked.
#include <deque>
#include <typeinfo>
#include "account.h"

struct Job {
	long id;
	double cost;
	Job *after;
};

HELD std::deque<Job *> jobs;

static PART void fill()
{
	for (int i = 0; i < 600; i++)
		jobs.push_back(static_cast<Job *>(account_is(new Job{i, i * 0.5, nullptr}, typeid(Job).name(), 1)));
	for (int i = 0; i < 20; i++) {
		account_possibly(jobs.front());
		jobs.pop_front();
	}
	for (int i = 0; i < 10; i++) {
		account_possibly(jobs.back());
		jobs.pop_back();
	}
}

int main()
{
	fill();
	account_die();
}
