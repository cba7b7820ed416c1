package oversight_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/oversight"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// steps writes the steps of an object as "seen done, confirmations now".
func steps(s oversight.Sheet) string {
	list := make([]string, len(s.Steps))
	for i, step := range s.Steps {
		list[i] = step.Key + " " + string(step.State)
	}
	return strings.Join(list, ", ")
}

func (h *harness) way(path string, id bursar.ID) (oversight.Sheet, string) {
	h.t.Helper()
	s, err := h.read(path, nil, "id="+id.String())
	if err != nil {
		h.t.Fatal(err)
	}
	var text strings.Builder
	for _, step := range s.Steps {
		text.WriteString(step.Text + "\n")
	}
	return s, text.String()
}

func (h *harness) do(f func(tx *store.Tx) error) {
	h.t.Helper()
	if err := h.db.Do(h.t.Context(), f); err != nil {
		h.t.Fatal(err)
	}
}

// A deposit says where its money is, and what it waits for.
func TestWhereTheMoneyOfADepositIs(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h, ctx := reader(t, db), t.Context()
		want := func(moment, path string, id bursar.ID, wantSteps string, wantTexts ...string) {
			t.Helper()
			s, text := h.way(path, id)
			if got := steps(s); got != wantSteps {
				t.Errorf("%s: the steps are %q, want %q", moment, got, wantSteps)
			}
			for _, w := range wantTexts {
				if !strings.Contains(text, w) {
					t.Errorf("%s: %q is missing, want it in\n%s", moment, w, text)
				}
			}
		}
		const path = "/deposits/{id}"
		want("pending", path, pending.ID,
			"seen done, confirmations now, checks later, credited later, swept later, settled later",
			"3 confirmations so far.", "Waits until block 905 is final: the final block is 900 now.",
			"needs 6 confirmations", "usually final after 6")
		h.do(func(tx *store.Tx) error { return tx.Chains().SetHead(ctx, bursar.Bitcoin, 912, 910) })
		want("final", path, pending.ID,
			"seen done, confirmations done, checks now, credited later, swept later, settled later",
			"It is final. The follower credits it when it next looks at the chain")
		credited := pending
		credited.Status = bursar.DepositPending
		h.do(func(tx *store.Tx) error {
			d, err := tx.Deposits().ByID(ctx, pending.ID)
			if err != nil {
				return err
			}
			return tx.Deposits().SetStatuses(ctx, []store.DepositChange{{Deposit: d, Next: bursar.DepositConfirmed}})
		})
		want("credited", path, pending.ID,
			"seen done, confirmations done, checks done, credited done, swept skipped, settled done",
			"0.15000000 BTC to the account, after a fee of 0.00000000.", "payments spend what wallets received directly")
		want("too small", path, bursar.ID{4, 2},
			"seen done, confirmations done, checks stopped, credited later, swept later, settled later",
			"below the smallest deposit that is credited")
	})
}

// On a chain of the account model the sweep that moved a deposit is named, and before that what its address waits for.
func TestADepositIsSwept(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h, ctx := reader(t, db), t.Context()
		d := bursar.Deposit{ID: bursar.ID{5}, Purpose: bursar.ForWallet, AccountID: other, WalletID: gas.ID, Currency: "ETH",
			Chain: bursar.Ethereum, TxID: "0x" + strings.Repeat("ab", 32), Address: gas.Address,
			Amount: bursar.Units(1_000_000_000_000_000_000), Height: 5, BlockHash: "b", SeenAt: db.Now()}
		h.do(func(tx *store.Tx) error {
			if _, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: d, Wallet: 2}); err != nil {
				return err
			}
			recorded, err := tx.Deposits().ByID(ctx, d.ID)
			if err != nil {
				return err
			}
			return tx.Deposits().SetStatuses(ctx, []store.DepositChange{{Deposit: recorded, Next: bursar.DepositConfirmed}})
		})
		s, text := h.way("/deposits/{id}", d.ID)
		if got := steps(s); !strings.HasSuffix(got, "swept now, settled later") ||
			!strings.Contains(text, "not worth a sweep") {
			t.Errorf("the steps are %q, %s; want swept now, not worth a sweep", got, text)
		}
		h.do(func(tx *store.Tx) error {
			return tx.Holdings().Put(ctx, bursar.Ethereum, store.Holding{Base: gas.Address.Base, Amount: d.Amount, Due: true})
		})
		if _, text = h.way("/deposits/{id}", d.ID); !strings.Contains(text, "It is swept as soon as") {
			t.Errorf("a deposit that is due says %s, want that it is swept soon", text)
		}
		sweep := bursar.OutgoingTx{ID: bursar.ID{7}, Chain: bursar.Ethereum, Kind: "sweep", Status: bursar.OutgoingNew,
			Currency: "ETH", Base: gas.Address.Base, Request: []byte("{}"), Share: bursar.ShareSweep}
		h.do(func(tx *store.Tx) error {
			_, err := tx.Outgoing().Insert(ctx, sweep)
			return err
		})
		s, text = h.way("/deposits/{id}", d.ID)
		if got := steps(s); !strings.HasSuffix(got, "swept now, settled later") || !strings.Contains(text, "not built yet") {
			t.Errorf("the steps are %q, %s; want swept now, not built yet", got, text)
		}
	})
}

// A withdrawal says what it waits for.
func TestTheWayOfAWithdrawal(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h, ctx := reader(t, db), t.Context()
		s, text := h.way("/withdrawals/{id}", bursar.ID{3, 1})
		if got, want := steps(s), "requested done, approved now, signed later, broadcast later, done later"; got != want ||
			!strings.Contains(text, "By mallory.") || !strings.Contains(text, "waits for an operator to approve it") {
			t.Errorf("the steps are %q, %s; want %q", got, text, want)
		}
		s, text = h.way("/withdrawals/{id}", bursar.ID{3, 2})
		if got, want := steps(s), "requested done, approved done, signed now, broadcast later, done later"; got != want ||
			!strings.Contains(text, "Waits to be taken into a transaction") {
			t.Errorf("the steps are %q, %s; want %q", got, text, want)
		}
		h.do(func(tx *store.Tx) error {
			return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltChain(bursar.Bitcoin), Kind: store.HaltByOperator,
				Reason: "a test"})
		})
		if _, text = h.way("/withdrawals/{id}", bursar.ID{3, 2}); !strings.Contains(text,
			"payments on bitcoin are halted: a test") {
			t.Errorf("a halted withdrawal says %s, want that its chain is halted", text)
		}
	})
}

// The search finds an object by each of its names, in any spelling.
func TestTheSearchFindsEachKind(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := reader(t, db)
		for q, want := range map[string]string{
			pending.ID.String():                pending.ID.String(),
			wallet.ID.String():                 "bitcoin-wallet",
			shop.String():                      `"account":"` + shop.String(),
			bursar.ID{3, 2}.String():           `"status":"queued"`,
			strings.ToUpper(pending.TxID):      pending.ID.String(),
			"0x" + pending.TxID:                pending.ID.String(),
			" BITCOIN-Wallet ":                 wallet.ID.String(),
			"bitcoin-away":                     bursar.ID{3, 1}.String(),
			"order-2":                          bursar.ID{3, 2}.String(),
			"0.15 btc":                         pending.ID.String(),
			"1.50":                             bursar.ID{3, 1}.String(),
			"ethereum-unknown":                 "It is a valid address of ethereum, and no wallet or charge has it here.",
			"bitcoin-hot":                      "It is the hot wallet's address on bitcoin.",
			"bitcoin-cold":                     "the address of a cold wallet on bitcoin",
			strings.Repeat("12", 32):           "bursar chain rescan --chain CHAIN --tx " + strings.Repeat("12", 32),
			"nothing has this name, 日本, or so": "Nothing has exactly this.",
		} {
			if got := h.text("/search", nil, "q="+q); !strings.Contains(got, want) {
				t.Errorf("%q finds %s, want %q in it", q, got, want)
			}
		}
	})
}

// How long deposits took is the mean of each day and the longest, whether they are folded already (three days ago) or
// not (now): from what the books say of them and when they were seen.
func TestHowLongThingsTook(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h, ctx := reader(t, db), t.Context()
		days := []time.Time{db.Now().AddDate(0, 0, -3), db.Now()}
		n := byte(0)
		for _, then := range days {
			for _, took := range []time.Duration{time.Minute, 3 * time.Minute} {
				n++
				d := bursar.Deposit{ID: bursar.ID{8, n}, Purpose: bursar.ForAccount, AccountID: shop, Currency: "ETH",
					Chain: bursar.Ethereum, TxID: string(rune('a' + n)), Amount: bursar.Units(1000), SeenAt: then.Add(-took)}
				h.do(func(tx *store.Tx) error {
					if _, err := tx.Deposits().RecordAll(ctx, []store.NewDeposit{{Deposit: d}}); err != nil {
						return err
					}
					return tx.Ledger().Post(ctx, ledger.DepositCredited(d, then))
				})
			}
		}
		for range 2 {
			h.do(func(tx *store.Tx) error {
				_, err := tx.DayFigures().Fold(ctx)
				return err
			})
			s, err := h.read("/balances", nil, "currency=ETH")
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(s.Charts, func(c oversight.Chart) bool { return c.Table.Key == "creditLagPerDay" })
			if i < 0 {
				t.Fatalf("the charts are %v, want how long credits took", s.Charts)
			}
			got := ""
			for _, row := range s.Charts[i].Table.Rows {
				for _, cell := range row {
					got += cell.Text + " "
				}
			}
			want := ""
			for _, day := range days {
				want += day.UTC().Format(time.DateOnly) + " 2 120 180 ETH "
			}
			if got != want || !strings.Contains(string(s.Charts[i].SVG), "the slowest day took 2 min") {
				t.Errorf("the chart says %q, want %q: %s", got, want, s.Charts[i].SVG)
			}
		}
	})
}

// A month of figures is summed once, each posting on its day, whatever is folded already.
func TestTheFiguresOfDays(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h, ctx := &harness{t: t, db: db}, t.Context()
		today := db.Now().UTC().Truncate(24 * time.Hour)
		late := pending
		late.Fee = bursar.Units(500)
		h.do(func(tx *store.Tx) error {
			for i, at := range []time.Time{today.AddDate(0, 0, -40), today.AddDate(0, 0, -3), today.AddDate(0, 0, -3),
				db.Now()} {
				late.ID = bursar.ID{8, byte(i)}
				if err := tx.Ledger().Post(ctx, ledger.DepositCredited(late, at)); err != nil {
					return err
				}
			}
			return nil
		})
		days := []time.Time{today.AddDate(0, 0, -3), today}
		read := func() (list []store.DayFigure, whole bool) {
			t.Helper()
			err := db.View(ctx, func(tx *store.Tx) (err error) {
				list, whole, err = tx.DayFigures().Of(ctx, days)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return list, whole
		}
		if list, whole := read(); len(list) > 0 || whole {
			t.Errorf("before anything is summed there is %v, whole %v; want nothing, and that it is not whole", list, whole)
		}
		for range 2 {
			h.do(func(tx *store.Tx) error {
				_, err := tx.DayFigures().Fold(ctx)
				return err
			})
			list, whole := read()
			if !whole || len(list) != 4 || list[0].Figure != ledger.FigureDeposits || list[0].Lines != 2 ||
				list[0].Amount != bursar.Units(30_000_000) || list[1].Figure != ledger.FigureFees ||
				list[1].Amount != bursar.Units(1000) || list[2].Day != today {
				t.Errorf("the figures are %+v, whole %v; want two deposits and their fees of that day, one of today", list, whole)
			}
		}
	})
}
