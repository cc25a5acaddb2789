/* key_order.h - the sparse keys of a table in order: a skip list (Pugh 1990) whose levels are a hash of the key, so
 * that
 * the same keys always make the same list. Expected O(log n) for find, insert, remove and next. */
#ifndef CCSIM_STORE_KEY_ORDER_H
#define CCSIM_STORE_KEY_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct record;
struct key_order;

struct key_node {
    int64_t key;
    uint32_t pins;         /* attempts that hold the record */
    uint32_t level;        /* number of links */
    struct record *record; /* inside the node, behind the links */
    struct key_node *next[];
};

/* `record_size`: bytes of a record with the algorithm's tail, zeroed when a node is made. */
struct key_order *key_order_new(size_t record_size);
void key_order_free(struct key_order *order);

struct key_node *key_order_find(struct key_order *order, int64_t key);
struct key_node *key_order_insert(struct key_order *order, int64_t key); /* the key must be new */
void key_order_remove(struct key_order *order, struct key_node *node);
/* The first node with a key >= `key`, or NULL. */
struct key_node *key_order_from(struct key_order *order, int64_t key);

#endif
