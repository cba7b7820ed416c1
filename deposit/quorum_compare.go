package deposit

import (
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// comparison is what one endpoint's block says about the deposits that are recorded in it. A deposit that the endpoint
// neither reports nor denies nor lacks is in none of its fields.
type comparison struct {
	reported []bursar.Deposit
	denied   []bursar.Deposit
	lacked   []bursar.Deposit // not there, which is no denial while another endpoint reports it
	fork     bool             // the endpoint's block is not the recorded one
	denial   string           // for the operator; empty: nothing is denied
}

// compareReport compares an endpoint's block with the recorded one: the hash, and for each waiting deposit its
// transaction, output, address, contract and amount.
func compareReport(block chain.Block, recorded awaitingBlock, registry *bursar.Registry) (o comparison) {
	if block.Ref.Hash != recorded.ref.Hash {
		o.fork = true
		o.denial = fmt.Sprintf("has block %s at final height %d, where %s is recorded", block.Ref.Hash, recorded.ref.Height,
			recorded.ref.Hash)
		return o
	}
	there := map[chain.Transfer]bool{}
	for _, t := range block.Transfers {
		there[identity(t)] = true
	}
	for _, d := range recorded.waiting {
		switch {
		case there[transferOf(d)] || sameSum(block, recorded, d):
			o.reported = append(o.reported, d)
		case lacks(block, recorded, d):
			o.lacked = append(o.lacked, d)
		case !onlyBalances(block, d) && !mayMiss(block, d):
			o.denied = append(o.denied, d)
			o.denial = fmt.Sprintf("does not report the transfer of %s in transaction %s (output %d) of block %d, "+
				"which is recorded as deposit %s",
				registry.Text(d.Currency, d.Amount), d.TxID, d.Output, d.Height, d.ID)
		}
	}
	return o
}

// identity reduces a transfer to the fields that every endpoint must report alike.
func identity(t chain.Transfer) chain.Transfer {
	return chain.Transfer{TxID: t.TxID, Output: t.Output, Address: t.Address, Contract: t.Contract, Amount: t.Amount}
}

// maybeFromBalances reports whether a deposit may have been recorded from a difference of balances: what was belongs to
// nobody, and is of the native asset. Tokens move by events of their contract, and never without one.
func maybeFromBalances(d bursar.Deposit) bool {
	return d.Purpose == bursar.ForUnattributed && d.Contract == ""
}

// onlyBalances reports whether a deposit was seen, by this endpoint or by the one from which it was recorded, as a
// difference of balances: an endpoint that cannot trace a block shows no single transaction for what contracts sent.
func onlyBalances(block chain.Block, d bursar.Deposit) bool {
	if maybeFromBalances(d) {
		return true
	}
	for _, t := range block.Transfers {
		if t.Inferred && t.Address == d.Address && t.Contract == d.Contract {
			return true
		}
	}
	return false
}

// lacks reports whether a block has nothing of a deposit that may have been recorded from a difference of balances: all
// that it shows at the deposit's address belongs to other recorded deposits. An endpoint that traces a block would show
// at least a part of it. If every endpoint lacks it, no endpoint ever had it, except the one that reported it once: it
// would wait for ever.
func lacks(block chain.Block, recorded awaitingBlock, d bursar.Deposit) bool {
	if !maybeFromBalances(d) || block.Untraced {
		return false
	}
	others := map[chain.Transfer]bool{}
	for _, t := range transfersOf(recorded.all) {
		others[t] = t != transferOf(d)
	}
	return !slices.ContainsFunc(block.Transfers, func(t chain.Transfer) bool {
		return t.Address == d.Address && t.Contract == d.Contract && !others[identity(t)]
	})
}

// mayMiss reports whether the endpoint may not show a deposit although it has the block: without traces, transfers by
// contracts are only found at addresses that the block names.
func mayMiss(block chain.Block, d bursar.Deposit) bool {
	return block.Untraced && d.Contract == "" && d.Output > 0
}

// sameSum reports whether the block pays the deposit's address as much in total as is recorded. The block is the same
// by its hash; an endpoint without traces shows what contracts sent as one transfer, and one with traces as several.
func sameSum(block chain.Block, recorded awaitingBlock, d bursar.Deposit) bool {
	key := weighed{address: d.Address, contract: d.Contract}
	return weigh(block.Transfers)[key] == weigh(transfersOf(recorded.all))[key]
}
