#include "sim/store/level.h"

const char *const level_names[LEVEL_COUNT] = {"RU", "RC", "RR", "SI", "SER"};
