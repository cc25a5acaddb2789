/* anomaly.c - the manual's words on what can go wrong, see anomaly.h. "Cycle" is one in the graph that has an arrow
 * from each committed transaction to those that must come after it in any equivalent serial order. */
#include "sim/check/anomaly.h"

const struct anomaly_text anomaly_texts[ANOMALY_COUNT] = {
    [ANOMALY_P0] =
        {"P0", "dirty write",
         "A transaction overwrites a row that another, unfinished one has written. If that one is rolled back it is no "
         "longer clear what to restore, and two rows that belong together can end up with values of different "
         "transactions. Every isolation level rules it out: writers hold their rows until they end.",
         "w1(x) w2(x) w2(y) c2 w1(y) c1"},
    [ANOMALY_P1] =
        {"P1", "dirty read, broad sense",
         "A transaction reads a row that another, unfinished one has written. Whether harm comes of it depends on what "
         "follows: the writer may be rolled back, or write again. READ COMMITTED and above rule it out where there is "
         "one version of every row; with several versions a reader gets an older one instead.",
         "w1(x) r2(x) a1 c2"},
    [ANOMALY_P2] =
        {"P2", "fuzzy read, broad sense",
         "A transaction writes a row that another, unfinished one has read: if that one reads the row again it gets "
         "something else. Long read locks (REPEATABLE READ by locking) rule it out; a snapshot lets the write happen "
         "and shows the reader the old value.",
         "r1(x) w2(x) c2 r1(x) c1"},
    [ANOMALY_P3] =
        {"P3", "phantom, broad sense",
         "A transaction has asked for all rows that match a condition, and while it is unfinished another inserts, "
         "deletes or updates a row that matches before or after: asked again, the condition would find something else. "
         "Locks on the rows found do not help against rows to come; locks on ranges or conditions do.",
         "q1(P) i2(z,5) c2 q1(P) c1"},
    [ANOMALY_P4] =
        {"P4", "lost update",
         "A transaction reads a row, another writes it, then the first one writes it too, from what it read: the "
         "other's update is gone without a trace. Two clerks who both read 10 and both write 11 have sold two seats "
         "and count one. READ COMMITTED allows it; REPEATABLE READ, snapshots with first-updater-wins, FOR UPDATE "
         "and updates within one statement rule it out.",
         "r1(x) r2(x) w2(x) c2 w1(x) c1"},
    [ANOMALY_A5A] =
        {"A5A", "read skew",
         "A transaction reads one row before and a second row after another transaction has changed both and "
         "committed: it sees half of the change, for instance a transfer that has left one account and not reached "
         "the other. A snapshot or long read locks rule it out.",
         "r1(x) w2(x) w2(y) c2 r1(y) c1"},
    [ANOMALY_A5B] =
        {"A5B", "write skew",
         "Two transactions each read what the other is about to write, then write different rows and commit. Each "
         "alone keeps the rule (at least one doctor stays on call), both together break it, although neither "
         "overwrites the other. Snapshot isolation allows it; only serializable levels rule it out.",
         "r1(x) r2(y) w1(y) w2(x) c1 c2"},
    [ANOMALY_G0] =
        {"G0", "write cycle",
         "A cycle of overwrites alone: on one row T2 wrote after T1, on another T1 after T2. The rows end up with "
         "values of different transactions. The weakest level, READ UNCOMMITTED, already rules it out.",
         "w1(x) w2(x) w2(y) c2 w1(y) c1"},
    [ANOMALY_G1A] =
        {"G1a", "aborted read",
         "A committed transaction has read what another wrote and then took back: a value that, as the database "
         "tells it, never was. Who is unfinished at the end is taken as rolled back. READ COMMITTED rules it out.",
         "w1(x) r2(x) c2 a1"},
    [ANOMALY_G1B] =
        {"G1b", "intermediate read",
         "A committed transaction has read a value that its writer replaced again before committing: a state between "
         "two statements that was never meant to be seen. READ COMMITTED rules it out.",
         "w1(x,1) r2(x) w1(x,2) c1 c2"},
    [ANOMALY_G1C] =
        {"G1c", "circular information flow",
         "A cycle of overwrites and reads of what was written: T2 has seen T1's work and T1 has seen T2's, so "
         "neither can have come first. A write cycle (G0) counts too. READ COMMITTED rules it out.",
         "w1(x) w2(y) r1(y) r2(x) c1 c2"},
    [ANOMALY_G_SINGLE] =
        {"G-single", "cycle with a single overwritten read",
         "A cycle in which exactly one arrow says that a transaction read what another overwrote later; all others "
         "are overwrites and reads of what was written. Lost update and read skew are of this kind: some transaction "
         "saw the world of before and the world of after at once. A snapshot rules it out; REPEATABLE READ as far as "
         "rows read by key are concerned.",
         "r1(x) w2(x) w2(y) c2 r1(y) c1"},
    [ANOMALY_G2_ITEM] =
        {"G2-item", "cycle with overwritten reads of rows",
         "A cycle with one or more arrows that say: a transaction read a row that another overwrote later. Write "
         "skew has two of them, lost update and read skew have one. REPEATABLE READ in Adya's sense (PL-2.99) rules "
         "it out, and so do serializable levels; snapshot isolation does not.",
         "r1(x) r2(y) w1(y) w2(x) c1 c2"},
    [ANOMALY_G2] =
        {"G2", "cycle with overwritten reads, conditions included",
         "A cycle with one or more arrows that say: a transaction read a row that another overwrote later, or asked "
         "for all rows that match a condition and another changed which rows do (a phantom). Together with G1 these "
         "are all cycles there are: only serializable levels rule them out.",
         "q1(P) q2(P) i1(y,1) i2(z,1) c1 c2"},
};

const struct anomaly_text property_texts[] = {
    {"conflict-serializable", "a conflict graph without a cycle",
     "Two steps conflict if they are of different transactions, touch the same row and at least one writes it. Draw "
     "an arrow from the transaction that came first to the other, for every such pair of committed transactions: "
     "without a cycle the schedule does the same as the transactions one after another along the arrows. With a "
     "cycle no order keeps all conflicts as they are.",
     "r1(y) w1(x) w2(x) w2(y) c2 c1"},
    {"view-serializable", "reads from the same and last writes as in some serial order",
     "Some serial order of the committed transactions exists in which every read is from the same transaction and every "
     "row is last written by the same one. Every conflict-serializable schedule is that; others are only through blind "
     "writes, of rows that were not read before, or because a transaction writes a row more than once: from which "
     "of its writes another read is not told apart. All orders have to be tried, so it is judged for at most 8 "
     "transactions.",
     "r1(x) w2(x) w1(x) w3(x)"},
    {"recoverable", "nobody commits before those from whom it read",
     "Nobody commits before those whose writes it has read: if one of them is rolled back, its readers can still be "
     "rolled back too.",
     "w1(x) r2(x) c1 c2"},
    {"cascadeless", "only committed writes are read",
     "Only what is committed is read: a rollback never takes readers with it. It implies recoverable.",
     "w1(x) w2(x) c1 c2"},
    {"strict", "uncommitted writes are neither read nor overwritten",
     "A row that an unfinished transaction has written is neither read nor overwritten by others: a rollback can put "
     "back what stood there before. It implies cascadeless.",
     "r1(x) w2(x) c2 w1(x) c1"},
    {"rigorous", "strict, and what unfinished transactions read is not written",
     "Strict, and a row that an unfinished transaction has read is not written by others either: what two-phase "
     "locking gives that keeps all its locks to the end. The order of the commits is then a serial order.",
     "r1(x) r2(x) c2 w1(x) c1"},
};
const unsigned property_text_count = sizeof property_texts / sizeof property_texts[0];
