package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar/sandbox/patroni"
)

var failovers = flag.Int("failovers", 1, "how often the tests with a Patroni cluster kill its primary")

func newCluster(t *testing.T, cfg patroni.Config) *patroni.Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a cluster of PostgreSQL servers: left out by -short")
	}
	c, err := patroni.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestASynchronousFailoverLosesNothing kills the primary of a synchronous pair under load. The service, which is
// configured to know that a failover loses nothing, continues by itself, in the same process and without a recovery:
// nothing that it acknowledged is lost, nothing is credited or paid twice, and the books agree with the chains.
//
//	go test ./sandbox/e2e -run TestASynchronousFailoverLosesNothing -failovers 20 -timeout 1h
func TestASynchronousFailoverLosesNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t, patroni.Config{Synchronous: true})
	w := newSeparateService(t, build(t), c.URL(), fewChains, "BURSAR_DATABASE_FAILOVER=synchronous")
	l := w.load(1)
	for i := range *failovers {
		w.loaded(l, int64(i+1))
		primary, err := c.WaitPrimary(t.Context(), -1)
		w.must(err)
		w.must(c.Kill(primary))
		_, err = c.WaitPrimary(t.Context(), primary)
		w.must(err)
		w.must(c.Restart(primary))
		w.must(c.WaitStandbys(t.Context()))
	}
	w.loaded(l, int64(*failovers+1))
	w.ready()
	l.end()
	w.noticed(c)
	if found := w.recoveries(); len(found.Chains) > 0 {
		t.Errorf("chains are in recovery: %+v, want none", found.Chains)
	}
	w.audit()
	t.Logf("the primary was killed %d times: %s", *failovers, l)
	if err := w.server.stop(); err != nil {
		t.Fatal(err)
	}
	w.endCleanly()
}

// noticed waits until the service has noticed that another server answers.
func (w *harness) noticed(c *patroni.Cluster) {
	w.t.Helper()
	timeline, err := c.Timeline(w.t.Context())
	w.must(err)
	w.eventually("the service notices the failover", func() error {
		text, err := os.ReadFile(filepath.Join(w.dir, "seed.age.marks"))
		if err == nil && !strings.Contains(string(text), timeline) {
			err = fmt.Errorf("the marks are %s, the timeline is %s", text, timeline)
		}
		return err
	})
}

// loaded waits until so many times ten withdrawals were accepted.
func (w *harness) loaded(l *load, times int64) {
	w.t.Helper()
	w.eventually("withdrawals are accepted", func() error {
		select {
		case <-w.server.ended:
			w.t.Fatalf("the service ended by itself: %v\n%s", w.server.err, w.server.log)
		default:
		}
		if n := l.ordered.Load(); n < 10*times {
			return fmt.Errorf("%d so far", n)
		}
		return nil
	})
}
