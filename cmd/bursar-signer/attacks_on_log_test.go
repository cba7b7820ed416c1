package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/signerlog"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// TestWhatIsSignedBehindTheServicesBackIsFound has payments signed that no database of a service knows, as somebody
// does who has the service for a moment: the signer's log lists them while it runs, its export says so elsewhere, and
// the comparison with the service's books finds each. What is edited in the export is refused.
func TestWhatIsSignedBehindTheServicesBackIsFound(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	paid := c.takes(60)
	c.want("a payment behind the service's back", paid, "")
	c.want("one beyond the limit", c.takes(41), signer.ReasonQuota)
	out, says, code := c.run("audit", "list", "--json", "--chain", "polygon")
	var list []command.ListedEntry
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list) != 2 {
		t.Fatalf("list exits with %d: %s%s (%v), want 0 and the payment and the refusal", code, out, says, err)
	}
	if s := list[0].Signed; list[0].Kind != "signed" || s == nil || s.Outgoing != paid.order.ID ||
		s.Payments[0].To != paid.order.Payments[0].Address.Base || !strings.HasPrefix(s.Payments[0].Amount, "60.") ||
		!strings.HasSuffix(s.Payments[0].Amount, " MATIC") || s.Payments[0].Home {
		t.Errorf("got %+v, want 60 MATIC for %s", list[0], paid.order.Payments[0].Address)
	}
	if !strings.Contains(list[0].Summary, c.hot(bursar.Polygon).Base+"/") ||
		!strings.Contains(list[1].Summary, "quota on polygon 1 times") {
		t.Errorf("got %q and %q, want the nonce that it uses and the refusal", list[0].Summary, list[1].Summary)
	}

	out, says, code = c.run("audit", "export", "november.log")
	_, key, found := strings.Cut(strings.TrimSpace(out), "The key is ")
	if code != 0 || !found {
		t.Fatalf("export exits with %d: %s%s, want 0 and the key", code, out, says)
	}
	path := filepath.Join(c.folder, "november.log")
	if out, says, code := c.run("audit", "verify", "november.log", "--key", key); code != 0 ||
		!strings.Contains(out, "is whole") {
		t.Errorf("verify exits with %d: %s%s, want 0", code, out, says)
	}
	log := &signerlog.Log{}
	log.Begin()
	_, err := command.ReadLog(path, key, log.Add)
	c.must(err)
	registry, err := bursar.NewRegistry(bursar.Standard())
	c.must(err)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		report, err := signerlog.Compare(t.Context(), db, log, registry, signerlog.Period{})
		if err != nil || len(report.Differences) != 1 || report.Differences[0].Kind != signerlog.UnknownToBooks ||
			*report.Differences[0].Outgoing != paid.order.ID {
			t.Errorf("got %+v, %v, want one entry that the books do not know", report.Differences, err)
		}
	})

	text, err := os.ReadFile(path)
	c.must(err)
	c.write("edited.log", strings.Replace(string(text), paid.order.ID.String(), bursar.ID{1}.String(), 1))
	for _, args := range [][]string{{"audit", "verify", "edited.log", "--key", key},
		{"audit", "list", "edited.log", "--key", key}} {
		if out, says, code := c.run(args...); code != 1 || out != "" || !strings.Contains(says, "the log was changed") {
			t.Errorf("%q exits with %d: %s%s, want 1 and nothing listed", args, code, out, says)
		}
	}
	if out, says, code := c.run("audit", "list", "november.log"); code != 2 || !strings.Contains(says, "--key is needed") {
		t.Errorf("list without a key exits with %d: %s%s, want 2", code, out, says)
	}
}
