package bitcoin

import (
	"bytes"
	"context"
	"crypto/sha256"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// external reports whether a transaction that we did not make spends from a watched address, and what it does.
//
// Every input that spends a P2WPKH output shows the public key as the last of two witness items and has no script (BIP
// 141), so that this form misses no transaction from our addresses. But anybody can produce that form: an output of a
// witness version without rules, and a taproot leaf of an unknown version (BIP 342), can be spent with any witness at
// all, and miners are paid to include such transactions. So the adapter looks up the outputs themselves, which is rare,
// and an input counts only if its output pays the key's own address.
func (c *Chain) external(ctx context.Context, s *rpc.Session, tx *transaction, blockHash string, bases *baseEncoder,
	watch chain.Watch) (chain.ExternalSpend, bool, error) {
	candidates := append(candidatesOf(tx, bases, watch), c.network.coldCandidates(tx, watch)...)
	if len(candidates) == 0 {
		return chain.ExternalSpend{}, false, nil
	}
	external := chain.ExternalSpend{
		TxID:         tx.id.String(),
		Base:         candidates[0].base,
		Reservations: outpointsOf(tx),
		Payments:     c.network.paymentsOf(tx),
	}
	spent, err := c.network.spentBy(ctx, s, tx, blockHash)
	switch {
	case err != nil && (!isAnswer(err) || elsewhere(err)):
		return external, false, err
	case err != nil: // no index, or the block is pruned: the core compares with the UTXOs that it knows
		external.Inferred = true
		return external, true, nil
	}
	for _, from := range candidates {
		if bytes.Equal(spent[from.input].script, from.script) {
			fee, err := feeFrom(s, tx, spent)
			external.Base, external.Fee = from.base, bursar.Units(fee)
			return external, err == nil, err
		}
	}
	return external, false, nil
}

// keyed is an input that has the form of a spend from a watched address.
type keyed struct {
	input  int
	base   string
	script []byte // of the output that it spends if it is one
}

func candidatesOf(tx *transaction, bases *baseEncoder, watch chain.Watch) (found []keyed) {
	for i := range tx.inputs {
		if key := tx.inputs[i].key; len(key) == sizeKey {
			if base := bases.encode(hash160(key)); watch.Pays(base) {
				found = append(found, keyed{i, base, keyHashScript(hash160(key))})
			}
		}
	}
	return found
}

// coldCandidates returns the inputs that have the form of a P2WSH spend (BIP 141) from a cold wallet: the last witness
// item is the script of which the address has the hash.
func (n Network) coldCandidates(tx *transaction, watch chain.Watch) (found []keyed) {
	if !chain.HasCold(watch) {
		return nil
	}
	for i := range tx.inputs {
		if len(tx.inputs[i].script) == 0 {
			continue
		}
		script := witnessOf(tx.inputs[i].script)
		if base, err := n.base(script); err == nil && chain.IsCold(watch, base) {
			found = append(found, keyed{i, base, script})
		}
	}
	return found
}

// witnessOf returns the P2WSH output script of a witness script.
func witnessOf(script []byte) []byte {
	hash := sha256.Sum256(script)
	return programScript(opZero, hash[:])
}

// outpointsOf returns all UTXOs that a transaction spends.
func outpointsOf(tx *transaction) []string {
	resources := make([]string, len(tx.inputs))
	for i, in := range tx.inputs {
		resources[i] = in.from.String()
	}
	return resources
}

// paymentsOf returns the outputs that have an address.
func (n Network) paymentsOf(tx *transaction) (payments []chain.Payment) {
	for i, out := range tx.outputs {
		base, err := n.base(out.script)
		if err != nil || out.value == 0 || tx.hogEx && i == 0 {
			continue // data, or a form without an address
		}
		payments = append(payments, chain.Payment{Address: bursar.Address{Base: base}, Amount: bursar.Units(out.value)})
	}
	return payments
}

// funding returns the UTXOs that a transaction spends, up to the limit that is stored.
func (tx *transaction) funding() chain.Funding {
	first := transaction{inputs: tx.inputs[:min(len(tx.inputs), chain.MaxFundingInputs)]}
	return chain.Funding{TxID: tx.id.String(), Inputs: outpointsOf(&first)}
}

// appendSpent adds the inputs that the watch asks about.
func appendSpent(found []chain.Spent, tx *transaction, watch chain.OutputWatch) []chain.Spent {
	for _, in := range tx.inputs {
		if resource := in.from.String(); watch.Spends(resource) {
			found = append(found, chain.Spent{Outpoint: resource, TxID: tx.id.String()})
		}
	}
	return found
}
