// SPDX-License-Identifier: GPL-2.0
/*
 * The vfio-user protocol, server's side: a stream of messages, each a header
 * and a body, file descriptors riding on the first byte.
 *
 * One message is read at a time, header and body each by itself, so descriptors
 * always belong to the message at hand. Whatever a client sends, it gets an
 * error or loses the connection; nothing of it is trusted. QEMU emulates the
 * MSI-X table, here a vector is an eventfd that comes and goes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "trace.h"
#include "vfu.h"

/* the header: little-endian, as is everything in this protocol */
#define HDR_ID		0
#define HDR_CMD		2
#define HDR_SIZE	4
#define HDR_FLAGS	8
#define HDR_ERROR	12
#define HDR_LEN		16
#define FLAG_TYPE_M	0xf
#define FLAG_COMMAND	0x0
#define FLAG_REPLY	0x1
#define FLAG_NO_REPLY	0x10
#define FLAG_ERROR	0x20
#define MAX_TRANSFER	(1u << 20)
#define MAX_BODY	(MAX_TRANSFER + 64)
#define SEND_TIMEOUT_S	5

enum {
	CMD_VERSION = 1, CMD_DMA_MAP, CMD_DMA_UNMAP, CMD_GET_INFO, CMD_REGION_INFO,
	CMD_REGION_IO_FDS, CMD_IRQ_INFO, CMD_SET_IRQS, CMD_REGION_READ, CMD_REGION_WRITE,
	CMD_DMA_READ, CMD_DMA_WRITE, CMD_DEVICE_RESET, CMD_DIRTY_PAGES,
};

/* bodies; most begin with argsz and flags */
#define BODY_ARGSZ	0
#define BODY_FLAGS	4
#define VERSION_LEN	4
#define MAP_OFFSET	8
#define MAP_START	16
#define MAP_SIZE	24
#define MAP_LEN		32
#define MAP_FLAG_WRITE	0x2
#define UNMAP_START	8
#define UNMAP_SIZE	16
#define UNMAP_LEN	24
#define UNMAP_FLAG_ALL	0x2
#define INFO_REGIONS	8
#define INFO_IRQS	12
#define INFO_LEN	16
#define INFO_RESET_PCI	0x3
#define REGION_INDEX	8
#define REGION_SIZE	16
#define REGION_LEN	32
#define REGION_READ_WRITE 0x3
#define IRQ_INDEX	8
#define IRQ_COUNT	12
#define IRQ_LEN		16
#define IRQ_EVENTFD	0x1
#define SET_INDEX	8
#define SET_START	12
#define SET_COUNT	16
#define SET_LEN		20
#define SET_NONE	0x1
#define SET_EVENTFD	0x4
#define SET_TRIGGER	0x20
#define ACCESS_OFFSET	0
#define ACCESS_REGION	8
#define ACCESS_COUNT	12
#define ACCESS_LEN	16

struct vector {
	int fd;
	bool pending;	/* rang while it had no eventfd */
};

struct vfu {
	struct vfu_device dev;
	int fd;
	bool agreed;		/* on a version */
	u8 head[HDR_LEN];
	u8 body[MAX_BODY];
	u32 have;		/* bytes of the message, header included */
	int fds[VFU_MAX_FDS];
	unsigned int fd_count;
	bool too_many_fds;
	u8 reply[HDR_LEN + MAX_BODY];
	u32 reply_len;		/* of the body */
	struct vector *vectors;
};

static u64 get_le(const u8 *p, size_t off, unsigned int size)
{
	u64 value = 0;

	while (size--)
		value = value << 8 | p[off + size];
	return value;
}

static u32 le32(const u8 *p, size_t off)
{
	return (u32)get_le(p, off, sizeof(u32));
}

static u64 le64(const u8 *p, size_t off)
{
	return get_le(p, off, sizeof(u64));
}

static void put_le(u8 *p, size_t off, unsigned int size, u64 value)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		p[off + i] = (u8)(value >> 8 * i);
}

static u8 *answer(struct vfu *vfu, u32 len)
{
	vfu->reply_len = len;
	memset(vfu->reply + HDR_LEN, 0, len);
	return vfu->reply + HDR_LEN;
}

/* Takes the first descriptor of the message from it; -1 if it has none left. */
static int take_fd(struct vfu *vfu)
{
	int fd;

	if (!vfu->fd_count)
		return -1;
	fd = vfu->fds[0];
	memmove(vfu->fds, vfu->fds + 1, --vfu->fd_count * sizeof(int));
	return fd;
}

static void drop_fds(struct vfu *vfu)
{
	while (vfu->fd_count)
		close(take_fd(vfu));
	vfu->too_many_fds = false;
}

/* -- interrupts ------------------------------------------------------------------- */

static void ring(struct vector *vector)
{
	u64 one = 1;

	vector->pending = false;
	/* a full counter means that it rings already */
	if (write(vector->fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		say("an eventfd cannot be written: %s", strerror(errno));
}

void vfu_interrupt(struct vfu *vfu, unsigned int number)
{
	struct vector *vector;

	if (number >= vfu->dev.vectors)
		return;
	vector = &vfu->vectors[number];
	if (vector->fd < 0)
		vector->pending = true;
	else
		ring(vector);
}

static void set_vector(struct vector *vector, int fd)
{
	if (vector->fd >= 0)
		close(vector->fd);
	vector->fd = fd;
	if (fd >= 0 && vector->pending)
		ring(vector);
}

static void clear_vectors(struct vfu *vfu)
{
	unsigned int i;

	for (i = 0; i < vfu->dev.vectors; i++) {
		set_vector(&vfu->vectors[i], -1);
		vfu->vectors[i].pending = false;
	}
}

static int do_set_irqs(struct vfu *vfu, const u8 *body, u32 len)
{
	u32 flags = le32(body, BODY_FLAGS);
	u32 start = le32(body, SET_START);
	u32 count = le32(body, SET_COUNT);
	u32 i;

	(void)len;
	if (le32(body, SET_INDEX) != VFU_IRQ_MSIX)
		return flags == (SET_NONE | SET_TRIGGER) && !count ? 0 : -EINVAL;
	if (start > vfu->dev.vectors || count > vfu->dev.vectors - start)
		return -EINVAL;
	if (flags == (SET_NONE | SET_TRIGGER) && !count) {
		clear_vectors(vfu);
		return 0;
	}
	/* without descriptors the vectors lose theirs */
	if (flags != (SET_EVENTFD | SET_TRIGGER) || (vfu->fd_count && vfu->fd_count != count))
		return -EINVAL;
	for (i = 0; i < count; i++)
		set_vector(&vfu->vectors[start + i], take_fd(vfu));
	return 0;
}

/* -- the other commands -------------------------------------------------------------- */

static int do_version(struct vfu *vfu, const u8 *body, u32 len)
{
	static const char caps[] = "{\"capabilities\":{\"max_msg_fds\":16,"
				   "\"max_data_xfer_size\":1048576}}";
	u8 *out;

	(void)len;
	if (vfu->agreed || get_le(body, 0, sizeof(u16)))
		return -EINVAL;
	out = answer(vfu, VERSION_LEN + sizeof(caps));
	memcpy(out + VERSION_LEN, caps, sizeof(caps));
	vfu->agreed = true;
	return 0;
}

static int do_dma_map(struct vfu *vfu, const u8 *body, u32 len)
{
	int fd = take_fd(vfu);
	int err = vfu->dev.dma_map(vfu->dev.arg, le64(body, MAP_START), le64(body, MAP_SIZE), fd,
				   le64(body, MAP_OFFSET), le32(body, BODY_FLAGS) & MAP_FLAG_WRITE);

	(void)len;
	if (fd >= 0)
		close(fd);	/* the map lives on without it */
	return err;
}

static int do_dma_unmap(struct vfu *vfu, const u8 *body, u32 len)
{
	(void)len;
	memcpy(answer(vfu, UNMAP_LEN), body, UNMAP_LEN);
	if (le32(body, BODY_FLAGS) & UNMAP_FLAG_ALL) {
		vfu->dev.dma_unmap_all(vfu->dev.arg);
		return 0;
	}
	return vfu->dev.dma_unmap(vfu->dev.arg, le64(body, UNMAP_START), le64(body, UNMAP_SIZE));
}

static int do_get_info(struct vfu *vfu, const u8 *body, u32 len)
{
	u8 *out = answer(vfu, INFO_LEN);

	(void)body;
	(void)len;
	put_le(out, BODY_ARGSZ, 4, INFO_LEN);
	put_le(out, BODY_FLAGS, 4, INFO_RESET_PCI);
	put_le(out, INFO_REGIONS, 4, VFU_REGIONS);
	put_le(out, INFO_IRQS, 4, VFU_IRQS);
	return 0;
}

static int do_region_info(struct vfu *vfu, const u8 *body, u32 len)
{
	u32 index = le32(body, REGION_INDEX);
	u8 *out;

	(void)len;
	if (index >= VFU_REGIONS)
		return -EINVAL;
	out = answer(vfu, REGION_LEN);
	put_le(out, BODY_ARGSZ, 4, REGION_LEN);
	put_le(out, BODY_FLAGS, 4, vfu->dev.region_size[index] ? REGION_READ_WRITE : 0);
	put_le(out, REGION_INDEX, 4, index);
	put_le(out, REGION_SIZE, 8, vfu->dev.region_size[index]);
	return 0;
}

static int do_irq_info(struct vfu *vfu, const u8 *body, u32 len)
{
	u32 index = le32(body, IRQ_INDEX);
	u8 *out;

	(void)len;
	if (index >= VFU_IRQS)
		return -EINVAL;
	out = answer(vfu, IRQ_LEN);
	put_le(out, BODY_ARGSZ, 4, IRQ_LEN);
	put_le(out, BODY_FLAGS, 4, IRQ_EVENTFD);
	put_le(out, IRQ_INDEX, 4, index);
	put_le(out, IRQ_COUNT, 4, index == VFU_IRQ_MSIX ? vfu->dev.vectors : 0);
	return 0;
}

static bool in_region(const struct vfu *vfu, u32 region, u64 off, u32 count)
{
	return region < VFU_REGIONS && count && count <= MAX_TRANSFER &&
	       off < vfu->dev.region_size[region] && count <= vfu->dev.region_size[region] - off;
}

static int do_region_read(struct vfu *vfu, const u8 *body, u32 len)
{
	u64 off = le64(body, ACCESS_OFFSET);
	u32 region = le32(body, ACCESS_REGION);
	u32 count = le32(body, ACCESS_COUNT);
	u8 *out;

	(void)len;
	if (!in_region(vfu, region, off, count))
		return -EINVAL;
	out = answer(vfu, ACCESS_LEN + count);
	memcpy(out, body, ACCESS_LEN);
	return vfu->dev.read(vfu->dev.arg, region, off, out + ACCESS_LEN, count) ? 0 : -EIO;
}

static int do_region_write(struct vfu *vfu, const u8 *body, u32 len)
{
	u64 off = le64(body, ACCESS_OFFSET);
	u32 region = le32(body, ACCESS_REGION);
	u32 count = le32(body, ACCESS_COUNT);

	if (!in_region(vfu, region, off, count) || count != len - ACCESS_LEN)
		return -EINVAL;
	memcpy(answer(vfu, ACCESS_LEN), body, ACCESS_LEN);
	return vfu->dev.write(vfu->dev.arg, region, off, body + ACCESS_LEN, count) ? 0 : -EIO;
}

static int do_reset(struct vfu *vfu, const u8 *body, u32 len)
{
	(void)body;
	(void)len;
	vfu->dev.reset(vfu->dev.arg);
	return 0;
}

static const struct {
	u32 min_len;		/* of the body */
	int (*run)(struct vfu *vfu, const u8 *body, u32 len);
} commands[] = {
	[CMD_VERSION] = { VERSION_LEN, do_version },
	[CMD_DMA_MAP] = { MAP_LEN, do_dma_map },
	[CMD_DMA_UNMAP] = { UNMAP_LEN, do_dma_unmap },
	[CMD_GET_INFO] = { INFO_LEN, do_get_info },
	[CMD_REGION_INFO] = { REGION_LEN, do_region_info },
	[CMD_IRQ_INFO] = { IRQ_LEN, do_irq_info },
	[CMD_SET_IRQS] = { SET_LEN, do_set_irqs },
	[CMD_REGION_READ] = { ACCESS_LEN, do_region_read },
	[CMD_REGION_WRITE] = { ACCESS_LEN, do_region_write },
	[CMD_DEVICE_RESET] = { 0, do_reset },
};

/* -- messages --------------------------------------------------------------------------- */

static bool send_reply(struct vfu *vfu, int err)
{
	u32 len = HDR_LEN + (err ? 0 : vfu->reply_len);
	u32 done = 0;

	memcpy(vfu->reply, vfu->head, HDR_LEN);
	put_le(vfu->reply, HDR_SIZE, 4, len);
	put_le(vfu->reply, HDR_FLAGS, 4, FLAG_REPLY | (err ? FLAG_ERROR : 0));
	put_le(vfu->reply, HDR_ERROR, 4, (u32)-err);
	while (done < len) {
		ssize_t n = send(vfu->fd, vfu->reply + done, len - done, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		done += (u32)n;
	}
	return true;
}

static int dispatch(struct vfu *vfu, u16 cmd, u32 len)
{
	if (vfu->too_many_fds)
		return -EINVAL;
	if (cmd >= ARRAY_SIZE(commands) || !commands[cmd].run)
		return -EOPNOTSUPP;
	if (cmd != CMD_VERSION && !vfu->agreed)
		return -EINVAL;
	if (len < commands[cmd].min_len)
		return -EINVAL;
	return commands[cmd].run(vfu, vfu->body, len);
}

/* One whole message. false: the connection cannot go on. */
static bool handle(struct vfu *vfu)
{
	u16 cmd = (u16)get_le(vfu->head, HDR_CMD, sizeof(u16));
	u32 flags = le32(vfu->head, HDR_FLAGS);
	u32 len = le32(vfu->head, HDR_SIZE) - HDR_LEN;
	int err;

	vfu->reply_len = 0;
	err = dispatch(vfu, cmd, len);
	drop_fds(vfu);
	if (err)
		say("message %u of %u bytes refused: %s", cmd, len, strerror(-err));
	return flags & FLAG_NO_REPLY || send_reply(vfu, err);
}

/* Size and type of what is coming, from the header. */
static bool valid_header(struct vfu *vfu)
{
	u32 size = le32(vfu->head, HDR_SIZE);
	u32 type = le32(vfu->head, HDR_FLAGS) & FLAG_TYPE_M;

	if (size >= HDR_LEN && size <= HDR_LEN + MAX_BODY && type == FLAG_COMMAND)
		return true;
	say("a header with size %u and type %u: closing the connection", size, type);
	send_reply(vfu, -EINVAL);
	return false;
}

static void keep_fds(struct vfu *vfu, struct msghdr *msg)
{
	struct cmsghdr *c;

	if (msg->msg_flags & MSG_CTRUNC)
		vfu->too_many_fds = true;
	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		const int *fds = (const int *)CMSG_DATA(c);
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		size_t i;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (i = 0; i < count; i++) {
			if (vfu->fd_count < VFU_MAX_FDS) {
				vfu->fds[vfu->fd_count++] = fds[i];
			} else {
				close(fds[i]);
				vfu->too_many_fds = true;
			}
		}
	}
}

static ssize_t receive(struct vfu *vfu, void *to, size_t len)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE((VFU_MAX_FDS + 1) * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = to, .iov_len = len };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(vfu->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n > 0)
		keep_fds(vfu, &msg);
	return n;
}

enum progress { MORE, MESSAGE, NOTHING, GONE };

/* Reads on with the message at hand. */
static enum progress advance(struct vfu *vfu)
{
	bool in_head = vfu->have < HDR_LEN;
	u32 want = in_head ? HDR_LEN : le32(vfu->head, HDR_SIZE);
	u8 *to = in_head ? vfu->head + vfu->have : vfu->body + (vfu->have - HDR_LEN);
	ssize_t n = receive(vfu, to, want - vfu->have);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return NOTHING;
	if (n <= 0)
		return GONE;
	vfu->have += (u32)n;
	if (in_head && vfu->have == HDR_LEN && !valid_header(vfu))
		return GONE;
	return vfu->have >= HDR_LEN && vfu->have == le32(vfu->head, HDR_SIZE) ? MESSAGE : MORE;
}

static void detach(struct vfu *vfu)
{
	drop_fds(vfu);
	clear_vectors(vfu);
	close(vfu->fd);
	vfu->fd = -1;
	vfu->agreed = false;
	vfu->have = 0;
	vfu->dev.dma_unmap_all(vfu->dev.arg);
	vfu->dev.reset(vfu->dev.arg);
}

bool vfu_process(struct vfu *vfu, unsigned int limit)
{
	while (limit) {
		switch (advance(vfu)) {
		case MORE:
			continue;
		case NOTHING:
			return true;
		case MESSAGE:
			limit--;
			vfu->have = 0;
			if (handle(vfu))
				continue;
			/* fall through */
		case GONE:
			detach(vfu);
			return false;
		}
	}
	return true;
}

struct vfu *vfu_new(const struct vfu_device *dev)
{
	struct vfu *vfu = calloc(1, sizeof(*vfu));
	unsigned int i;

	if (!vfu)
		return NULL;
	vfu->dev = *dev;
	vfu->fd = -1;
	vfu->vectors = calloc(dev->vectors, sizeof(*vfu->vectors));
	for (i = 0; vfu->vectors && i < dev->vectors; i++)
		vfu->vectors[i].fd = -1;
	if (!vfu->vectors) {
		free(vfu);
		return NULL;
	}
	return vfu;
}

void vfu_free(struct vfu *vfu)
{
	if (vfu->fd >= 0)
		detach(vfu);
	free(vfu->vectors);
	free(vfu);
}

void vfu_attach(struct vfu *vfu, int fd)
{
	struct timeval limit = { .tv_sec = SEND_TIMEOUT_S };

	/* a client that does not read its replies must not stop the card for good */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	vfu->fd = fd;
}

int vfu_fd(const struct vfu *vfu)
{
	return vfu->fd;
}
