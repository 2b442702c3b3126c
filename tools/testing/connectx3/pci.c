// SPDX-License-Identifier: GPL-2.0
/*
 * PCI configuration space. The machine that the card is in emulates sizing of
 * BARs and the MSI-X table from what it reads here, and passes writes on.
 */
#include "card.h"

#define CFG_VENDOR		0x00
#define CFG_DEVICE		0x02
#define CFG_COMMAND		0x04
#define CFG_COMMAND_MASTER	0x0004
#define CFG_STATUS		0x06
#define CFG_STATUS_CAPS		0x0010
#define CFG_REVISION		0x08
#define CFG_CACHE_LINE		0x0c
#define CFG_BAR0		0x10
#define CFG_BAR0_BITS		0x4	/* 64-bit */
#define CFG_BAR2		0x18
#define CFG_BAR2_BITS		0xc	/* 64-bit, prefetchable */
#define CFG_BARS_END		0x28
#define CFG_SUBVENDOR		0x2c
#define CFG_SUBDEVICE		0x2e
#define CFG_CAP_POINTER		0x34
#define CFG_INT_LINE		0x3c

#define CAP_PM			0x40
#define CAP_PM_ID		0x01
#define PM_CAPS			0x0003
#define PM_CONTROL		(CAP_PM + 4)
#define PM_NO_SOFT_RESET	0x0008

#define CAP_PCIE		0x60
#define CAP_PCIE_ID		0x10
#define PCIE_VERSION_2		0x0002	/* an endpoint */
#define PCIE_DEVCAP		(CAP_PCIE + 0x04)
#define PCIE_DEVCAP_BITS	0x10008001u	/* FLR, role-based errors, 256-byte payload */
#define PCIE_DEVCTL		(CAP_PCIE + 0x08)
#define PCIE_DEVCTL_FLR		BIT(15)
#define PCIE_LNKCAP		(CAP_PCIE + 0x0c)
#define PCIE_LINK		0x0083	/* 8 GT/s, 8 lanes */
#define PCIE_LNKCTL		(CAP_PCIE + 0x10)
#define PCIE_LNKSTA		(CAP_PCIE + 0x12)
#define PCIE_DEVCTL2		(CAP_PCIE + 0x28)
#define PCIE_LNKCTL2		(CAP_PCIE + 0x30)

#define CAP_MSIX		0x9c
#define CAP_MSIX_ID		0x11
#define MSIX_CONTROL		(CAP_MSIX + 2)
#define MSIX_TABLE		(CAP_MSIX + 4)
#define MSIX_PBA		(CAP_MSIX + 8)

/* Configuration space is little-endian, unlike everything else of this card. */
static void put_le(u8 *config, size_t off, unsigned int size, u32 value)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		config[off + i] = (u8)(value >> 8 * i);
}

static void put_cap(u8 *config, size_t at, u8 id, u8 next, u16 word)
{
	put_le(config, at, 1, id);
	put_le(config, at + 1, 1, next);
	put_le(config, at + 2, 2, word);
}

void pci_init(struct card *card)
{
	u8 *c = card->config;

	put_le(c, CFG_VENDOR, 2, CX3_VENDOR_ID);
	put_le(c, CFG_DEVICE, 2, CX3_DEVICE_ID);
	put_le(c, CFG_STATUS, 2, CFG_STATUS_CAPS);
	put_le(c, CFG_REVISION, 4, CX3_CLASS_ETHERNET << 8 | CX3_REVISION);
	put_le(c, CFG_BAR0, 4, CFG_BAR0_BITS);
	put_le(c, CFG_BAR2, 4, CFG_BAR2_BITS);
	put_le(c, CFG_SUBVENDOR, 2, CX3_VENDOR_ID);
	put_le(c, CFG_SUBDEVICE, 2, CX3_DEVICE_ID);
	put_le(c, CFG_CAP_POINTER, 1, CAP_PM);
	put_cap(c, CAP_PM, CAP_PM_ID, CAP_PCIE, PM_CAPS);
	put_le(c, PM_CONTROL, 2, PM_NO_SOFT_RESET);
	put_cap(c, CAP_PCIE, CAP_PCIE_ID, CAP_MSIX, PCIE_VERSION_2);
	put_le(c, PCIE_DEVCAP, 4, PCIE_DEVCAP_BITS);
	put_le(c, PCIE_LNKCAP, 4, PCIE_LINK);
	put_le(c, PCIE_LNKSTA, 2, PCIE_LINK);
	put_cap(c, CAP_MSIX, CAP_MSIX_ID, 0, CX3_NUM_VECTORS - 1);
	put_le(c, MSIX_TABLE, 4, REG_MSIX_TABLE);
	put_le(c, MSIX_PBA, 4, REG_MSIX_PBA);
}

void pci_needs_master(struct card *card, const char *what)
{
	if (!(card->config[CFG_COMMAND] & CFG_COMMAND_MASTER))
		violation(V_NO_MASTER, "%s", what);
}

static bool writable(size_t off)
{
	static const struct { u16 at, len; } spots[] = {
		{ CFG_COMMAND, 2 }, { CFG_CACHE_LINE, 1 }, { CFG_BAR0, CFG_BARS_END - CFG_BAR0 },
		{ CFG_INT_LINE, 1 }, { PM_CONTROL, 2 }, { PCIE_DEVCTL, 2 }, { PCIE_LNKCTL, 2 },
		{ PCIE_DEVCTL2, 2 }, { PCIE_LNKCTL2, 2 }, { MSIX_CONTROL, 2 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(spots); i++)
		if (off >= spots[i].at && off < spots[i].at + (size_t)spots[i].len)
			return true;
	return false;
}

bool pci_read(struct card *card, u64 off, void *buf, size_t len)
{
	if (off > sizeof(card->config) || len > sizeof(card->config) - off)
		return false;
	memcpy(buf, card->config + off, len);
	return true;
}

bool pci_write(struct card *card, u64 off, const void *buf, size_t len)
{
	const u8 *from = buf;
	size_t i;

	if (off > sizeof(card->config) || len > sizeof(card->config) - off)
		return false;
	for (i = 0; i < len; i++)
		if (writable((size_t)off + i))
			card->config[off + i] = from[i];
	/* the type bits of the BARs are not for writing */
	card->config[CFG_BAR0] = (u8)((card->config[CFG_BAR0] & ~0xf) | CFG_BAR0_BITS);
	card->config[CFG_BAR2] = (u8)((card->config[CFG_BAR2] & ~0xf) | CFG_BAR2_BITS);
	if (card->config[PCIE_DEVCTL + 1] & PCIE_DEVCTL_FLR >> 8) {
		card->config[PCIE_DEVCTL + 1] &= (u8)~(PCIE_DEVCTL_FLR >> 8);
		say("function level reset");
		card_reset(card);
	}
	return true;
}
