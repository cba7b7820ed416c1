package xrpl

import (
	"encoding/hex"
	"slices"
	"strings"
)

// Flags of transactions and accounts (rippled's TxFlags.h and LedgerFormats.h).
const (
	tfFullyCanonical = 0x8000_0000
	tfPartial        = 0x0002_0000
	tfPayment        = 0x0001_0000 | tfPartial | 0x0004_0000 // no direct ripple, partial, limit quality

	lsfRequireTag    = 0x0002_0000
	lsfDisableMaster = 0x0010_0000
	lsfDepositAuth   = 0x0100_0000
)

// accountFlags are the flags that AccountSet sets and clears by number.
func accountFlags() map[uint32]uint32 {
	return map[uint32]uint32{1: lsfRequireTag, 3: 0x0008_0000, 4: lsfDisableMaster, 9: lsfDepositAuth}
}

// The prices of every ledger here, in drops: as on mainnet.
const (
	baseFee      = 10
	reserveBase  = 1_000_000
	reserveOwner = 200_000
	allXRP       = 100_000_000_000 * 1_000_000
)

// entry is a transaction: a signed one, or a delivery that is simulated.
type entry struct {
	id       hash
	blob     []byte
	values   values
	delivery *Delivery
}

func (e *entry) source() accountID {
	id, _ := parseAddress(e.values.text("Account")) // decode has checked it
	return id
}

// outcome is the outcome of applying a transaction.
type outcome struct {
	result    string
	nodes     []any // AffectedNodes
	delivered any   // delivered_amount, if there is one
	fee       uint64
}

// taken reports whether a transaction with a result goes into a ledger.
func taken(result string) bool {
	return result == "tesSUCCESS" || strings.HasPrefix(result, "tec")
}

// preflight validates a transaction by itself. An empty result is no objection.
func (n *Node) preflight(e *entry) string {
	v := e.values
	network, named := v.number("NetworkID")
	fee, ok := v.drops("Fee")
	flags, _ := v.number("Flags")
	allowed := uint32(tfFullyCanonical)
	if v.text("TransactionType") == "Payment" {
		allowed |= tfPayment
	}
	switch {
	case n.cfg.NetworkID <= 1024 && named:
		return "telNETWORK_ID_MAKES_TX_NON_CANONICAL"
	case n.cfg.NetworkID > 1024 && !named:
		return "telREQUIRES_NETWORK_ID"
	case n.cfg.NetworkID > 1024 && network != n.cfg.NetworkID:
		return "telWRONG_NETWORK"
	case !ok || fee > allXRP:
		return "temBAD_FEE"
	case flags&^allowed != 0:
		return "temINVALID_FLAG"
	case v.text("TransactionType") == "Payment":
		return preflightPayment(v, flags)
	case v.text("TransactionType") == "SignerListSet":
		_, result := listOf(v)
		return result
	}
	return ""
}

func preflightPayment(v values, flags uint32) string {
	drops, native := v.drops("Amount")
	switch {
	case v["Amount"] == nil || v["Destination"] == nil:
		return "temMALFORMED"
	case native && (drops == 0 || drops > allXRP), strings.HasPrefix(v.text("Amount"), "-"):
		return "temBAD_AMOUNT"
	case v.text("Destination") == accountID{}.String():
		return "temDST_NEEDED"
	case native && v.text("Destination") == v.text("Account"):
		return "temREDUNDANT"
	case native && v["SendMax"] != nil:
		return "temBAD_SEND_XRP_MAX"
	case native && flags&tfPartial != 0:
		return "temBAD_SEND_XRP_PARTIAL"
	}
	return ""
}

// apply runs a transaction on a ledger that is still open. A transaction that is not taken has changed nothing.
func (n *Node) apply(v *view, e *entry, ledger uint32) outcome {
	if e.delivery != nil {
		return n.deliver(v, e)
	}
	if result := n.preflight(e); result != "" {
		return outcome{result: result}
	}
	from, id := v.get(e.source()), e.source()
	sequence, _ := e.values.number("Sequence")
	last, ends := e.values.number("LastLedgerSequence")
	fee, _ := e.values.drops("Fee")
	switch {
	case from == nil:
		return outcome{result: "terNO_ACCOUNT"}
	case sequence > from.sequence:
		return outcome{result: "terPRE_SEQ"}
	case sequence < from.sequence:
		return outcome{result: "tefPAST_SEQ"}
	case ends && ledger > last:
		return outcome{result: "tefMAX_LEDGER"}
	case fee > from.balance:
		return outcome{result: "terINSUF_FEE_B"}
	case len(e.values.signers()) > 0:
		if result := from.allowed(e.values); result != "" {
			return outcome{result: result}
		}
		return n.charge(v, e, from, fee)
	case !keyOf(e.values, id):
		return outcome{result: "tefBAD_AUTH"}
	case from.flags&lsfDisableMaster != 0:
		return outcome{result: "tefMASTER_DISABLED"}
	}
	return n.charge(v, e, from, fee)
}

// keyOf reports whether a transaction's key is its account's own.
func keyOf(v values, id accountID) bool {
	key, err := hex.DecodeString(v.text("SigningPubKey"))
	return err == nil && accountOf(key) == id
}

// charge takes the fee and the sequence, and executes the transaction if that is possible.
func (n *Node) charge(v *view, e *entry, from *account, fee uint64) outcome {
	id := e.source()
	watch := newWitness(v)
	paid := *from
	paid.balance -= fee
	paid.sequence++
	v.put(id, &paid)
	result := "tesSUCCESS"
	var delivered any
	switch e.values.text("TransactionType") {
	case "Payment":
		result = n.pay(v, e, from)
		delivered = e.values["Amount"]
	case "SignerListSet":
		setSigners(v, e, id)
	default:
		result = setFlags(v, e, id)
	}
	if result != "tesSUCCESS" {
		v.put(id, &paid)
		delivered = nil
	}
	touched := []accountID{id}
	if to, err := parseAddress(e.values.text("Destination")); err == nil && result == "tesSUCCESS" {
		touched = append(touched, to)
	}
	return outcome{result, watch.nodes(v, touched), delivered, fee}
}

// pay moves XRP (rippled's Payment.cpp). before is the sender before the fee.
func (n *Node) pay(v *view, e *entry, before *account) string {
	drops, native := e.values.drops("Amount")
	if !native {
		return "tecPATH_DRY" // there are no trust lines
	}
	to, err := parseAddress(e.values.text("Destination"))
	if err != nil {
		return "tecNO_DST"
	}
	dest := v.get(to)
	_, tagged := e.values["DestinationTag"]
	fee, _ := e.values.drops("Fee")
	switch {
	case dest == nil && drops < reserveBase:
		return "tecNO_DST_INSUF_XRP"
	case dest != nil && dest.flags&lsfRequireTag != 0 && !tagged:
		return "tecDST_TAG_NEEDED"
	case before.balance < drops+max(reserveBase+uint64(before.owned)*reserveOwner, fee):
		return "tecUNFUNDED_PAYMENT"
	case n.refusing[to],
		dest != nil && dest.flags&lsfDepositAuth != 0 && (dest.balance > reserveBase || drops > reserveBase):
		return "tecNO_PERMISSION"
	}
	sender := *v.get(e.source())
	sender.balance -= drops
	v.put(e.source(), &sender)
	v.gain(to, drops)
	return "tesSUCCESS"
}

// gain adds to an account, which is created if necessary (its first sequence is the ledger's own, DeletableAccounts).
func (v *view) gain(to accountID, drops uint64) {
	next := account{sequence: v.tip + 1}
	if dest := v.get(to); dest != nil {
		next = *dest
	}
	next.balance += drops
	v.put(to, &next)
}

func setFlags(v *view, e *entry, id accountID) string {
	next := *v.get(id)
	set, _ := e.values.number("SetFlag")
	clear, _ := e.values.number("ClearFlag")
	if accountFlags()[set] == lsfDisableMaster && next.signers == nil {
		return "tecNO_ALTERNATIVE_KEY"
	}
	next.flags = next.flags&^accountFlags()[clear] | accountFlags()[set]
	v.put(id, &next)
	return "tesSUCCESS"
}

// witness remembers accounts as they were, for the metadata.
type witness struct{ before map[accountID]*account }

func newWitness(v *view) *witness {
	w := &witness{map[accountID]*account{}}
	for id, a := range v.changed {
		w.before[id] = a
	}
	return w
}

// nodes describes what happened to accounts, each as created, modified or deleted.
func (w *witness) nodes(v *view, touched []accountID) []any {
	var list []any
	for i, id := range touched {
		if slices.Contains(touched[:i], id) {
			continue
		}
		before, known := w.before[id]
		if !known {
			if a, exists := v.under.at(id, v.tip); exists {
				before = &a
			}
		}
		if node := describe(id, before, v.get(id)); node != nil {
			list = append(list, node)
		}
	}
	return list
}
