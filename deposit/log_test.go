package deposit_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow/followtest"
)

// line is one log line.
type line struct {
	Level, Msg, Deposit, Chain, Hash, Account, Wallet, Currency string
	Amount                                                      string
	Height                                                      uint64
}

// logging makes deposits write a log, and returns the function that reads it.
func logging(f *followtest.Harness) (read func() []line) {
	out := &bytes.Buffer{}
	f.Deposits.Log = slog.New(slog.NewJSONHandler(out, nil))
	return func() (lines []line) {
		f.T.Helper()
		for text := range strings.Lines(out.String()) {
			var l line
			f.Must(json.Unmarshal([]byte(text), &l))
			lines = append(lines, l)
		}
		out.Reset()
		return lines
	}
}

// messages returns the messages of some lines; with level only those of that level.
func messages(lines []line, level string) (list []string) {
	for _, l := range lines {
		if level == "" || l.Level == level {
			list = append(list, l.Msg)
		}
	}
	return list
}

// Every change of a deposit is logged under its ID, as docs/operations.md says, with its account.
func TestTheLogSaysWhatBecameOfADeposit(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		read := logging(f)
		id := f.Pay(5000)
		f.Sim.Mine(3)
		f.CatchUp()
		comes := leaves(f, id)
		comes()
		d, lines := f.DepositOf(id), read()
		if got := messages(lines, ""); !slices.Equal(got, []string{"deposit seen", "deposit credited", "event recorded",
			"deposit reversed", "event recorded", "deposit seen", "deposit credited", "event recorded"}) {
			t.Errorf("the log says %q", got)
		}
		for _, l := range lines {
			of := l.Deposit == d.ID.String() && l.Account == f.Account.String()
			if l.Msg != "event recorded" {
				of = of && l.Wallet == f.Wallet.ID.String() && l.Chain == "ethereum" && l.Hash == id &&
					l.Currency == "COIN" && l.Height > 0 && l.Amount == "0.00005000 COIN"
			}
			if !of {
				t.Errorf("a line is %+v", l)
			}
		}
		if got := messages(lines, "ERROR"); !slices.Equal(got, []string{"deposit reversed"}) {
			t.Errorf("errors are %q, want %+v", got, []string{"deposit reversed"})
		}
	})
}

// The log lines of operator funds and unattributed deposits name no account.
func TestTheLogNamesNoAccountForTheOperatorsMoney(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		f.SetHot(f.Sim.Named("hot"))
		read := logging(f)
		f.Sim.Pay(chain.Payment{Address: bursar.Address{Base: f.Hot}, Amount: bursar.Units(5000)})
		f.Sim.Mine(3)
		f.CatchUp()
		lines := read()
		if got := messages(lines, ""); !slices.Equal(got, []string{"deposit seen", "deposit booked"}) ||
			lines[1].Account != "" || lines[1].Wallet != "" {
			t.Errorf("the log says %+v", lines)
		}
	})
}

// Payments to a charge are reorged out, one that pays nothing and the one that paid: no other replaces it, and the log
// says no more than that they are reversed.
func TestAChargeWithoutAnotherPaymentIsNoError(t *testing.T) {
	charged(t, bursar.Currency{}, 2000, func(t *testing.T, f *followtest.Harness) {
		read := logging(f)
		paying := f.Pay(2000)
		f.Sim.Mine(3)
		late := f.Pay(5000)
		f.Sim.Mine(3)
		f.CatchUp()
		leaves(f, late)
		leaves(f, paying)
		if got := messages(read(), "ERROR"); !slices.Equal(got, []string{"deposit reversed", "deposit reversed"}) {
			t.Errorf("errors are %q", got)
		}
		if got := events(f); !slices.Equal(got, []string{"paid", "deposit", "deposit_reversed", "deposit_reversed"}) {
			t.Errorf("the events are %q", got)
		}
	})
}
