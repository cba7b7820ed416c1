package bursar_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
)

// invoice asks for 1000 with a tolerance of 10 either way.
func invoice() bursar.Invoice {
	return bursar.Invoice{
		Required:  bursar.Units(1000),
		Under:     bursar.Units(10),
		Over:      bursar.Units(10),
		Late:      bursar.HandlingReview,
		Other:     bursar.HandlingReview,
		CreatedAt: invoiceStart,
		Expires:   invoiceEnd,
	}
}

// payment is worth its units, and is first seen a minute after the start.
func payment(id byte, units uint64, status bursar.DepositStatus) bursar.Payment {
	return bursar.Payment{Origin: bursar.PaidAsAsked, Rate: bursar.Par(), Value: bursar.Units(units),
		Deposit: bursar.Deposit{ID: bursar.ID{0: 1, 15: id}, Amount: bursar.Units(units), Status: status,
			SeenAt: invoiceStart.Add(time.Minute)}}
}

// cells is the status of every cell: what is credited, what is pending in time, and then whether the end has passed and
// the client ended it: running, past, cancelled, cancelled and past.
const cells = `
   0    0 open       expired    cancelled  cancelled
   0    1 open       expired    cancelled  cancelled
   0  989 open       expired    cancelled  cancelled
   0  990 confirming confirming confirming confirming
   0 1000 confirming confirming confirming confirming
   0 1011 confirming confirming confirming confirming
   1    0 open       expired    cancelled  cancelled
   1    1 open       expired    cancelled  cancelled
   1  989 confirming confirming confirming confirming
   1 1000 confirming confirming confirming confirming
 989    0 open       expired    cancelled  cancelled
 989    1 confirming confirming confirming confirming
 989 1000 confirming confirming confirming confirming
 990    0 paid       paid       paid       paid
 990    1 paid       paid       paid       paid
 999    0 paid       paid       paid       paid
1000    0 paid       paid       paid       paid
1000    1 paid       paid       paid       paid
1010    0 paid       paid       paid       paid
1011    0 paid       paid       paid       paid
1011 1000 paid       paid       paid       paid
`

func TestTheStatusOfEveryCell(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(strings.TrimSpace(cells)) {
		var credited, pending uint64
		var want [4]bursar.ChargeStatus
		if _, err := fmt.Sscan(line, &credited, &pending, &want[0], &want[1], &want[2], &want[3]); err != nil {
			t.Fatal(line, err)
		}
		for i, status := range want {
			v, now := invoice(), invoiceEnd.Add(-1)
			if i%2 == 1 {
				now = invoiceEnd
			}
			if i >= 2 {
				v.CancelledAt = invoiceStart.Add(2 * time.Minute)
			}
			var list []bursar.Payment
			if credited > 0 {
				list = append(list, payment(1, credited, bursar.DepositConfirmed))
			}
			if pending > 0 {
				list = append(list, payment(2, pending, bursar.DepositPending))
			}
			s := v.Evaluate(list, now)
			if s.Status != status {
				t.Errorf("%d credited, %d pending, case %d: got %s, want %s", credited, pending, i, s.Status, status)
			}
			due := bursar.Units(1000).SubOrZero(bursar.Units(credited + pending))
			if s.Status != bursar.ChargePaid && s.Due != due {
				t.Errorf("%d credited, %d pending: got %s due, want %s", credited, pending, s.Due, due)
			}
			if turns := s.Status == bursar.ChargeOpen; turns != s.TurnsAt.Equal(invoiceEnd) {
				t.Errorf("%d credited, %d pending: a status %s turns at %s, want %v", credited, pending, s.Status, s.TurnsAt,
					s.TurnsAt.Equal(invoiceEnd))
			}
			for n, p := range list { // a client's mark decides
				p.Resolution = bursar.ResolveAccept
				marked := v.Evaluate(slices.Concat(list[:n], []bursar.Payment{p}, list[n+1:]), now)
				wantMarked := bursar.ChargePaid
				if credited == 0 || s.Status != bursar.ChargePaid && p.Deposit.Status == bursar.DepositPending {
					wantMarked = bursar.ChargeConfirming
				}
				if marked.Status != wantMarked {
					t.Errorf("%d credited, %d pending, payment %d accepted: got %s, want %s", credited, pending, n, marked.Status,
						wantMarked)
				}
			}
		}
	}
}
