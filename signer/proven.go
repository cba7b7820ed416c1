package signer

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/bursar/bursar/chain"
)

// inputsAreProven refuses an unsigned transaction on a chain of the UTXO model unless the previous transaction of every
// input comes with it and says what the unsigned transaction says: amount and script of the output that is spent. Each
// previous transaction comes once, and none that is not needed.
//
// The attack: a signature of segwit version 0 commits to the amount of its own input only (BIP 143), and the fee is
// what the inputs hold beyond the outputs. Anyone who controls the service asks twice for the same transaction, each
// time with a false amount of another input, so that the fee seems small; the signatures that are good belong together,
// and the difference goes to a miner (of the class of CVE-2020-14199). An outpoint commits to the previous transaction,
// whose bytes nobody can choose for a given hash.
func (c *check) inputsAreProven() error {
	if c.bounds.Capabilities.Model != chain.UTXOModel {
		return nil
	}
	proven, err := c.readPrevious()
	if err != nil {
		return err
	}
	for i, input := range c.contents.Inputs {
		output, found := proven[input.Outpoint]
		if !found {
			return c.refuse(ReasonProof, "input %d: nothing proves what %q holds", i, input.Outpoint)
		}
		script, err := c.bounds.provable.Script(input.Source.Base)
		switch {
		case err != nil:
			return c.refuse(ReasonProof, "input %d: %v", i, err)
		case output.Amount != input.Amount:
			return c.refuse(ReasonProof, "input %d: %s is said to hold %s, but it holds %s: the service may be in other hands",
				i, input.Outpoint, input.Amount, output.Amount)
		case !bytes.Equal(output.Script, script):
			return c.refuse(ReasonProof, "input %d: %s is said to be at %s, but it is not: the service may be in other hands",
				i, input.Outpoint, input.Source.Base)
		}
	}
	return nil
}

// readPrevious returns the outputs that the previous transactions prove, as far as inputs spend them, by outpoint.
func (c *check) readPrevious() (map[string]chain.Output, error) {
	spends := make(map[string][]uint32, len(c.contents.Inputs)) // numbers of outputs by their transaction
	for i, input := range c.contents.Inputs {
		txID := chain.TxOf(input.Outpoint)
		n, err := strconv.ParseUint(strings.TrimPrefix(input.Outpoint, txID+":"), 10, 32)
		if err != nil || input.Outpoint != nameOf(txID, uint32(n)) {
			return nil, c.refuse(ReasonProof, "input %d: %q names no output", i, input.Outpoint)
		}
		spends[txID] = append(spends[txID], uint32(n))
	}
	size := 0
	for _, raw := range c.unsigned.Previous {
		size += len(raw)
	}
	if n := len(c.unsigned.Previous); n > len(spends) || size > chain.MaxPrevious {
		return nil, c.refuse(ReasonProof, "%d previous transactions of %d bytes together: at most %d of %d bytes are allowed",
			n, size, len(spends), chain.MaxPrevious)
	}
	proven := make(map[string]chain.Output, len(c.contents.Inputs))
	for i, raw := range c.unsigned.Previous {
		txID, _, err := c.bounds.provable.ReadPrevious(raw)
		if err != nil {
			return nil, c.refuse(ReasonProof, "previous transaction %d: %v", i, err)
		}
		if len(spends[txID]) == 0 {
			return nil, c.refuse(ReasonProof, "previous transaction %d: no input spends an output of %s, or it comes twice",
				i, txID)
		}
		_, outputs, err := c.bounds.provable.ReadPrevious(raw, spends[txID]...)
		if err != nil {
			return nil, c.refuse(ReasonProof, "previous transaction %d: %v", i, err)
		}
		for n, output := range outputs {
			proven[nameOf(txID, n)] = output
		}
		delete(spends, txID)
	}
	return proven, nil
}

// nameOf is the only spelling of an outpoint.
func nameOf(txID string, output uint32) string {
	return txID + ":" + strconv.FormatUint(uint64(output), 10)
}
