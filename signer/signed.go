package signer

import (
	"slices"

	"github.com/bursar/bursar/chain"
)

// signed checks the joined transaction: that it exists, that its change is change, and, if the adapter can read it,
// that it does what was inspected.
func (c *check) signed(tx chain.SignedTx) error {
	if tx.TxID == "" || len(tx.Raw) == 0 {
		return c.refuse(ReasonAltered, "the adapter returned no transaction")
	}
	if err := c.changeIsKept(tx.Change); err != nil {
		return err
	}
	reader, able := c.bounds.Signable.(SignedReader)
	if !able {
		return nil
	}
	contents, err := reader.InspectSigned(tx.Raw)
	if err != nil {
		return c.refuse(ReasonAltered, "the signed transaction cannot be read: %v", err)
	}
	if !slices.Equal(contents.Payments, c.contents.Payments) || contents.Fee != c.contents.Fee {
		return c.refuse(ReasonAltered, "it pays %v for a fee of %s, but %v for a fee of %s was inspected",
			contents.Payments, contents.Fee, c.contents.Payments, c.contents.Fee)
	}
	return nil
}

// changeIsKept checks that every UTXO of change is an output that was inspected and returns to us, with the key that
// opens it.
func (c *check) changeIsKept(change []chain.UTXO) error {
	outputs := map[chain.Payment]int{}
	for _, p := range c.contents.Payments {
		outputs[p]++
	}
	for _, utxo := range change {
		p := chain.Payment{Amount: utxo.Amount}
		p.Address.Base = utxo.Source.Base
		if !c.bounds.isHot(utxo.Source) || outputs[p] == 0 {
			return c.refuse(ReasonAltered, "change %s of %s to %s was not inspected", utxo.Outpoint, utxo.Amount,
				utxo.Source.Base)
		}
		outputs[p]--
	}
	return nil
}
