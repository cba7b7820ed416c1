package dashboard_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/dashboard"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// hostile is text that would be more than text if it were not escaped, in a tag, in an attribute or in the style.
const hostile = `</style></code><script>alert(1)</script><img src=x onerror=alert(2)>" onload="alert(3)' {{.}} ]]>`

// furnished puts one of everything into a database, hostile wherever text of somebody else can get.
func furnished(t *testing.T, db *store.DB) dashboard.Config {
	t.Helper()
	registry, err := bursar.NewRegistry(bursar.Standard())
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	account := bursar.ID{1}
	wallet := bursar.Wallet{Number: 1, ID: bursar.ID{2}, AccountID: account, Currency: "BTC", Family: "bitcoin",
		Address: bursar.Address{Base: "bc1wallet"},
		Webhook: "https://shop.example/" + hostile, Metadata: hostile, CreatedAt: db.Now()}
	order := func(n byte, status bursar.WithdrawalStatus, currency bursar.CurrencyCode) bursar.Withdrawal {
		return bursar.Withdrawal{ID: bursar.ID{3, n}, AccountID: account, Currency: currency,
			Amount: bursar.Units(150_000_000), Address: bursar.Address{Base: hostile},
			Status: status, CreatedAt: db.Now()}
	}
	seen := bursar.Deposit{ID: bursar.ID{4}, Purpose: bursar.ForWallet, AccountID: account, WalletID: wallet.ID,
		Currency: "BTC", Chain: bursar.Bitcoin, TxID: "ab", Address: wallet.Address,
		Amount: bursar.Units(700_000_000), Height: 7, BlockHash: "b", SeenAt: db.Now().Add(-90 * time.Minute)}
	strange := seen
	strange.ID, strange.Purpose, strange.Amount = bursar.ID{5}, bursar.ForUnattributed, bursar.Units(30_000_000)
	err = db.Do(ctx, func(tx *store.Tx) error {
		for _, step := range []func() error{
			func() error {
				return tx.Accounts().Insert(ctx, bursar.Account{ID: account, Name: hostile, CreatedAt: tx.Now()})
			},
			func() error { return tx.Wallets().Insert(ctx, []bursar.Wallet{wallet}) },
			func() error { return tx.Chains().Ensure(ctx, bursar.Bitcoin) },
			func() error { return tx.Chains().Ensure(ctx, bursar.Ethereum) },
			func() error { return tx.Chains().SetHead(ctx, bursar.Bitcoin, 907, 900) },
			func() error {
				return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltChain(bursar.Ethereum), Kind: store.HaltByExternalSpend,
					Reason: hostile})
			},
			func() error {
				return tx.Alarms().Raise(ctx, store.Alarm{Chain: bursar.Ethereum, Kind: "external_spend", Ref: "1",
					Message: hostile})
			},
			func() error {
				_, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: seen, Wallet: 1})
				return err
			},
			func() error {
				return tx.Ledger().Post(ctx, ledger.DepositCredited(seen, tx.Now()),
					ledger.TransferReceived(strange, ledger.Owner(strange), tx.Now()))
			},
			func() error {
				return tx.Withdrawals().Insert(ctx, bursar.Bitcoin, order(1, bursar.WithdrawalPendingApproval, "BTC"))
			},
			func() error {
				return tx.Withdrawals().Insert(ctx, bursar.Bitcoin, order(2, bursar.WithdrawalQueued, "GONE"))
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
	return dashboard.Config{DB: db, Registry: registry, Hot: func(id bursar.ChainID) string {
		return "hot-of-" + string(id)
	},
		Nodes: func(id bursar.ChainID) []dashboard.Node {
			return []dashboard.Node{{Name: "http://one.example", InUse: id == bursar.Bitcoin, Height: 907},
				{Name: "http://two.example", Fault: hostile}}
		}}
}

func show(t *testing.T, c dashboard.Config) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	dashboard.Handler(c).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	return w
}

var tags = regexp.MustCompile(`<[^>]+>`)

// visibleText returns the text of a page as a reader sees it.
func visibleText(page string) string {
	_, body, _ := strings.Cut(page, "<body>")
	return strings.Join(strings.Fields(tags.ReplaceAllString(strings.ReplaceAll(body, "</tr>", " | "), " ")), " ")
}

// The page shows the state of chains, nodes, queues, money and withdrawals, and problems.
func TestThePageShowsTheState(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := show(t, furnished(t, db))
		text := visibleText(w.Body.String())
		for what, want := range map[string]string{
			"an alarm":                       "ethereum external_spend ",
			"how many alarms":                "1 open alarm",
			"a chain":                        "bitcoin none yet 908 900 ",
			"how many of its nodes are used": "1 of 2 running hot-of-bitcoin",
			"a chain without nodes in use":   "ethereum none yet 1 0 never 0 of 2 halted: ",
			"a node":                         "bitcoin http://one.example 907 in use",
			"a node in cool-down":            "http://two.example in cool-down: ",
			"pending deposits":               "deposits not yet final bitcoin 1 1 h 30 m",
			"what needs the operator":        "withdrawals to approve bitcoin 1 0 s",
			"withdrawals in progress":        "withdrawals in progress bitcoin 1 0 s",
			"assets, liabilities, operator funds, unattributed": "BTC 7.30000000 7.30000000 0.30000000 0.00000000",
			"a withdrawal that waits":                           "1.50000000 BTC ",
			"what it waits for":                                 "needs approval 03010000-0000-0000-0000-000000000000",
			"one of an unknown currency":                        "150000000 units GONE ",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in\n%s", what, want, text)
			}
		}
	})
}

// An empty database has a page that says so.
func TestThePageOfAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	registry, err := bursar.NewRegistry(bursar.Standard())
	if err != nil {
		t.Fatal(err)
	}
	w := show(t, dashboard.Config{DB: storetest.Open(t, storetest.Reused(t)), Registry: registry})
	text := visibleText(w.Body.String())
	for _, want := range []string{"No alarms", "Alarms ● None.", "No chain is configured", "● Nothing waits.",
		"Nothing received yet.", "None yet."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}

// Text of others is escaped, and metadata is not shown at all. The page loads and runs nothing, and the browser is
// instructed to refuse it if it did; the only allowed style is the page's own.
func TestThePageEscapesAndLoadsNothing(t *testing.T) {
	t.Parallel()
	w := show(t, furnished(t, storetest.Open(t, storetest.Reused(t))))
	page := w.Body.String()
	if n := strings.Count(page, "&lt;script&gt;alert(1)"); n != 9 {
		t.Errorf("hostile text is shown in %d places: an alarm, a halt in two lists, two faults of nodes and two "+
			"withdrawals in two lists were expected", n)
	}
	for _, wrong := range []string{"<script", "<img", "onerror=alert(2)>", "<link", "<iframe", "src=", "href=", "url(",
		"@import", "shop.example", "javascript:"} {
		if clean := strings.ReplaceAll(page, "&lt;img src=x", ""); strings.Contains(clean, wrong) {
			t.Errorf("the page has %s", wrong)
		}
	}
	_, rest, _ := strings.Cut(page, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	want := fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'; "+
		"frame-ancestors 'none'", base64.StdEncoding.EncodeToString(sum[:]))
	for name, value := range map[string]string{"Content-Security-Policy": want, "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer",
		"Cache-Control":   "no-store", "Content-Type": "text/html; charset=utf-8"} {
		if got := w.Header().Get(name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	if strings.Count(page, "<style") != 1 || strings.Contains(page, "style=") {
		t.Error("there is style that the policy refuses")
	}
}

// Without its database the page is not half a page.
func TestThePageWithoutItsDatabase(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Reused(t))
	c := furnished(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if w := show(t, c); w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "<") ||
		strings.Contains(w.Body.String(), "sql") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
