package signer

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
)

// SignedEntry is the log's entry of an unsigned transaction that may be signed from then on. Everything but Kind,
// Outgoing and who ordered and allowed it is read from the transaction's bytes.
type SignedEntry struct {
	Chain    bursar.ChainID `json:"chain"`
	Kind     chain.Kind     `json:"kind"`
	Outgoing bursar.ID      `json:"outgoing"` // as the service says
	Flow     int64          `json:"flow"`
	Digest   string         `json:"digest"` // SHA-256 of the unsigned transaction's bytes, in hexadecimal

	// TxID is empty where the ID depends on the signature, which is made only after the entry is durable.
	TxID string `json:"tx,omitempty"`
	// Inputs has one of each signature. Entries of earlier releases have no Inputs, Uses and Home.
	Inputs []SignedInput `json:"inputs,omitempty"`
	// Uses names on a chain of the account model what at most one included transaction uses, "<address>/<nonce>"; empty
	// where a transaction only expires.
	Uses []string `json:"uses,omitempty"`
	Home string   `json:"home,omitempty"` // the address of ours to which change or all of it returns

	Fee      bursar.Amount   `json:"fee"` // the most it can cost, in the native asset
	Payments []chain.Payment `json:"payments"`
	Allowed  []AllowedOrder  `json:"allowed,omitempty"`          // where a policy is installed
	Ordered  []ClientOrder   `json:"ordered,omitempty"`          // by clients, with keys
	Order    string          `json:"compromise_order,omitempty"` // that allows it
}

// SignedInput is whose signature an entry allows, and on a chain of the UTXO model for which output.
type SignedInput struct {
	From   string         `json:"from"`
	UTXO   string         `json:"utxo,omitempty"` // "<txid>:<output>"
	Amount *bursar.Amount `json:"amount,omitempty"`
}

// AllowedOrder is what the policy that people signed says of an order.
type AllowedOrder struct {
	Order  bursar.ID `json:"order"`
	Hash   string    `json:"hash"` // SHA-256 of its text
	Policy int64     `json:"policy"`
	Rule   string    `json:"rule"`
	By     []string  `json:"by,omitempty"` // who approved it
}

// ClientOrder is what the log says of an order that a client signed.
type ClientOrder struct {
	Account bursar.ID `json:"account"`
	Order   bursar.ID `json:"order"`
	Hash    string    `json:"hash"` // SHA-256 of its text
	Key     string    `json:"key"`  // the ID of the client's key
}

// ReadSigned reads the detail of an entry of the kind memory.KindSigned, of this release or an earlier one.
func ReadSigned(e memory.Entry) (s SignedEntry, err error) {
	if e.Kind != memory.KindSigned {
		return s, fmt.Errorf("entry %d is %q, and allows no signature", e.Number, e.Kind)
	}
	if err := json.Unmarshal([]byte(e.Detail), &s); err != nil {
		return s, fmt.Errorf("read entry %d: %w", e.Number, err)
	}
	return s, nil
}

// Identified reports whether the entry names what the transaction uses. Those of earlier releases have the digest
// alone.
func (s SignedEntry) Identified() bool { return len(s.Inputs) > 0 }

// Resources returns what the chain lets at most one transaction use: outpoints, or "<address>/<nonce>".
func (s SignedEntry) Resources() []string {
	list := append([]string{}, s.Uses...)
	for _, input := range s.Inputs {
		if input.UTXO != "" {
			list = append(list, input.UTXO)
		}
	}
	return list
}

// TxIDReader is implemented by an adapter of a chain on which the unsigned transaction can fix the transaction's ID.
// Elsewhere the ID depends on the signature, and sender and nonce identify the transaction.
type TxIDReader interface {
	// UnsignedTxID returns the ID that the transaction will have, from the bytes that Inspect reads; empty: it depends
	// on the signature.
	UnsignedTxID(unsigned []byte) (string, error)
}

// detail returns what an entry says of a transaction by itself.
func (c *check) detail(flow int64, digest memory.Digest) (SignedEntry, error) {
	d := SignedEntry{Chain: c.bounds.Capabilities.ID, Kind: c.request.Kind, Outgoing: c.request.ID, Flow: flow,
		Digest: hex.EncodeToString(digest[:]), Home: c.home(), Fee: c.contents.Fee, Payments: c.contents.Payments,
		Order: c.orderID()}
	for _, input := range c.contents.Inputs {
		one := SignedInput{From: input.Source.Base, UTXO: input.Outpoint}
		if input.Outpoint != "" {
			one.Amount = &input.Amount
		}
		d.Inputs = append(d.Inputs, one)
	}
	if c.bounds.Capabilities.Model == chain.AccountModel {
		d.Uses = c.contents.Reservations
	}
	if reader, able := c.bounds.Signable.(TxIDReader); able {
		var err error
		if d.TxID, err = reader.UnsignedTxID(c.unsigned.Bytes); err != nil {
			return d, c.refuse(ReasonUnreadable, "%v", err)
		}
	}
	return d, nil
}
