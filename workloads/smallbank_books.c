/* smallbank_books.c - see the header. */
#include "workloads/smallbank_books.h"

#include <stdbool.h>

#include "sim/base/memory.h"

enum { CHANGES_KEPT = 4 };

struct book {
    struct judged changes[CHANGES_KEPT]; /* a ring; number 0: none yet */
    struct told newest;
    uint32_t next;
};

void books_open(struct books *books, size_t customers) {
    books->items = mem_new(customers, sizeof *books->items);
    books->contradictions = 0;
}

void books_close(struct books *books) { mem_free(books->items); }

static bool contradicts(struct told told, struct judged judged) {
    return told.checking >= judged.number ? told.savings < judged.from : told.savings >= judged.before;
}

void books_judge(struct books *books, size_t customer, struct judged judged) {
    struct book *book = &books->items[customer];
    books->contradictions += contradicts(book->newest, judged);
    book->changes[book->next++ % CHANGES_KEPT] = judged;
}

void books_tell(struct books *books, size_t customer, struct told told) {
    struct book *book = &books->items[customer];
    bool found = false;
    for (int i = 0; i < CHANGES_KEPT; i++) {
        found |= book->changes[i].number > 0 && contradicts(told, book->changes[i]);
    }
    books->contradictions += found;
    if (told.savings > book->newest.savings) {
        book->newest = told;
    }
}
