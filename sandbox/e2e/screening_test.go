package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bursar/bursar/store/storetest"
)

// TestScreening plays a screening service that is down, rejects, wants a review, and whose answers somebody forges and
// replays, against the real service: money goes on by itself where an answer comes, and by the operator's commands
// where a person must decide. At the end the books agree with the chain.
func TestScreening(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the sandbox as a process: left out by -short")
	}
	t.Parallel()
	w := newHarnessOf(t, &harness{t: t, programs: build(t), dir: storetest.Folder(t), endpoints: 1, chains: "polygon",
		screening: true})
	wallet := w.a.wallet(w.named("MATIC"))
	passed := w.screenedDeposits(wallet)
	w.screenedPayouts(wallet)
	w.settled("confirmed", passed)
	w.eventually("no alarm is open", func() error {
		if open := w.run("alarm", "list", "--json"); strings.Contains(string(open), "screening_") {
			return fmt.Errorf("open are %s", open)
		}
		return nil
	})
	w.reconciled()
	w.healthOf()
	w.endCleanly()
}

// screenedDeposits has one deposit wait for the service and one rejected, and returns the former.
func (w *harness) screenedDeposits(to wallet) receipt {
	w.t.Helper()
	w.says("*", "down")
	passed := receipt{to, w.pay(to.currency, share{to.Address, "40"}), []string{"40"}}
	w.eventually("the alarm about a service that does not answer", func() error {
		return contains(w.run("alarm", "list", "--json"), "screening_unanswered")
	})
	w.must(contains(w.run("screening", "list", "--json"), "status 503"))
	w.settled("pending", passed)
	w.says("*", "pass")
	w.credited(passed)

	w.says("*", "reject")
	rejected := w.pay(to.currency, share{to.Address, "7"})
	found := w.astray(rejected)
	w.says("*", "pass")
	if !strings.Contains(found.Why, "in quarantine after screening: it was a deposit of account "+w.a.AccountID) {
		w.t.Errorf("it is unattributed because %s, want quarantine", found.Why)
	}
	w.must(receipt{to, rejected, nil}.is(""))
	w.run("unattributed", "assign", found.DepositID, "--wallet", to.WalletID, "--note", "case 17: it is clean")
	w.credited(receipt{to, rejected, []string{"7"}})
	return passed
}

// screenedPayouts has payouts rejected, reviewed, and answered by forged and replayed answers.
func (w *harness) screenedPayouts(from wallet) {
	w.t.Helper()
	clean := w.screened(from, "1", "pass")
	w.paid([]*withdrawalRequest{clean})
	replayed, forged := w.screened(from, "4", "replayed"), w.screened(from, "5", "forged")
	review, rejected := w.screened(from, "2", "review"), w.screened(from, "3", "reject")
	w.becomes(rejected, "rejected")
	for o, why := range map[*withdrawalRequest]string{
		review: `"review"`, forged: "not signed by the key", replayed: "the answer is for another request",
	} {
		w.eventually("its answer does not count: "+why, func() error { return w.waitsFor(o, why) })
		w.becomes(o, "queued")
	}
	w.run("screening", "release", review.id, "--reason", "case 18: another person of that name")
	for _, o := range []*withdrawalRequest{forged, replayed} {
		w.says(o.address, "pass")
	}
	w.paid([]*withdrawalRequest{review, forged, replayed})
	for _, o := range []*withdrawalRequest{clean, review, forged, replayed} {
		w.arrived(o)
	}
	if held := w.onChain(from.currency, rejected.address); held.Sign() != 0 {
		w.t.Errorf("the address that was rejected holds %v, want nothing", held)
	}
}

// screened orders a payout to a new address of which the service says something.
func (w *harness) screened(from wallet, amount, verdict string) *withdrawalRequest {
	w.t.Helper()
	o := w.order(from.account, from.currency, amount, w.external(from.currency))
	w.says(o.address, verdict)
	w.must(o.place())
	return o
}

// says sets what the screening service says of an address.
func (w *harness) says(address, verdict string) {
	w.t.Helper()
	w.must(w.sandbox.ask(http.MethodPost, "/screening", params{"address": address, "verdict": verdict}, nil))
}

func (w *harness) becomes(o *withdrawalRequest, status string) {
	w.t.Helper()
	w.eventually("a withdrawal becomes "+status, func() error {
		got, err := o.look()
		if err == nil && got.Status != status {
			err = fmt.Errorf("it is %s", got.Status)
		}
		return err
	})
}

// waitsFor checks that a payout is listed with a reason.
func (w *harness) waitsFor(o *withdrawalRequest, why string) error {
	var list []json.RawMessage
	if err := json.Unmarshal(w.run("screening", "list", "--json"), &list); err != nil {
		return err
	}
	for _, one := range list {
		if strings.Contains(string(one), o.id) {
			return contains(one, why)
		}
	}
	return fmt.Errorf("%s is not listed", o.id)
}

func contains(text []byte, what string) error {
	if !strings.Contains(string(text), what) {
		return fmt.Errorf("%s lacks %s", text, what)
	}
	return nil
}
