#include "tests/support/gray.h"

/* Rights on all of a granule, on parts of it (where finer locks decide), and the one promise that cannot be given twice. */
enum { READS_ALL = 1, WRITES_ALL = 2, READS_PARTS = 4, WRITES_PARTS = 8, WILL_WRITE = 16 };

static const unsigned rights[MODE_COUNT] = {
    [MODE_IS] = READS_PARTS,
    [MODE_IX] = READS_PARTS | WRITES_PARTS,
    [MODE_S] = READS_ALL,
    [MODE_U] = READS_ALL | WILL_WRITE,
    [MODE_SIX] = READS_ALL | READS_PARTS | WRITES_PARTS,
    [MODE_X] = READS_ALL | WRITES_ALL,
};

/* Parts of two transactions may be different ones; all of one meets everything of the other. */
static bool clash(unsigned a, unsigned b) {
    if ((a & WRITES_ALL) != 0 && b != 0) {
        return true;
    }
    return ((a & WRITES_PARTS) != 0 && (b & READS_ALL) != 0) || (a & b & WILL_WRITE) != 0;
}

bool gray_beside(enum lock_mode a, enum lock_mode b) {
    return !clash(rights[a], rights[b]) && !clash(rights[b], rights[a]);
}

bool gray_covers(enum lock_mode strong, enum lock_mode weak) {
    for (int other = MODE_NONE; other < MODE_COUNT; other++) {
        if (gray_beside(strong, (enum lock_mode)other) && !gray_beside(weak, (enum lock_mode)other)) {
            return false;
        }
    }
    return true;
}

enum lock_mode gray_join(enum lock_mode a, enum lock_mode b) {
    for (int least = MODE_NONE; least < MODE_COUNT; least++) {
        bool is_least = gray_covers((enum lock_mode)least, a) && gray_covers((enum lock_mode)least, b);
        for (int other = MODE_NONE; is_least && other < MODE_COUNT; other++) {
            bool covers = gray_covers((enum lock_mode)other, a) && gray_covers((enum lock_mode)other, b);
            is_least = !covers || gray_covers((enum lock_mode)other, (enum lock_mode)least);
        }
        if (is_least) {
            return (enum lock_mode)least;
        }
    }
    return MODE_COUNT;
}
