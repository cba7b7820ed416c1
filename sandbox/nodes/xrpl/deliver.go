package xrpl

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Kind is a way in which value reaches an address, or seems to, without a plain payment.
type Kind string

// The kinds.
const (
	PartialPayment Kind = "partial" // a payment whose Amount is Asked and which delivered Drops
	FailedPayment  Kind = "failed"  // a payment of Drops that costs a fee and delivers nothing (tecPATH_PARTIAL)
	IssuedPayment  Kind = "issued"  // a payment of an issued currency: delivered_amount is an object, no XRP moves
	TokenPayment   Kind = "mpt"     // the same with a multi-purpose token
	DeletedAccount Kind = "deleted" // AccountDelete leaves what the account held
	CashedCheck    Kind = "check"   // CheckCash by the receiver
	FinishedEscrow Kind = "escrow"  // EscrowFinish by a third party
	ClaimedChannel Kind = "channel" // PaymentChannelClaim by the sender
)

// Delivery is a simulated transfer: it has metadata of the real form and no signature. The genesis account pays it.
type Delivery struct {
	Kind    Kind
	Address string // classic, with ":" and a destination tag if there is one
	Drops   uint64 // the amount that arrives
	Asked   uint64 // the Amount of a partial payment

	Salt string // makes each one different; set by Deliver
}

// Deliver puts a simulated transfer into the open ledger and returns its hash.
func (n *Node) Deliver(d Delivery) (string, error) {
	var salt [8]byte
	rand.Read(salt[:]) // never fails
	d.Salt = hex.EncodeToString(salt[:])
	e, err := d.entry()
	if err != nil {
		return "", fmt.Errorf("deliver: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.journal.Append(record{Op: opDeliver, Delivery: &d}); err != nil {
		return "", err
	}
	if result := n.admit(e); !taken(result) {
		return "", fmt.Errorf("deliver: %s", result)
	}
	return e.id.String(), nil
}

// entry makes the transaction of a delivery.
func (d Delivery) entry() (*entry, error) {
	to, tag, err := splitTag(d.Address)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	other := d.other()
	v := values{
		"Account":       other.String(),
		"Destination":   to.String(),
		"Fee":           drops(baseFee),
		"Sequence":      uint32(1),
		"Flags":         uint32(0),
		"SigningPubKey": "",
	}
	if tag != nil {
		v["DestinationTag"] = *tag
	}
	switch d.Kind {
	case PartialPayment, FailedPayment, IssuedPayment, TokenPayment:
		v["TransactionType"], v["Amount"] = "Payment", drops(max(d.Asked, d.Drops))
	case DeletedAccount:
		v["TransactionType"], v["Fee"] = "AccountDelete", drops(reserveOwner)
	case CashedCheck:
		v["TransactionType"], v["Account"], v["Amount"] = "CheckCash", to.String(), drops(d.Drops)
	case FinishedEscrow:
		v["TransactionType"], v["Owner"] = "EscrowFinish", genesisID().String()
	case ClaimedChannel:
		v["TransactionType"], v["Channel"] = "PaymentChannelClaim", half("", text).String()
	default:
		return nil, fmt.Errorf("unknown kind: %.20q", string(d.Kind))
	}
	d.shape(v)
	return &entry{id: half("TXN\x00", text), values: v, delivery: &d}, nil
}

// shape completes a payment's amounts, and removes from the others what their transactions do not have.
func (d Delivery) shape(v values) {
	switch d.Kind {
	case PartialPayment:
		v["Flags"], v["SendMax"] = uint32(tfPartial), issued(d.Asked)
	case IssuedPayment:
		v["Amount"] = issued(d.Drops)
	case TokenPayment:
		v["Amount"] = map[string]any{"value": drops(d.Drops), "mpt_issuance_id": strings.Repeat("0A", 24)}
	case CashedCheck, FinishedEscrow, ClaimedChannel:
		delete(v, "Destination") // the check, escrow or channel holds it, as well as the tag
		delete(v, "DestinationTag")
	}
}

func issued(value uint64) map[string]any {
	return map[string]any{"value": drops(value), "currency": "USD", "issuer": genesisID().String()}
}

// other is an account without a key: the signer of a delivery, as far as the API shows.
func (d Delivery) other() accountID {
	h := half("", []byte(d.Salt))
	return accountID(h[:20])
}

// deliver applies a delivery.
func (n *Node) deliver(v *view, e *entry) outcome {
	d := e.delivery
	to, tag, err := splitTag(d.Address)
	if err != nil || v.get(genesisID()).balance < d.Drops+reserveBase {
		return outcome{result: "tecUNFUNDED_PAYMENT"}
	}
	moves := d.Kind != FailedPayment && d.Kind != IssuedPayment && d.Kind != TokenPayment
	if moves && v.get(to) == nil && d.Drops < reserveBase {
		return outcome{result: "tecNO_DST_INSUF_XRP", nodes: []any{}}
	}
	fee, _ := e.values.drops("Fee")
	watch := newWitness(v)
	bank := *v.get(genesisID())
	bank.balance -= fee
	if moves {
		bank.balance -= d.Drops
	}
	v.put(genesisID(), &bank)
	touched := []accountID{genesisID()}
	if moves {
		gained := d.Drops
		if d.Kind == CashedCheck { // the receiver signs it, and pays its fee
			gained -= min(fee, gained)
			bank.balance += fee
		}
		v.gain(to, gained)
		touched = append(touched, to)
	}
	o := outcome{result: "tesSUCCESS", nodes: watch.nodes(v, touched), fee: fee}
	o.nodes = append(o.nodes, d.promise(to, tag)...)
	switch d.Kind {
	case FailedPayment:
		o.result = "tecPATH_PARTIAL"
	case IssuedPayment, TokenPayment:
		o.delivered = e.values["Amount"]
	case PartialPayment, DeletedAccount, CashedCheck:
		o.delivered = drops(d.Drops)
	}
	return o
}

// promise is the entry of a check, escrow or channel in the metadata.
func (d Delivery) promise(to accountID, tag *uint32) []any {
	kind := map[Kind]string{CashedCheck: "Check", FinishedEscrow: "Escrow", ClaimedChannel: "PayChannel"}[d.Kind]
	if kind == "" {
		return nil
	}
	final := map[string]any{"Account": genesisID().String(), "Destination": to.String(), "Flags": 0}
	if tag != nil {
		final["DestinationTag"] = *tag
	}
	node := map[string]any{"LedgerEntryType": kind, "LedgerIndex": half("", []byte(d.Salt), []byte(kind)).String(),
		"FinalFields": final}
	if d.Kind == ClaimedChannel {
		return []any{map[string]any{"ModifiedNode": node}}
	}
	return []any{map[string]any{"DeletedNode": node}}
}

// transactionRoot takes the place of the root of the transaction tree: zero for an empty ledger, as on the real
// chain.
func transactionRoot(list []*applied) hash {
	if len(list) == 0 {
		return hash{}
	}
	var all []byte
	for _, a := range list {
		all = binary.BigEndian.AppendUint32(append(all, a.id[:]...), uint32(a.place))
	}
	return half("MIN\x00", all)
}
