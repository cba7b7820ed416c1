package proposal_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var (
	ctx   = context.Background()
	ann   = proposal.Person{ID: bursar.ID{0: 1}, Name: "Ann"}
	bob   = proposal.Person{ID: bursar.ID{0: 2}, Name: "Bob"}
	carol = proposal.Person{ID: bursar.ID{0: 3}, Name: "Carol"}
	shop  = bursar.ID{0: 9}
)

// harness has a verb "pay" whose act adds an account named as the outcome: how often it was done is how many there are.
type harness struct {
	*testing.T
	bursartest.Database
	url     string
	clock   *clocktest.Clock
	service *proposal.Service
	steps   []store.ProposalStatus // that were recorded

	mu      sync.Mutex
	refused map[bursar.ID]bool // who lost their rights
	before  func() error       // runs at the beginning of an execution, outside of its transaction
	forged  bool               // no assertion counts
}

func each(t *testing.T, test func(h *harness)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := &harness{T: t, url: storetest.URL(db), clock: clocktest.New(), refused: map[bursar.ID]bool{}}
		h.Database = bursartest.Over(t, db.As(h.clock.Now, store.Hooks{}))
		h.service = &proposal.Service{DB: h.DB, IDs: h.IDs, Log: slog.New(slog.DiscardHandler), May: h.may, Verify: h.verify,
			Need: func(_ bursar.CurrencyCode, a bursar.Amount) int {
				if bursar.Units(100).Less(a) {
					return 2
				}
				return 1
			},
			Record: func(ctx context.Context, tx *store.Tx, c proposal.Change) error {
				tx.After(func() {
					h.mu.Lock()
					defer h.mu.Unlock()
					h.steps = append(h.steps, c.Next)
				})
				return nil
			},
			Kinds: map[string]proposal.Kind{"pay": {Propose: "pay.propose", Approve: "pay.approve",
				Check: func(_ context.Context, p store.Proposal) (store.Proposal, error) {
					if p.Object == "" {
						return p, bursar.Refuse(bursar.CodeInvalidRequest, "what is paid?")
					}
					return p, nil
				},
				Execute: h.execute,
			}}}
		test(h)
	})
}

func (h *harness) may(_ context.Context, _ *store.Tx, person bursar.ID, verb string, account bursar.ID) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused[person] || account != shop {
		return &proposal.Denied{Verb: verb}
	}
	return nil
}

func (h *harness) verify(_ context.Context, _ *store.Tx, person bursar.ID, _ store.Proposal, evidence string) error {
	if h.forged || evidence != "touched by "+person.String() {
		return proposal.ErrEvidence
	}
	return nil
}

func (h *harness) execute(ctx context.Context, p store.Proposal, done proposal.Done) error {
	h.mu.Lock()
	before := h.before
	h.mu.Unlock()
	if before != nil {
		if err := before(); err != nil {
			return err
		}
	}
	return h.DB.Do(ctx, func(tx *store.Tx) error {
		paid := bursar.Account{ID: h.IDs.Next(), Name: "paid " + p.Object, WebhookGeneration: 1, CreatedAt: tx.Now()}
		if err := tx.Accounts().Insert(ctx, paid); err != nil {
			return err
		}
		return done(ctx, tx, paid.Name)
	})
}

// order is what Ann proposes.
func (h *harness) order(units uint64) store.Proposal {
	return store.Proposal{Verb: "pay", Object: "rent", AccountID: shop, Currency: "COIN", Amount: bursar.Units(units),
		Destination: "there", Reason: "it is due", Token: h.IDs.Next()}
}

func (h *harness) propose(units uint64) store.Proposal {
	h.Helper()
	p, err := h.service.Propose(ctx, ann, h.order(units))
	h.Must(err)
	return p
}

func (h *harness) approve(who proposal.Person, p store.Proposal) (store.Proposal, error) {
	return h.service.Approve(ctx, who,
		proposal.Approval{Proposal: p.ID, Hash: p.Hash, Evidence: "touched by " + who.ID.String()})
}

// is checks the status of a proposal, and how often it was carried out.
func (h *harness) is(p store.Proposal, want store.ProposalStatus, times int) store.Proposal {
	h.Helper()
	now, err := h.service.Get(ctx, p.ID)
	h.Must(err)
	if now.Status != want || now.EndedAt.IsZero() == want.Ended() {
		h.Errorf("the proposal is %s (%s), ended %s, want %s", now.Status, now.Outcome, now.EndedAt, want)
	}
	paid := 0
	h.View(func(tx *store.Tx) error {
		list, err := tx.Accounts().All(ctx)
		for _, a := range list {
			if strings.HasPrefix(a.Name, "paid ") {
				paid++
			}
		}
		return err
	})
	if paid != times {
		h.Errorf("it was carried out %d times, want %d", paid, times)
	}
	return now
}

func (h *harness) fails(what string, got, want error) {
	h.Helper()
	if !errors.Is(got, want) {
		h.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func (h *harness) recorded(want ...store.ProposalStatus) {
	h.Helper()
	if !slices.Equal(h.steps, want) {
		h.Errorf("recorded are %v, want %v", h.steps, want)
	}
}

const hour = time.Hour
