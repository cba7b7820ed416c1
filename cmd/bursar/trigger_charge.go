package main

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/client"
)

// paysCharge pays a charge in one of the ways of the sandbox, or lets it expire where that is empty.
func (t *trigger) paysCharge(how string) cause {
	return func(ctx context.Context) (string, error) {
		made, err := t.charge(ctx)
		if err == nil && how != "" {
			_, err = t.payCharge(ctx, made.ChargeID, how)
		}
		return made.ChargeID, err
	}
}

// payCharge pays by the remote control, as the account of this key.
func (t *trigger) payCharge(ctx context.Context, id, how string) (hash string, err error) {
	var paid struct{ HashID string }
	request := map[string]any{"chargeID": id, "how": how, "apiKey": t.control.key}
	err = t.control.post(ctx, "test/charge/pay", request, &paid)
	return paid.HashID, err
}

// reverseCharge pays a charge, and has the credit reversed.
func (t *trigger) reverseCharge(ctx context.Context) (string, error) {
	made, err := t.charge(ctx)
	if err != nil {
		return "", err
	}
	code := bursar.CurrencyCode(made.Options[0].Currency)
	return made.ChargeID, t.reverse(ctx, code, "paid", made.ChargeID, func() (string, error) {
		return t.payCharge(ctx, made.ChargeID, "exact")
	})
}

func (t *trigger) cancelCharge(ctx context.Context) (string, error) {
	made, err := t.charge(ctx)
	if err != nil {
		return "", err
	}
	_, err = t.service.CancelCharge(ctx, made.ChargeID)
	return made.ChargeID, err
}

// refundCharge pays too much, and has what was too much refunded to an address outside.
func (t *trigger) refundCharge(ctx context.Context) (string, error) {
	made, err := t.charge(ctx)
	if err != nil {
		return "", err
	}
	if _, err := t.payCharge(ctx, made.ChargeID, "over"); err != nil {
		return "", err
	}
	paid, err := t.wait(ctx, "overpaid", made.ChargeID)
	if err != nil {
		return "", err
	}
	var outside struct{ Address string }
	if err := t.control.post(ctx, "address", map[string]any{"currency": t.cmd.Currency}, &outside); err != nil {
		return "", err
	}
	_, _, err = t.service.RefundCharge(ctx, client.Refund{
		ChargeID:  made.ChargeID,
		DepositID: paid.Sum.Payments[0].DepositID,
		Address:   outside.Address,
		Part:      "over",
		Rate:      "then",
	})
	return made.ChargeID, err
}
