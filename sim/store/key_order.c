#include "sim/store/key_order.h"

#include <string.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"
#include "sim/base/random.h"
#include "sim/store/store.h"

enum { LEVELS = 16 };

struct key_order {
    struct key_node *first[LEVELS];
    size_t record_size;
    struct pool pools[LEVELS]; /* nodes by level */
};

/* Half of the nodes have one link, a quarter two, ... */
static uint32_t level_of(int64_t key) {
    uint64_t bits = random_mix((uint64_t)key + UINT64_C(0x9e3779b97f4a7c15)) | (UINT64_C(1) << (LEVELS - 1));
    return (uint32_t)__builtin_ctzll(bits) + 1;
}

struct key_order *key_order_new(size_t record_size) {
    struct key_order *order = mem_new(1, sizeof *order);
    order->record_size = record_size;
    for (size_t level = 0; level < LEVELS; level++) {
        pool_init(&order->pools[level],
                  sizeof(struct key_node) + (level + 1) * sizeof(struct key_node *) + record_size);
    }
    return order;
}

void key_order_free(struct key_order *order) {
    for (size_t level = 0; level < LEVELS; level++) {
        pool_free(&order->pools[level]);
    }
    mem_free(order);
}

/* The links that stand before the first node with a key >= `key`, one a level. */
static void find_links(struct key_order *order, int64_t key, struct key_node **links[LEVELS]) {
    struct key_node **row = order->first;
    for (int level = LEVELS - 1; level >= 0; level--) {
        while (row[level] != NULL && row[level]->key < key) {
            row = row[level]->next;
        }
        links[level] = &row[level];
    }
}

struct key_node *key_order_from(struct key_order *order, int64_t key) {
    struct key_node **links[LEVELS];
    find_links(order, key, links);
    return *links[0];
}

struct key_node *key_order_find(struct key_order *order, int64_t key) {
    struct key_node *node = key_order_from(order, key);
    return node != NULL && node->key == key ? node : NULL;
}

struct key_node *key_order_insert(struct key_order *order, int64_t key) {
    struct key_node **links[LEVELS];
    find_links(order, key, links);
    CHECK(*links[0] == NULL || (*links[0])->key != key);
    uint32_t level = level_of(key);
    struct key_node *node = pool_get(&order->pools[level - 1]);
    *node = (struct key_node){.key = key, .level = level};
    node->record = (struct record *)(void *)&node->next[level];
    memset(node->record, 0, order->record_size);
    for (uint32_t i = 0; i < level; i++) {
        node->next[i] = *links[i];
        *links[i] = node;
    }
    return node;
}

void key_order_remove(struct key_order *order, struct key_node *node) {
    struct key_node **links[LEVELS];
    find_links(order, node->key, links);
    CHECK(*links[0] == node);
    for (uint32_t i = 0; i < node->level; i++) {
        *links[i] = node->next[i];
    }
    pool_put(&order->pools[node->level - 1], node);
}
