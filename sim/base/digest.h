/* digest.h - a running 64-bit hash: equal sequences give equal digests; another order or value, practically never. */
#ifndef CCSIM_BASE_DIGEST_H
#define CCSIM_BASE_DIGEST_H

#include <stdint.h>

static inline uint64_t digest_add(uint64_t digest, uint64_t value) {
    uint64_t x = (digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return (x ^ (x >> 29)) + UINT64_C(0x2545f4914f6cdd1d);
}

#endif
