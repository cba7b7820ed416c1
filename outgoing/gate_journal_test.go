package outgoing_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// sentGuarded has a withdrawal sent by a process with marks, at a fee that no block takes.
func (r *harness) sentGuarded() (w bursar.Withdrawal, p bursar.OutgoingTx, guard *recovery.Guard) {
	r.T.Helper()
	guard = r.Guarded(filepath.Join(r.T.TempDir(), "seed.marks"))
	r.Fund()
	if r.Chain.Capabilities().Model == chain.UTXOModel {
		r.Pay(bursar.Address{Base: r.Hot.Base}, 400_000_000) // another UTXO that could pay
	}
	r.Settle()
	w, err := r.Withdraw(0, 100_000_000, r.Chain.Named("customer"))
	r.Must(err)
	for range 20 {
		if r.Now(w).Status == bursar.WithdrawalBroadcast {
			break
		}
		r.Step()
	}
	if r.Now(w).Status != bursar.WithdrawalBroadcast {
		r.T.Fatal("it was not sent")
	}
	r.Chain.SetRate(200)
	r.Trouble = true
	return w, r.spendNow(r.Now(w).OutgoingID), guard
}

// elsewhere builds what an outgoing transaction was requested for once more, with the next nonce or with UTXOs that it
// does not use.
func (r *harness) elsewhere(p bursar.OutgoingTx) (unsigned chain.UnsignedTx) {
	r.T.Helper()
	var request chain.TxRequest
	r.Must(json.Unmarshal(p.Request, &request))
	used := r.resources(p)
	r.View(func(tx *store.Tx) error { // all of this can be read in the database
		next, known, err := tx.Nonces().Next(ctx, p.Chain, p.Base)
		if request.Nonce = nil; known {
			request.Nonce = &next
		}
		utxos, readErr := tx.UTXOs().Spendable(ctx, p.Chain, r.height(), r.height(), bursar.ID{}, 100)
		request.UTXOs = nil
		for _, u := range utxos {
			if u.MadeBy == p.ID || slices.Contains(used, u.Outpoint) {
				continue
			}
			key := chain.KeyRef{Family: r.Chain.Capabilities().Family, Branch: u.Branch, Index: u.Index}
			request.UTXOs = append(request.UTXOs, chain.UTXO{Outpoint: u.Outpoint, Amount: u.Amount,
				Source: chain.Source{Key: key, Base: u.Base}})
		}
		if err == nil {
			err = readErr
		}
		return err
	})
	unsigned, err := r.Chain.Build(ctx, request)
	r.Must(err)
	return unsigned
}

// text encodes an unsigned transaction as the database has it.
func (r *harness) text(unsigned chain.UnsignedTx) string {
	r.T.Helper()
	b, err := json.Marshal(unsigned)
	r.Must(err)
	return string(b)
}

// notPaidTwice checks that the receiver of a withdrawal is paid once at most, however long it is waited for.
func (r *harness) notPaidTwice(w bursar.Withdrawal, guard *recovery.Guard) {
	r.T.Helper()
	for range 10 {
		r.Must(guard.Compare(ctx))
		r.Blocks(1)
	}
	r.Chain.SetRate(1)
	for range 10 {
		r.Must(guard.Compare(ctx))
		r.Blocks(1)
	}
	if got := r.Chain.Balance(w.Address.Base, ""); w.Amount.Less(got) {
		r.T.Errorf("the receiver holds %s, want %s at most; errors are %q", got, w.Amount, r.errors())
	}
}

// Somebody who can write to the database has what was sent count as not signed yet, or as not even built, with another
// nonce or other UTXOs, also with the old ones as its reservations: it is not signed a second time, and an alarm says
// why.
func TestWhatIsSentIsNotSignedOnceMore(t *testing.T) {
	for name, forge := range map[string]func(r *harness, p bursar.OutgoingTx, attack func(string, ...any)){
		"reserved with others": func(r *harness, p bursar.OutgoingTx, attack func(string, ...any)) {
			unsigned := r.elsewhere(p)
			attack(`UPDATE outgoing_txs SET status = 'claimed', draft_json = $2 WHERE id = $1`, p.ID, r.text(unsigned))
			attack(`DELETE FROM reservations WHERE outgoing_id = $1`, p.ID)
			for _, resource := range unsigned.Reservations {
				attack(`INSERT INTO reservations(chain, resource, outgoing_id) VALUES ($1, $2, $3)`, string(p.Chain), resource,
					p.ID)
			}
		},
		"reserved as before": func(r *harness, p bursar.OutgoingTx, attack func(string, ...any)) {
			unsigned := r.elsewhere(p)
			unsigned.Reservations = r.resources(p)
			attack(`UPDATE outgoing_txs SET status = 'claimed', draft_json = $2 WHERE id = $1`, p.ID, r.text(unsigned))
		},
		"new": func(r *harness, p bursar.OutgoingTx, attack func(string, ...any)) {
			attack(`UPDATE outgoing_txs SET status = 'new', draft_json = '' WHERE id = $1`, p.ID)
			attack(`DELETE FROM reservations WHERE outgoing_id = $1`, p.ID)
			if r.Chain.Capabilities().Model == chain.UTXOModel {
				for _, resource := range r.resources(p) {
					attack(`UPDATE utxos SET spent = TRUE WHERE resource = $1`, resource)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
				w, p, guard := r.sentGuarded()
				r.Forged = true
				forge(r, p, attack)
				r.Step()
				r.Must(guard.Compare(ctx))
				r.Step()
				if !r.alarmed("journal_differs") && !r.alarmed("nonce_lost") { // a nonce that nothing has holds it back first
					t.Errorf("no alarm says so; its error is %q", r.spendNow(p.ID).Error)
				}
				if r.alarmed("journal_differs") {
					r.Do(func(tx *store.Tx) error { // as where an earlier version stored the reason alone
						return tx.Alarms().Resolve(ctx, recovery.AlarmDiffers, p.ID.String())
					})
					r.Step()
					if !r.alarmed("journal_differs") {
						t.Errorf("no alarm is raised where its reason is stored: %q", r.spendNow(p.ID).Error)
					}
				}
				r.notPaidTwice(w, guard)
			})
		})
	}
}

// The journal itself takes nothing in place of what may still be included, whatever the gate has let pass: it would
// forget that.
func TestTheJournalForgetsNothingThatMayBeIncluded(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		_, p, guard := r.sentGuarded()
		r.Forged = true
		attack(`UPDATE outgoing_txs SET status = 'claimed', draft_json = $2 WHERE id = $1`, p.ID, r.text(r.elsewhere(p)))
		_, err := guard.Sign(ctx, r.Lease, p.ID)
		if err == nil || !strings.Contains(err.Error(), "another nonce or other UTXOs were signed for it") {
			t.Errorf("to count it gives %v, want an error that says so", err)
		}
		r.Must(guard.Compare(ctx))
		if !guard.Signed(p.Chain, p.ID) {
			t.Error("the journal has forgotten it")
		}
	})
}

// Bytes that use something else than what is reserved are not signed, also not for the first time: the journal would
// note the reservations.
func TestBytesThatUseSomethingElseAreNotSigned(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.Guarded(filepath.Join(r.T.TempDir(), "seed.marks"))
		r.Fund()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 400_000_000)
		r.Settle()
		w, err := r.Withdraw(0, 100_000_000, r.Chain.Named("customer"))
		r.Must(err)
		r.Trouble, r.Forged = true, true
		r.withoutSigner(r.Step)
		p := r.spendNow(r.Now(w).OutgoingID)
		unsigned := r.elsewhere(p)
		unsigned.Reservations = r.resources(p)
		attack(`UPDATE outgoing_txs SET draft_json = $2 WHERE id = $1`, p.ID, r.text(unsigned))
		r.Sender.Signer = watched{r.Signer, func(chain.UnsignedTx) { t.Error("it was signed") }}
		r.Step()
		r.noted(p.ID, "which it does not reserve")
	})
}
