/* option_digest.c - what the values of options come to as one number: equal digests, equal values. Members are taken one
 * by one, since the bytes between them may hold anything. */
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/option.h"

static uint64_t add_number(uint64_t digest, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return digest_add(digest, bits);
}

static uint64_t add_distribution(uint64_t digest, const struct distribution *d) {
    digest = digest_add(digest_add(digest, (uint64_t)d->kind), (uint64_t)d->stages);
    digest =
        digest_add(digest_add(digest_add(digest, (uint64_t)d->mean_ns), (uint64_t)d->low_ns), (uint64_t)d->high_ns);
    return add_number(add_number(digest, d->mu), d->sigma);
}

static uint64_t add_call(uint64_t digest, const struct option_call *call) {
    digest = digest_add(digest, (uint64_t)call->choice);
    for (int i = 0; i < OPTION_CALL_ARGUMENTS; i++) {
        digest = add_number(digest_add(digest, (uint64_t)call->integer[i]), call->number[i]);
    }
    return add_distribution(digest, &call->distribution);
}

static uint64_t add_profile(uint64_t digest, const struct option_profile *profile) {
    digest = digest_add(digest, (uint64_t)profile->count);
    for (int i = 0; i < profile->count; i++) {
        digest = add_number(digest_add(digest, (uint64_t)profile->part[i].duration_ns), profile->part[i].per_second);
    }
    return digest;
}

static uint64_t add_field(uint64_t digest, enum option_type type, const void *field) {
    switch (type) {
    case OPTION_BOOL: return digest_add(digest, *(const bool *)field);
    case OPTION_COUNT:
    case OPTION_SIZE:
    case OPTION_DURATION: return digest_add(digest, (uint64_t) * (const int64_t *)field);
    case OPTION_NUMBER:
    case OPTION_SHARE: return add_number(digest, *(const double *)field);
    case OPTION_CHOICE: return digest_add(digest, (uint64_t) * (const int *)field);
    case OPTION_DISTRIBUTION: return add_distribution(digest, field);
    case OPTION_TEXT: return text_digest(digest, field);
    case OPTION_CALL: return add_call(digest, field);
    case OPTION_PROFILE: return add_profile(digest, field);
    }
    CHECK_MSG(false, "an option of unknown type");
    return digest;
}

uint64_t option_digest(const struct option_table *table, const void *values, uint64_t digest) {
    for (size_t i = 0; table != NULL && i < table->count; i++) {
        const struct option *option = &table->options[i];
        digest = add_field(text_digest(digest, option->name), option->type, (const char *)values + option->offset);
    }
    return digest;
}
