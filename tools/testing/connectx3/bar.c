// SPDX-License-Identifier: GPL-2.0
/*
 * The two windows of registers: BAR 0 for commands and control, 32 bits at a
 * time; BAR 2 for doorbells, a page a user (UAR).
 */
#include "card.h"

static u32 read_reg(struct card *card, u64 off)
{
	if (off >= REG_HCR && off < REG_HCR_END)
		return hcr_read(card, (unsigned int)(off - REG_HCR) / 4);
	if (off >= REG_ERROR_BUF && off < REG_ERROR_BUF_END)
		return card->error_buf[(off - REG_ERROR_BUF) / 4];
	switch (off) {
	case REG_CLOCK_HI:
		return (u32)(card_cycles(card) >> 32);
	case REG_CLOCK_LO:
		return (u32)card_cycles(card);
	case REG_OWNERSHIP:	/* 0: no other driver has the card */
	case REG_SEMAPHORE:	/* 0: granted */
	case REG_RESET:
		return 0;
	}
	violation(V_BAR_ACCESS, "read of BAR 0 at 0x%llx", (unsigned long long)off);
	return 0;
}

static void write_reg(struct card *card, u64 off, u32 value)
{
	if (off >= REG_HCR && off < REG_HCR_END) {
		hcr_write(card, (unsigned int)(off - REG_HCR) / 4, value);
		return;
	}
	switch (off) {
	case REG_RESET:
		if (value == RESET_NOW) {
			say("reset by the driver");
			card_reset(card);
		}
		return;
	case REG_OWNERSHIP:	/* given back */
	case REG_SEMAPHORE:
	case REG_CLEAR_INT:
	case REG_CLEAR_INT + 4:
		return;
	}
	violation(V_BAR_ACCESS, "write of BAR 0 at 0x%llx", (unsigned long long)off);
}

/* The machine keeps the vectors itself; what it passes on has no meaning here. */
static bool is_msix(u64 off)
{
	return off >= REG_MSIX_TABLE && off < REG_MSIX_PBA + UAR_PAGE_M;
}

bool bar_read(struct card *card, unsigned int bar, u64 off, void *buf, size_t len)
{
	memset(buf, 0, len);
	if (bar == 0 && is_msix(off))
		return true;
	if (bar != 0 || len != sizeof(u32) || off % sizeof(u32) || off >= CX3_BAR0_SIZE) {
		violation(V_BAR_ACCESS, "read of %zu bytes of BAR %u at 0x%llx", len, bar,
			  (unsigned long long)off);
		return bar == 0 || bar == 2;
	}
	put_be32(buf, 0, read_reg(card, off));
	return true;
}

static bool is_eq_doorbell(u64 reg)
{
	return reg >= UAR_EQ_DB && reg < UAR_EQ_DB + UAR_EQS_A_PAGE * UAR_EQ_DB_STRIDE &&
	       !(reg % UAR_EQ_DB_STRIDE);
}

static bool doorbell(struct card *card, u64 off, const void *buf, size_t len)
{
	u32 uar = (u32)(off >> UAR_PAGE_SHIFT);
	u64 reg = off & UAR_PAGE_M;

	if (off >= (BIT(CX3_LOG_UAR_MB) << 20))
		return false;
	/* after a reset some still ring: the card is deaf, and the driver knows */
	if (card->hca.state != HCA_UP)
		return true;
	pci_needs_master(card, "a doorbell");
	if (reg == UAR_SEND_DB && len == sizeof(u32))
		send_doorbell(card, uar, (u32)field(SEND_DB_QPN_M, get_be32(buf, 0)));
	else if (reg == UAR_CQ_DB && len == sizeof(u64))
		cq_doorbell(card, uar, get_be64(buf, 0));
	else if (is_eq_doorbell(reg) && len == sizeof(u32))
		eq_doorbell(card, uar * UAR_EQS_A_PAGE + (u32)(reg - UAR_EQ_DB) / UAR_EQ_DB_STRIDE,
			    get_be32(buf, 0));
	else
		return false;
	return true;
}

bool bar_write(struct card *card, unsigned int bar, u64 off, const void *buf, size_t len)
{
	if (bar == 0 && is_msix(off))
		return true;
	if (bar == 0 && len == sizeof(u32) && !(off % sizeof(u32)) && off < CX3_BAR0_SIZE) {
		write_reg(card, off, get_be32(buf, 0));
		return true;
	}
	if (bar == 2 && doorbell(card, off, buf, len))
		return true;
	violation(V_BAR_ACCESS, "write of %zu bytes of BAR %u at 0x%llx", len, bar,
		  (unsigned long long)off);
	return bar == 0 || bar == 2;
}
