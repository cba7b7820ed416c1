package solana

import (
	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// external is what a transaction that we did not make took from an address of ours, by the balances before and after
// it. It claims nothing: a blockhash orders no transactions, and durable nonces are not used here.
//
// What the address lost is looked for with those that gained, in the order of the accounts. Where others lost something
// too, a balance does not say whose lamports went where: then it is at most what each gained, and no more than what we
// lost.
func (b *block) external(t *movement, place int) chain.ExternalSpend {
	accounts := b.accountsOf(t)
	ours := accounts[place]
	external := chain.ExternalSpend{TxID: t.id, Base: ours.base, Failed: t.failed}
	lost := bursar.Units(ours.before).SubOrZero(bursar.Units(ours.after))
	if place == 0 { // the first account pays the fee, and is always there, for it has signed
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
			after, _ = after.Add(bursar.Units(t.fee)) // of numbers of 64 bits
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
