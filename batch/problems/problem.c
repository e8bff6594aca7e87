/* problem: names of states, and questions about members. */
#include "batch/problems/problem.h"

const char *xc_problem_state_name(enum xc_problem_state state)
{
	static const char *const names[] = {
		[XC_PROBLEM_OPEN] = "open", [XC_PROBLEM_NEW] = "new",     [XC_PROBLEM_KNOWN] = "known",
		[XC_PROBLEM_GONE] = "gone", [XC_PROBLEM_FLAKY] = "flaky", [XC_PROBLEM_UNSEEN] = "unseen",
	};
	return names[state];
}

const struct xc_problem_member *xc_problem_shown(const struct xc_problem *problem)
{
	return problem->member_count ? &problem->members[problem->representative] : NULL;
}

bool xc_problem_stands(const struct xc_problem_member *member)
{
	return !member->copy_of && !member->guessed;
}
