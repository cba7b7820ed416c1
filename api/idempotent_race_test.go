package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
	"github.com/bursar/bursar/withdrawal"
)

// slowNode is a chain whose node answers the first question only after a function of the test has run.
type slowNode struct {
	withdrawal.Chain
	asked atomic.Bool
	then  func()
}

func (n *slowNode) Quote(ctx context.Context, payment chain.Payment) (bursar.Amount, error) {
	if !n.asked.Swap(true) {
		n.then()
	}
	return n.Chain.Quote(ctx, payment)
}

// TestTheSlowerOfTwoReplicasCommitsNothing has a request whose node is slow: another replica answers the same request
// meanwhile, and the first request returns that answer and holds no money of its own.
func TestTheSlowerOfTwoReplicasCommitsNothing(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		at := newClock()
		r := &replicas{second: newHarness(t, url, at)}
		node := &slowNode{}
		r.first = newHarness(t, url, at, func(c *api.Config) {
			node.Chain = r.second.chains[bursar.Bitcoin]
			c.Withdrawals = withdrawal.NewService(withdrawal.Config{DB: c.DB,
				Chains:   map[bursar.ChainID]withdrawal.Chain{bursar.Bitcoin: node},
				Registry: c.Registry, IDs: c.IDs, Log: c.Log})
		})
		r.mine = r.first.account(true)
		_, answer := r.post(r.first, "POST", "wallet", "", order, false)
		var made struct {
			Response struct{ Wallet wire.Wallet }
		}
		if err := json.Unmarshal(answer, &made); err != nil {
			t.Fatal(err)
		}
		r.fund(made.Response.Wallet.WalletID, "10")
		pay := map[string]string{"currency": "BTC", "amount": "0.5", "address": r.first.chains["bitcoin"].Named("outsider")}
		var second []byte
		node.then = func() {
			at.Advance(time.Minute)
			_, second = r.post(r.second, "POST", "account/withdraw", "pay", pay, false)
		}
		status, first := r.post(r.first, "POST", "account/withdraw", "pay", pay, false)
		if status != http.StatusOK || !bytes.Equal(first, second) {
			t.Errorf("the slow one answered %d %s, the other %s, want %v and %x", status, first, second, http.StatusOK, second)
		}
		r.first.do(func(tx *store.Tx) error {
			list, err := tx.Withdrawals().List(t.Context(), r.mine.AccountID, store.Page{Limit: 10})
			if len(list) != 1 {
				t.Errorf("%d withdrawals were taken, want 1", len(list))
			}
			return err
		})
	})
}

// A request that is sent again while the first is at work waits for it, for as long as the service's patience lasts,
// and the refusal then says so; afterwards it gets the first one's answer.
func TestARequestWaitsForTheFirstWithItsKey(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		node := &slowNode{}
		s := newHarness(t, url, newClock(), func(c *api.Config) {
			c.Patience = 50 * time.Millisecond
			c.Withdrawals = withdrawal.NewService(withdrawal.Config{DB: c.DB,
				Chains:   map[bursar.ChainID]withdrawal.Chain{bursar.Bitcoin: node},
				Registry: c.Registry, IDs: c.IDs, Log: c.Log})
		})
		node.Chain = s.chains[bursar.Bitcoin]
		r := &replicas{first: s, mine: s.account(true)}
		_, answer := r.post(s, "POST", "wallet", "", order, false)
		var made struct {
			Response struct{ Wallet wire.Wallet }
		}
		if err := json.Unmarshal(answer, &made); err != nil {
			t.Fatal(err)
		}
		r.fund(made.Response.Wallet.WalletID, "10")
		pay := map[string]string{"currency": "BTC", "amount": "0.5", "address": s.chains["bitcoin"].Named("outsider")}
		asked, proceed := make(chan struct{}), make(chan struct{})
		node.then = func() { close(asked); <-proceed }
		first := make(chan []byte)
		go func() {
			_, answer := r.post(s, "POST", "account/withdraw", "pay", pay, false)
			first <- answer
		}()
		<-asked
		status, answer := r.post(s, "POST", "account/withdraw", "pay", pay, false)
		if status != http.StatusServiceUnavailable || !strings.Contains(string(answer), "still in progress") {
			t.Errorf("while the first is at work: got %d %s, want 503", status, answer)
		}
		if status, answer := r.post(s, "POST", "account/withdraw", "other", pay, false); status != http.StatusOK {
			t.Errorf("under another key: got %d %s, want 200", status, answer)
		}
		close(proceed)
		want := <-first
		if status, answer := r.post(s, "POST", "account/withdraw", "pay", pay, false); status != http.StatusOK ||
			!bytes.Equal(answer, want) {
			t.Errorf("after the first: got %d %s, want %s", status, answer, want)
		}
	})
}
