package notice_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/notice"
	"github.com/bursar/bursar/store"
)

// requests records a withdrawal that waits.
func (h *harness) requests(id byte, status bursar.WithdrawalStatus) {
	h.Helper()
	h.do(func(tx *store.Tx) error {
		if id == 1 {
			account := bursar.Account{ID: bursar.ID{1}, Name: "a", CreatedAt: tx.Now()}
			if err := tx.Accounts().Insert(ctx, account); err != nil {
				return err
			}
		}
		return tx.Withdrawals().Insert(ctx, bursar.Bitcoin, bursar.Withdrawal{ID: bursar.ID{id}, AccountID: bursar.ID{1},
			Currency: "BTC", Amount: bursar.Units(1), Address: bursar.Address{Base: "secret customer"},
			Metadata: `{"name":"secret customer"}`, Status: status, CreatedAt: tx.Now()})
	})
}

func TestWhatWaitsTooLongIsAnnounced(t *testing.T) {
	notified(t, func(h *harness) {
		h.requests(1, bursar.WithdrawalPendingApproval)
		h.requests(2, bursar.WithdrawalQueued)
		h.after(59 * time.Minute)
		h.gets("before an hour")
		h.after(2 * time.Minute)
		text := h.box.taken
		h.gets("an approval after an hour", "approvals wait")
		if len(text) != 1 || !strings.Contains(text[0].Text, "WAITING 1 withdrawal for your approval on bitcoin for more "+
			"than 60 minutes, the oldest since 2026-11-01 00:00 UTC") || strings.Contains(text[0].Text, "secret") {
			h.Errorf("the message is %+v, want how many wait and since when, and nothing of the customer", text)
		}
		h.requests(3, bursar.WithdrawalPendingApproval)
		h.after(30 * time.Minute)
		h.gets("another one, not yet")
		h.after(32 * time.Minute)
		h.gets("another one, with the payment that waits for two hours", "approvals wait, payments wait")
		h.after(24 * time.Hour)
		h.gets("nothing more")
	})
}

func TestProposalsThatWaitAreAnnounced(t *testing.T) {
	notified(t, func(h *harness) {
		h.do(func(tx *store.Tx) error {
			return tx.Proposals().Insert(ctx, store.Proposal{ID: bursar.ID{9}, Verb: "treasury.withdraw", Object: "o",
				Token: bursar.ID{8}, Hash: []byte{1}, Need: 1, Person: "ann", PersonID: bursar.ID{7}, CreatedAt: tx.Now(),
				ExpiresAt: tx.Now().Add(24 * time.Hour)})
		})
		h.after(62 * time.Minute)
		h.gets("after an hour", "approvals wait")
	})
}

func TestSolvencyIsSaidOnceADay(t *testing.T) {
	notified(t, func(h *harness) {
		zone := time.FixedZone("", 2*60*60)
		h.notifier.Daily, h.receiver.Location = 8*60, zone
		h.said.Balances = []notice.Balance{{Owed: "1 BTC", Held: "2 BTC", Verdict: "covered"}}
		h.after(5*time.Hour + 59*time.Minute)
		h.gets("a minute before")
		h.after(time.Minute)
		text := h.box.taken
		h.gets("at eight", "solvent")
		want := "SOLVENT: everything that is owed is held\n  owed 1 BTC, held 2 BTC: covered\n"
		if len(text) == 1 && !strings.Contains(text[0].Text, want) {
			h.Errorf("the message is %q, want what is owed and held of BTC", text[0].Text)
		}
		h.after(23 * time.Hour)
		h.gets("an hour before the next")
		h.said.Solvent = false
		h.after(time.Hour)
		h.gets("the next day", "URGENT: NOT SOLVENT")
		h.after(3*24*time.Hour + time.Hour) // it did not run for three days
		h.gets("one line after three days", "URGENT: NOT SOLVENT")
	})
}

// The verdict sums the books: it is not computed again and again for a line that waits for the digest.
func TestTheVerdictIsComputedWhenItIsSent(t *testing.T) {
	notified(t, func(h *harness) {
		computed, verdict := 0, h.notifier.Solvency
		h.notifier.Solvency = func(ctx context.Context, tx *store.Tx) (notice.Statement, error) {
			computed++
			return verdict(ctx, tx)
		}
		h.notifier.Daily = 60
		h.clock.Advance(59*time.Minute + 30*time.Second)
		h.raise("uncovered", "BTC")
		h.step()
		h.gets("what is grave", "URGENT: alarm uncovered opened on bitcoin")
		for range 3 {
			h.after(10 * time.Second)
		}
		if computed != 0 {
			h.Errorf("the verdict was computed %d times within the digest, want 0", computed)
		}
		h.after(30 * time.Second)
		h.gets("behind the digest", "solvent")
		if computed != 1 {
			h.Errorf("the verdict was computed %d times, want 1", computed)
		}
	})
}
