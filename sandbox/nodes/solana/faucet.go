package solana

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
)

const (
	// faucetLamports is a billion SOL.
	faucetLamports = 1_000_000_000_000_000_000
	// maxOutputs keeps a payment within one packet.
	maxOutputs = 16
)

// faucetPrivate is not secret: it is computed from a sentence.
func faucetPrivate() ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("bursar sandbox faucet"))
	return ed25519.NewKeyFromSeed(seed[:])
}

func faucetKey() key { return key(faucetPrivate().Public().(ed25519.PublicKey)) }

// Output is one output of PayMany: an address and an amount in lamports.
type Output struct {
	Address  string
	Lamports uint64
}

// Pay sends lamports to an address by a plain transaction from the faucet and returns its signature. The transaction
// waits for Mine. An amount that leaves a new account under the rent-exempt minimum is an error.
func (n *Node) Pay(address string, lamports uint64) (string, error) {
	return n.PayMany([]Output{{address, lamports}})
}

// PayMany pays all outputs in one transaction.
func (n *Node) PayMany(outputs []Output) (string, error) {
	return n.pay(outputs, func(t *faucetTx) { t.transfers(outputs) })
}

// PayFailed makes a transaction whose first instruction pays and whose second fails: it is in a block, but no payment
// happens.
func (n *Node) PayFailed(address string, lamports uint64) (string, error) {
	outputs := []Output{{address, lamports}}
	return n.pay(outputs, func(t *faucetTx) {
		t.transfers(outputs)
		t.transfers([]Output{{address, 1 << 63}})
	})
}

// PayByTable pays by a transaction of version 0 whose receivers come from an address lookup table: they are not among
// its own keys.
func (n *Node) PayByTable(outputs []Output) (string, error) {
	return n.pay(outputs, func(t *faucetTx) {
		var table key
		rand.Read(table[:]) // never fails
		var addresses []byte
		for _, o := range outputs {
			k, _ := parseKey(o.Address) // pay has checked it
			addresses = append(addresses, k[:]...)
		}
		t.event = &event{Kind: eventTable, Key: table, Data: addresses}
		t.transfers(outputs)
	})
}

// PayV1 pays by a transaction of version 1.
func (n *Node) PayV1(outputs []Output) (string, error) {
	return n.pay(outputs, func(d *faucetTx) { d.v1 = true; d.transfers(outputs) })
}

// CloseAddress makes every payment to an address fail from the next block on. The real chain has no such account; it
// represents anything that makes a transaction fail between a node's preflight simulation and its block.
func (n *Node) CloseAddress(address string) error { return n.happen(eventClose, address) }

// Deploy turns an account into a program from the next block on.
func (n *Node) Deploy(address string) error { return n.happen(eventDeploy, address) }

func (n *Node) happen(kind, address string) error {
	k, err := parseKey(address)
	if err != nil {
		return fmt.Errorf("%s %.60q: %w", kind, address, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.journal.Err(); err != nil {
		return err
	}
	return n.await(event{Kind: kind, Key: k})
}

// await keeps an event for the next block.
func (n *Node) await(e event) error {
	n.pending = append(n.pending, e)
	return n.record(step{Event: &e})
}

// faucetTx describes a faucet transaction to build.
type faucetTx struct {
	paid  []Output
	event *event // a lookup table with the receivers
	v1    bool   // version 1, which uses no tables
}

func (d *faucetTx) transfers(outputs []Output) { d.paid = append(d.paid, outputs...) }

// pay builds, signs and keeps a faucet transaction.
func (n *Node) pay(outputs []Output, fill func(*faucetTx)) (string, error) {
	if len(outputs) == 0 || len(outputs) > maxOutputs {
		return "", fmt.Errorf("pay: %d outputs, want 1 to %d", len(outputs), maxOutputs)
	}
	d := &faucetTx{}
	for _, o := range outputs {
		k, err := parseKey(o.Address)
		if err != nil {
			return "", fmt.Errorf("pay %.60q: %w", o.Address, err)
		}
		if o.Lamports == 0 || o.Lamports > faucetLamports/1000 {
			return "", fmt.Errorf("pay: %d lamports is not an amount that the faucet pays", o.Lamports)
		}
		if k == faucetKey() || isReserved(k) {
			return "", fmt.Errorf("pay: %s refuses payments", k)
		}
	}
	fill(d)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.journal.Err(); err != nil {
		return "", err
	}
	t, err := parseTransaction(d.sign(n.bank.at(finalized).hash))
	if err != nil {
		return "", fmt.Errorf("build faucet payment: %w", err)
	}
	if err := n.poor(outputs); err != nil {
		return "", err
	}
	if d.event != nil {
		if err := n.await(*d.event); err != nil {
			return "", err
		}
	}
	n.pool.add(t)
	return t.id().String(), n.record(step{Tx: t.raw})
}

var errPoor = errors.New("the account would hold less than the rent-exempt minimum")

// poor refuses a payment that would leave a new account too little.
func (n *Node) poor(outputs []Output) error {
	for _, o := range outputs {
		k, _ := parseKey(o.Address) // pay has checked it
		if a := n.bank.accounts[k]; a.lamports == 0 && o.Lamports < rentMinimum(0) {
			return fmt.Errorf("pay %d lamports to %s: %w", o.Lamports, k, errPoor)
		}
	}
	return nil
}

// sign encodes the transaction: a memo that makes it unlike any other, then the transfers.
func (d *faucetTx) sign(blockhash key) []byte {
	if d.v1 {
		return d.signV1(blockhash)
	}
	own := []key{faucetKey()} // the message's own keys
	var receivers []key
	for _, o := range d.paid {
		k, _ := parseKey(o.Address) // pay has checked it
		receivers = appendNew(receivers, k)
	}
	if d.event == nil {
		own = append(own, receivers...)
	}
	own = append(own, systemProgram(), memoProgram())
	all := own
	if d.event != nil {
		all = append(all[:len(all):len(all)], receivers...)
	}
	var message []byte
	if d.event != nil {
		message = append(message, 0x80)
	}
	message = append(message, 1, 0, 2)
	message = appendCount(message, len(own))
	for _, k := range own {
		message = append(message, k[:]...)
	}
	message = append(message, blockhash[:]...)
	message = appendCount(message, len(d.paid)+1)
	message = append(message, byte(len(own)-1), 0)
	message = appendBytes(message, memo())
	for _, o := range d.paid {
		k, _ := parseKey(o.Address)
		message = append(message, byte(len(own)-2), 2, 0, byte(slices.Index(all, k)))
		message = appendBytes(message, append(le32(transferCode), le64(o.Lamports)...))
	}
	if d.event != nil {
		message = append(message, 1)
		message = append(message, d.event.Key[:]...)
		message = appendCount(message, len(receivers))
		for i := range receivers {
			message = append(message, byte(slices.Index(tableKeys(d.event.Data), receivers[i])))
		}
		message = append(message, 0)
	}
	raw := append([]byte{1}, ed25519.Sign(faucetPrivate(), message)...)
	return append(raw, message...)
}

// memo is a text that no other payment has.
func memo() []byte {
	var random [8]byte
	rand.Read(random[:]) // never fails
	return []byte("sandbox " + hex.EncodeToString(random[:]))
}

func appendBytes(out, data []byte) []byte { return append(appendCount(out, len(data)), data...) }

func appendNew(list []key, k key) []key {
	if slices.Contains(list, k) {
		return list
	}
	return append(list, k)
}

func tableKeys(data []byte) []key {
	var list []key
	for ; len(data) >= 32; data = data[32:] {
		list = append(list, key(data))
	}
	return list
}
