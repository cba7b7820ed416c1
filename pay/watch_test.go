package pay

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/bursar/bursar"
)

// One client's network has no more streams than its share, and a process no more than all.
func TestBoundsOfStreams(t *testing.T) {
	t.Parallel()
	w := newWatch(Config{Now: time.Now, Sleep: func(ctx context.Context, _ time.Duration) bool {
		<-ctx.Done()
		return false
	}})
	defer w.stop()
	network := func(i int) netip.Prefix { return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i)}), 32) }
	token := func(i int) bursar.ID { return bursar.ID{13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)} }
	var all []*stream
	for i := 0; len(all) < maxStreams; i++ {
		s := w.enter(token(i), network(len(all)/maxOfClient), Seen{})
		if s == nil {
			t.Fatalf("stream %d is refused, want %d", i, maxStreams)
		}
		all = append(all, s)
		if more := w.enter(token(1<<20), network((len(all)-1)/maxOfClient), Seen{}); more != nil {
			if len(all)%maxOfClient == 0 {
				t.Fatalf("a client has more than %d streams, want no more", maxOfClient)
			}
			w.leave(more)
		}
	}
	if w.enter(token(1<<20), network(200), Seen{}) != nil {
		t.Errorf("there are more than %d streams, want no more", maxStreams)
	}
	w.leave(all[0])
	if w.enter(token(1<<20), network(200), Seen{}) == nil {
		t.Error("a stream is refused once another has left, want it")
	}
}
