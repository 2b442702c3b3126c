/* SPDX-License-Identifier: GPL-2.0 */
/* A vfio-user server for one client and one PCI device: see vfu.c. */
#ifndef CX3_VFU_H
#define CX3_VFU_H

#include "bits.h"

#define VFU_REGIONS	9
#define VFU_CONFIG	7
#define VFU_IRQS	5
#define VFU_IRQ_MSIX	2
#define VFU_MAX_FDS	16

/* The device, which knows nothing of sockets. false or -errno: refused. */
struct vfu_device {
	void *arg;
	u64 region_size[VFU_REGIONS];
	unsigned int vectors;
	bool (*read)(void *arg, unsigned int region, u64 off, void *buf, size_t len);
	bool (*write)(void *arg, unsigned int region, u64 off, const void *buf, size_t len);
	void (*reset)(void *arg);
	int (*dma_map)(void *arg, u64 start, u64 size, int fd, u64 off, bool writable);
	int (*dma_unmap)(void *arg, u64 start, u64 size);
	void (*dma_unmap_all)(void *arg);
};

struct vfu;

struct vfu *vfu_new(const struct vfu_device *dev);
void vfu_free(struct vfu *vfu);
/* Takes over the socket. */
void vfu_attach(struct vfu *vfu, int fd);
int vfu_fd(const struct vfu *vfu);	/* -1: nobody there */
/* Handles what has arrived, limit messages at most. false: the client is gone. */
bool vfu_process(struct vfu *vfu, unsigned int limit);
void vfu_interrupt(struct vfu *vfu, unsigned int vector);

#endif
