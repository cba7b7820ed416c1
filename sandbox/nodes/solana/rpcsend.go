package solana

import (
	"encoding/binary"
	"errors"
)

// wireParam reads the transaction of a call.
func (n *Node) wireParam(p params, encoding string) (*transaction, error) {
	var text string
	if err := p.get(0, &text); err != nil {
		return nil, err
	}
	raw, err := decodeWire(text, encoding)
	if err != nil {
		return nil, err
	}
	t, err := parseTransaction(raw)
	if err != nil {
		return nil, fail(codeParams, "%v", err)
	}
	return t, n.admits(t)
}

// sendTransaction accepts a transaction for the coming blocks, after a preflight simulation unless that is skipped.
func (n *Node) sendTransaction(p params) (any, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	o, err := n.options(p, 1)
	if err != nil {
		return nil, err
	}
	t, err := n.wireParam(p, o.Encoding)
	if err != nil {
		return nil, err
	}
	if !o.SkipPreflight {
		if !t.verify() {
			return nil, fail(codeSignature, "Transaction signature verification failure")
		}
		simulated, err := n.try(t, o.Preflight)
		if err != nil {
			return nil, err
		}
		if simulated.err != nil {
			message := "Transaction simulation failed: " + explain(simulated.err)
			return nil, &rpcError{codePreflight, message, trialView(simulated)}
		}
	}
	if err := n.journal.Err(); err != nil {
		return nil, err
	}
	if n.pool.has(t.id()) || n.bank.byID[t.id()] != nil {
		return t.id(), nil // sent before: a node sends it again
	}
	if len(n.pool.order) >= maxPool {
		return nil, errors.New("the pool is full")
	}
	n.pool.add(t)
	if err := n.record(step{Tx: t.raw}); err != nil {
		return nil, err
	}
	n.describe(nil)
	return t.id(), nil
}

// try runs a transaction against the state at a commitment level, which does not change.
func (n *Node) try(t *transaction, l level) (outcome, error) {
	place := n.bank.place(l)
	state := func(k key) account { return n.bank.accountAt(place, k) }
	on, accepted, _ := n.bank.groundOf(place, uint64(place), t, state)
	if !accepted { // a validator checks its age first, also of what it has processed
		return outcome{err: "BlockhashNotFound"}, nil
	}
	if n.find(t.id(), l) != nil {
		return outcome{err: "AlreadyProcessed"}, nil
	}
	return n.machine.run(t, on)
}

func trialView(o outcome) map[string]any {
	logs := o.logs
	if logs == nil {
		logs = []string{}
	}
	return map[string]any{"err": o.err, "logs": logs, "accounts": nil, "unitsConsumed": o.units, "returnData": nil,
		"innerInstructions": nil, "replacementBlockhash": nil}
}

func (n *Node) simulateTransaction(p params) (any, error) {
	o, err := n.options(p, 1)
	if err != nil {
		return nil, err
	}
	t, err := n.wireParam(p, o.Encoding)
	if err != nil {
		return nil, err
	}
	if o.Replace && o.SigVerify {
		return nil, fail(codeParams, "sigVerify may not be used with replaceRecentBlockhash")
	}
	if o.SigVerify && !t.verify() {
		return nil, fail(codeSignature, "Transaction signature verification failure")
	}
	if o.Replace {
		t.blockhash = n.bank.at(o.Commitment).hash
	}
	simulated, err := n.try(t, o.Commitment)
	return n.in(o.Commitment, trialView(simulated)), err
}

// requestAirdrop pays from the faucet.
func (n *Node) requestAirdrop(p params) (any, error) {
	k, err := p.key(0)
	if err != nil {
		return nil, err
	}
	var lamports uint64
	if err := p.get(1, &lamports); err != nil {
		return nil, err
	}
	id, err := n.Pay(k.String(), lamports)
	if err != nil {
		return nil, fail(codeInvalidRequest, "%v", err)
	}
	return id, nil
}

// transferOf reads the amount that a transfer of the system program moves.
func transferOf(x instruction) (uint64, bool) {
	if len(x.data) != 12 || len(x.accounts) < 2 || binary.LittleEndian.Uint32(x.data) != transferCode {
		return 0, false
	}
	return binary.LittleEndian.Uint64(x.data[4:]), true
}
