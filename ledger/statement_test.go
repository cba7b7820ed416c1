package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

var (
	ann, bob = bursar.ID{15: 1}, bursar.ID{15: 2}
	subject  = bursar.ID{14: 7, 15: 7}
	noon     = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
)

func withdrawalOf(owner bursar.ID) bursar.Withdrawal {
	return bursar.Withdrawal{ID: subject, AccountID: owner, Currency: "BTC", Amount: bursar.Units(100),
		Fee: bursar.Units(3)}
}

// statement returns the effect of an entry on a customer, a readable line for each of the customer's postings.
func statement(t *testing.T, owner bursar.ID, e ledger.Entry) string {
	t.Helper()
	var lines []string
	for place, p := range e.Postings {
		m, err := ledger.MovementOf(owner, e.Kind, e.Ref, int64(place), p)
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%s %s/%s", m.Part, signed(m.Available), signed(m.Held))
		if m.Deposit == subject {
			line += " deposit"
		}
		if m.Withdrawal == subject {
			line += " withdrawal"
		}
		if id, brought := ledger.TransferOf(owner, e.Kind, e.Ref, p); brought {
			line += " brought by " + map[bool]string{true: "it", false: "another"}[id == subject]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, ", ")
}

func signed(b ledger.Balance) string {
	amount, negative := b.Net(ledger.Liability)
	if negative {
		return "-" + amount.String()
	}
	return amount.String()
}

func TestEveryLineOfAStatement(t *testing.T) {
	t.Parallel()
	d := bursar.Deposit{ID: subject, AccountID: ann, Purpose: bursar.ForWallet, Status: bursar.DepositConfirmed,
		Currency: "BTC", Amount: bursar.Units(100), Fee: bursar.Units(2)}
	w := withdrawalOf(ann)
	failed, paid := w, w
	failed.Status, paid.Status = bursar.WithdrawalFailed, bursar.WithdrawalConfirmed
	credited, held := ledger.DepositCredited(d, noon), ledger.WithdrawalHeld(w, noon)
	for _, test := range []struct {
		name  string
		owner bursar.ID
		entry ledger.Entry
		want  string
	}{
		{"a deposit", ann, credited, "amount 100/0 deposit, fee -2/0 deposit"},
		{"another's deposit", bob, credited, "amount 0/0 deposit, fee 0/0 deposit"},
		{"an assigned deposit", ann, ledger.UnattributedAssigned(d, noon), "amount 100/0 deposit, fee -2/0 deposit"},
		{"a held withdrawal", ann, held, "amount -100/100 withdrawal, fee -3/3 withdrawal"},
		{"a settled one", ann, ledger.WithdrawalSettled(w, 0, noon), "amount 0/-100 withdrawal, fee 0/-3 withdrawal"},
		{"one that settled again", ann, ledger.WithdrawalSettled(w, 2, noon),
			"amount 0/-100 withdrawal, fee 0/-3 withdrawal"},
		{"a refunded one", ann, ledger.WithdrawalRefunded(w, 0, noon), "amount 100/-100 withdrawal, fee 3/-3 withdrawal"},
		{"a refund that was unsettled", ann, ledger.WithdrawalUnsettled(failed, 1, noon),
			"amount -100/100 withdrawal, fee -3/3 withdrawal"},
		{"a payment that was unsettled", ann, ledger.WithdrawalUnsettled(paid, 1, noon),
			"amount 0/100 withdrawal, fee 0/3 withdrawal"},
		{"a network's fee", ann, ledger.NetworkFee(ledger.FeeRef("bitcoin", "aa"), 0, "BTC", bursar.Units(5), noon),
			"amount 0/0"},
	} {
		if got := statement(t, test.owner, test.entry); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// An internal transfer is a withdrawal of the payer, and for the receiver a transfer of another account, whether its
// money was held before or not.
func TestATransferInAStatement(t *testing.T) {
	t.Parallel()
	w := bursar.Withdrawal{ID: subject, AccountID: ann, Currency: "BTC", Amount: bursar.Units(100), Fee: bursar.Units(3)}
	for _, c := range []struct {
		name        string
		book        func(bursar.Withdrawal, bursar.ID, bursar.Amount, time.Time) ledger.Entry
		payer, self string
	}{
		{"of held money", ledger.InternalTransfer, "amount 0/-100 withdrawal, fee 0/0, fee 0/-3 withdrawal",
			"amount 100/-100 withdrawal brought by it, fee -1/0 brought by it, fee 0/-3 withdrawal"},
		{"of money that was not held", ledger.DirectTransfer, "amount -100/0 withdrawal, fee 0/0, fee -3/0 withdrawal", ""},
	} {
		e := c.book(w, bob, bursar.Units(1), noon)
		if got := statement(t, ann, e); got != c.payer {
			t.Errorf("%s: the payer reads %s, want %s", c.name, got, c.payer)
		}
		if got, want := statement(t, bob, e), "amount 100/0 brought by it, fee -1/0 brought by it, fee 0/0"; got != want {
			t.Errorf("%s: the receiver reads %s, want %s", c.name, got, want)
		}
		if err := e.Check(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, brought := ledger.TransferOf(bob, ledger.KindDeposit, e.Ref, e.Postings[0]); brought {
			t.Errorf("%s: a deposit passes for a transfer", c.name)
		}
		toItself := c.book(w, ann, bursar.Units(1), noon)
		if fits := toItself.Check() == nil; fits != (c.self != "") {
			t.Errorf("%s: to itself it can be posted: %t", c.name, fits)
		}
		if c.self == "" {
			continue
		}
		if got := statement(t, ann, toItself); got != c.self {
			t.Errorf("%s: to itself one reads %s, want %s", c.name, got, c.self)
		}
	}
}

// An order's money is taken by one entry: the hold, or the transfer for which nothing was held.
func TestWhichEntryTakesTheMoneyOfAnOrder(t *testing.T) {
	t.Parallel()
	w := bursar.Withdrawal{ID: subject, AccountID: ann, Currency: "BTC", Amount: bursar.Units(100)}
	nothing := ledger.DirectTransfer(w, bob, bursar.Amount{}, noon)
	nothing.Postings = nil
	unnamed := ledger.WithdrawalHeld(w, noon)
	unnamed.Ref = "x"
	for name, c := range map[string]struct {
		entry ledger.Entry
		takes bool
	}{
		"a hold":                      {ledger.WithdrawalHeld(w, noon), true},
		"a refund's hold":             {ledger.Entry{Kind: ledger.KindRefundHeld, Ref: ledger.Ref(subject.String())}, true},
		"a transfer without a hold":   {ledger.DirectTransfer(w, bob, bursar.Units(1), noon), true},
		"a transfer of held money":    {ledger.InternalTransfer(w, bob, bursar.Units(1), noon), false},
		"one whose postings are gone": {nothing, true},
		"a settlement":                {ledger.WithdrawalSettled(w, 0, noon), false},
		"a hold of something unnamed": {unnamed, false},
		"a settlement that is undone": {ledger.WithdrawalUnsettled(w, 1, noon), false},
	} {
		order, takes := ledger.Takes(c.entry)
		if takes != c.takes || takes && order != subject {
			t.Errorf("%s: %t for %s, want %t for %s", name, takes, order, c.takes, subject)
		}
	}
}

func TestRunningTotals(t *testing.T) {
	t.Parallel()
	running := ledger.Running{}
	add := func(asset bursar.CurrencyCode, e ledger.Entry) (last ledger.Owned) {
		for place, p := range e.Postings {
			m, err := ledger.MovementOf(ann, e.Kind, e.Ref, int64(place), p)
			if err != nil {
				t.Fatal(err)
			}
			if last, err = running.Add(asset, m); err != nil {
				t.Fatal(err)
			}
		}
		return last
	}
	add("BTC", ledger.DepositCredited(bursar.Deposit{ID: subject, AccountID: ann, Purpose: bursar.ForWallet,
		Currency: "BTC", Amount: bursar.Units(500)}, noon))
	add("ETH", ledger.DepositCredited(bursar.Deposit{ID: subject, AccountID: ann, Purpose: bursar.ForWallet,
		Currency: "ETH", Amount: bursar.Units(9)}, noon))
	o := add("BTC", ledger.WithdrawalHeld(withdrawalOf(ann), noon))
	if signed(o.Available) != "397" || signed(o.Held) != "103" {
		t.Errorf("after a held withdrawal there are %s and %s held, want %q and %q", signed(o.Available), signed(o.Held),
			"397", "103")
	}
	o = add("BTC", ledger.WithdrawalSettled(withdrawalOf(ann), 0, noon))
	if signed(o.Available) != "397" || signed(o.Held) != "0" || signed(running["ETH"].Available) != "9" {
		t.Errorf("after it settled there are %s and %s held, and %s ETH, want %q and %q and %q", signed(o.Available),
			signed(o.Held),
			signed(running["ETH"].Available), "397", "0", "9")
	}
}

func TestTotalsThatOverflowAreRefused(t *testing.T) {
	t.Parallel()
	full := ledger.Movement{Available: ledger.Balance{Debits: bursar.LargestAmount()}}
	other := ledger.Movement{Held: ledger.Balance{Credits: bursar.LargestAmount()}}
	for _, m := range []ledger.Movement{full, other} {
		running := ledger.Running{}
		if _, err := running.Add("BTC", m); err != nil {
			t.Fatal(err)
		}
		before := running["BTC"]
		one := m
		one.Available.Debits, one.Held.Credits = bursar.Units(1), bursar.Units(1)
		if _, err := running.Add("BTC", one); !errors.Is(err, bursar.ErrAmountOverflow) {
			t.Errorf("a total beyond 128 bits: %v, want %v", err, bursar.ErrAmountOverflow)
		}
		if running["BTC"] != before {
			t.Errorf("a refused movement has changed the totals, want %v", before)
		}
	}
}

// Check accepts entries at each limit and refuses them beyond it.
func TestMalformedEntriesAreRefused(t *testing.T) {
	t.Parallel()
	good := ledger.Posting{Debit: ledger.Custody, Credit: ledger.Capital, Asset: "BTC", Amount: bursar.Units(1)}
	with := func(change func(*ledger.Posting)) []ledger.Posting {
		p := good
		change(&p)
		return []ledger.Posting{good, p}
	}
	many := make([]ledger.Posting, ledger.MaxPostings+1)
	for i := range many {
		many[i] = good
	}
	fine := ledger.Entry{Kind: "k", Ref: "r", Postings: many[:ledger.MaxPostings]}
	if err := fine.Check(); err != nil {
		t.Errorf("as many postings as are allowed: %v", err)
	}
	for name, e := range map[string]ledger.Entry{
		"no kind":           {Ref: "r", Postings: many[:1]},
		"no ref":            {Kind: "k", Postings: many[:1]},
		"no posting":        {Kind: "k", Ref: "r"},
		"too many postings": {Kind: "k", Ref: "r", Postings: many},
		"no debit":          {Kind: "k", Ref: "r", Postings: with(func(p *ledger.Posting) { p.Debit = "" })},
		"no credit":         {Kind: "k", Ref: "r", Postings: with(func(p *ledger.Posting) { p.Credit = "" })},
		"to itself":         {Kind: "k", Ref: "r", Postings: with(func(p *ledger.Posting) { p.Credit = p.Debit })},
		"no asset":          {Kind: "k", Ref: "r", Postings: with(func(p *ledger.Posting) { p.Asset = "" })},
		"nothing":           {Kind: "k", Ref: "r", Postings: with(func(p *ledger.Posting) { p.Amount = bursar.Amount{} })},
	} {
		if err := e.Check(); !errors.Is(err, ledger.ErrMalformed) {
			t.Errorf("%s: %v, want %v", name, err, ledger.ErrMalformed)
		}
		if err := (ledger.Books{}).Post(e); !errors.Is(err, ledger.ErrMalformed) {
			t.Errorf("post %s: %v, want %v", name, err, ledger.ErrMalformed)
		}
	}
}

func TestTheCustomerOfAnAccount(t *testing.T) {
	t.Parallel()
	for _, a := range []ledger.Account{ledger.Available(ann), ledger.Held(ann)} {
		if id, is := a.Customer(); !is || id != ann {
			t.Errorf("%s is %s's, %v", a, id, is)
		}
	}
	for _, a := range []ledger.Account{ledger.Custody, ledger.Capital, ledger.Unattributed, ledger.DepositFees, "customer",
		"customer:x:available"} {
		if id, is := a.Customer(); is {
			t.Errorf("%s is taken for %s's", a, id)
		}
	}
}

func TestABalanceIsNamedOnce(t *testing.T) {
	t.Parallel()
	e := ledger.DepositCredited(bursar.Deposit{ID: subject, AccountID: ann, Purpose: bursar.ForWallet, Currency: "BTC",
		Amount: bursar.Units(5), Fee: bursar.Units(1)}, noon)
	want := []ledger.Key{{Account: ledger.Custody, Asset: "BTC"}, {Account: ledger.Available(ann), Asset: "BTC"},
		{Account: ledger.DepositFees, Asset: "BTC"}}
	keys := e.Keys()
	seen := map[ledger.Key]int{}
	for _, k := range keys {
		seen[k]++
	}
	for _, k := range want {
		if seen[k] != 1 || len(keys) != len(want) {
			t.Fatalf("the balances of a credit are %v, want %v", keys, want)
		}
	}
}

// An entry that is booked again after a reorg has a name of its own, and the first round has the plain name.
func TestEachReversalHasItsOwnReference(t *testing.T) {
	t.Parallel()
	w := withdrawalOf(ann)
	for round, want := range []string{subject.String(), subject.String() + "/1", subject.String() + "/2"} {
		if got := ledger.WithdrawalSettled(w, round, noon).Ref; string(got) != want {
			t.Errorf("round %d is named %s, want %s", round, got, want)
		}
	}
}

// A refund that never pays returns its value to the owner of its deposit as it is now.
func TestAnUnsettledRefundGoesToTheOwnerOfItsDeposit(t *testing.T) {
	t.Parallel()
	n := bursar.Resolution{ID: subject, Currency: "BTC", Amount: bursar.Units(90), Fee: bursar.Units(10)}
	confirmed := bursar.Deposit{Currency: "BTC", Amount: bursar.Units(100), Status: bursar.DepositConfirmed}
	for _, test := range []struct {
		name   string
		change func(*bursar.Deposit)
		want   string
	}{
		{"the deposit is there", func(*bursar.Deposit) {}, "90 unattributed, 10 unattributed"},
		{"it has left", func(d *bursar.Deposit) { d.Status = bursar.DepositOrphaned }, "90 losses, 10 losses"},
		{"it was reversed", func(d *bursar.Deposit) { d.Status = bursar.DepositReversed }, "90 losses, 10 losses"},
		{"it came back with more", func(d *bursar.Deposit) {
			d.Amount = bursar.Units(101)
		}, "90 losses, 10 losses, 101 unattributed"},
		{"it came back with less", func(d *bursar.Deposit) {
			d.Amount = bursar.Units(50)
		}, "90 losses, 10 losses, 50 unattributed"},
	} {
		d := confirmed
		test.change(&d)
		var lines []string
		for _, p := range ledger.RefundFailed(n, d, 0, noon).Postings {
			lines = append(lines, p.Amount.String()+" "+string(p.Credit))
		}
		if got := strings.Join(lines, ", "); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
