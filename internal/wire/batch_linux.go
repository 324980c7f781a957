package wire

// batch is of connections that are read in one call. It holds their locks meanwhile.
type batch struct {
	conns  []*conn
	fds    []int
	pieces []*piece // as many as ever were read at once
}

func (b *batch) add(c *conn) {
	if len(b.conns) == len(b.pieces) {
		b.pieces = append(b.pieces, &piece{buf: make([]byte, Piece)})
	}
	p := b.pieces[len(b.conns)]
	p.into(p.buf)
	b.conns, b.fds = append(b.conns, c), append(b.fds, c.fd)
}

func (b *batch) receive(r *ring) {
	if err := r.receive(b.fds, b.pieces); err != nil {
		panic(err) // it passed its trial, so that a call has no other reason to fail than a wrong argument
	}
}

func (b *batch) reset() {
	clear(b.conns)
	b.conns, b.fds = b.conns[:0], b.fds[:0]
}
