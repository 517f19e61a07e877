/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exports the API of include/lnet/lnet.h, and the functions that drivers call, to other modules. */
#include "env.h"
#include <lnet/env.h>
#include <lnet/hash.h>
#include <lnet/lnd.h>
#include <lnet/lnet.h>
#include "model/model.h"
#include "base/base.h"

/**
 * DOC: Using LNet from another module
 *
 * lnet_client_open() (netns.h) returns the &struct lnet of a network namespace;
 * lnet_client_close() ends its use. include/lnet/lnet.h declares all other calls with their
 * contracts; examples/kernel/lnet_loop.c is a complete example.
 *
 * Context: a module calls the API in process context with no spin lock held. Calls may sleep, and
 * allocate with GFP_NOFS. They never wait for a peer or a link, so a caller in the path of memory
 * reclaim waits at most for memory. Handlers run in a worker, one at a time for each MD. They may
 * sleep and call the data API, but must not change the configuration or close the client.
 *
 * The memory of an MD is given by kernel addresses. LNet owns this memory until the event that has
 * .unlinked set. If the MD is bound, LNet owns the buffer of one operation only until the event of
 * this operation that has .final set.
 */

/**
 * DOC: Writing a driver
 *
 * struct lnet_lnd_ops and the upcalls are in include/lnet/lnd.h, workers and namespaces in env.h;
 * manual/developer/writing-an-lnd.md explains both.
 */

/* ---- the API --------------------------------------------------------------------------------- */
EXPORT_SYMBOL_GPL(lnet_pid);
EXPORT_SYMBOL_GPL(lnet_tunable_set);
EXPORT_SYMBOL_GPL(lnet_tunable_parse);
EXPORT_SYMBOL_GPL(lnet_ni_cfg_init);
EXPORT_SYMBOL_GPL(lnet_ni_add);
EXPORT_SYMBOL_GPL(lnet_ni_del);
EXPORT_SYMBOL_GPL(lnet_peer_add);
EXPORT_SYMBOL_GPL(lnet_peer_del);
EXPORT_SYMBOL_GPL(lnet_route_add);
EXPORT_SYMBOL_GPL(lnet_route_del);
EXPORT_SYMBOL_GPL(lnet_route_get);
EXPORT_SYMBOL_GPL(lnet_me_attach);
EXPORT_SYMBOL_GPL(lnet_me_unlink);
EXPORT_SYMBOL_GPL(lnet_md_attach);
EXPORT_SYMBOL_GPL(lnet_md_bind);
EXPORT_SYMBOL_GPL(lnet_md_unlink);
EXPORT_SYMBOL_GPL(lnet_portal_lazy);
EXPORT_SYMBOL_GPL(lnet_xfer_init);
EXPORT_SYMBOL_GPL(lnet_put);
EXPORT_SYMBOL_GPL(lnet_put_list);
EXPORT_SYMBOL_GPL(lnet_get_list);
EXPORT_SYMBOL_GPL(lnet_get);
EXPORT_SYMBOL_GPL(lnet_flush);
EXPORT_SYMBOL_GPL(lnet_get_id);
EXPORT_SYMBOL_GPL(lnet_dist);
EXPORT_SYMBOL_GPL(lnet_counter_get);
EXPORT_SYMBOL_GPL(lnet_rail_get);
EXPORT_SYMBOL_GPL(lnet_ping);
EXPORT_SYMBOL_GPL(LNET_NID_ANY);
EXPORT_SYMBOL_GPL(LNET_NID_LO);
EXPORT_SYMBOL_GPL(lnet_nid_hash);
EXPORT_SYMBOL_GPL(lnet_nid_is_host);
EXPORT_SYMBOL_GPL(lnet_nid_is_own_host);
EXPORT_SYMBOL_GPL(lnet_nid_parse);
EXPORT_SYMBOL_GPL(lnet_nid_parse_any);
EXPORT_SYMBOL_GPL(lnet_nid_str);
EXPORT_SYMBOL_GPL(lnet_net_parse);
EXPORT_SYMBOL_GPL(lnet_net_str);
EXPORT_SYMBOL_GPL(lnet_id_str);
EXPORT_SYMBOL_GPL(lnet_nidlist_words);
EXPORT_SYMBOL_GPL(lnet_nidlist_free);
EXPORT_SYMBOL_GPL(lnet_nidlist_match);
EXPORT_SYMBOL_GPL(lnet_nidlist_parse);

/* ---- for drivers ----------------------------------------------------------------------------- */
EXPORT_SYMBOL_GPL(lnet_env_of);
EXPORT_SYMBOL_GPL(lnet_nr_shards);
EXPORT_SYMBOL_GPL(lnet_tunables_of);
EXPORT_SYMBOL_GPL(lnet_pass_begin);
EXPORT_SYMBOL_GPL(lnet_pass_end);
EXPORT_SYMBOL_GPL(lnet_pass_relax);
EXPORT_SYMBOL_GPL(lnet_pass_flush);
EXPORT_SYMBOL_GPL(lnet_rx_get);
EXPORT_SYMBOL_GPL(lnet_rx_begin);
EXPORT_SYMBOL_GPL(lnet_rx_done);
EXPORT_SYMBOL_GPL(lnet_rx_needed);
EXPORT_SYMBOL_GPL(lnet_rx_gone);
EXPORT_SYMBOL_GPL(lnet_rx_is_wanted);
EXPORT_SYMBOL_GPL(lnet_att_posted);
EXPORT_SYMBOL_GPL(lnet_att_done);
EXPORT_SYMBOL_GPL(lnet_att_unconnected);
EXPORT_SYMBOL_GPL(lnet_att_is_urgent);
EXPORT_SYMBOL_GPL(lnet_att_is_sent_once);
EXPORT_SYMBOL_GPL(lnet_att_hdr);
EXPORT_SYMBOL_GPL(lnet_att_hdr_like);
EXPORT_SYMBOL_GPL(lnet_att_len);
EXPORT_SYMBOL_GPL(lnet_att_payload);
EXPORT_SYMBOL_GPL(lnet_path_lost);
EXPORT_SYMBOL_GPL(lnet_path_liveness);
EXPORT_SYMBOL_GPL(lnet_wheel_init);
EXPORT_SYMBOL_GPL(lnet_wheel_advance);
EXPORT_SYMBOL_GPL(lnet_wheel_next_ns);
EXPORT_SYMBOL_GPL(lnet_timer_init);
EXPORT_SYMBOL_GPL(lnet_timer_set);
EXPORT_SYMBOL_GPL(lnet_timer_cancel);
EXPORT_SYMBOL_GPL(lnet_timer_fired);
EXPORT_SYMBOL_GPL(lnet_ni_kick);
EXPORT_SYMBOL_GPL(lnet_ni_link);
EXPORT_SYMBOL_GPL(lnet_ni_loss);
EXPORT_SYMBOL_GPL(lnet_ni_rejected);
EXPORT_SYMBOL_GPL(lnet_ni_instance);
EXPORT_SYMBOL_GPL(lnet_ni_nid);
EXPORT_SYMBOL_GPL(lnet_ni_ifname);
EXPORT_SYMBOL_GPL(lnet_ni_priv);
EXPORT_SYMBOL_GPL(lnet_ni_conns_per_peer);
EXPORT_SYMBOL_GPL(lnet_ni_find);
EXPORT_SYMBOL_GPL(lnet_ni_is_alone);
EXPORT_SYMBOL_GPL(lnet_peer_ni_is_configured);
EXPORT_SYMBOL_GPL(lnet_ni_put);
EXPORT_SYMBOL_GPL(lnet_peer_ni_get);
EXPORT_SYMBOL_GPL(lnet_peer_ni_hold);
EXPORT_SYMBOL_GPL(lnet_peer_ni_put);
EXPORT_SYMBOL_GPL(lnet_peer_ni_nid);
EXPORT_SYMBOL_GPL(lnet_buf_write);
EXPORT_SYMBOL_GPL(lnet_buf_read);
EXPORT_SYMBOL_GPL(lnet_buf_frags);
EXPORT_SYMBOL_GPL(lnet_hdr_encode);
EXPORT_SYMBOL_GPL(lnet_hdr_encode_like);
EXPORT_SYMBOL_GPL(lnet_hdr_decode);
EXPORT_SYMBOL_GPL(lnet_hdr_decode_like);
EXPORT_SYMBOL_GPL(lnet_env_net);
EXPORT_SYMBOL_GPL(lnet_env_cpt_of_node);
EXPORT_SYMBOL_GPL(lnet_env_cpts_of_node);
EXPORT_SYMBOL_GPL(lnet_env_poll_init);
EXPORT_SYMBOL_GPL(lnet_env_poll_raise);
EXPORT_SYMBOL_GPL(lnet_env_poll_del);
EXPORT_SYMBOL_GPL(lnet_env_alarm_init);
EXPORT_SYMBOL_GPL(lnet_env_alarm_set);
EXPORT_SYMBOL_GPL(lnet_env_alarm_del);
EXPORT_SYMBOL_GPL(lnet_netns_instance);
EXPORT_SYMBOL_GPL(lnet_driver_register);
EXPORT_SYMBOL_GPL(lnet_driver_unregister);
