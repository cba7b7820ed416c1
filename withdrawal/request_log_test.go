package withdrawal_test

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/withdrawal"
)

// causes keeps which request each message of the log names.
type causes struct {
	slog.Handler
	mu sync.Mutex
	of map[string]string
}

func (c *causes) Enabled(context.Context, slog.Level) bool { return true }

// Handle keeps the request of a line.
func (c *causes) Handle(ctx context.Context, line slog.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[line.Message] = bursar.RequestOf(ctx)
	return nil
}

// Requests are recorded together, in a context of none of them: each line names the request that caused it.
func TestLogLinesNameTheRequest(t *testing.T) {
	d := newHarness(t)
	said := &causes{Handler: slog.DiscardHandler, of: map[string]string{}}
	d.change(func(c *withdrawal.Config) { c.Log = slog.New(said) })
	d.wallet(bob, "COIN", "bob", 0)
	_, err := d.orders.Request(bursar.WithRequest(ctx, "r-1"), d.order(10_000, d.node.Named("bob")))
	d.Must(err)
	_, err = d.orders.Request(ctx, d.order(10_000, d.node.Named("a")))
	d.Must(err)
	delete(said.of, "deposit credited") // what becomes of a deposit is found by its ID
	want := map[string]string{"withdrawal requested": "", "withdrawal settled": "r-1", "event recorded": "r-1"}
	if !maps.Equal(said.of, want) {
		t.Errorf("logged are %v, want %v: the last withdrawal was asked for by no request", said.of, want)
	}
	w, err := d.orders.Request(bursar.WithRequest(ctx, "r-2"), d.order(20_000, d.node.Named("a")))
	d.Must(err)
	if got := said.of["withdrawal requested"]; got != "r-2" {
		t.Errorf("the line names %q, want r-2", got)
	}
	_, err = d.orders.Cancel(bursar.WithRequest(ctx, "r-3"), w.ID)
	d.Must(err)
	if got := said.of["withdrawal status set by an operator"]; got != "r-3" {
		t.Errorf("the decision names %q, want r-3", got)
	}
}
