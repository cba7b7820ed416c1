package oversight_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/oversight"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// hostile is text that would be more than text if it were not kept apart, and a formula in a spreadsheet.
const hostile = `=HYPERLINK("https://evil.example","x")</td><script>alert(1)</script>`

// fakeChain is a chain whose addresses begin with its name.
type fakeChain struct {
	id    bursar.ChainID
	model chain.Model
}

func (c fakeChain) Capabilities() chain.Capabilities {
	return chain.Capabilities{ID: c.id, Family: bursar.Family(c.id), Model: c.model, Confirmations: 6}
}

func (c fakeChain) ParseAddress(s string) (bursar.Address, error) {
	if !strings.HasPrefix(strings.ToLower(s), string(c.id)+"-") {
		return bursar.Address{}, errors.New("not an address")
	}
	return bursar.Address{Base: strings.ToLower(s)}, nil
}

// harness is a reader over a database with one of everything.
type harness struct {
	t  *testing.T
	db *store.DB
	r  *oversight.Reader
}

var (
	shop, other = bursar.ID{1}, bursar.ID{9}
	wallet      = bursar.Wallet{Number: 1, ID: bursar.ID{2}, AccountID: shop, Currency: "BTC", Family: "bitcoin",
		Address: bursar.Address{Base: "bitcoin-wallet"}, Webhook: "https://shop.example/hook", Metadata: hostile}
	gas = bursar.Wallet{Number: 2, ID: bursar.ID{2, 2}, AccountID: other, Currency: "ETH", Family: "ethereum",
		Address: bursar.Address{Base: "ethereum-wallet"}}
	pending = bursar.Deposit{ID: bursar.ID{4}, Purpose: bursar.ForWallet, AccountID: shop, WalletID: wallet.ID,
		Currency: "BTC", Chain: bursar.Bitcoin, TxID: strings.Repeat("ab", 32), Address: wallet.Address,
		Amount: bursar.Units(15_000_000), Height: 905, BlockHash: "b", Required: 6}
)

func reader(t *testing.T, db *store.DB) *harness {
	t.Helper()
	registry, err := bursar.NewRegistry(bursar.Standard())
	if err != nil {
		t.Fatal(err)
	}
	rate, err := bursar.ParseRate("50000")
	euro, known := bursar.FiatUnit("EUR")
	if err != nil || !known {
		t.Fatal(err, known)
	}
	r := &oversight.Reader{Config: oversight.Config{
		DB:       db,
		Registry: registry,
		Chains: map[bursar.ChainID]oversight.Chain{bursar.Bitcoin: fakeChain{bursar.Bitcoin, chain.UTXOModel},
			bursar.Ethereum: fakeChain{bursar.Ethereum, chain.AccountModel}},
		Hot:  func(id bursar.ChainID) string { return string(id) + "-hot" },
		Cold: map[bursar.ChainID][]string{bursar.Bitcoin: {"bitcoin-cold"}},
		Nodes: func(id bursar.ChainID) []oversight.Node {
			return []oversight.Node{{Name: "one." + string(id), InUse: true, Height: 907}, {Name: "two", Fault: hostile}}
		},
		Worth: func(code bursar.CurrencyCode) oversight.Worth {
			if code != "BTC" {
				return oversight.Worth{}
			}
			return oversight.Worth{Rate: rate, Unit: euro, Source: "a feed", At: db.Now()}
		},
		Settings: []oversight.Setting{{Path: "network", Value: "test", Source: "bursar.yaml:1"}},
	}}
	h := &harness{t, db, r}
	h.fill()
	return h
}

func (h *harness) fill() {
	h.t.Helper()
	ctx, now := h.t.Context(), h.db.Now()
	w, g, seen := wallet, gas, pending
	w.CreatedAt, g.CreatedAt, seen.SeenAt = now, now, now.Add(-time.Hour)
	small := seen
	small.ID, small.TxID, small.Amount, small.Status = bursar.ID{4, 2}, "cd", bursar.Units(1), bursar.DepositBelowMinimum
	strange := seen
	strange.ID, strange.TxID, strange.Purpose = bursar.ID{4, 3}, "ef", bursar.ForUnattributed
	strange.AccountID, strange.WalletID, strange.Address = bursar.ID{}, bursar.ID{}, bursar.Address{Base: "bitcoin-hot"}
	asked := func(n byte, account bursar.ID, status bursar.WithdrawalStatus) bursar.Withdrawal {
		return bursar.Withdrawal{ID: bursar.ID{3, n}, AccountID: account, Currency: "BTC", Amount: bursar.Units(150_000_000),
			Address: bursar.Address{Base: "bitcoin-away"}, Status: status, CreatedAt: now, RequestedBy: "mallory",
			Reference: "order-" + string('0'+rune(n)), Metadata: hostile}
	}
	err := h.db.Do(ctx, func(tx *store.Tx) error {
		for _, step := range []func() error{
			func() error {
				return tx.Accounts().Insert(ctx, bursar.Account{ID: shop, Name: hostile, CreatedAt: now})
			},
			func() error {
				return tx.Accounts().Insert(ctx, bursar.Account{ID: other, Name: "other", CreatedAt: now})
			},
			func() error { return tx.Wallets().Insert(ctx, []bursar.Wallet{w, g}) },
			func() error { return tx.Chains().Ensure(ctx, bursar.Bitcoin) },
			func() error { return tx.Chains().Ensure(ctx, bursar.Ethereum) },
			func() error { return tx.Chains().SetHead(ctx, bursar.Bitcoin, 907, 900) },
			func() error {
				return tx.Alarms().Raise(ctx, store.Alarm{Chain: bursar.Bitcoin, Kind: "external_spend", Message: hostile})
			},
			func() error {
				_, err := tx.Deposits().RecordAll(ctx, []store.NewDeposit{{Deposit: seen, Wallet: 1},
					{Deposit: small, Wallet: 1}, {Deposit: strange}})
				if err != nil {
					return err
				}
				d, err := tx.Deposits().ByID(ctx, small.ID)
				if err != nil {
					return err
				}
				return tx.Deposits().SetStatuses(ctx, []store.DepositChange{{Deposit: d, Next: bursar.DepositBelowMinimum}})
			},
			func() error { return tx.Ledger().Post(ctx, ledger.DepositCredited(seen, now)) },
			func() error {
				return tx.Proposals().Insert(ctx, store.Proposal{ID: bursar.ID{5}, Verb: "charge.refund", Object: "x",
					AccountID: shop, Token: bursar.ID{5}, Hash: []byte{1}, PersonID: bursar.ID{5}, CreatedAt: now,
					ExpiresAt: now.Add(time.Hour)})
			},
			func() error {
				return tx.Withdrawals().Insert(ctx, bursar.Bitcoin, asked(1, shop, bursar.WithdrawalPendingApproval))
			},
			func() error {
				return tx.Withdrawals().Insert(ctx, bursar.Bitcoin, asked(2, other, bursar.WithdrawalQueued))
			},
			func() error {
				return tx.Events().Insert(ctx, bursar.Event{ID: bursar.ID{6}, AccountID: shop, Kind: bursar.EventDeposit,
					Subject: seen.ID, URL: "https://shop.example/hook", Body: []byte(hostile), CreatedAt: now})
			},
		} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// read reads a page; values are "name=value".
func (h *harness) read(path string, accounts []bursar.ID, values ...string) (oversight.Sheet, error) {
	h.t.Helper()
	form := url.Values{}
	for _, v := range values {
		name, value, _ := strings.Cut(v, "=")
		form.Set(name, value)
	}
	pages := oversight.Pages()
	i := slices.IndexFunc(pages, func(p oversight.Page) bool { return p.Path == path })
	if i < 0 {
		h.t.Fatalf("there is no page %s", path)
	}
	return h.r.Read(h.t.Context(), pages[i], oversight.Query{Values: form, Accounts: accounts})
}

// text reads a page as one text.
func (h *harness) text(path string, accounts []bursar.ID, values ...string) string {
	h.t.Helper()
	s, err := h.read(path, accounts, values...)
	if err != nil {
		h.t.Fatalf("%s %v: %v", path, values, err)
	}
	all, err := json.Marshal(s)
	if err != nil {
		h.t.Fatal(err)
	}
	var buffer strings.Builder
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(json.RawMessage(all)); err != nil {
		h.t.Fatal(err)
	}
	return unicode.ReplaceAllStringFunc(buffer.String(), func(s string) string {
		return map[string]string{`\u003c`: "<", `\u003e`: ">", `\u0026`: "&"}[s]
	})
}

var unicode = regexp.MustCompile(`\\u00(3c|3e|26)`)
