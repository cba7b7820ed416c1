package screening_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/verdict"
)

// slow passes everything but one subject, whose answer comes once others went on.
type slow struct {
	now  func() time.Time
	on   <-chan struct{}
	last bursar.ID
}

func (s *slow) Ask(ctx context.Context, request string) (screening.Reply, error) {
	q, err := verdict.ParseRequest(request)
	if err == nil && q.Subject == s.last {
		select {
		case <-s.on:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return signedBy(keyOf(1), answerTo(request, verdict.Pass, s.now())), err
}

// An answer that takes long delays no other that was asked for at once.
func TestASlowAnswerDelaysNoOther(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		r.Step()
		slowly := r.Wallet(0)
		r.Pay(slowly.Address, 100_000)
		quick, late := r.paid(r.Wallet(1), 100_000), r.FirstDeposit(slowly)
		on := make(chan struct{})
		r.screener.Service = &slow{now: r.clock.Now, on: on, last: late.ID}
		r.screener.Soon = func() <-chan time.Time {
			at := make(chan time.Time)
			close(at)
			return at
		}
		var once sync.Once
		r.screener.Decided = func() { once.Do(func() { close(on) }) }
		patient, cancel := context.WithTimeout(ctx, 2*time.Minute)
		defer cancel()
		if _, err := r.screener.Step(patient, r.Lease); err != nil {
			t.Fatalf("one was waited for before the other was taken: %v", err)
		}
		for what, d := range map[string]bursar.Deposit{"quick": quick, "late": late} {
			if got := r.known(d.ID).Outcome; got != "pass" {
				t.Errorf("the %s one is known as %s, want pass", what, got)
			}
		}
	})
}
