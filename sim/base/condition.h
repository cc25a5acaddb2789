/* condition.h - a test on a row as (id, value): what WHERE clauses and predicates are made of. `v%3=0`, `v>=10`,
 * `id<=2`,
 * `true`. A condition is a value of its own, compared and copied, so that the one who scans and the one who judges can
 * evaluate the same one. An absent row satisfies no condition but CONDITION_ABSENT. */
#ifndef CCSIM_BASE_CONDITION_H
#define CCSIM_BASE_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

enum condition_operator {
    CONDITION_TRUE, /* any row that is present */
    CONDITION_EQ,
    CONDITION_NE,
    CONDITION_LT,
    CONDITION_LE,
    CONDITION_GT,
    CONDITION_GE
} __attribute__((packed));

struct condition {
    enum condition_operator operator;
    bool of_id;      /* test the id, else the value */
    int64_t modulus; /* > 0: test the remainder (never negative), else the thing itself */
    int64_t constant;
};

static inline bool condition_holds(const struct condition *condition, int64_t id, int64_t value) {
    if (condition->operator== CONDITION_TRUE) {
        return true;
    }
    int64_t left = condition->of_id ? id : value;
    if (condition->modulus > 0) {
        left = (left % condition->modulus + condition->modulus) % condition->modulus;
    }
    switch (condition->operator) {
    case CONDITION_EQ: return left == condition->constant;
    case CONDITION_NE: return left != condition->constant;
    case CONDITION_LT: return left < condition->constant;
    case CONDITION_LE: return left <= condition->constant;
    case CONDITION_GT: return left > condition->constant;
    case CONDITION_GE: return left >= condition->constant;
    case CONDITION_TRUE: break;
    }
    return true;
}

#endif
