package outgoing_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// contents returns a hash of everything in an SQLite database.
func contents(t *testing.T, url string) [32]byte {
	t.Helper()
	hash := sha256.New()
	for _, table := range strings.Fields(storetest.Ask(t, url,
		`SELECT group_concat(name, ' ') FROM sqlite_master WHERE type = 'table'`)) {
		list := storetest.Ask(t, url, `SELECT group_concat('quote("' || name || '")', ' || '','' || ')
			FROM pragma_table_info('`+table+`')`)
		fmt.Fprintln(hash, table, storetest.Ask(t, url, `SELECT group_concat(row, ';') FROM (SELECT `+list+` AS row
			FROM "`+table+`" ORDER BY rowid)`))
	}
	return [32]byte(hash.Sum(nil))
}

// A process that lost the lease while it waited for a node or for the signer writes nothing more, whatever it was about
// to write.
func TestAStaleLeaseHolderWritesNothing(t *testing.T) {
	for name, config := range map[string]sim.Config{"coins": bursartest.UTXOModel, "nonce": bursartest.Numbered,
		"expiring": bursartest.Expiring} {
		for scene, set := range map[string]func(r *harness){
			"to draft, sign and send": func(r *harness) { r.Order(100_000_000, r.Chain.Named("outside")) },
			"to outbid": func(r *harness) {
				r.Order(100_000_000, r.Chain.Named("outside"))
				r.Step()
				r.Chain.SetRate(80)
				for range 4 {
					r.Chain.Mine(1)
					r.follow()
				}
			},
			"to settle and credit": func(r *harness) {
				r.Order(100_000_000, r.Chain.Named("outside"))
				r.Pay(r.Wallet(1).Address, 300_000_000)
				r.Step()
				r.Chain.Mine(3)
			},
			"to expire": func(r *harness) {
				r.Order(100_000_000, r.Chain.Named("outside"))
				r.Chain.FailBroadcasts(sim.LostSilently, 100)
				r.Step()
				r.Chain.Mine(14)
				r.follow()
			},
			"to take back": func(r *harness) {
				r.Order(100_000_000, r.Chain.Named("outside"))
				r.Settle()
				r.Chain.Reorg(6)
			},
		} {
			t.Run(name+" "+scene, func(t *testing.T) {
				t.Parallel()
				losesTheLease(t, config, set)
			})
		}
	}
}

// losesTheLease repeats a scenario in which the lease holder loses the lease at its first call of a node, at its second
// and so on, until there are no more calls.
func losesTheLease(t *testing.T, config sim.Config, set func(r *harness)) {
	searches(t)
	calls := 0
	for at := 1; calls >= at-1; at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) { calls = losesTheLeaseAt(t, at, config, set) })
	}
	if calls == 0 {
		t.Fatal("no node was asked anything")
	}
}

// losesTheLeaseAt returns how many calls there were.
func losesTheLeaseAt(t *testing.T, at int, config sim.Config, set func(r *harness)) (calls int) {
	url := storetest.Reused(t)
	r := newHarness(t, storetest.Open(t, url), config)
	r.Prepare()
	r.Settle()
	set(r)
	var then [32]byte
	meanwhile := func() {
		if calls++; calls == at {
			r.overthrow()
			then = contents(t, url)
		}
	}
	r.Follower.Chain, r.Sender.Chain, r.Sweeper.Chain = resolvedBeside{r.Chain, meanwhile},
		resolvedBeside{r.Chain, meanwhile}, resolvedBeside{r.Chain, meanwhile}
	r.Sender.Signer = watched{r.Signer, func(chain.UnsignedTx) { meanwhile() }}
	r.steps()
	if calls >= at && contents(t, url) != then {
		t.Errorf("one that lost the lead at call %d wrote something", at)
	}
	return calls
}

// steps lets every worker take a step, and ignores errors.
func (r *harness) steps() {
	_, _ = r.Follower.Step(ctx, r.Lease)
	_ = r.Sender.Step(ctx, r.Lease)
	_ = r.Sweeper.Step(ctx, r.Lease)
}

// follow lets the follower catch up, and no other worker do anything.
func (r *harness) follow() {
	r.T.Helper()
	for more := true; more; {
		var err error
		more, err = r.Follower.Step(ctx, r.Lease)
		r.Must(err)
	}
}

// overthrow gives the lease to another process.
func (r *harness) overthrow() {
	r.T.Helper()
	r.Do(func(tx *store.Tx) error {
		if err := tx.Leases().Release(ctx, r.Lease); err != nil {
			return err
		}
		_, ok, err := tx.Leases().Acquire(ctx, r.Chain.Capabilities().ID, "another", 1<<50)
		if err == nil && !ok {
			err = errors.New("the lease was not given")
		}
		return err
	})
}
