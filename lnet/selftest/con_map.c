/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads senders and receivers of a test from the lines of a file. */
#include "con.h"

enum side { FROM, TO };

struct scan {
	struct con_cmd *cmd;
	const char *at;			/* rest of the line */
	u32 line, word;			/* both numbers, from 1 */
	const struct con_group *group[2];
	/* index of the node found last: most lists are in group order */
	u32 found[2];
	bool same;
	u64 *seen;			/* hash table of pairs, open addressing; 0: free entry */
	u32 mask;			/* entries of the table minus 1 */
};

static int bad(const struct scan *s, const char *why, const char *more)
{
	con_say(s->cmd, "bad: {line: %u, word: %u, why: \"%s%s\"}\n", s->line, s->word, why, more);
	return -EINVAL;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * Reads the next word of the line. False: there is none. A word longer than any name becomes "?".
 */
static bool word_next(struct scan *s, char word[LNET_NIDSTR_SIZE])
{
	u32 len = 0;

	while (is_space(*s->at))
		s->at++;
	while (s->at[len] && !is_space(s->at[len]))
		len++;
	strscpy(word, len < LNET_NIDSTR_SIZE ? s->at : "?", min_t(u32, len + 1, LNET_NIDSTR_SIZE));
	s->at += len;
	s->word++;
	return len;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static u32 group_index_of(const struct con_group *group, const struct lnet_nid *nid, u32 from)
{
	u32 i, ix = from;

	for (i = 0; i < group->nr; i++, ix++) {
		ix = ix < group->nr ? ix : 0;
		if (lnet_nid_same(&group->node[ix]->id.nid, nid))
			return ix;
	}
	return U32_MAX;
}

/* Finds the node that @word names: a NID, or an index in the group, from 0. */
static int scan_node_find(struct scan *s, enum side side, const char *word, u32 *ix)
{
	const struct con_group *group = s->group[side];
	struct lnet_nid nid;

	if (strchr(word, '@')) {
		if (lnet_nid_parse(&nid, word))
			return bad(s, "is no NID", "");
		*ix = group_index_of(group, &nid, s->found[side]);
	} else if (kstrtouint(word, 10, ix)) {
		return bad(s, "is neither a NID nor a number", "");
	}
	if (*ix >= group->nr)
		return bad(s, "is not in group ", group->name);
	if (group->node[*ix]->state != CON_NODE_ACTIVE)
		return bad(s, "is ", con_node_state_text(group->node[*ix]->state));
	s->found[side] = *ix;
	return 0;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static bool pair_is_new(struct scan *s, u32 from, u32 to)
{
	u64 pair = (u64)(from + 1) << 32 | to;
	u32 place = (u32)lst_mix(pair) & s->mask;

	for (; s->seen[place]; place = (place + 1) & s->mask)
		if (s->seen[place] == pair)
			return false;
	s->seen[place] = pair;
	return true;
}

static int pair_take(struct scan *s, struct con_map *map, u32 from, const char *word)
{
	struct con_pair *pair = &map->pair[map->nr];
	u32 to;
	int rc = scan_node_find(s, TO, word, &to);

	if (rc)
		return rc;
	if (s->same && from == to)
		return bad(s, "would send to itself", "");
	if (!pair_is_new(s, from, to))
		return bad(s, "is its server already", "");
	pair->from = s->group[FROM]->node[from]->id;
	pair->to = s->group[TO]->node[to]->id;
	map->nr++;
	return 0;
}

static int line_take(struct scan *s, struct con_map *map, const char *text)
{
	char word[LNET_NIDSTR_SIZE];
	u32 from;
	int rc;

	s->at = text;
	s->line = s->word = 0;
	if (!word_next(s, word) || kstrtouint(word, 10, &s->line))
		return bad(s, "has no number", "");
	s->word = 0;
	if (!word_next(s, word))
		return bad(s, "nobody sends", "");
	rc = scan_node_find(s, FROM, word, &from);
	if (!rc && !word_next(s, word))
		return bad(s, "nobody to send to", "");
	while (!rc && *word) {
		rc = pair_take(s, map, from, word);
		if (!rc && !word_next(s, word))
			break;
	}
	return rc;
}

/*
 * Returns an upper bound of the number of pairs. Each pair needs a space in a line, so the function
 * counts spaces.
 */
static u32 map_pairs_bound(const struct con_cmd *cmd)
{
	const char *pos = NULL, *text;
	u32 nr = 1;

	while ((text = con_word(cmd, "send", &pos)))
		for (; *text; text++)
			nr += is_space(*text);
	return nr;
}

static int lines_take(struct scan *s, struct con_map *map)
{
	const char *pos = NULL, *text;
	int rc = 0;

	while (!rc && (text = con_word(s->cmd, "send", &pos)))
		rc = line_take(s, map, text);
	return rc ? rc : map->nr ? 0 : bad(s, "nobody sends", "");
}

/*
 * Reads the arguments send=LINE CLIENT SERVER..., any number of them. One wrong line rejects the
 * test.
 */
int con_map_take(struct con_cmd *cmd, struct con_test *test)
{
	struct con_session *session = con_session(cmd);
	struct scan s = { .cmd = cmd };
	u32 nr = map_pairs_bound(cmd), size = 1;
	int rc = -ENOMEM;

	s.group[FROM] = con_group_find(session, con_text(cmd, "from"));
	s.group[TO] = con_group_find(session, con_text(cmd, "to"));
	if (!s.group[FROM] || !s.group[TO])
		return -ENOENT;
	s.same = s.group[FROM] == s.group[TO];
	while (size < 2 * nr)
		size *= 2;
	s.mask = size - 1;
	s.seen = kcalloc(size, sizeof(s.seen[0]), GFP_NOWAIT);
	test->map = kzalloc(con_map_size(nr), GFP_NOWAIT);
	if (s.seen && test->map)
		rc = lines_take(&s, test->map);
	kfree(s.seen);
	return rc;
}

/* ---- use ------------------------------------------------------------------------------------- */

struct lst_run *con_map_runs(const struct con_map *map, const struct con_node *node, bool back,
			     struct lst_plan *p)
{
	struct lst_run *run = kmalloc_array(map->nr, sizeof(*run), GFP_NOWAIT);
	u32 i;

	p->nr_to = p->nr_runs = 0;
	for (i = 0; run && i < map->nr; i++) {
		const struct con_pair *pair = &map->pair[i];

		if (!lnet_nid_same(back ? &pair->to.nid : &pair->from.nid, &node->id.nid))
			continue;
		lst_runs_add(run, &p->nr_runs, back ? &pair->from : &pair->to);
		p->nr_to++;
	}
	return run;
}

void con_map_say(struct con_cmd *cmd, const struct con_map *map)
{
	char from[LNET_NIDSTR_SIZE], to[LNET_NIDSTR_SIZE];
	u32 i;

	con_say(cmd, "    sends:\n");
	for (i = 0; i < map->nr; i++)
		con_say(cmd, "    - [\"%s\", \"%s\"]\n", lnet_nid_str(&map->pair[i].from.nid, from),
			lnet_nid_str(&map->pair[i].to.nid, to));
}
