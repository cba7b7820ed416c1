package xrpl

import (
	"fmt"
	"strconv"
	"strings"
)

// splitTag cuts "<classic>:<tag>" into its parts.
func splitTag(address string) (id accountID, tag *uint32, err error) {
	base, text, tagged := strings.Cut(address, ":")
	if id, err = parseAddress(base); err != nil {
		return id, nil, fmt.Errorf("%.60q: %w", address, err)
	}
	if !tagged {
		return id, nil, nil
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return id, nil, fmt.Errorf("%.60q: not a destination tag", address)
	}
	value := uint32(n)
	return id, &value, nil
}

// Pay sends drops from the genesis account to an address, with ":" and a destination tag if there is one, and returns
// the hash. The transaction waits in the open ledger for Mine. A payment that the ledger would refuse is an error,
// such as a first payment below the reserve.
func (n *Node) Pay(address string, amount uint64) (string, error) {
	to, tag, err := splitTag(address)
	if err != nil {
		return "", fmt.Errorf("pay: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	v := values{
		"TransactionType": "Payment", "Flags": uint32(tfFullyCanonical), "Sequence": n.open.get(genesisID()).sequence,
		"Amount": drops(amount), "Fee": drops(max(baseFee, n.fee)), "Account": genesisID().String(),
		"Destination": to.String(),
	}
	if tag != nil {
		v["DestinationTag"] = *tag
	}
	if n.cfg.NetworkID > 1024 {
		v["NetworkID"] = n.cfg.NetworkID
	}
	blob := sign(v, n.key)
	tried := newView(n.state, n.tip().index)
	for id, a := range n.open.changed {
		tried.put(id, a)
	}
	e := &entry{id: half("TXN\x00", blob), blob: blob, values: v}
	if o := n.apply(tried, e, n.tip().index+1); o.result != "tesSUCCESS" {
		return "", fmt.Errorf("pay %d drops to %s: %s", amount, address, o.result)
	}
	if err := n.journal.Append(record{Op: opTx, Blob: blob}); err != nil {
		return "", err
	}
	n.admit(e)
	return e.id.String(), nil
}

// Refuse makes every payment to an address fail from now on (tecNO_PERMISSION), like an address that accepts payments
// from authorised senders only.
func (n *Node) Refuse(address string) error {
	id, _, err := splitTag(address)
	if err != nil {
		return fmt.Errorf("refuse: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.journal.Append(record{Op: opRefuse, Account: id.String()}); err != nil {
		return err
	}
	n.refusing[id] = true
	return nil
}

// Mark sets flags of an existing account, as AccountSet by its owner would: lsfRequireDestTag 0x20000, lsfDepositAuth
// 0x1000000, lsfDisallowXRP 0x80000. They apply from the next ledger on.
func (n *Node) Mark(address string, flags uint32) error {
	id, _, err := splitTag(address)
	if err != nil {
		return fmt.Errorf("mark: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, exists := n.state.at(id, n.tip().index); !exists {
		return fmt.Errorf("mark: account %s does not exist", address)
	}
	if err := n.journal.Append(record{Op: opMark, Account: id.String(), Flags: flags}); err != nil {
		return err
	}
	n.mark(id, flags)
	return nil
}

// mark changes the newest version of an account, and with it the open ledger.
func (n *Node) mark(id accountID, flags uint32) {
	versions := n.state[id]
	versions[len(versions)-1].flags = flags
	n.reopen(n.pool)
}

// SetFees sets the open ledger's fee for a transaction, and the least fee with which one is queued, in drops.
func (n *Node) SetFees(open, least uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fee, n.least = max(open, baseFee), max(least, baseFee)
}

// SetGap makes the node lack the ledgers from first to last, like a node that was offline; 0, 0 ends it.
func (n *Node) SetGap(first, last uint32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gap = [2]uint32{first, last}
}

// Freeze makes the node show no ledger above the newest one, like a node that lags; false ends it.
func (n *Node) Freeze(on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.frozen = 0
	if on {
		n.frozen = n.tip().index
	}
}
