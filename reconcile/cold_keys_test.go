package reconcile_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/store"
)

// open is a chain whose node says who may spend from cold wallets.
type open struct {
	*sim.Chain
	ways map[string][]string
	fail map[string]error
}

func (o *open) OtherWays(_ context.Context, w bursar.ColdWallet) ([]string, error) {
	return o.ways[w.Name], o.fail[w.Name]
}

// A way out of a cold wallet raises one alarm, which closes when there is none. A node that does not answer about one
// wallet changes nothing of it, and keeps neither the other wallets nor the comparison waiting.
func TestAnOpenColdWalletRaisesAnAlarm(t *testing.T) {
	bursartest.OnClock(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain, c *bursartest.Clock) {
		r.Step()
		node := &open{r.Chain, map[string][]string{}, map[string]error{}}
		k := &reconcile.Keep{Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			Cold:       []bursar.ColdWallet{{Name: "vault"}, {Name: "safe"}},
			Reconciler: reconcile.Reconciler{DB: r.DB, Chain: node, Registry: r.Registry, Hot: r.Hot.Base}}
		look := func() map[string]string {
			t.Helper()
			c.Advance(2 * time.Hour)
			for range 2 { // the first only notes when it is due
				if err := k.Step(ctx); err != nil {
					t.Fatal(err)
				}
				c.Advance(2 * time.Minute)
			}
			said := map[string]string{}
			r.View(func(tx *store.Tx) error {
				alarms, err := tx.Alarms().List(ctx, 10)
				for _, a := range alarms {
					said[a.Kind+" "+a.Ref] = a.Message
				}
				return err
			})
			return said
		}
		id := string(r.Chain.Capabilities().ID)
		vault, safe := reconcile.ColdOpen+" "+id+"/vault", reconcile.ColdOpen+" "+id+"/safe"
		if got := look(); len(got) != 0 {
			t.Fatalf("nobody else may spend: got alarms %v, want none", got)
		}
		node.ways["vault"] = []string{"the master key alone may pay"}
		node.fail["safe"] = errors.New("no answer")
		if got := look(); len(got) != 1 || !strings.Contains(got[vault], "the master key alone") {
			t.Fatalf("a master key: got alarms %v, want %s", got, vault)
		}
		node.ways["safe"], node.fail["safe"] = []string{"the module may pay"}, nil
		node.fail["vault"], node.ways["vault"] = errors.New("no answer"), nil
		if got := look(); len(got) != 2 || got[safe] == "" || got[vault] == "" {
			t.Fatalf("a module, and a node without an answer: got alarms %v, want both", got)
		}
		node.fail["vault"], node.ways["safe"] = nil, nil
		if got := look(); len(got) != 0 {
			t.Fatalf("all is closed: got alarms %v, want none", got)
		}
	})
}
