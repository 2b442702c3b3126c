/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The card: its objects and what each part of it offers the others.
 *
 * Nothing here knows how the card is plugged in. Whoever does that fills in a
 * struct card_host, calls the functions of the first block, and calls
 * card_run() when card_next() says so.
 */
#ifndef CX3_CARD_H
#define CX3_CARD_H

#include "bits.h"
#include "icm.h"
#include "layout.h"
#include "mem.h"
#include "trace.h"

#define NEVER		(~0ULL)
#define NS_PER_US	1000ULL
#define NS_PER_MS	1000000ULL

struct card;
struct frame;

/* What the card asks of the machine that it is plugged into. */
struct card_host {
	void *arg;
	void (*interrupt)(void *arg, unsigned int vector);
	u64 (*now)(void *arg);	/* ns, monotonic */
};

/* What is at the far end of a port's cable, when it is not the other port. */
struct wire_peer {
	void *arg;
	bool (*send)(void *arg, const void *data, size_t len);	/* false: not now */
};

struct card_options {
	unsigned int clock_mhz;	/* of the timestamps */
	u64 hold_ns;		/* how long pause holds a frame before it is dropped */
	u64 link_up_ns;		/* from plugged and enabled to up */
	unsigned int rx_page;	/* entries must not cross multiples of this; 0: not checked */
	unsigned int batch;	/* deterministic mode: frames a delivery; 0: off */
	u64 batch_ns;		/* after this silence an incomplete batch goes */
};

/* -- event queues: eq.c ---------------------------------------------------- */
struct eq {
	u32 eqn;
	unsigned int log_size;
	u8 vector;
	bool armed;
	bool overrun;
	u32 pi, ci;
	struct queue_mem mem;
	u64 irq_at;		/* an interrupt that a fault holds back */
};

/* -- completion queues: cq.c ------------------------------------------------ */
enum cq_arm { CQ_NOT_ARMED, CQ_ARMED_SOLICITED, CQ_ARMED };

struct cq {
	struct cq *next;	/* of those that exist */
	u32 cqn;
	u32 uar;
	u32 eqn;
	unsigned int log_size;
	bool timestamps;
	bool overrun_ok;
	bool failed;		/* overrun or unreachable: nothing more is written */
	enum cq_arm arm;
	u32 arm_ci;
	u32 pi;
	u16 period_us, max_count;
	u64 fire_at;		/* moderation's timer */
	u64 db_rec;
	struct queue_mem mem;
	unsigned int users;	/* QPs that complete here */
};

/* What a completion tells; cq.c writes it down. */
struct completion {
	u32 qpn;
	bool send;
	u8 opcode;
	u16 wqe_index;
	u32 byte_cnt;
	u64 stamp;		/* in clock cycles */
	u8 syndrome;		/* of an error; opcode is CQE_OP_ERROR */
	u8 vendor_syndrome;
	bool solicited;
	u32 vlan_flags;		/* CQE_CVLAN_PRESENT or CQE_SVLAN_PRESENT */
	u16 vlan_tci;
	u32 hash;
	u16 status;
	u8 ipv6_ext;
	u8 badfcs_enc;
	u16 checksum;
};

/* -- memory regions: mpt.c --------------------------------------------------- */
struct mpt {
	u32 flags;
	u32 pd;
	u8 key_top;
	u64 start, length;
	u64 mtt_addr;
	unsigned int page_shift;
};

/* -- queue pairs: qp.c ------------------------------------------------------- */
enum qp_state { QP_RST, QP_INIT, QP_RTR, QP_RTS, QP_SQER, QP_SQD, QP_ERR };

struct rss {
	u32 base_qpn;
	unsigned int log_qps;
	u32 default_qpn;
	u8 hash_fn;
	u8 flags;
	u8 key[RSS_KEY_SIZE];
};

/* One half of a QP: a ring of WQEs. */
struct wq {
	unsigned int log_size, log_stride;
	u32 offset;		/* in the QP's buffer */
	u32 index;		/* next WQE, free running */
	u32 cqn;
};

struct qp {
	u32 qpn;
	enum qp_state state;
	unsigned int port;	/* 0 or 1 */
	u32 pd;
	u32 uar;
	u8 counter;
	bool is_rss;
	bool strip_vlan;
	bool keep_fcs;
	u64 db_rec;
	struct wq sq, rq;
	struct queue_mem mem;
	struct rss rss;
	struct qp *next_waiting;	/* for room on the wire */
	bool waiting;
};

/* -- frames and the wire: wire.c --------------------------------------------- */
struct frame {
	struct frame *next;
	u32 len;		/* without FCS */
	bool bad_fcs;		/* an error on the wire: the FCS arrives wrong */
	bool checked;		/* by the MAC, and counted */
	bool looped;		/* it never was on the wire */
	u8 data[CX3_MAX_FRAME];
};

struct fifo {
	struct frame *first, **end;
	unsigned int count;
};

struct wire {
	struct fifo fifo;		/* frames that arrive here */
	const struct wire_peer *peer;	/* NULL: the other port */
	struct fifo out;		/* to the peer, while it is busy */
	struct qp *waiting, **waiting_end;
	u64 hold_until;			/* the first frame finds no buffer */
	bool paused;
	u64 batch_until;
};

/* -- ports: port.c, stats.c ---------------------------------------------------- */
struct lane_stats { u64 frames, tagged, octets; };

struct port_stats {
	u64 rx_class[STATS_CLASSES][STATS_PRIOS];
	u64 tx_class[STATS_CLASSES][STATS_PRIOS];
	struct lane_stats rx[STATS_PRIOS], tx[STATS_PRIOS];
	u64 rx_crc, rx_drop, rx_overflow, rx_too_long, rx_short, rx_good;
	u64 tx_drop;
	u64 rx_pause, tx_pause;		/* times that this side was told to, told to, stop */
};

struct port {
	u64 mac;		/* burnt in */
	bool enabled;		/* INIT_PORT */
	bool plugged;
	bool link;
	u64 link_at;
	u16 mtu;		/* longest frame, FCS included */
	bool pause_tx, pause_rx;
	bool ignore_fcs;
	u32 eth_proto;		/* PTYS, administrative */
	u32 base_qpn;
	bool base_valid;
	bool promisc, all_multicast;
	u64 macs[CX3_MACS];
	u32 vlans[VLAN_FILTER_WORDS];
	bool vlan_filter;	/* set since the last reset */
	bool mcast_filter;
	u64 *mcast;
	unsigned int mcast_count;
	struct port_stats stats;
	struct wire wire;
};

struct if_counter { u64 rx_frames, rx_bytes, tx_frames, tx_bytes; };

/* -- flow steering: dmfs.c ------------------------------------------------------- */
struct fs_rule;

/* -- the firmware: cmd.c ---------------------------------------------------------- */
enum hca_state { HCA_RESET, HCA_FW_MAPPED, HCA_FW_RUNNING, HCA_UP };

struct hca {
	enum hca_state state;
	bool dmfs;
	unsigned int log_qps, log_cqs, log_eqs, log_mpts;
	unsigned int cqe_shift, eqe_shift;
	u64 mtt_base;
	u8 init[HCA_SIZE];	/* INIT_HCA's mailbox, for QUERY_HCA */
};

struct card {
	struct card_host host;
	struct card_options opt;
	struct guest_mem mem;
	struct icm icm;
	u8 config[4096];
	u32 hcr[HCR_WORDS];
	u64 hcr_until;		/* a command that a fault delays or swallows */
	u8 cmd_status;		/* ... and what it will say */
	struct hca hca;
	struct eq **eqs;
	struct cq **cqs;
	bool *cq_known;		/* CQs that were the card's since INIT_HCA */
	struct qp **qps;
	struct mpt **mpts;
	int event_eq[EVENT_TYPES];
	struct port ports[CX3_NUM_PORTS];
	struct if_counter counters[CX3_NUM_COUNTERS];
	struct fs_rule *rules;
	u64 next_rule_id;
	u32 error_buf[ERROR_BUF_WORDS];
	u64 start_ns;
	struct fault *faults;
	unsigned int late_irqs;	/* EQs with an irq_at */
	struct cq *live_cqs;
	bool quiet;		/* a batch is under way: events wait for its end */
};

/* -- for whoever plugs the card in: card.c ------------------------------------------ */
struct card *card_new(const struct card_host *host, const struct card_options *opt);
void card_free(struct card *card);
void card_reset(struct card *card);
void card_run(struct card *card);
u64 card_next(struct card *card);
u64 card_now(struct card *card);
u64 card_cycles(struct card *card);
void card_internal_error(struct card *card, u32 code);

bool pci_read(struct card *card, u64 off, void *buf, size_t len);
bool pci_write(struct card *card, u64 off, const void *buf, size_t len);
void pci_init(struct card *card);
/* Says so if the driver forgot to let the card reach memory. */
void pci_needs_master(struct card *card, const char *what);
bool bar_read(struct card *card, unsigned int bar, u64 off, void *buf, size_t len);
bool bar_write(struct card *card, unsigned int bar, u64 off, const void *buf, size_t len);

/* a frame from a peer; false: no room, ask again later */
bool wire_receive(struct card *card, unsigned int port, const void *data, size_t len, bool bad_fcs);
bool wire_has_room(struct card *card, unsigned int port);
void port_plug(struct card *card, unsigned int port, bool plugged);

/* -- between the parts ---------------------------------------------------------------- */
void hcr_write(struct card *card, unsigned int word, u32 value);
u32 hcr_read(struct card *card, unsigned int word);
u64 cmd_next(struct card *card);
void cmd_run(struct card *card);

struct eq *eq_find(struct card *card, u32 eqn);
void eq_free_all(struct card *card);
void eq_doorbell(struct card *card, u32 eqn, u32 value);
void eq_event(struct card *card, struct eq *eq, u8 *eqe);
void event_async(struct card *card, enum event_type type, u8 subtype, size_t off, u32 value);
void event_cmd(struct card *card, u16 token, u8 status, u64 out);
u64 eq_next(struct card *card);
void eq_run(struct card *card);

struct cq *cq_find(struct card *card, u32 cqn);
void cq_free_all(struct card *card);
void cq_doorbell(struct card *card, u32 uar, u64 value);
void cq_complete(struct card *card, struct cq *cq, const struct completion *c);
void cq_end_quiet(struct card *card);
u64 cq_next(struct card *card);
void cq_run(struct card *card);

struct qp *qp_find(struct card *card, u32 qpn);
void qp_free_all(struct card *card);
void qp_fail(struct qp *qp);
bool qp_can_send(const struct qp *qp);
bool qp_can_receive(const struct qp *qp);

/* Memory that an lkey covers, for the QP's domain; false: a violation, and said so. */
bool mr_read(struct card *card, const struct qp *qp, u32 lkey, u64 addr, void *buf, u32 len);
bool mr_write(struct card *card, const struct qp *qp, u32 lkey, u64 addr, const void *buf, u32 len);
bool mr_check(struct card *card, const struct qp *qp, u32 lkey, u64 addr, u32 len, bool write);
void mpt_free_all(struct card *card);

void send_doorbell(struct card *card, u32 uar, u32 qpn);
void sq_run(struct card *card, struct qp *qp);

struct frame *frame_new(void);
void frame_free(struct frame *frame);
void frames_forget(void);
void wire_send(struct card *card, unsigned int port, struct frame *frame);
void wire_loop(struct card *card, unsigned int port, struct frame *frame);
void wire_wait(struct card *card, struct qp *qp);
void wire_forget(struct card *card, struct qp *qp);
bool wire_room(struct card *card, unsigned int port);
void wire_init(struct wire *wire);
void wire_clear(struct wire *wire);
u64 wire_next(struct card *card);
void wire_run(struct card *card);

enum rx_verdict { RX_TAKEN, RX_DROPPED, RX_NO_BUFFER };
enum rx_verdict rx_frame(struct card *card, unsigned int port, struct frame *frame, bool may_hold);

void port_init(struct port *port);
void port_reset(struct card *card, unsigned int number);
void port_enable(struct card *card, unsigned int number, bool on);
bool port_is_local_mac(const struct port *port, u64 mac);
u64 port_next(struct card *card);
void port_run(struct card *card);

void stats_rx(struct port *port, const struct frame *frame);
void stats_tx(struct port *port, const struct frame *frame);
void stats_dump(const struct port *port, u8 *out);
void stats_dump_flow(const struct port *port, u8 *out);

#endif
