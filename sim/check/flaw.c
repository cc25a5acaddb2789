#include "sim/check/flaw.h"

const struct flaw_text flaw_texts[FLAW_COUNT] = {
    [FLAW_G0] = {"g0", "G0: transactions overwrote each other in a circle"},
    [FLAW_G1A] = {"g1a", "G1a: a committed transaction read what was rolled back"},
    [FLAW_G1B] = {"g1b", "G1b: a committed transaction read a version that its writer replaced"},
    [FLAW_G1C] = {"g1c", "G1c: transactions overwrote or read each other's writes in a circle"},
    [FLAW_G_SINGLE] = {"g_single", "G-single: a circle in which one transaction read what the next one overwrote"},
    [FLAW_G2_ITEM] = {"g2_item", "G2-item: a circle in which several transactions read rows that others overwrote"},
    [FLAW_G2] = {"g2", "G2: a circle in which several transactions read rows or ranges that others changed"},
    [FLAW_LOST_UPDATE] = {"lost_update", "lost update"},
    [FLAW_WRITE_SKEW] = {"write_skew", "write skew"},
    [FLAW_PHANTOM] = {"phantom", "phantom"},
};
