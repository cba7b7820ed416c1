package signerlog

import (
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// DifferenceKind says in what the log and the books differ.
type DifferenceKind string

// The kinds of differences.
const (
	// UnknownToBooks was signed, and the books have no such outgoing transaction: somebody else had the signer sign, or
	// the database is older than the log.
	UnknownToBooks DifferenceKind = "unknown_to_books"
	// NotStored was signed for an outgoing transaction that the books have, but these bytes are not among its versions.
	NotStored DifferenceKind = "not_stored"
	// UnknownToLog was sent by the books' account, and no entry allows it: another signer with this seed, a log that is
	// not whole, or a row that somebody added.
	UnknownToLog DifferenceKind = "unknown_to_log"
	// External is a transaction from an address of ours in a block that the service did not make.
	External DifferenceKind = "external"
	// OtherPurpose is a transaction that the books have for another outgoing transaction or kind than the log.
	OtherPurpose DifferenceKind = "other_purpose"
	// OtherPayments is a transaction that pays by the log otherwise than by the books.
	OtherPayments DifferenceKind = "other_payments"
	// OtherTx is a transaction to which the books give another ID than its bytes have.
	OtherTx DifferenceKind = "other_transaction"
	// HigherFee is a transaction that cost more by the books than its bytes allow.
	HigherFee DifferenceKind = "higher_fee"
	// Altered is a withdrawal or refund whose row is not as it was sealed.
	Altered DifferenceKind = "altered"
	// OtherLog is a log that has nothing of what the service has seen of its signer's log.
	OtherLog DifferenceKind = "other_log"
	// OtherTotal is a currency of which by the log another sum was paid than by the books.
	OtherTotal DifferenceKind = "other_total"
)

// Difference is one thing in which the log and the books differ.
type Difference struct {
	Kind     DifferenceKind `json:"kind"`
	Chain    bursar.ChainID `json:"chain,omitempty"`
	Entry    int64          `json:"entry,omitempty"`    // of the log
	Outgoing *bursar.ID     `json:"outgoing,omitempty"` // of the books, or as the log says
	TxID     string         `json:"transaction,omitempty"`
	At       *time.Time     `json:"at,omitempty"`
	Message  string         `json:"message"`
}

// String writes it in one line.
func (d Difference) String() string {
	text := "DIFFERENCE " + string(d.Kind)
	if d.Entry > 0 {
		text += fmt.Sprintf(", entry %d", d.Entry)
	}
	if d.Outgoing != nil {
		text += ", outgoing " + d.Outgoing.String()
	}
	if d.TxID != "" {
		text += ", transaction " + d.TxID
	}
	if d.Chain != "" {
		text += " on " + string(d.Chain)
	}
	if d.At != nil {
		text += ", " + d.At.UTC().Format(time.RFC3339)
	}
	return text + ": " + d.Message
}

// Sum is what left in a currency, of what is in final blocks; amounts in the smallest unit. The log's are of the
// entries of the period, the books' of the outgoing transactions that they belong to.
type Sum struct {
	Chain       bursar.ChainID
	Contract    string // canonical; empty: the native asset
	PaidByLog   bursar.Amount
	PaidByBooks bursar.Amount
	ColdByLog   bursar.Amount // to cold wallets
	ColdByBooks bursar.Amount
}

// Uncompared is an outgoing transaction of the books that is of the period and could not be compared, and why.
type Uncompared struct {
	Outgoing bursar.ID `json:"outgoing"`
	TxID     string    `json:"transaction"`
	At       time.Time `json:"at"`
	Why      string    `json:"why"`
}

// Report is the outcome of a comparison.
type Report struct {
	Since, Until time.Time // of the period; a zero Since: from the beginning

	Signed     map[chain.Kind]int // entries of the period
	Earlier    int                // of these, entries of releases that did not note inputs, compared by their digest
	Included   int                // of Signed, in a block
	Failed     int                // of Included, failed there
	Waiting    int                // sent or to be sent, and in no block
	Replaced   int                // can never be included: another transaction used its UTXOs or its nonce
	Ended      int                // the books say that it expired for good or was abandoned
	Sums       []Sum
	Uncompared []Uncompared

	Differences []Difference
}

// Same reports whether nothing differs.
func (r Report) Same() bool { return len(r.Differences) == 0 }
