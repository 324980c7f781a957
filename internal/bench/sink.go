package bench

// sink hands records on as they end, in a goroutine of its own: a slow disk holds
// no request back.
type sink struct {
	write func(*Record) error
	in    chan *Record
	done  chan struct{}
	err   error // the first of write
}

// sinkDepth is how many records may wait to be written: some seconds of a fast
// run. Beyond that requests wait for the disk.
const sinkDepth = 1 << 14

func newSink(write func(*Record) error) *sink {
	s := &sink{write: write, in: make(chan *Record, sinkDepth), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		for r := range s.in {
			if write == nil {
				continue
			}
			if err := write(r); err != nil && s.err == nil {
				s.err = err
			}
		}
	}()
	return s
}

func (s *sink) put(r *Record) {
	if s.write != nil {
		s.in <- r
	}
}

func (s *sink) close() error {
	close(s.in)
	<-s.done
	return s.err
}
