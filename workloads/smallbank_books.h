/* smallbank_books.h - did everybody see one order of the changes of a customer's two accounts?
 *
 * The versions of each account are numbered. A *judged* change of the checking account (a cheque) comes behind one version
 * of the savings account and before another: it was judged by savings `from`, and `before` replaced them. Who was *told*
 * both balances at once saw savings i and checking j. If the change made checking version `number`, then
 *   j >= number and i <  from    is a contradiction: the change was seen, what it was judged by was not;
 *   j <  number and i >= before  is one too: the change was not seen, what must come behind it was.
 * Each found contradiction is one, for nothing that is serializable has any. Not all are found: of a customer, only the
 * latest changes are kept, and of all that was told the newest savings (a later change contradicts these soonest). */
#ifndef CCSIM_WORKLOADS_SMALLBANK_BOOKS_H
#define CCSIM_WORKLOADS_SMALLBANK_BOOKS_H

#include <stddef.h>
#include <stdint.h>

struct judged {
    uint32_t number, from, before;
};
struct told {
    uint32_t savings, checking;
};

struct book;
struct books {
    struct book *items; /* one a customer */
    uint64_t contradictions;
};

void books_open(struct books *books, size_t customers);
void books_close(struct books *books);

/* As committed, in the order of commits; versions are numbered from 0, changes from 1. */
void books_judge(struct books *books, size_t customer, struct judged judged);
void books_tell(struct books *books, size_t customer, struct told told);

#endif
