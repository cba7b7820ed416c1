package outgoing_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// chaos is a scenario with every fault at once: two processes that take the lease from each other in the middle of
// their steps, a flaky signer, an operator who decides at any moment, a clock that jumps, connections that break before
// any statement, fees that rise and fall, receivers that refuse, and reorgs deeper than finality.
type chaos struct {
	*simulatedRun
	clock       *bursartest.Clock
	signer      *flakySigner
	broken      *interruption
	procs       [2]*harness
	leaseHolder int
	busy        bool   // something already happens while a process waits
	bottom      uint64 // where the chain was when it was followed first
	indexes     uint32 // deposit keys handed out
	expected    int    // requests to wallets that are not made yet
}

func newChaos(t *testing.T, seed uint64, url string, config sim.Config) *chaos {
	c := bursartest.NewClock()
	config.Seed = seed
	r := newHarness(t, storetest.OpenAt(t, url, c.Now), config)
	r.IDs = bursar.NewIDs(c.Now, rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), 11}))
	r.Currency.ApprovalAbove = bursar.Units(12_000_000)
	var err error
	r.Registry, err = bursar.NewRegistry([]bursar.Currency{r.Currency})
	r.Must(err)
	s := &chaos{clock: c, broken: &interruption{},
		simulatedRun: &simulatedRun{harness: r, promised: map[string]bursar.ID{}, random: rand.New(rand.NewPCG(seed, 11))}}
	r.Trouble = true
	s.signer = newFlakySigner(r, s.meanwhile)
	for i := range s.procs {
		s.start(i)
	}
	s.work(s.procs[s.leaseHolder].Follower.Step) // the chain begins here: no reorg may reach blocks below
	s.bottom = s.height()
	return s
}

// start starts a new process, which takes the lease; the process that held it goes on without knowing.
func (s *chaos) start(i int) {
	if leads := s.procs[s.leaseHolder]; leads != nil {
		s.Lease = leads.Lease
	}
	s.Restart()
	p := *s.harness
	node := resolvedBeside{s.Chain, s.meanwhile}
	p.Follower.Chain, p.Sender.Chain, p.Sweeper.Chain, p.Sender.Signer = node, node, node, s.signer
	db := s.DB.As(s.clock.Now, store.Hooks{Before: s.broken.before})
	p.Follower.DB, p.Sender.DB, p.Sweeper.DB = db, db, db
	s.procs[i], s.leaseHolder = &p, i
}

// giveLease gives the lease to a process that goes on with what it has in memory.
func (s *chaos) giveLease(i int) {
	s.Do(func(tx *store.Tx) error {
		if err := tx.Leases().Release(ctx, s.procs[s.leaseHolder].Lease); err != nil {
			return err
		}
		lease, ok, err := tx.Leases().Acquire(ctx, s.Chain.Capabilities().ID, s.IDs.Next().String(), 1<<50)
		if err == nil && !ok {
			err = errors.New("the lease was not given")
		}
		s.procs[i].Lease = lease
		return err
	})
	s.leaseHolder = i
}

// holdsLease reports whether the working process still holds the lease; what a stale one signs is never sent.
func (m *flakySigner) holdsLease(outgoingID bursar.ID) bool {
	status := bursar.OutgoingStatus("")
	m.View(func(tx *store.Tx) error {
		p, err := tx.Outgoing().Get(ctx, outgoingID)
		status = p.Status
		return err
	})
	return status == bursar.OutgoingSent
}

// meanwhile is what happens while a process waits for a node or for the signer.
func (s *chaos) meanwhile() {
	if s.busy || s.random.IntN(8) != 0 {
		return
	}
	s.busy = true
	defer func() { s.busy = false }()
	switch s.random.IntN(8) {
	case 0, 1:
		s.Chain.Mine(1)
	case 2:
		s.giveLease(1 - s.leaseHolder)
	case 3:
		s.decide()
	case 4:
		s.order()
	case 5:
		s.deepReorg()
	default:
		s.work(s.procs[s.leaseHolder].Follower.Step)
	}
}

func (s *chaos) work(step func(context.Context, store.Lease) (bool, error)) {
	if _, err := step(ctx, s.procs[s.leaseHolder].Lease); err != nil && !s.Trouble {
		s.T.Fatal(err)
	}
}

func (s *chaos) act() {
	s.clock.Advance(time.Second)
	switch n := s.random.IntN(40); {
	case n < 3:
		s.newWallet()
	case n < 9 && len(s.wallets) > 0:
		w := s.wallets[s.random.IntN(len(s.wallets))]
		s.recent = append(s.recent, s.Pay(w.Address, s.amount(50_000_000)))
	case n < 14:
		s.order()
	case n < 15 && len(s.wallets) > 0:
		s.inside()
	case n < 16:
		s.start(s.random.IntN(2))
	case n < 17:
		s.giveLease(1 - s.leaseHolder)
	case n < 19:
		s.fault()
	case n < 21:
		s.deepReorg()
	case n < 23:
		s.decide()
	case n < 25:
		s.signer.mood = mood(s.random.IntN(int(moods)))
	case n < 27:
		s.signer.mood = willing
	case n < 28:
		s.clock.Advance(time.Duration(s.random.IntN(7200)-3600) * time.Second)
	case n < 29:
		s.Chain.SetRate([]uint64{5, 10, 10, 20, 40}[s.random.IntN(5)])
	case n < 30:
		s.Chain.FailBroadcasts(sim.LostSilently, 1+s.random.IntN(4))
	default:
		s.Chain.Mine(1 + s.random.IntN(2))
	}
	if s.random.IntN(2) == 0 {
		s.stepSomeone()
	}
}

// amount is sometimes below the minimum.
func (s *chaos) amount(most uint64) uint64 {
	if s.random.IntN(8) == 0 {
		return 1 + s.random.Uint64N(999)
	}
	return 1000 + s.random.Uint64N(most)
}

func (s *chaos) newWallet() {
	account := s.random.IntN(3)
	if s.random.IntN(4) == 0 {
		s.wallets = append(s.wallets, s.Charge(account, 1_000_000))
	} else {
		s.wallets = append(s.wallets, s.Wallet(account))
	}
	s.indexes++
}

// order requests a payment to an outside address, which may refuse it on a chain where payments fail.
func (s *chaos) order() {
	before := len(s.promised)
	s.simulatedRun.order()
	to := s.Chain.Named(fmt.Sprint("outsider ", before))
	if s.random.IntN(6) == 0 {
		s.Chain.Close(to)
	}
}

// inside requests a payment to a wallet of this service, or to one that it will have.
func (s *chaos) inside() {
	to := s.wallets[s.random.IntN(len(s.wallets))].Address
	if s.random.IntN(2) == 0 {
		to = s.FutureAddress(s.indexes)
		s.expected++
	}
	_, err := s.Withdraw(s.random.IntN(3), 500+s.random.Uint64N(20_000_000), to.String())
	var refusal *bursar.Error
	if err != nil && !errors.As(err, &refusal) && !errors.Is(err, sim.ErrNode) {
		s.T.Fatal(err)
	}
}

// decide is the operator, who is often too late.
func (s *chaos) decide() {
	list, err := s.Withdrawals.List(ctx, bursar.ID{}, store.Page{Limit: 20})
	s.Must(err)
	if len(list) == 0 {
		return
	}
	w := list[s.random.IntN(len(list))]
	switch s.random.IntN(4) {
	case 0:
		_, _ = s.Withdrawals.Reject(ctx, w.ID, "no")
	case 1:
		_, _ = s.Withdrawals.Cancel(ctx, w.ID)
	default:
		_, _ = s.Withdrawals.Approve(ctx, w.ID)
	}
}

// deepReorg drops payments of others and our own; sometimes receivers change their behavior meanwhile.
func (s *chaos) deepReorg() {
	depth := 1 + s.random.IntN(2)
	if s.random.IntN(4) == 0 {
		depth = 4 + s.random.IntN(6)
	}
	if s.height() < s.bottom+uint64(depth) {
		return
	}
	for _, to := range slices.Sorted(maps.Keys(s.promised)) {
		switch s.random.IntN(24) {
		case 0:
			s.Chain.Close(to)
		case 1:
			s.Chain.Open(to)
		}
	}
	theirs, ours := s.within(depth, s.recent), s.within(depth, s.signer.signed)
	s.Chain.Reorg(depth, append(theirs, ours...)...)
	s.dropped = append(s.dropped, theirs...)
}

// within picks some of the transactions in the last blocks.
func (s *chaos) within(depth int, txIDs []string) (some []string) {
	for _, id := range txIDs[max(0, len(txIDs)-40):] {
		ref, err := s.Chain.Find(ctx, id)
		if err == nil && ref.Height+uint64(depth) > s.height() && s.random.IntN(3) == 0 {
			some = append(some, id)
		}
	}
	return some
}

// stepSomeone lets a worker of any process take a step, and its connection may break at any moment.
func (s *chaos) stepSomeone() {
	p := s.procs[s.leaseHolder]
	if s.random.IntN(6) == 0 {
		p = s.procs[1-s.leaseHolder]
	}
	if s.random.IntN(5) == 0 {
		s.broken.left = 1 + s.random.IntN(120)
	}
	defer func() { s.broken.left = 0 }()
	for range 1 + s.random.IntN(6) {
		if _, err := p.Follower.Step(ctx, p.Lease); err != nil {
			break
		}
	}
	if s.random.IntN(8) != 0 {
		_ = p.Sender.Step(ctx, p.Lease)
	}
	if s.random.IntN(3) == 0 {
		_ = p.Sweeper.Step(ctx, p.Lease)
	}
}
