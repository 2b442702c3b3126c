// SPDX-License-Identifier: GPL-2.0
/*
 * Device-managed flow steering: the driver attaches rules, each a priority, a
 * QP and patterns for the headers, and gets a number to detach them by.
 *
 * A frame goes to the rule of the lowest priority number that matches, the one
 * attached first among equals. Default rules take what no other rule does;
 * sniffers get a copy of what goes by.
 */
#include <stdlib.h>

#include "cmd.h"
#include "steer.h"

struct eth_spec {
	u8 addrs[2 * ETH_ADDR], masks[2 * ETH_ADDR];
	bool check_type;
	u16 type;
	u16 vlan, vlan_mask;
};

struct ip_spec { u32 src, src_mask, dst, dst_mask; };
struct l4_spec { u8 proto; u16 src, src_mask, dst, dst_mask; };

struct fs_rule {
	struct fs_rule *next;
	u64 id;
	u16 prio;
	u8 type;
	unsigned int port;
	u32 qpn;
	bool has_eth, has_ip, has_l4;
	struct eth_spec eth;
	struct ip_spec ip;
	struct l4_spec l4;
};

void dmfs_free_all(struct card *card)
{
	while (card->rules) {
		struct fs_rule *next = card->rules->next;

		free(card->rules);
		card->rules = next;
	}
}

static bool match_eth(const struct eth_spec *spec, const u8 *frame, const struct headers *h)
{
	bool tagged = h->cvlan || h->svlan;
	unsigned int i;

	for (i = 0; i < sizeof(spec->addrs); i++)
		if ((frame[i] ^ spec->addrs[i]) & spec->masks[i])
			return false;
	if (spec->check_type && spec->type != h->type)
		return false;
	return !spec->vlan_mask || (tagged && !((h->tci ^ spec->vlan) & spec->vlan_mask));
}

static bool match_ip(const struct ip_spec *spec, const u8 *frame, const struct headers *h)
{
	return h->ipv4 && !((get_be32(frame, h->l3 + IPV4_SRC) ^ spec->src) & spec->src_mask) &&
	       !((get_be32(frame, h->l3 + IPV4_DST) ^ spec->dst) & spec->dst_mask);
}

static bool match_l4(const struct l4_spec *spec, const u8 *frame, const struct headers *h)
{
	return h->l4 && !h->fragment && h->l4_len >= L4_PORTS && h->proto == spec->proto &&
	       !((get_be16(frame, h->l4) ^ spec->src) & spec->src_mask) &&
	       !((get_be16(frame, h->l4 + 2) ^ spec->dst) & spec->dst_mask);
}

static bool matches(const struct fs_rule *rule, const u8 *frame, const struct headers *h)
{
	switch (rule->type) {
	case FS_ALL_DEFAULT:
		return true;
	case FS_MC_DEFAULT:
	case FS_MC_SNIFFER:
		return is_multicast(frame);
	case FS_UC_SNIFFER:
		return !is_multicast(frame);
	}
	return (!rule->has_eth || match_eth(&rule->eth, frame, h)) &&
	       (!rule->has_ip || match_ip(&rule->ip, frame, h)) &&
	       (!rule->has_l4 || match_l4(&rule->l4, frame, h));
}

static bool is_sniffer(const struct fs_rule *rule)
{
	return rule->type == FS_UC_SNIFFER || rule->type == FS_MC_SNIFFER;
}

/* The list is in order of precedence, default rules at its end. */
unsigned int dmfs_steer(struct card *card, unsigned int port, const u8 *frame,
			const struct headers *h, u32 *qpns)
{
	const struct fs_rule *rule, *winner = NULL;
	unsigned int count = 0;

	for (rule = card->rules; rule; rule = rule->next) {
		if (rule->port != port || (winner && !is_sniffer(rule)) || count == MAX_COPIES)
			continue;
		if (!matches(rule, frame, h))
			continue;
		qpns[count++] = rule->qpn;
		if (!is_sniffer(rule))
			winner = rule;
	}
	return count;
}

static bool is_default(const struct fs_rule *rule)
{
	return rule->type == FS_ALL_DEFAULT || rule->type == FS_MC_DEFAULT;
}

static bool goes_before(const struct fs_rule *a, const struct fs_rule *b)
{
	if (is_default(a) != is_default(b))
		return is_default(b);
	return a->prio < b->prio;
}

static void parse_eth(struct eth_spec *spec, const u8 *in)
{
	memcpy(spec->addrs, in + FS_ETH_DMAC, ETH_ADDR);
	memcpy(spec->addrs + ETH_ADDR, in + FS_ETH_SMAC, ETH_ADDR);
	memcpy(spec->masks, in + FS_ETH_DMAC_MASK, ETH_ADDR);
	memcpy(spec->masks + ETH_ADDR, in + FS_ETH_SMAC_MASK, ETH_ADDR);
	spec->check_type = get_u8(in, FS_ETH_TYPE_ON);
	spec->type = get_be16(in, FS_ETH_TYPE);
	spec->vlan = get_be16(in, FS_ETH_VLAN);
	spec->vlan_mask = get_be16(in, FS_ETH_VLAN_MASK);
}

static void parse_ip(struct ip_spec *spec, const u8 *in)
{
	spec->src = get_be32(in, FS_IPV4_SRC);
	spec->src_mask = get_be32(in, FS_IPV4_SRC_MASK);
	spec->dst = get_be32(in, FS_IPV4_DST);
	spec->dst_mask = get_be32(in, FS_IPV4_DST_MASK);
}

static void parse_l4(struct l4_spec *spec, const u8 *in, u8 proto)
{
	spec->proto = proto;
	spec->src = get_be16(in, FS_L4_SRC);
	spec->src_mask = get_be16(in, FS_L4_SRC_MASK);
	spec->dst = get_be16(in, FS_L4_DST);
	spec->dst_mask = get_be16(in, FS_L4_DST_MASK);
}

/* Returns the pattern's size, 0 if it is none that the card knows. */
static u32 parse_spec(struct fs_rule *rule, const u8 *in, u32 left)
{
	u32 size = FS_SPEC_UNIT * get_u8(in, FS_SPEC_SIZE);
	u16 id = get_be16(in, FS_SPEC_ID);

	if (size > left)
		return 0;
	if (id == FS_ETH && size == FS_ETH_SIZE) {
		parse_eth(&rule->eth, in);
		rule->has_eth = true;
	} else if (id == FS_IPV4 && size == FS_IPV4_SIZE) {
		parse_ip(&rule->ip, in);
		rule->has_ip = true;
	} else if ((id == FS_TCP || id == FS_UDP) && size == FS_L4_SIZE) {
		parse_l4(&rule->l4, in, id == FS_TCP ? PROTO_TCP : PROTO_UDP);
		rule->has_l4 = true;
	} else {
		return 0;
	}
	return size;
}

static bool parse_rule(struct fs_rule *rule, const u8 *in, u32 len)
{
	u32 at = FS_CTRL_SIZE;
	u8 port = get_u8(in, FS_PORT);

	if (len < FS_CTRL_SIZE || port < 1 || port > CX3_NUM_PORTS)
		return false;
	rule->prio = get_be16(in, FS_PRIO);
	rule->type = get_u8(in, FS_TYPE);
	rule->port = port - 1u;
	rule->qpn = (u32)field(QPN_M, get_be32(in, FS_QPN));
	while (at < len) {
		u32 size = len - at < FS_SPEC_UNIT ? 0 : parse_spec(rule, in + at, len - at);

		if (!size)
			return false;
		at += size;
	}
	return true;
}

enum cmd_status cmd_flow_attach(struct card *card, struct cmd *cmd)
{
	struct fs_rule *rule, **p;

	if (!card->hca.dmfs)
		return cmd_refuse(cmd, CMD_BAD_SYS_STATE, "steering is not device-managed");
	rule = calloc(1, sizeof(*rule));
	if (!rule)
		return CMD_INTERNAL_ERR;
	if (cmd->in_mod > CX3_MAILBOX_SIZE / FS_SPEC_UNIT ||
	    !parse_rule(rule, cmd->in, cmd->in_mod * FS_SPEC_UNIT)) {
		free(rule);
		return cmd_refuse(cmd, CMD_BAD_PARAM, "the rule");
	}
	rule->id = ++card->next_rule_id;
	for (p = &card->rules; *p && !goes_before(rule, *p); p = &(*p)->next)
		;
	rule->next = *p;
	*p = rule;
	trace("rule %llu: port %u priority 0x%x type %u QP 0x%x", (unsigned long long)rule->id,
	      rule->port + 1, rule->prio, rule->type, rule->qpn);
	cmd->out_param = rule->id;
	return CMD_OK;
}

enum cmd_status cmd_flow_detach(struct card *card, struct cmd *cmd)
{
	struct fs_rule **p, *rule;

	for (p = &card->rules; *p && (*p)->id != cmd->in_param; p = &(*p)->next)
		;
	rule = *p;
	if (!rule)
		return cmd_refuse(cmd, CMD_BAD_INDEX, "no such rule");
	*p = rule->next;
	free(rule);
	return CMD_OK;
}
