/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places in the tree. Each place has a row of nodes with successive indices. The first node of the
 * row has the place. The other nodes are divided into at most k rows of similar length, where k is
 * the maximum number of children. The first nodes of these rows are the children.
 *
 * The console has no index, so its row contains all nodes except the console, and all of them are
 * divided among its children. The nodes below a node have consecutive NIDs, and are near it on most
 * networks.
 */
#include "tree.h"

void lst_place_root(struct lst_place *place, u32 nr)
{
	*place = (struct lst_place){ .head = LST_TREE_ROOT, .nr = nr, .parent = LST_TREE_ROOT };
}

static u32 below(const struct lst_place *place)
{
	return place->nr - (place->head != LST_TREE_ROOT);
}

u32 lst_place_children(const struct lst_place *place, u32 k)
{
	return min(k, below(place));
}

void lst_place_child(const struct lst_place *place, u32 k, u32 number, struct lst_place *child)
{
	u32 nr = below(place), parts = min(k, nr), first = place->first + (place->nr - nr);
	u32 begin = (u32)div_u64((u64)nr * number, parts);
	u32 end = (u32)div_u64((u64)nr * (number + 1), parts);

	*child = (struct lst_place){ .head = first + begin, .first = first + begin,
				     .nr = end - begin, .depth = place->depth + 1,
				     .parent = place->head };
}

void lst_place_find(struct lst_place *place, u32 nr, u32 k, u32 index)
{
	struct lst_place child;
	u32 i;

	lst_place_root(place, nr);
	while (place->head != index) {
		for (i = 0; i < lst_place_children(place, k); i++) {
			lst_place_child(place, k, i, &child);
			if (index < child.first + child.nr)
				break;
		}
		*place = child;
	}
}

/*
 * Returns the number of levels. The row of the last child is at least as long as those of other
 * children.
 */
u32 lst_place_levels(u32 nr, u32 k)
{
	struct lst_place place, child;

	lst_place_root(&place, nr);
	while (lst_place_children(&place, k)) {
		lst_place_child(&place, k, lst_place_children(&place, k) - 1, &child);
		place = child;
	}
	return place.depth;
}
