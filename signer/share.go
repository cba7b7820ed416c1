package signer

import (
	"math/big"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// smallFees is the part of the highest fee that is not compared with what is paid: on a day on which a transfer of a
// small amount costs more than half of it, it is still paid.
const smallFees = 20

func (c *check) smallFee() bursar.Amount {
	small, _ := c.bounds.MaxFee.Div(smallFees)
	return small
}

// costsTooMuch reports whether a transaction costs more of the native asset than its share of what it pays in that.
// What it pays in tokens is compared by the prices of people's policy, where there is one.
//
// The attack: anyone who controls the service pays a customer next to nothing, and burns as much as the limits of fees
// hold.
func (c *check) costsTooMuch() bool {
	if c.bounds.MaxFeePercent == 0 || c.request.Kind != chain.KindWithdrawal || !c.smallFee().Less(c.contents.Fee) {
		return false
	}
	total := new(big.Int)
	for _, p := range c.request.Payments {
		if p.Contract != "" {
			return false
		}
		total.Add(total, p.Amount.Big())
	}
	return above(c.contents.Fee.Big(), total, c.bounds.MaxFeePercent)
}

// above reports whether a fee is more than so many percent of an amount.
func above(fee, of *big.Int, percent uint64) bool {
	share := new(big.Int).Mul(of, new(big.Int).SetUint64(percent))
	return share.Cmp(new(big.Int).Mul(fee, big.NewInt(100))) < 0
}
