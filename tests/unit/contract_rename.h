/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connects a driver to the core of contract.c instead of the real one: include this first, then the
 * driver's C files.
 *
 * So one test program contains both cores. A separate program may define CONTRACT_REAL_NAMES and
 * link objects instead.
 */
#ifndef TESTS_UNIT_CONTRACT_RENAME_H
#define TESTS_UNIT_CONTRACT_RENAME_H

#ifndef CONTRACT_REAL_NAMES
#define lnet_pass_begin		contract_pass_begin
#define lnet_pass_end		contract_pass_end
#define lnet_pass_relax		contract_pass_relax
#define lnet_pass_flush		contract_pass_flush
#define lnet_rx_get		contract_rx_get
#define lnet_rx_begin		contract_rx_begin
#define lnet_rx_done		contract_rx_done
#define lnet_rx_is_wanted	contract_rx_is_wanted
#define lnet_att_posted		contract_att_posted
#define lnet_att_done		contract_att_done
#define lnet_att_unconnected	contract_att_unconnected
#define lnet_att_is_urgent	contract_att_is_urgent
#define lnet_att_is_sent_once	contract_att_is_sent_once
#define lnet_att_hdr		contract_att_hdr
#define lnet_att_payload	contract_att_payload
#define lnet_att_len		contract_att_len
#define lnet_att_hdr_like	contract_att_hdr_like
#define lnet_path_lost		contract_path_lost
#define lnet_path_liveness	contract_path_evidence
#define lnet_ni_kick		contract_ni_kick
#define lnet_ni_link		contract_ni_link
#define lnet_ni_loss		contract_ni_loss
#define lnet_peer_ni_get	contract_peer_ni_get
#define lnet_peer_ni_lookup	contract_peer_ni_lookup
#define lnet_peer_ni_hold	contract_peer_ni_hold
#define lnet_peer_ni_put	contract_peer_ni_put
#define lnet_peer_ni_nid	contract_peer_ni_nid
#define lnet_ni_instance	contract_ni_instance
#define lnet_ni_nid		contract_ni_nid
#define lnet_ni_ifname		contract_ni_ifname
#define lnet_ni_priv		contract_ni_priv
#define lnet_ni_conns_per_peer	contract_ni_conns_per_peer
#define lnet_ni_find		contract_ni_find
#define lnet_ni_put		contract_ni_put
#define lnet_ni_is_alone	contract_ni_is_alone
#define lnet_peer_ni_is_configured	contract_peer_ni_is_configured
#define lnet_tunables_of	contract_tunables_of
#define lnet_env_of		contract_env_of
#define lnet_nr_shards		contract_nr_shards
#define lnet_pid		contract_pid
#define lnet_shard_work		contract_shard_work
#define lnet_shard_next_ns	contract_shard_next_ns
#endif

#endif
