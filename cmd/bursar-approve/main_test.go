package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/approval"
)

const instance = "K7QJ3ZL2M5XW4RT6P8YN9VBHCD"

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func TestWhatIsTypedIsSigned(t *testing.T) {
	t.Parallel()
	d := newFixture(t, 1, order(1), order(2))
	if code := d.keyed("\n1.5\nbc1qar zzwf5mdq\n", "yes", d.url); code != 0 {
		t.Fatalf("got code %d: %s, want 0", code, &d.err)
	}
	d.wantSays("You are ann", "Pay        1.5 BTC", "To         bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "Passed over",
		"Delivered")
	if len(d.taken) != 1 || len(d.decisions(order(2))) != 1 || d.decisions(order(2))[0].Person != "ann" {
		t.Errorf("got %d approvals, %v, want one of the second order by ann", len(d.taken), d.decisions(order(2)))
	}
	// Asked again, the program remembers.
	d.keyed("\n\n", "yes", d.url, order(2).ID.String())
	d.wantSays("By you     2026-11-24T13:00:00Z yes order " + order(2).ID.String())
}

func TestThePasswordOfTheListenerIsSent(t *testing.T) {
	t.Parallel()
	d := newFixture(t, 1, order(1))
	d.password = "correct horse battery staple"
	if code := d.keyed("1.5\nbc1qar zzwf5mdq\n", "yes", d.url); code != 1 || len(d.taken) != 0 {
		t.Errorf("without it: got code %d", code)
	}
	d.wantSays("HTTP 401: \"the password is missing or wrong\"")
	file := d.write("password", d.password+"\n")
	if code := d.keyed("1.5\nbc1qar zzwf5mdq\n", "--password-file", file, "yes", d.url); code != 0 ||
		len(d.decisions(order(1))) != 1 {
		t.Errorf("with it: got code %d: %s, want 0 and 1 of them", code, &d.err)
	}
}

// A further payment of the same order is approved only if the approver asks for it and says so.
func TestAFurtherPaymentIsLoud(t *testing.T) {
	t.Parallel()
	d := newFixture(t, 1, order(1), order(2))
	id := order(1).ID.String()
	if code := d.keyed("", "yes", "--payment", "2", d.url); code != 2 {
		t.Errorf("without an order: got code %d, want 2", code)
	}
	if d.keyed("pay again\n1.5\nbc1qar zzwf5mdq\n", "yes", "--payment", "2", d.url, id); len(d.taken) != 0 {
		t.Errorf("mistyped: got %d approvals, want none", len(d.taken))
	}
	d.keyed("pay again 2\n1.5\nbc1qar zzwf5mdq\n", "yes", "--payment", "2", d.url, id)
	d.wantSays("PAYMENT 2 of this order", "the money can leave 2 TIMES")
	if decisions := d.decisions(order(1)); len(decisions) != 1 || decisions[0].Payment != 2 {
		t.Errorf("got %v, want one approval of payment 2", decisions)
	}
}

// Anyone who listens on the way would have the password.
func TestThePasswordIsNotSentInTheClear(t *testing.T) {
	t.Parallel()
	d := newFixture(t, 1, order(1))
	file := d.write("password", "correct horse battery staple\n")
	for _, url := range []string{"http://192.0.2.1/approvals", "http://localhost.example.com/approvals"} {
		if code := d.keyed("", "--password-file", file, "list", url); code != 2 {
			t.Errorf("%s: got code %d, want 2", url, code)
		}
		d.wantSays("the password is sent over https")
	}
}

func TestWhatIsMistypedIsNotSigned(t *testing.T) {
	t.Parallel()
	for _, answers := range []string{"15\nbc1qar zzwf5mdq\n", "1.50\nbc1qar zzwf5mdq\n", "1.5\nBC1QAR ZZWF5MDQ\n",
		"1.5\nwf5mdq\n", "1.5\nbc1qar\n", "1.5\n\n", "\n",
		"150000000\nbc1qar zzwf5mdq\n", "yes\nyes\n"} {
		d := newFixture(t, 1, order(1))
		d.keyed(answers, "yes", d.url)
		if len(d.taken) != 0 {
			t.Errorf("%q: got a signature, want none", answers)
		}
		if _, err := os.Stat(d.path("journal")); err == nil {
			t.Errorf("%q: got a line in the journal, want none", answers)
		}
	}
	d := newFixture(t, 1, order(1))
	if code := d.keyed("1.5\n", "yes", d.url); code != 1 || len(d.taken) != 0 {
		t.Errorf("an answer that is cut off: got code %d and %d signatures, want 1 and none", code, len(d.taken))
	}
}

// What the service says beside the bytes changes nothing of what is shown, and moves no cursor.
func TestTheServiceCannotChangeWhatIsShown(t *testing.T) {
	t.Parallel()
	d := newFixture(t, 1, order(1))
	d.waiting.Orders[0].Reason = "\x1b[2J\x1b[HPay 0.01 BTC \u202e"
	d.waiting.Orders[0].TxID = "\r\x1bdeadbeef"
	d.keyed("1.5\nbc1qar zzwf5mdq\n", "yes", d.url)
	if strings.ContainsAny(d.err.String(), "\x1b\r\u202e") {
		t.Errorf("it says %q, with control characters", d.err.String())
	}
	d.wantSays("WARNING    a transaction that pays this was signed before", "find out why it failed first")
	other := newFixture(t, 1, order(1))
	other.waiting.Orders[0].Text = strings.Replace(other.waiting.Orders[0].Text, "bc1q", "bc1q\u0430", 1)
	if code := other.keyed("1.5\nbc1qar zzwf5mdq\n", "yes", other.url); code != 1 || len(other.taken) != 0 {
		t.Errorf("an address that is not ASCII: got code %d", code)
	}
	token := order(1)
	token.Contract = "0xdAC17F958D2ee523a2206206994597C13D831ec7"
	unknown := newFixture(t, 1, token)
	if code := unknown.keyed("1.5\nbc1qar zzwf5mdq\n", "yes", unknown.url); code != 1 || len(unknown.taken) != 0 {
		t.Errorf("an asset that the policy does not have: got code %d", code)
	}
	unknown.wantSays("the policy has no asset 0xdAC17F958D2ee523a2206206994597C13D831ec7 of bitcoin")
}

// A false policy would show other decimals: an approval under it is worth nothing to the signer.
func TestAFalsePolicyMakesTheApprovalWorthless(t *testing.T) {
	t.Parallel()
	d := newFixture(t, 1, order(1))
	lie := policy(t)
	lie.Assets[0].Decimals = 10
	d.waiting.Policy = lie.Text()
	d.keyed("0.015\nbc1qar zzwf5mdq\n", "yes", d.url)
	if len(d.taken) != 1 || len(d.decisions(order(1))) != 0 {
		t.Errorf("got %d approvals of which %d count, want one that does not", len(d.taken), len(d.decisions(order(1))))
	}
}

func TestWhatWasSignedBeforeIsShown(t *testing.T) {
	t.Parallel()
	first := newFixture(t, 2, order(1))
	first.keyed("1.5\nbc1qar zzwf5mdq\n", "yes", first.url)
	d := newFixture(t, 1, order(1))
	d.waiting.Orders[0].Approvals = append(first.taken, signedText{first.taken[0].Text, "forged"})
	d.keyed("\n", "yes", d.url)
	d.wantSays("Signed     yes by bob with ssh at 2026-11-24T13:00:00Z until 2026-11-24T21:00:00Z", "by nobody who counts")
}

func TestANoIsSigned(t *testing.T) {
	t.Parallel()
	d := newFixture(t, 1, order(1))
	d.keyed("no\n", "no", d.url, order(1).ID.String())
	if decisions := d.decisions(order(1)); len(decisions) != 1 || decisions[0].Decision != approval.No {
		t.Errorf("got %v, want a no", decisions)
	}
}

// clientKey is the key of a client, which signs orders.
const clientKey = "MCowBQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw="

// A service in other hands writes lines of its own under what was parsed, right above the question.
func TestAServiceWritesNoLines(t *testing.T) {
	t.Parallel()
	d := newFixture(t, 1, order(1))
	fake := "-\n" + strings.Repeat("\n", 60) + "Pay        1.5 BTC\nTo         bc1qYOUROWNADDRESSxxxxxxxxxxxxxxxxxxwf5mdq"
	d.waiting.Orders[0].TxID = fake
	d.keyed("\n", "yes", d.url)
	if n := strings.Count("\n"+d.err.String(), "\nTo  "); n != 1 {
		t.Errorf("got %d lines that say where it goes, want 1: %q", n, d.err.String())
	}
	d.waiting.Orders[0].TxID, d.waiting.Orders[0].Reason = "", fake
	d.keyed("\n", "yes", d.url)
	if n := strings.Count("\n"+d.err.String(), "\nTo  "); n != 1 {
		t.Errorf("got %d lines that say where it goes, want 1", n)
	}
}

// "It failed, please sign again" under another ID: what this person signed to the same address is shown.
func TestTheSamePaymentUnderAnotherID(t *testing.T) {
	t.Parallel()
	d := newFixture(t, 1, order(1), order(2))
	d.keyed("1.5\nbc1qar zzwf5mdq\n", "yes", d.url, order(1).ID.String())
	if len(d.taken) != 1 {
		t.Fatalf("got %d approvals, want 1", len(d.taken))
	}
	d.keyed("\n", "yes", d.url, order(2).ID.String())
	d.wantSays("By you ")
}
