package solana

import (
	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// external returns what a transaction that we did not make took from one of our addresses, by the balances before and
// after it. It uses no reserved resource: a blockhash does not order transactions, and durable nonces are not used
// here.
//
// The address's loss is attributed to the accounts that gained, in the order of the accounts. If other accounts lost
// something too, a balance does not show whose lamports went where: then each payment is at most what the account
// gained, and the sum at most what we lost.
func (b *block) external(t *movement, place int) chain.ExternalSpend {
	accounts := b.accountsOf(t)
	ours := accounts[place]
	external := chain.ExternalSpend{TxID: t.id, Base: ours.base, Failed: t.failed}
	lost := bursar.Units(ours.before).SubOrZero(bursar.Units(ours.after))
	if place == 0 { // the first account pays the fee, and is always listed, because it signs
		external.Fee = bursar.Units(t.fee)
		lost = lost.SubOrZero(external.Fee)
	}
	if t.failed {
		return external
	}
	var all chain.Gathered
	for i, a := range accounts {
		after := bursar.Units(a.after)
		if i == 0 {
			after, _ = after.Add(bursar.Units(t.fee)) // the sum of numbers of 64 bits fits
		}
		gained := after.SubOrZero(bursar.Units(a.before))
		if lost.Less(gained) {
			gained = lost
		}
		lost = lost.SubOrZero(gained)
		all.Add(chain.Payment{Address: bursar.Address{Base: a.base}, Amount: gained})
	}
	external.Payments = all.List()
	return external
}
