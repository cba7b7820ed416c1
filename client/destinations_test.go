package client_test

import (
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/destination"
)

func TestDestinations(t *testing.T) {
	t.Parallel()
	s := newHarness(t)
	ctx := t.Context()
	if got, err := s.Destinations(ctx, client.Page{}); err != nil || got.Enabled || got.EnabledUntil != nil ||
		len(got.Items) != 0 {
		t.Errorf("before any there are %+v, %v", got, err)
	}
	var made []bursar.Destination
	for _, name := range []string{"bank", "desk"} {
		d, _, err := s.service.Destinations.Add(ctx,
			destination.New{Account: s.issued.AccountID, Currency: "COIN", Address: s.node.Named(name), Label: name})
		s.need(err)
		made = append(made, d)
	}
	s.need(s.service.Destinations.Enable(ctx, s.issued.AccountID))
	_, err := s.service.Destinations.Disable(ctx, s.issued.AccountID)
	s.need(err)
	s.need(s.service.Destinations.Enable(ctx, s.issued.AccountID))
	got, err := s.Destinations(ctx, client.Page{Limit: 1})
	s.need(err)
	if !got.Enabled || got.EnabledUntil != nil || got.NextCursor == "" || len(got.Items) != 1 {
		t.Fatalf("got %+v", got)
	}
	if d := got.Items[0]; d.DestinationID != made[1].ID.String() || d.Label != "desk" ||
		d.Address != s.node.Named("desk") ||
		!slices.Equal(d.Currencies, []string{"COIN"}) || !d.Usable || !d.UsableFrom.Equal(made[1].UsableFrom) ||
		d.CreatedAt.IsZero() {
		t.Errorf("the newest is %+v", d)
	}
	_, err = s.Withdraw(ctx, client.NewWithdrawal{Currency: "COIN", Amount: "1", Address: s.node.Named("elsewhere")})
	if client.CodeOf(err) != client.DestinationRefused {
		t.Errorf("elsewhere: %v, want %v", err, client.DestinationRefused)
	}
	_, err = s.Withdraw(ctx, client.NewWithdrawal{Currency: "COIN", Amount: "1", Address: s.node.Named("bank")})
	if client.CodeOf(err) != client.InsufficientBalance {
		t.Errorf("to the bank, of nothing: %v", err)
	}
}
