package notice_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/notice"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// mailbox is a receiver that takes every message, unless it is made to fail.
type mailbox struct {
	taken []notice.Message
	fails error
	while func() // called once a message is taken, before anybody knows
}

func (b *mailbox) Send(_ context.Context, m notice.Message) error {
	if b.fails != nil {
		return b.fails
	}
	b.taken = append(b.taken, m)
	if b.while != nil {
		b.while()
	}
	return nil
}

func (b *mailbox) Check(context.Context) (string, error) { return "", b.fails }

// harness is one receiver of the notices of a database.
type harness struct {
	*testing.T
	clock    *clocktest.Clock
	db       *store.DB
	box      *mailbox
	receiver notice.Receiver
	notifier *notice.Notifier
	said     notice.Statement
}

var kinds = []notice.Kind{notice.Alarms, notice.Approvals, notice.Withdrawals, notice.Solvency}

// notified runs a test on both databases.
func notified(t *testing.T, test func(h *harness)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := &harness{T: t, clock: clocktest.New(), box: &mailbox{}, said: notice.Statement{Solvent: true}}
		h.db = db.As(h.clock.Now, store.Hooks{})
		h.receiver = notice.Receiver{Name: "ops", Transport: h.box, Kinds: kinds}
		h.notifier = h.process()
		h.step() // it begins
		test(h)
	})
}

// process is a notifier of another process with the same database.
func (h *harness) process() *notice.Notifier {
	return &notice.Notifier{DB: h.db, IDs: bursar.NewIDs(h.clock.Now, nil), Log: slog.New(slog.DiscardHandler),
		Name: "Shop", Link: "https://shop.example", Digest: time.Minute, ApprovalsAfter: time.Hour,
		WithdrawalsAfter: 2 * time.Hour, Daily: -1, Receivers: []notice.Receiver{h.receiver},
		Solvency: func(context.Context, *store.Tx) (notice.Statement, error) { return h.said, nil },
		Spread:   func(int64) int64 { return 0 }}
}

func (h *harness) step() {
	h.Helper()
	if _, err := h.notifier.Step(ctx, h.receiver); err != nil {
		h.Fatal(err)
	}
}

func (h *harness) do(f func(tx *store.Tx) error) {
	h.Helper()
	if err := h.db.Do(ctx, f); err != nil {
		h.Fatal(err)
	}
}

func (h *harness) raise(kind, ref string) {
	h.Helper()
	h.do(func(tx *store.Tx) error {
		return tx.Alarms().Raise(ctx, store.Alarm{Chain: bursar.Bitcoin, Kind: kind, Ref: ref, Message: "message of " + ref})
	})
}

func (h *harness) resolve(kind, ref string) {
	h.Helper()
	h.do(func(tx *store.Tx) error { return tx.Alarms().Resolve(ctx, kind, ref) })
}

// gets compares the subjects of what the receiver got since the last time.
func (h *harness) gets(what string, subjects ...string) {
	h.Helper()
	var got []string
	for _, m := range h.box.taken {
		got = append(got, strings.TrimPrefix(m.Subject, "Shop: "))
	}
	if fmt.Sprint(got) != fmt.Sprint(subjects) {
		h.Errorf("%s: the receiver got %q, want %q", what, got, subjects)
	}
	h.box.taken = nil
}

func (h *harness) after(d time.Duration) {
	h.Helper()
	h.clock.Advance(d)
	h.step()
}
