#include "sim/kit/lock_mode.h"

enum { BIT_S = 1 << MODE_S, BIT_U = 1 << MODE_U, BIT_X = 1 << MODE_X };
enum { BIT_IS = 1 << MODE_IS, BIT_IX = 1 << MODE_IX, BIT_SIX = 1 << MODE_SIX };

const uint8_t lock_conflicts[MODE_COUNT] = {
    [MODE_S] = BIT_IX | BIT_SIX | BIT_X,
    [MODE_U] = BIT_U | BIT_IX | BIT_SIX | BIT_X,
    [MODE_X] = BIT_IS | BIT_IX | BIT_S | BIT_U | BIT_SIX | BIT_X,
    [MODE_IS] = BIT_X,
    [MODE_IX] = BIT_S | BIT_U | BIT_SIX | BIT_X,
    [MODE_SIX] = BIT_IX | BIT_S | BIT_U | BIT_SIX | BIT_X,
};

const uint8_t lock_joins[MODE_COUNT][MODE_COUNT] = {
    [MODE_NONE] = {MODE_NONE, MODE_S, MODE_U, MODE_X, MODE_IS, MODE_IX, MODE_SIX},
    [MODE_S] = {MODE_S, MODE_S, MODE_U, MODE_X, MODE_S, MODE_SIX, MODE_SIX},
    [MODE_U] = {MODE_U, MODE_U, MODE_U, MODE_X, MODE_U, MODE_SIX, MODE_SIX},
    [MODE_X] = {MODE_X, MODE_X, MODE_X, MODE_X, MODE_X, MODE_X, MODE_X},
    [MODE_IS] = {MODE_IS, MODE_S, MODE_U, MODE_X, MODE_IS, MODE_IX, MODE_SIX},
    [MODE_IX] = {MODE_IX, MODE_SIX, MODE_SIX, MODE_X, MODE_IX, MODE_IX, MODE_SIX},
    [MODE_SIX] = {MODE_SIX, MODE_SIX, MODE_SIX, MODE_X, MODE_SIX, MODE_SIX, MODE_SIX},
};

const uint8_t lock_directs[MODE_COUNT] = {[MODE_S] = MODE_S, [MODE_U] = MODE_U, [MODE_X] = MODE_X, [MODE_SIX] = MODE_S};

const char *const lock_mode_names[MODE_COUNT] = {"", "S", "U", "X", "IS", "IX", "SIX"};
