/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Payloads sent by reference: an attempt completes when no socket reads its memory any more. */
#include "plat.h"
#include "lnd/socklnd/socklnd.h"

static struct sock_pin *pin_of(struct sock_ni *sn, const struct lnet_att *att)
{
	struct sock_pin *pin;

	list_for_each_entry(pin, &sn->pins, link)
		if (pin->att == att && !pin->deferred)
			return pin;
	return NULL;
}

static void pin_free(struct sock_pin *pin)
{
	list_del(&pin->link);
	pin->peer->pins--;
	kfree(pin);
}

struct sock_pin *sock_pin_new(struct sock_conn *c, struct lnet_att *att,
			      const struct lnet_buf *payload)
{
	struct sock_ni *sn = c->sn;
	struct sock_pin *pin = sn->io->pin ? sn->io->pin(c, payload) : NULL;

	sn->c[pin ? SOCK_C_by_reference : SOCK_C_by_copy]++;
	if (!pin)
		return NULL;
	pin->att = att;
	pin->peer = c->peer;
	pin->peer->pins++;
	list_add_tail(&pin->link, &sn->pins);
	return pin;
}

void sock_seg_unpin(struct sock_conn *c, struct sock_seg *s)
{
	if (s->pin)
		c->sn->io->unpin(s->pin);
	s->pin = NULL;
}

bool sock_is_pinned(struct sock_ni *sn, const struct lnet_att *att)
{
	struct sock_pin *pin = pin_of(sn, att);

	return pin && !sn->io->is_free(pin);
}

void sock_pin_drop(struct sock_ni *sn, const struct lnet_att *att)
{
	struct sock_pin *pin = pin_of(sn, att);

	if (pin && !WARN_ON_ONCE(!sn->io->is_free(pin)))
		pin_free(pin);
}

void sock_att_done(struct lnet_pass *p, struct sock_ni *sn, struct lnet_att *att,
		   enum lnet_outcome how, u32 epoch)
{
	struct sock_pin *pin = pin_of(sn, att);

	if (pin && !sn->io->is_free(pin)) {
		pin->how = how;
		pin->epoch = epoch;
		pin->deferred = true;
		sock_count(sn, pins_awaited);
		return;
	}
	if (pin)
		pin_free(pin);
	lnet_att_done(p, att, how, epoch);
}

void sock_pins_reap(struct lnet_pass *p, struct sock_ni *sn)
{
	struct sock_pin *pin, *next;

	list_for_each_entry_safe(pin, next, &sn->pins, link) {
		if (!pin->deferred || !sn->io->is_free(pin))
			continue;
		lnet_att_done(p, pin->att, pin->how, pin->epoch);
		pin_free(pin);
	}
}
