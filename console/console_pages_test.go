package console

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/oversight"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// hostile is text that would be more than text if it were not escaped, and a formula in a spreadsheet.
const hostile = `=1+1" onload="alert(3)</bdi></title><script>alert(1)</script><img src=x onerror=alert(2)>{{.}}`

func sheets(db *store.DB, registry *bursar.Registry) *oversight.Reader {
	return &oversight.Reader{Config: oversight.Config{
		DB:       db,
		Registry: registry,
		Hot:      func(id bursar.ChainID) string { return string(id) + "-hot" },
		Nodes: func(bursar.ChainID) []oversight.Node {
			return []oversight.Node{{Name: "one.example", Fault: hostile}}
		},
		Settings: []oversight.Setting{{Path: "network", Value: "test", Source: "bursar.yaml:1"}},
	}}
}

var theirs = bursar.ID{1}

// furnish puts one of everything into a database, hostile wherever text of somebody else can get.
func furnish(t *testing.T, db *store.DB) {
	t.Helper()
	ctx, now := t.Context(), db.Now()
	wallet := bursar.Wallet{Number: 1, ID: bursar.ID{2}, AccountID: theirs, Currency: "BTC", Family: "bitcoin",
		Address: bursar.Address{Base: "bc1wallet"}, Webhook: "https://shop.example/" + hostile, Metadata: hostile,
		CreatedAt: now}
	deposit := bursar.Deposit{ID: bursar.ID{4}, Purpose: bursar.ForWallet, AccountID: theirs, WalletID: wallet.ID,
		Currency: "BTC", Chain: bursar.Bitcoin, TxID: "ab", Address: wallet.Address, Amount: bursar.Units(700_000_000),
		Height: 7, BlockHash: "b", SeenAt: now}
	payment := bursar.Withdrawal{ID: bursar.ID{3}, AccountID: theirs, Currency: "BTC", Amount: bursar.Units(150_000_000),
		Address: bursar.Address{Base: "bc1away"}, Status: bursar.WithdrawalPendingApproval, CreatedAt: now,
		RequestedBy: hostile, Metadata: hostile}
	err := db.Do(ctx, func(tx *store.Tx) error {
		for _, step := range []func() error{
			func() error {
				return tx.Accounts().Insert(ctx, bursar.Account{ID: theirs, Name: hostile, CreatedAt: now})
			},
			func() error { return tx.Wallets().Insert(ctx, []bursar.Wallet{wallet}) },
			func() error { return tx.Chains().Ensure(ctx, bursar.Bitcoin) },
			func() error {
				return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltChain(bursar.Bitcoin), Kind: store.HaltByOperator,
					Reason: hostile, Actor: hostile})
			},
			func() error { return tx.Alarms().Raise(ctx, store.Alarm{Kind: "k", Message: hostile}) },
			func() error {
				_, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: deposit, Wallet: 1})
				return err
			},
			func() error { return tx.Ledger().Post(ctx, ledger.DepositCredited(deposit, now)) },
			func() error { return tx.Withdrawals().Insert(ctx, bursar.Bitcoin, payment) },
			func() error {
				return tx.Events().Insert(ctx, bursar.Event{ID: bursar.ID{6}, AccountID: theirs, Kind: bursar.EventDeposit,
					Subject: deposit.ID, URL: wallet.Webhook, Body: []byte(hostile), CreatedAt: now})
			},
			func() error {
				_, err := tx.DayFigures().Fold(ctx)
				return err
			},
		} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// objects are the paths of one object of each kind.
var objects = []string{"/deposits/" + bursar.ID{4}.String(), "/withdrawals/" + bursar.ID{3}.String(),
	"/wallets/" + bursar.ID{2}.String(), "/webhooks/" + bursar.ID{6}.String(), "/accounts/" + theirs.String(),
	"/search?q=" + theirs.String()}

// paths are those of all pages that read, with an object for each kind.
func paths() []string {
	all := objects
	for _, p := range oversight.Pages() {
		if !strings.Contains(p.Path, "{") {
			all = append(all, p.Path)
		}
	}
	return all
}

// Each page is served, with what others wrote as text alone, and no inline style or script, which its policy forbids.
func TestEachPageIsServedAndEscapesWhatOthersWrote(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Reused(t))
	furnish(t, db)
	c := opened(t, db, operator.Viewer)
	said := 0
	for _, path := range paths() {
		w := got(t, c, base+path)
		text := w.Body.String()
		if w.Code != http.StatusOK || !strings.Contains(text, "<main") || !strings.Contains(text, "</html>") {
			t.Errorf("%s answers %d: %.300s; want a whole page", path, w.Code, text)
		}
		said += strings.Count(text, "&lt;script&gt;alert(1)")
		for _, wrong := range []string{"<script>", "<img", `onload="alert`, " style=", "<style", "javascript:"} {
			if strings.Contains(text, wrong) {
				t.Errorf("%s has %s, want it to be text", path, wrong)
			}
		}
	}
	if said < 10 {
		t.Errorf("what others wrote is shown in %d places, want at least 10", said)
	}
}

// Each page is JSON too, below /admin/v1, and each of its keys is described.
func TestEachPageIsJSONToo(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Reused(t))
	furnish(t, db)
	c := opened(t, db, operator.Viewer)
	described, err := os.ReadFile("../docs/admin-api.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range oversight.Pages() {
		if !strings.Contains(string(described), "`GET /admin/v1"+p.Path+"`") {
			t.Errorf("docs/admin-api.md has no `GET /admin/v1%s`", p.Path)
		}
	}
	for _, path := range paths() {
		w := got(t, c, apiBase+path)
		var all map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &all); w.Code != http.StatusOK || err != nil {
			t.Errorf("%s answers %d: %.300s, %v; want JSON", path, w.Code, w.Body, err)
		}
		for key, value := range all {
			if !strings.Contains(string(described), "`"+key+"`") {
				t.Errorf("%s has %q, which docs/admin-api.md does not describe", path, key)
			}
			list, _ := value.([]any)
			for _, row := range list {
				fields, _ := row.(map[string]any)
				for field := range fields {
					if !strings.Contains(string(described), "`"+field+"`") {
						t.Errorf("%s has %s.%s, which docs/admin-api.md does not describe", path, key, field)
					}
				}
			}
		}
	}
}

// A table is exported as it is shown, with its filters, and no spreadsheet calculates what a customer wrote.
func TestATableIsExported(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Reused(t))
	furnish(t, db)
	c := opened(t, db, operator.Viewer)
	w := got(t, c, base+"/deposits?status=pending&format=csv")
	rows, err := csv.NewReader(w.Body).ReadAll()
	if err != nil || len(rows) != 2 || rows[0][0] != "id" || rows[1][2] != "7.00000000" ||
		rows[1][11] != "'"+hostile || w.Header().Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Errorf("the export is %q as %s, %v; want one deposit, its metadata inert", rows, w.Header(), err)
	}
	w = got(t, c, base+"/deposits?status=confirmed&format=json&table=deposits")
	if body := strings.TrimSpace(w.Body.String()); body != "[]" {
		t.Errorf("the export of no deposit is %s, want []", body)
	}
	for path, field := range map[string]string{"/deposits?format=pdf": "format", "/deposits?format=csv&table=x": "table",
		"/deposits?status=odd": "status", "/deposits?from=yesterday": "from", "/deposits?limit=0": "limit",
		"/deposits?account=x": "account", "/search?q=%00": "q"} {
		if w := got(t, c, base+path); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), field) {
			t.Errorf("%s answers %d, want 422 that names %s", path, w.Code, field)
		}
	}
	if w := got(t, c, base+"/deposits/"+bursar.ID{77}.String()); w.Code != http.StatusNotFound {
		t.Errorf("an unknown deposit answers %d, want 404", w.Code)
	}
}

// Anybody who is restricted to other accounts sees neither the service as a whole nor an account of others.
func TestAPersonWithAccountsSeesTheirsAlone(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Reused(t))
	furnish(t, db)
	c := opened(t, db)
	c.who = func(*http.Request) (operator.Person, operator.Session, error) {
		return operator.Person{ID: bursar.ID{9}, Roles: []operator.Role{operator.Viewer},
			Accounts: []bursar.ID{{42}}}, operator.Session{}, nil
	}
	for _, p := range oversight.Pages() {
		want := http.StatusOK
		if p.Whole {
			want = http.StatusForbidden
		}
		if w := got(t, c, base+p.Path); !strings.Contains(p.Path, "{") && w.Code != want {
			t.Errorf("%s answers %d, want %d", p.Path, w.Code, want)
		}
	}
	for _, path := range objects[:5] {
		if w := got(t, c, base+path); w.Code != http.StatusNotFound {
			t.Errorf("%s of another account answers %d, want 404", path, w.Code)
		}
	}
}

// A link to the next page, and one to a file, has the filters of the page: what a template would escape once more is
// one word that nothing reads.
func TestLinksKeepTheFilters(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Reused(t))
	furnish(t, db)
	c := opened(t, db, operator.Roles()...)
	text := got(t, c, base+"/deposits?status=pending&limit=1&account="+theirs.String()).Body.String()
	filters := "account=" + theirs.String()
	for _, link := range []string{"?" + filters + "&amp;before=1&amp;limit=1&amp;status=pending",
		"?" + filters + "&amp;format=csv&amp;limit=1&amp;status=pending&amp;table=deposits",
		"?" + filters + "&amp;format=json&amp;limit=1&amp;status=pending&amp;table=deposits"} {
		if !strings.Contains(text, `href="`+link+`"`) {
			t.Errorf("the list has no link %s: %s", link, text)
		}
	}
	if text := got(t, c, base+"/audit?actor=Ada&verb=a%26b").Body.String(); !strings.Contains(text,
		`href="/console/audit.csv?actor=Ada&amp;verb=a%26b"`) {
		t.Errorf("the log of acts has no export with its filters: %s", text)
	}
}
