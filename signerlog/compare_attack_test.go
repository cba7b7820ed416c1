package signerlog_test

import (
	"database/sql"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signerlog"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// paidOnce has one withdrawal made and included, and returns it.
func paidOnce(r *bursartest.OneChain) bursar.Withdrawal {
	r.T.Helper()
	r.Fund()
	r.Settle()
	w := r.Order(10_000_000, r.Chain.Named("ann"))
	r.Settle()
	return r.Now(w)
}

// edited is the signer's log with every entry of a signature as a test changes it; nil leaves one out.
func edited(t *testing.T, k memory.Keeper, edit func(detail map[string]any) map[string]any) *signerlog.Log {
	t.Helper()
	log := &signerlog.Log{}
	log.Begin()
	_, err := memory.Walk(ctx, k, func(e memory.Entry) error {
		if e.Kind != memory.KindSigned {
			return log.Add(e)
		}
		var detail map[string]any
		if err := json.Unmarshal([]byte(e.Detail), &detail); err != nil {
			return err
		}
		if detail = edit(detail); detail == nil {
			return nil
		}
		text, err := json.Marshal(detail)
		e.Detail = string(text)
		if err != nil {
			return err
		}
		return log.Add(e)
	})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// The attack: somebody who has the service, for a moment, has the signer sign a payment and broadcasts it, or keeps it.
func TestWhatIsSignedBehindTheServicesBackIsFound(t *testing.T) {
	chains(t, func(t *testing.T, r *bursartest.OneChain) {
		w := paidOnce(r)
		p := outgoingOf(r, w)
		var request chain.TxRequest
		r.Must(json.Unmarshal(p.Request, &request))
		request.ID = r.IDs.Next()
		request.Payments = []chain.Payment{{Address: bursar.Address{Base: r.Chain.Named("thief")},
			Amount: bursar.Units(5_000_000)}}
		head, err := r.Chain.Head(ctx)
		r.Must(err)
		r.View(func(tx *store.Tx) error {
			if r.Chain.Capabilities().Model == chain.AccountModel {
				next, _, err := tx.Nonces().Next(ctx, p.Chain, r.Hot.Base)
				request.Nonce = &next
				return err
			}
			utxos, err := tx.UTXOs().SpendableFrom(ctx, p.Chain, head.Final.Height, head.Latest.Height, request.ID, 0, 10)
			for _, u := range utxos {
				key := chain.KeyRef{Family: r.Hot.Key.Family, Branch: u.Branch, Index: u.Index}
				request.UTXOs = append(request.UTXOs, chain.UTXO{Outpoint: u.Outpoint, Amount: u.Amount,
					Source: chain.Source{Key: key, Base: u.Base}})
			}
			return err
		})
		unsigned, err := r.Chain.Build(ctx, request)
		r.Must(err)
		r.View(func(tx *store.Tx) error {
			for _, resource := range unsigned.Reservations {
				id, _, _ := strings.Cut(resource, ":")
				if r.Chain.Capabilities().Model == chain.UTXOModel {
					raw, err := tx.UTXOs().Previous(ctx, p.Chain, []string{id})
					if err != nil {
						return err
					}
					for _, one := range raw {
						unsigned.Previous = append(unsigned.Previous, one.Raw)
					}
				}
			}
			return nil
		})
		signed, err := r.Signer.Sign(ctx, p.Chain, request, unsigned)
		r.Must(err)
		report := compared(r, signerlog.Period{})
		wantKinds(t, report, signerlog.UnknownToBooks)
		if d := report.Differences[0]; *d.Outgoing != request.ID || !strings.Contains(d.Message, "0.05000000 COIN to "+
			r.Chain.Named("thief")) || !strings.Contains(d.Message, "can be included at any time") {
			t.Errorf("got %+v, want the payment of %s", d, request.ID)
		}
		r.Must(r.Chain.Broadcast(ctx, signed))
		r.Trouble, r.Forged = true, true
		r.Blocks(5)
		report = compared(r, signerlog.Period{})
		wantKinds(t, report, signerlog.External, signerlog.UnknownToBooks)
		if d := report.Differences[0]; d.TxID != signed.TxID || d.Entry == 0 {
			t.Errorf("got %+v, want the entry behind transaction %s", d, signed.TxID)
		}
		intruder(t, r.DB)(`UPDATE external_spends SET status = 'adopted', outgoing_id = $1 WHERE tx_id = $2`, p.ID,
			signed.TxID)
		wantKinds(t, compared(r, signerlog.Period{}), signerlog.External, signerlog.UnknownToBooks)
	})
}

// outgoingOf returns the outgoing transaction that pays a withdrawal.
func outgoingOf(r *bursartest.OneChain, w bursar.Withdrawal) (p bursar.OutgoingTx) {
	r.T.Helper()
	r.View(func(tx *store.Tx) (err error) {
		p, err = tx.Outgoing().Get(ctx, w.OutgoingID)
		return err
	})
	return p
}

// The attack: a second signer runs on a copy of the seed; and one who can write to the database changes what was sent.
func TestWhatTheLogDoesNotKnowIsFound(t *testing.T) {
	chains(t, func(t *testing.T, r *bursartest.OneChain) {
		w := paidOnce(r)
		compareEdited := func(edit func(detail map[string]any) map[string]any) signerlog.Report {
			report, err := signerlog.Compare(ctx, r.DB, edited(t, r.SignerMemory(), edit), r.Registry, signerlog.Period{})
			r.Must(err)
			return report
		}
		kept := func(detail map[string]any) map[string]any { return detail }
		wantKinds(t, compareEdited(kept))
		report := compareEdited(func(detail map[string]any) map[string]any {
			if detail["outgoing"] == w.OutgoingID.String() {
				return nil
			}
			return detail
		})
		if len(report.Differences)+len(report.Uncompared) == 0 {
			t.Error("nothing differs with a log that has no entry of a payment, want that payment")
		}
		for name, test := range map[string]struct {
			edit func(detail map[string]any)
			want []signerlog.DifferenceKind
		}{
			"another purpose": {func(d map[string]any) { d["kind"] = "to_cold" },
				[]signerlog.DifferenceKind{signerlog.OtherPurpose, signerlog.OtherTotal, signerlog.OtherTotal}},
			"another outgoing transaction": {func(d map[string]any) { d["outgoing"] = r.IDs.Next().String() },
				[]signerlog.DifferenceKind{signerlog.OtherPurpose}},
			"a lower fee":         {func(d map[string]any) { d["fee"] = "1" }, []signerlog.DifferenceKind{signerlog.HigherFee}},
			"another transaction": {func(d map[string]any) { d["tx"] = "x" }, []signerlog.DifferenceKind{signerlog.OtherTx}},
			"an earlier release": {func(d map[string]any) {
				for _, name := range []string{"tx", "inputs", "uses", "home"} {
					delete(d, name)
				}
			}, nil},
		} {
			report := compareEdited(func(detail map[string]any) map[string]any {
				if detail["outgoing"] == w.OutgoingID.String() {
					test.edit(detail)
				}
				return detail
			})
			t.Log(name)
			wantKinds(t, report, test.want...)
			if old := name == "an earlier release"; old != (report.Earlier == 1) {
				t.Errorf("%s: %d entries without inputs, want them counted", name, report.Earlier)
			}
		}
	})
}

// intruder returns a connection of somebody who can write to the database.
func intruder(t *testing.T, db *store.DB) func(query string, args ...any) {
	t.Helper()
	driver, source := "pgx", storetest.AsOwner(storetest.URL(db))
	if file, is := strings.CutPrefix(source, "sqlite:"); is {
		driver, source = "sqlite", "file:"+file+"?_pragma=busy_timeout(30000)"
	}
	raw, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() })
	return func(query string, args ...any) {
		t.Helper()
		if _, err := raw.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
}

// Rows that somebody changes or adds differ from the log.
func TestRowsThatWereChangedDiffer(t *testing.T) {
	chains(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Forged = true
		w := paidOnce(r)
		forge := intruder(t, r.DB)
		p := outgoingOf(r, w)
		forge(`UPDATE withdrawals SET amount = '9000000' WHERE id = $1`, w.ID)
		wantKinds(t, compared(r, signerlog.Period{}), signerlog.Altered)
		forge(`UPDATE withdrawals SET amount = '10000000' WHERE id = $1`, w.ID)
		forge(`UPDATE outgoing_versions SET tx_id = 'x' WHERE outgoing_id = $1`, p.ID)
		if r.Chain.Capabilities().Model == chain.UTXOModel {
			wantKinds(t, compared(r, signerlog.Period{}), signerlog.OtherTx)
		}
		forge(`UPDATE outgoing_versions SET tx_id = $2 WHERE outgoing_id = $1`, p.ID, p.TxID)
		forge(`DELETE FROM outgoing_versions WHERE outgoing_id = $1`, p.ID)
		wantKinds(t, compared(r, signerlog.Period{}), signerlog.NotStored)
	})
}

// The attack: somebody who had the signer sign a payment, and who can write to the database, adds a row for it. There
// is no withdrawal that it pays: neither a row of which nothing was sent yet, nor one that was sent as something else,
// hides that.
func TestARowWithoutAWithdrawalDiffers(t *testing.T) {
	chains(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Forged = true
		w := paidOnce(r)
		forge := intruder(t, r.DB)
		p := outgoingOf(r, w)
		forge(`UPDATE withdrawals SET outgoing_id = NULL WHERE id = $1`, w.ID)
		forge(`UPDATE outgoing_txs SET tx_id = 'x' WHERE id = $1`, p.ID)
		wantKinds(t, compared(r, signerlog.Period{}), signerlog.OtherPayments)
		forge(`UPDATE outgoing_txs SET tx_id = '', status = 'claimed', height = 0, draft_json = (SELECT draft_json
			FROM outgoing_versions WHERE outgoing_id = $1 ORDER BY version DESC LIMIT 1) WHERE id = $1`, p.ID)
		forge(`DELETE FROM outgoing_versions WHERE outgoing_id = $1`, p.ID)
		wantKinds(t, compared(r, signerlog.Period{}), signerlog.OtherPayments)
	})
}

// The attack: somebody orders a token that is worth nothing, and has the same number of units of another currency
// signed and booked for that.
func TestAPaymentInAnotherCurrencyDiffers(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		r.Forged = true
		r.WithTokens()
		r.Fund()
		r.Give("TOKEN", bursar.Address{Base: r.Hot.Base}, 100_000_000)
		r.Give("TOKEN", r.WalletOf(0, "TOKEN").Address, 100_000_000)
		r.Settle()
		coin := r.Order(10_000_000, r.Chain.Named("ann"))
		token := r.OrderOf(0, "TOKEN", 10_000_000, r.Chain.Named("ann"))
		r.SettleAll()
		coin, token = r.Now(coin), r.Now(token)
		wantKinds(t, compared(r, signerlog.Period{}))
		forge := intruder(t, r.DB)
		forge(`UPDATE withdrawals SET outgoing_id = $2 WHERE id = $1`, coin.ID, token.OutgoingID)
		forge(`UPDATE withdrawals SET outgoing_id = $2 WHERE id = $1`, token.ID, coin.OutgoingID)
		wantKinds(t, compared(r, signerlog.Period{}), signerlog.OtherPayments, signerlog.OtherPayments,
			signerlog.OtherPayments, signerlog.OtherPayments)
	})
}

// A period has what is signed in it, and what is near its border differs in nothing.
func TestAPeriodHasWhatIsSignedInIt(t *testing.T) {
	chains(t, func(t *testing.T, r *bursartest.OneChain) {
		paidOnce(r)
		log := logOf(t, r.SignerMemory())
		for _, p := range []signerlog.Period{
			{Until: log.Ends()}, {Since: log.Ends()}, {Since: log.Ends().Add(time.Hour), Until: log.Ends().Add(2 * time.Hour)},
			{Until: log.Ends().Add(-time.Hour)},
		} {
			report, err := signerlog.Compare(ctx, r.DB, log, r.Registry, p)
			r.Must(err)
			wantKinds(t, report)
		}
		whole := compared(r, signerlog.Period{})
		before, err := signerlog.Compare(ctx, r.DB, log, r.Registry, signerlog.Period{Until: log.Ends()})
		r.Must(err)
		after, err := signerlog.Compare(ctx, r.DB, log, r.Registry, signerlog.Period{Since: log.Ends()})
		r.Must(err)
		count := func(report signerlog.Report) (n int) {
			for _, of := range report.Signed {
				n += of
			}
			return n
		}
		if count(before)+count(after) != count(whole) || count(after) == 0 {
			t.Errorf("two periods have %d and %d entries, want %d in both and some in the second", count(before),
				count(after), count(whole))
		}
	})
}
