// SPDX-License-Identifier: GPL-2.0
/*
 * A cable from a port to another program, in the formats of QEMU's netdevs:
 * "dgram" is a frame a datagram, "stream" a length of 32 bits before each frame.
 *
 * Nothing is lost here for want of room: a frame that cannot go out stays with
 * the card, and what comes in is not read while the card has no room.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "peer.h"

#define LENGTH		4
#define BUFFER		(CX3_MAX_FRAME + LENGTH)
#define FRAMES_A_RUN	64
#define SOCKET_ROOM	(1 << 20)

enum kind { DGRAM, STREAM, LISTEN };

struct peer {
	struct card *card;
	unsigned int port;
	enum kind kind;
	int fd;			/* -1: nobody there yet */
	int listen_fd;
	char local[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct sockaddr_un remote;
	u8 in[BUFFER];
	u32 in_len;
	u8 out[BUFFER];
	u32 out_len, out_done;
	struct wire_peer wire;
};

static int unix_socket(int type)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int room = SOCKET_ROOM;

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	return fd;
}

static void lost(struct peer *peer)
{
	say("port %u: the peer is gone", peer->port + 1);
	close(peer->fd);
	peer->fd = -1;
	peer->in_len = peer->out_len = peer->out_done = 0;
	if (peer->kind == LISTEN)
		port_plug(peer->card, peer->port, false);
}

static bool send_dgram(struct peer *peer, const void *data, size_t len)
{
	ssize_t n = sendto(peer->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL,
			   (struct sockaddr *)&peer->remote, sizeof(peer->remote));

	/* a peer that is not there is a cable that ends in the air */
	return n >= 0 || (errno != EAGAIN && errno != ENOBUFS);
}

/* false: some of the frame before is still here */
static bool flush(struct peer *peer)
{
	while (peer->out_done < peer->out_len) {
		ssize_t n = send(peer->fd, peer->out + peer->out_done,
				 peer->out_len - peer->out_done, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			return false;
		if (n < 0) {
			lost(peer);
			return true;
		}
		peer->out_done += (u32)n;
	}
	peer->out_len = peer->out_done = 0;
	return true;
}

static bool peer_send(void *arg, const void *data, size_t len)
{
	struct peer *peer = arg;

	if (peer->fd < 0)
		return true;
	if (peer->kind == DGRAM)
		return send_dgram(peer, data, len);
	if (!flush(peer))
		return false;
	put_be32(peer->out, 0, (u32)len);
	memcpy(peer->out + LENGTH, data, len);
	peer->out_len = LENGTH + (u32)len;
	flush(peer);
	return true;
}

/* One frame from the stream, if there is all of it. */
static bool read_stream(struct peer *peer)
{
	u32 want = LENGTH;
	ssize_t n;

	if (peer->in_len >= LENGTH) {
		want += get_be32(peer->in, 0);
		if (want > BUFFER) {
			lost(peer);
			return false;
		}
	}
	n = recv(peer->fd, peer->in + peer->in_len, want - peer->in_len, MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		lost(peer);
	if (n <= 0)
		return false;
	peer->in_len += (u32)n;
	if (peer->in_len == want && want > LENGTH) {
		wire_receive(peer->card, peer->port, peer->in + LENGTH, want - LENGTH, false);
		peer->in_len = 0;
	}
	return true;
}

static bool read_dgram(struct peer *peer)
{
	ssize_t n = recv(peer->fd, peer->in, sizeof(peer->in), MSG_DONTWAIT);

	if (n < 0)
		return false;
	wire_receive(peer->card, peer->port, peer->in, (size_t)n, false);
	return true;
}

static void welcome(struct peer *peer)
{
	int fd = accept4(peer->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	peer->fd = fd;
	port_plug(peer->card, peer->port, true);
}

void peer_poll(const struct peer *peer, struct pollfd *pfd)
{
	bool waiting = peer->fd < 0 && peer->kind == LISTEN;
	bool blocked = peer->out_len || peer->card->ports[peer->port].wire.out.count;

	pfd->fd = waiting ? peer->listen_fd : peer->fd;
	pfd->events = 0;
	if (waiting || wire_has_room(peer->card, peer->port))
		pfd->events |= POLLIN;
	if (!waiting && blocked)
		pfd->events |= POLLOUT;
}

void peer_run(struct peer *peer)
{
	int i;

	if (peer->fd < 0 && peer->kind == LISTEN)
		welcome(peer);
	for (i = 0; i < FRAMES_A_RUN && peer->fd >= 0; i++) {
		if (!wire_has_room(peer->card, peer->port))
			break;
		if (!(peer->kind == DGRAM ? read_dgram(peer) : read_stream(peer)))
			break;
	}
	if (peer->fd >= 0 && peer->kind != DGRAM)
		flush(peer);
}

static bool set_path(struct sockaddr_un *addr, const char *path, size_t len)
{
	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	if (!len || len >= sizeof(addr->sun_path))
		return false;
	memcpy(addr->sun_path, path, len);
	return true;
}

static bool bind_local(struct peer *peer, int fd, const char *path, size_t len)
{
	struct sockaddr_un addr;

	if (fd < 0 || !set_path(&addr, path, len))
		return false;
	unlink(addr.sun_path);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return false;
	memcpy(peer->local, addr.sun_path, sizeof(peer->local));
	return true;
}

static bool open_dgram(struct peer *peer, const char *paths)
{
	const char *comma = strchr(paths, ',');

	peer->kind = DGRAM;
	peer->fd = unix_socket(SOCK_DGRAM);
	return comma && bind_local(peer, peer->fd, paths, (size_t)(comma - paths)) &&
	       set_path(&peer->remote, comma + 1, strlen(comma + 1));
}

static bool open_stream(struct peer *peer, const char *path)
{
	peer->kind = STREAM;
	peer->fd = unix_socket(SOCK_STREAM);
	return peer->fd >= 0 && set_path(&peer->remote, path, strlen(path)) &&
	       !connect(peer->fd, (struct sockaddr *)&peer->remote, sizeof(peer->remote));
}

static bool open_listen(struct peer *peer, const char *path)
{
	peer->kind = LISTEN;
	peer->listen_fd = unix_socket(SOCK_STREAM);
	port_plug(peer->card, peer->port, false);
	return bind_local(peer, peer->listen_fd, path, strlen(path)) && !listen(peer->listen_fd, 1);
}

static bool open_peer(struct peer *peer, const char *what, const char **why)
{
	errno = EINVAL;
	*why = "there are dgram:LOCAL,REMOTE stream:PATH and listen:PATH";
	if (!strncmp(what, "dgram:", 6) && open_dgram(peer, what + 6))
		return true;
	if (!strncmp(what, "stream:", 7) && open_stream(peer, what + 7))
		return true;
	if (!strncmp(what, "listen:", 7) && open_listen(peer, what + 7))
		return true;
	if (errno != EINVAL)
		*why = strerror(errno);
	return false;
}

struct peer *peer_new(struct card *card, const char *spec, const char **why)
{
	struct peer *peer = calloc(1, sizeof(*peer));

	*why = "a peer is PORT=KIND:..., PORT 1 or 2";
	if (!peer)
		return NULL;
	peer->card = card;
	peer->fd = peer->listen_fd = -1;
	if ((spec[0] != '1' && spec[0] != '2') || spec[1] != '=') {
		free(peer);
		return NULL;
	}
	peer->port = (unsigned int)(spec[0] - '1');
	peer->wire.arg = peer;
	peer->wire.send = peer_send;
	card->ports[peer->port].wire.peer = &peer->wire;
	if (open_peer(peer, spec + 2, why))
		return peer;
	peer_free(peer);
	return NULL;
}

void peer_free(struct peer *peer)
{
	peer->card->ports[peer->port].wire.peer = NULL;
	if (peer->fd >= 0)
		close(peer->fd);
	if (peer->listen_fd >= 0)
		close(peer->listen_fd);
	if (peer->local[0])
		unlink(peer->local);
	free(peer);
}
