/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of plat.h: doubly linked rings (list_head), and hash chains (hlist) whose head is one
 * pointer.
 */
#ifndef LNET_USER_PLAT_LIST_H
#define LNET_USER_PLAT_LIST_H

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	/* @pprev: address of the pointer to this node; NULL: the node is in no chain */
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

#define LIST_HEAD_INIT(name)	{ &(name), &(name) }
#define LIST_HEAD(name)		struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	WRITE_ONCE(list->next, list);
	list->prev = list;
}

static inline int list_empty(const struct list_head *head)
{
	return READ_ONCE(head->next) == head;
}

static inline bool list_is_singular(const struct list_head *head)
{
	return !list_empty(head) && head->next == head->prev;
}

static inline int list_is_last(const struct list_head *node, const struct list_head *head)
{
	return node->next == head;
}

static inline int list_is_first(const struct list_head *node, const struct list_head *head)
{
	return node->prev == head;
}

/* Makes @a and @b neighbours. */
static inline void plat_list_join(struct list_head *a, struct list_head *b)
{
	WRITE_ONCE(a->next, b);
	b->prev = a;
}

static inline void list_add(struct list_head *node, struct list_head *head)
{
	plat_list_join(node, head->next);
	plat_list_join(head, node);
}

static inline void list_add_tail(struct list_head *node, struct list_head *head)
{
	plat_list_join(head->prev, node);
	plat_list_join(node, head);
}

/* @node is poisoned: a second list_del() crashes instead of corrupting a neighbour. */
static inline void list_del(struct list_head *node)
{
	plat_list_join(node->prev, node->next);
	node->next = (struct list_head *)0x100;
	node->prev = (struct list_head *)0x122;
}

static inline void list_del_init(struct list_head *node)
{
	plat_list_join(node->prev, node->next);
	INIT_LIST_HEAD(node);
}

static inline void list_move(struct list_head *node, struct list_head *head)
{
	plat_list_join(node->prev, node->next);
	list_add(node, head);
}

static inline void list_move_tail(struct list_head *node, struct list_head *head)
{
	plat_list_join(node->prev, node->next);
	list_add_tail(node, head);
}

static inline void list_replace_init(struct list_head *old, struct list_head *node)
{
	plat_list_join(node, old->next);
	plat_list_join(old->prev, node);
	INIT_LIST_HEAD(old);
}

/*
 * Inserts the nodes of @list between the neighbours @a and @b. The pointers of @list become stale.
 */
static inline void plat_list_splice(struct list_head *list, struct list_head *a,
				    struct list_head *b)
{
	if (list_empty(list))
		return;
	plat_list_join(list->prev, b);
	plat_list_join(a, list->next);
}

static inline void list_splice(struct list_head *list, struct list_head *head)
{
	plat_list_splice(list, head, head->next);
}

static inline void list_splice_tail(struct list_head *list, struct list_head *head)
{
	plat_list_splice(list, head->prev, head);
}

/* Moves the nodes of @head up to and including @entry to @list, which was empty. */
static inline void list_cut_position(struct list_head *list, struct list_head *head,
				     struct list_head *entry)
{
	INIT_LIST_HEAD(list);
	if (head->next == head || entry == head)
		return;
	list->next = head->next;
	list->next->prev = list;
	list->prev = entry;
	head->next = entry->next;
	head->next->prev = head;
	entry->next = list;
}

static inline void list_splice_init(struct list_head *list, struct list_head *head)
{
	list_splice(list, head);
	INIT_LIST_HEAD(list);
}

static inline void list_splice_tail_init(struct list_head *list, struct list_head *head)
{
	list_splice_tail(list, head);
	INIT_LIST_HEAD(list);
}

/* Moves the nodes @first..@last of one ring to the end of @head. */
static inline void list_bulk_move_tail(struct list_head *head, struct list_head *first,
				       struct list_head *last)
{
	plat_list_join(first->prev, last->next);
	plat_list_join(head->prev, first);
	plat_list_join(last, head);
}

static inline size_t list_count_nodes(struct list_head *head)
{
	struct list_head *at;
	size_t nr = 0;

	for (at = head->next; at != head; at = at->next)
		nr++;
	return nr;
}

#define list_entry(ptr, type, member)		container_of(ptr, type, member)
#define list_first_entry(head, type, member)	list_entry((head)->next, type, member)
#define list_last_entry(head, type, member)	list_entry((head)->prev, type, member)
#define list_first_entry_or_null(head, type, member)			\
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_next_entry(pos, member)	\
	list_entry((pos)->member.next, typeof(*(pos)), member)
#define list_prev_entry(pos, member)	\
	list_entry((pos)->member.prev, typeof(*(pos)), member)
#define list_entry_is_head(pos, head, member)	(&(pos)->member == (head))

#define list_for_each(pos, head)					\
	for (pos = (head)->next; pos != (head); pos = pos->next)
#define list_for_each_safe(pos, n, head)				\
	for (pos = (head)->next, n = pos->next; pos != (head); pos = n, n = pos->next)
#define list_for_each_entry(pos, head, member)				\
	for (pos = list_first_entry(head, typeof(*pos), member);	\
	     !list_entry_is_head(pos, head, member);			\
	     pos = list_next_entry(pos, member))
#define list_for_each_entry_reverse(pos, head, member)			\
	for (pos = list_last_entry(head, typeof(*pos), member);		\
	     !list_entry_is_head(pos, head, member);			\
	     pos = list_prev_entry(pos, member))
#define list_for_each_entry_continue(pos, head, member)			\
	for (pos = list_next_entry(pos, member);			\
	     !list_entry_is_head(pos, head, member);			\
	     pos = list_next_entry(pos, member))
#define list_for_each_entry_from(pos, head, member)			\
	for (; !list_entry_is_head(pos, head, member); pos = list_next_entry(pos, member))
/* The body may remove @pos. */
#define list_for_each_entry_safe(pos, n, head, member)			\
	for (pos = list_first_entry(head, typeof(*pos), member), n = list_next_entry(pos, member); \
	     !list_entry_is_head(pos, head, member);			\
	     pos = n, n = list_next_entry(n, member))
#define list_for_each_entry_safe_reverse(pos, n, head, member)		\
	for (pos = list_last_entry(head, typeof(*pos), member), n = list_prev_entry(pos, member); \
	     !list_entry_is_head(pos, head, member);			\
	     pos = n, n = list_prev_entry(n, member))

#define HLIST_HEAD_INIT		{ .first = NULL }
#define HLIST_HEAD(name)	struct hlist_head name = HLIST_HEAD_INIT
#define INIT_HLIST_HEAD(head)	((void)((head)->first = NULL))

static inline void INIT_HLIST_NODE(struct hlist_node *node)
{
	node->next = NULL;
	node->pprev = NULL;
}

static inline int hlist_unhashed(const struct hlist_node *node)
{
	return !node->pprev;
}

static inline int hlist_empty(const struct hlist_head *head)
{
	return !READ_ONCE(head->first);
}

/* Inserts @node before the node to which *@where points. */
static inline void plat_hlist_insert(struct hlist_node *node, struct hlist_node **where)
{
	node->next = *where;
	node->pprev = where;
	if (node->next)
		node->next->pprev = &node->next;
	WRITE_ONCE(*where, node);
}

static inline void hlist_add_head(struct hlist_node *node, struct hlist_head *head)
{
	plat_hlist_insert(node, &head->first);
}

static inline void hlist_add_before(struct hlist_node *node, struct hlist_node *next)
{
	plat_hlist_insert(node, next->pprev);
}

static inline void hlist_add_behind(struct hlist_node *node, struct hlist_node *prev)
{
	plat_hlist_insert(node, &prev->next);
}

static inline void hlist_del_init(struct hlist_node *node)
{
	if (hlist_unhashed(node))
		return;
	WRITE_ONCE(*node->pprev, node->next);
	if (node->next)
		node->next->pprev = node->pprev;
	INIT_HLIST_NODE(node);
}

static inline void hlist_del(struct hlist_node *node)
{
	hlist_del_init(node);
}

/* Moves all nodes of @old to @head, which was empty. */
static inline void hlist_move_list(struct hlist_head *old, struct hlist_head *head)
{
	head->first = old->first;
	if (head->first)
		head->first->pprev = &head->first;
	old->first = NULL;
}

#define hlist_entry(ptr, type, member)		container_of(ptr, type, member)
#define hlist_entry_safe(ptr, type, member) ({				\
	typeof(ptr) plat_node_ = (ptr);					\
	plat_node_ ? hlist_entry(plat_node_, type, member) : NULL; })
#define hlist_for_each(pos, head)					\
	for (pos = (head)->first; pos; pos = pos->next)
#define hlist_for_each_entry(pos, head, member)				\
	for (pos = hlist_entry_safe((head)->first, typeof(*(pos)), member); \
	     pos;							\
	     pos = hlist_entry_safe((pos)->member.next, typeof(*(pos)), member))
/* The loop body may remove @pos. @n is a struct hlist_node pointer. */
#define hlist_for_each_entry_safe(pos, n, head, member)			\
	for (pos = hlist_entry_safe((head)->first, typeof(*pos), member); \
	     pos && ({ n = pos->member.next; 1; });			\
	     pos = hlist_entry_safe(n, typeof(*pos), member))

#endif
