package signerlog

import (
	"encoding/json"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// external compares what blocks show from our addresses and the service did not make.
func (c *comparison) external(db *store.DB) error {
	for after := int64(0); ; {
		var page []store.ExternalSpend
		err := db.View(c.ctx, func(tx *store.Tx) (err error) {
			if page, err = tx.ExternalSpends().After(c.ctx, after, pageSize); err != nil {
				return err
			}
			for _, x := range page {
				booked, err := c.isBooked(tx, x)
				if err == nil && !booked {
					err = c.externalSpend(x)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].Number
	}
}

// isBooked reports whether an outgoing transaction books an external spend, and was compared.
//
// The attack: somebody who can write to the database says so of what they took.
func (c *comparison) isBooked(tx *store.Tx, x store.ExternalSpend) (bool, error) {
	if x.OutgoingID.IsZero() {
		return false, nil
	}
	sent, err := tx.Outgoing().SentAmong(c.ctx, x.Chain, []string{x.TxID})
	return sent[x.TxID] == x.OutgoingID, err
}

func (c *comparison) externalSpend(x store.ExternalSpend) error {
	var resources []string
	if len(x.Reservations) > 0 {
		if err := json.Unmarshal(x.Reservations, &resources); err != nil {
			return fmt.Errorf("read external spend %d: %w", x.Number, err)
		}
	}
	if x.Height > 0 {
		c.useUp(x.Chain, resources)
	}
	var payments []chain.Payment
	if len(x.Payments) > 0 {
		if err := json.Unmarshal(x.Payments, &payments); err != nil {
			return fmt.Errorf("read external spend %d: %w", x.Number, err)
		}
	}
	of := paying(c.log.of(x.Chain, x.TxID, resources), x.TxID, payments)
	d := Difference{Kind: External, Chain: x.Chain, TxID: x.TxID, At: &x.MadeAt}
	if len(of) == 0 {
		if c.within(x.MadeAt) {
			d.Message = fmt.Sprintf("%s paid in a block, and neither the books nor this log know of it: somebody else has the "+
				"key. By the books it is %s", x.Base, x.Status)
			c.differ(d)
		}
		return nil
	}
	e := of[0]
	e.included, e.failed = true, x.Failed
	if c.within(e.at) || c.within(x.MadeAt) {
		d.Entry, d.Outgoing = e.number, &e.Outgoing
		d.Message = fmt.Sprintf("%s paid in a block what this signer signed and the books do not know: somebody else had it "+
			"signed, or the database is older. By the books it is %s", x.Base, x.Status)
		c.differ(d)
	}
	return nil
}
