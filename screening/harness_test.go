package screening_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/verdict"
	"github.com/bursar/bursar/withdrawal"
)

var ctx = context.Background()

func TestMain(m *testing.M) { storetest.Main(m) }

// keyOf returns the private key of a screening service.
func keyOf(n byte) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = n
	return ed25519.NewKeyFromSeed(seed)
}

func publicOf(key ed25519.PrivateKey) ed25519.PublicKey {
	return ed25519.PublicKey(key[ed25519.SeedSize:])
}

// answerTo returns what a service says about a request, for an hour.
func answerTo(text string, said verdict.Verdict, now time.Time) verdict.Answer {
	q, _ := verdict.ParseRequest(text)
	now = now.Truncate(time.Second)
	return verdict.Answer{Instance: q.Instance, Subject: q.Subject, Request: approval.HashOf(text), Verdict: said,
		List: "2026-11-24.1", Created: now, Expires: now.Add(time.Hour)}
}

func signedBy(key ed25519.PrivateKey, a verdict.Answer) screening.Reply {
	text := a.Text()
	return screening.Reply{Text: text, Signature: base64.StdEncoding.EncodeToString(ed25519.Sign(key, []byte(text)))}
}

// lists is a screening service: it says a verdict, or what say returns.
type lists struct {
	now     func() time.Time
	verdict verdict.Verdict
	say     func(request string) (screening.Reply, error) // nil: the verdict
	asked   []string
}

func (l *lists) Ask(_ context.Context, request string) (screening.Reply, error) {
	l.asked = append(l.asked, request)
	if l.say != nil {
		return l.say(request)
	}
	return signedBy(keyOf(1), answerTo(request, l.verdict, l.now())), nil
}

var errLost = errors.New("the service is lost")

// harness is one chain whose deposits and payouts are screened.
type harness struct {
	*bursartest.OneChain
	clock    *bursartest.Clock
	lists    *lists
	screener *screening.Screener
}

// screened runs a test on a chain of each model, on both databases.
func screened(t *testing.T, test func(t *testing.T, r *harness)) {
	t.Helper()
	t.Parallel()
	for _, config := range []struct {
		name string
		of   func(t *testing.T, test func(*testing.T, *bursartest.OneChain, *bursartest.Clock))
	}{
		{"utxos", func(t *testing.T, f func(*testing.T, *bursartest.OneChain, *bursartest.Clock)) {
			bursartest.OnClock(t, bursartest.UTXOModel, f)
		}},
		{"nonce", func(t *testing.T, f func(*testing.T, *bursartest.OneChain, *bursartest.Clock)) {
			bursartest.OnClock(t, bursartest.Numbered, f)
		}},
	} {
		t.Run(config.name, func(t *testing.T) {
			config.of(t, func(t *testing.T, o *bursartest.OneChain, c *bursartest.Clock) {
				r := &harness{OneChain: o, clock: c, lists: &lists{now: c.Now, verdict: verdict.Pass}}
				r.begin()
				test(t, r)
			})
		})
	}
}

// begin screens what the process that the harness simulates now does.
func (r *harness) begin() {
	id := r.Chain.Capabilities().ID
	r.Follower.Deposits.Screened = true
	gate := screening.Gate{Registry: r.Registry, Key: publicOf(keyOf(1))}
	r.Sender.Screened, r.Sender.ScreenAgain = gate.Lacking, gate.Again
	r.screener = &screening.Screener{DB: r.DB, Chain: id, Registry: r.Registry, IDs: r.IDs,
		Log: slog.New(slog.DiscardHandler), Service: r.lists, Key: publicOf(keyOf(1)), Acts: r.acts(),
		Final: r.Follower.Deposits.CreditQuery}
}

// end screens nothing any more.
func (r *harness) end() { r.Follower.Deposits.Screened, r.Sender.Screened = false, nil }

func (r *harness) acts() screening.Acts {
	return screening.Acts{Quarantine: r.Follower.Deposits.Quarantine,
		Refuse: withdrawal.Payouts{Chain: r.Chain.Capabilities().ID, Registry: r.Registry, IDs: r.IDs,
			Log: slog.New(slog.DiscardHandler)}.Refuse}
}

// screen asks about what waits, once.
func (r *harness) screen() {
	r.T.Helper()
	_, err := r.screener.Step(ctx, r.Lease)
	r.Must(err)
}

// decide decides as an operator.
func (r *harness) decide(id bursar.ID, release bool) error {
	d := &screening.Decisions{DB: r.DB, Log: slog.New(slog.DiscardHandler),
		Acts: func(bursar.ChainID) (screening.Acts, error) { return r.acts(), nil }}
	_, err := d.Decide(ctx, screening.Decision{Subject: id, Release: release, Actor: "ann", Reason: "case 17"})
	return err
}

// known returns what is known about a subject.
func (r *harness) known(id bursar.ID) (s store.Screening) {
	r.T.Helper()
	r.View(func(tx *store.Tx) (err error) {
		s, err = tx.Screenings().Get(ctx, id)
		return err
	})
	return s
}

// wantAlarms checks which alarms about screening and about unattributed deposits are open.
func (r *harness) wantAlarms(kinds ...string) {
	r.T.Helper()
	open := map[string]bool{}
	r.View(func(tx *store.Tx) error {
		list, err := tx.Alarms().List(ctx, 100)
		for _, a := range list {
			open[a.Kind] = true
		}
		return err
	})
	for _, kind := range []string{"screening_review", "screening_unanswered", "unattributed"} {
		want := false
		for _, k := range kinds {
			want = want || k == kind
		}
		if open[kind] != want {
			r.T.Errorf("the alarm %s is open: %t, want %t", kind, open[kind], want)
		}
	}
}

// paid pays a wallet and follows until that is final; it returns the deposit.
func (r *harness) paid(w bursar.Wallet, units uint64) bursar.Deposit {
	r.T.Helper()
	r.Pay(w.Address, units)
	r.Blocks(4)
	return r.FirstDeposit(w)
}

// funded gives account 0 a balance, which passes.
func (r *harness) funded() bursar.Amount {
	r.T.Helper()
	r.Step()
	r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
	r.paid(r.Wallet(0), 1_000_000_000)
	r.screen()
	r.Blocks(4)
	return r.Available(0)
}

// screenedOnce is screened on one chain of the UTXO model, for what does not depend on the chain.
func screenedOnce(t *testing.T, test func(t *testing.T, r *harness)) {
	t.Helper()
	bursartest.OnClock(t, bursartest.UTXOModel, func(t *testing.T, o *bursartest.OneChain, c *bursartest.Clock) {
		r := &harness{OneChain: o, clock: c, lists: &lists{now: c.Now, verdict: verdict.Pass}}
		r.begin()
		test(t, r)
	})
}
