/* flaw.h - what the certifier finds wrong with a commit, by name: Adya's (1999) and, where they fit, those of the
 * lectures. The names are those of the columns. */
#ifndef CCSIM_CHECK_FLAW_H
#define CCSIM_CHECK_FLAW_H

enum flaw {
    FLAW_G0, /* Adya's: of cycles a commit has exactly one of these, the simplest */
    FLAW_G1A,
    FLAW_G1B,
    FLAW_G1C,
    FLAW_G_SINGLE,
    FLAW_G2_ITEM,
    FLAW_G2,
    FLAW_LOST_UPDATE, /* the lectures', besides */
    FLAW_WRITE_SKEW,
    FLAW_PHANTOM,
    FLAW_COUNT
};

struct flaw_text {
    const char *name, *title;
};

/* Indexed by enum flaw: `g_single`, and a title in words. */
extern const struct flaw_text flaw_texts[FLAW_COUNT];

#endif
