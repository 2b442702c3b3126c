// SPDX-License-Identifier: GPL-2.0
/* A plugin for QEMU that counts, instruction by instruction, what the receive
 * softirq of one vCPU executes.
 *
 * What counts is what runs between the entry of net_rx_action() and its return,
 * of runs that begin between a start and a stop mark of the guest. A mark is an
 * instruction that does nothing, with a number in its operand. An interrupt or
 * exception in between is left out, up to the iret that ends it: a softirq is
 * not preempted, so there is exactly one.
 *
 * The plugin knows nothing of functions: at each stop mark it writes addresses
 * and counts, and main.py finds the names. Arguments:
 *
 *   out=FILE		where to write
 *   cpu=N		the vCPU that is watched
 *   entry=ADDR		net_rx_action
 *   caller=ADDR-ADDR	handle_softirqs: to execute there is to have returned
 *   iret=ADDR		native_irq_return_iret
 *   mem=on		count loads, stores and modelled cache misses as well
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "counts.h"
#include "qemu_plugin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* nopl MARK(%rax) */
#define NOP_SIZE	7
#define MARK_START	0x72786801
#define MARK_STOP	0x72786802

/* the kernel's half of the address space */
#define KERNEL_SPACE	(1ULL << 63)

/* a translated piece of code */
struct block {
	size_t nr_insns;
	struct insn_count *insns[];
};

static struct {
	FILE *out;
	unsigned int cpu;
	uint64_t entry, caller, caller_end, iret;
	bool mem;
} opt;

/* The guest's marks come from another vCPU than the one that counts. */
static atomic_bool marked;

/* of the watched vCPU; only its thread uses it */
static struct {
	bool in_softirq;
	unsigned int interrupts;	/* that have not returned yet */
} state;

/* what a batch reports beside its counts */
static struct {
	unsigned int number, runs, interrupts, unbalanced;
} batch;

/* state as generated code sees it: whether blocks count */
static struct qemu_plugin_u64 counting;

static void update_counting(void)
{
	qemu_plugin_u64_set(counting, opt.cpu,
			    state.in_softirq && !state.interrupts);
}

static void count_fetch(struct insn_count *insn, uint64_t *line)
{
	enum cache_miss miss;

	if (insn->pc >> 6 == *line)
		return;
	*line = insn->pc >> 6;
	miss = cache_fetch(insn->pc);
	insn->fetch_misses += miss >= CACHE_MISS_L1;
	insn->l2_misses += miss >= CACHE_MISS_L2;
}

/* A block is left before its end only by an exception, and the code that is
 * measured has none.
 */
static void count_block(unsigned int vcpu, void *userdata)
{
	struct block *block = userdata;
	uint64_t line = 0;
	size_t i;

	for (i = 0; i < block->nr_insns; i++) {
		struct insn_count *insn = block->insns[i];

		if (!insn->execs++)
			counts_used(insn);
		if (opt.mem)
			count_fetch(insn, &line);
	}
}

static void count_access(unsigned int vcpu, qemu_plugin_meminfo_t info,
			 uint64_t vaddr, void *userdata)
{
	struct insn_count *insn = userdata;
	enum cache_miss miss;

	if (vcpu != opt.cpu || !state.in_softirq || state.interrupts)
		return;
	if (qemu_plugin_mem_is_store(info))
		insn->stores++;
	else
		insn->loads++;
	miss = cache_access(vaddr, 1U << qemu_plugin_mem_size_shift(info));
	insn->l1_misses += miss >= CACHE_MISS_L1;
	insn->l2_misses += miss >= CACHE_MISS_L2;
}

/* The block's condition was looked at before, so it is counted here. */
static void enter_softirq(unsigned int vcpu, void *userdata)
{
	if (vcpu != opt.cpu || !atomic_load(&marked))
		return;
	batch.runs++;
	batch.unbalanced += state.in_softirq;
	state.in_softirq = true;
	state.interrupts = 0;
	update_counting();
	count_block(vcpu, userdata);
}

static void leave_softirq(unsigned int vcpu, void *userdata)
{
	if (vcpu != opt.cpu || !state.in_softirq)
		return;
	if (state.interrupts)
		batch.unbalanced++;
	state.in_softirq = false;
	update_counting();
}

static void interrupt(unsigned int vcpu, enum qemu_plugin_discon_type type,
		      uint64_t from_pc, uint64_t to_pc, void *userdata)
{
	if (vcpu != opt.cpu || !state.in_softirq)
		return;
	batch.interrupts++;
	state.interrupts++;
	update_counting();
}

static void interrupt_return(unsigned int vcpu, void *userdata)
{
	if (vcpu != opt.cpu || !state.in_softirq || !state.interrupts)
		return;
	state.interrupts--;
	update_counting();
}

static void start(unsigned int vcpu, void *userdata)
{
	counts_reset();
	cache_flush();
	batch.runs = 0;
	batch.interrupts = 0;
	batch.unbalanced = 0;
	atomic_store(&marked, true);
}

/* The guest waits before this mark until the softirq has ended; a batch where
 * it had not counts as unbalanced too.
 */
static void stop(unsigned int vcpu, void *userdata)
{
	atomic_store(&marked, false);
	if (state.in_softirq)
		batch.unbalanced++;
	fprintf(opt.out, "batch\t%u\t%u\t%u\t%u\n", batch.number++, batch.runs,
		batch.interrupts, batch.unbalanced);
	counts_print(opt.out);
	fflush(opt.out);
}

/* The number in a mark, or 0 for any other instruction. */
static uint32_t mark_of(const struct qemu_plugin_insn *insn)
{
	static const uint8_t nopl[] = { 0x0f, 0x1f, 0x80 };
	uint8_t code[NOP_SIZE];
	uint32_t number;

	if (qemu_plugin_insn_data(insn, code, sizeof(code)) != sizeof(code) ||
	    memcmp(code, nopl, sizeof(nopl)))
		return 0;
	memcpy(&number, code + sizeof(nopl), sizeof(number));
	return number;
}

static void look_for_marks(struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint32_t number = mark_of(insn);

		if (number == MARK_START || number == MARK_STOP)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, number == MARK_START ? start : stop,
				QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

static struct block *make_block(struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	struct block *block;

	/* never freed: QEMU does not say when it forgets a translation */
	block = malloc(sizeof(*block) + n * sizeof(block->insns[0]));
	if (!block)
		abort();
	block->nr_insns = n;
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t pc = qemu_plugin_insn_vaddr(insn);

		block->insns[i] = counts_get(pc);
		if (pc == opt.iret)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, interrupt_return, QEMU_PLUGIN_CB_NO_REGS,
				NULL);
		if (opt.mem)
			qemu_plugin_register_vcpu_mem_cb(
				insn, count_access, QEMU_PLUGIN_CB_NO_REGS,
				QEMU_PLUGIN_MEM_RW, block->insns[i]);
	}
	return block;
}

static void translate(struct qemu_plugin_tb *tb, void *userdata)
{
	uint64_t pc = qemu_plugin_tb_vaddr(tb);
	struct block *block;

	if (pc < KERNEL_SPACE) {
		look_for_marks(tb);
		return;
	}
	block = make_block(tb);
	if (pc == opt.entry)
		qemu_plugin_register_vcpu_tb_exec_cb(
			tb, enter_softirq, QEMU_PLUGIN_CB_NO_REGS, block);
	else if (pc >= opt.caller && pc < opt.caller_end)
		qemu_plugin_register_vcpu_tb_exec_cb(
			tb, leave_softirq, QEMU_PLUGIN_CB_NO_REGS, NULL);
	else
		qemu_plugin_register_vcpu_tb_exec_cond_cb(
			tb, count_block, QEMU_PLUGIN_CB_NO_REGS,
			QEMU_PLUGIN_COND_NE, counting, 0, block);
}

static void finish(void *userdata)
{
	fclose(opt.out);
}

static bool parse(const char *arg)
{
	if (!strncmp(arg, "out=", 4)) {
		opt.out = fopen(arg + 4, "w");
		if (!opt.out)
			perror(arg + 4);
		return opt.out;
	}
	if (!strcmp(arg, "mem=on")) {
		opt.mem = true;
		return true;
	}
	return sscanf(arg, "cpu=%u", &opt.cpu) == 1 ||
	       sscanf(arg, "entry=%" SCNx64, &opt.entry) == 1 ||
	       sscanf(arg, "iret=%" SCNx64, &opt.iret) == 1 ||
	       sscanf(arg, "caller=%" SCNx64 "-%" SCNx64, &opt.caller,
		      &opt.caller_end) == 2;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
					   const struct qemu_info *info,
					   int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++) {
		if (!parse(argv[i])) {
			fprintf(stderr, "rxprof: bad argument %s\n", argv[i]);
			return -1;
		}
	}
	if (!opt.out || !opt.entry || !opt.caller_end || !opt.iret) {
		fprintf(stderr, "rxprof: out, entry, caller and iret are needed\n");
		return -1;
	}
	cache_init();
	counting.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate, NULL);
	qemu_plugin_register_vcpu_discon_cb(id, QEMU_PLUGIN_DISCON_INTERRUPT |
					    QEMU_PLUGIN_DISCON_EXCEPTION,
					    interrupt, NULL);
	qemu_plugin_register_atexit_cb(id, finish, NULL);
	return 0;
}
