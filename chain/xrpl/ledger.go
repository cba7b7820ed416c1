package xrpl

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// header is a ledger without its transactions. Its hash covers every field.
type header struct {
	Index       index  `json:"ledger_index"`
	Hash        hash   `json:"ledger_hash"`
	Parent      hash   `json:"parent_hash"`
	TxRoot      hash   `json:"transaction_hash"`
	AccountRoot hash   `json:"account_hash"`
	Native      drops  `json:"total_coins"`
	ParentClose uint32 `json:"parent_close_time"`
	Close       uint32 `json:"close_time"`
	Resolution  uint8  `json:"close_time_resolution"`
	Flags       uint8  `json:"close_flags"`
}

func (h header) ref() chain.BlockRef {
	return chain.BlockRef{Height: uint64(h.Index), Hash: h.Hash.String()}
}

// rippleEpoch is 2000-01-01 in Unix seconds, the start of the ledger's time.
const rippleEpoch = 946_684_800

func (h header) time() time.Time { return time.Unix(int64(h.Close)+rippleEpoch, 0).UTC() }

// computed returns the hash of a header's fields (rippled's LedgerHeader.cpp).
func (h header) computed() hash {
	native, _ := h.Native.Uint64() // at most 10^17
	b := binary.BigEndian.AppendUint32(nil, uint32(h.Index))
	b = binary.BigEndian.AppendUint64(b, native)
	b = slices.Concat(b, h.Parent[:], h.TxRoot[:], h.AccountRoot[:])
	b = binary.BigEndian.AppendUint32(b, h.ParentClose)
	b = binary.BigEndian.AppendUint32(b, h.Close)
	return sha512Half("LWR\x00", append(b, h.Resolution, h.Flags))
}

// transaction is a transaction of any type: fields specific to a type are ignored. The requested amount of a payment is
// not even decoded.
type transaction struct {
	Hash        hash   `json:"hash"`
	Type        string `json:"TransactionType"`
	Account     string `json:"Account"`
	Delegate    word   `json:"Delegate"` // pays the fee instead of the account (XLS-75)
	Destination word   `json:"Destination"`
	Tag         number `json:"DestinationTag"`
	Fee         drops  `json:"Fee"`
	Sequence    number `json:"Sequence"` // 0 if a ticket is used
	Ticket      number `json:"TicketSequence"`
	Last        number `json:"LastLedgerSequence"` // no ledger after it includes the transaction; without it any may
	Meta        *meta  `json:"metaData"`
}

func (tx *transaction) succeeded() bool { return tx.Meta.Result == "tesSUCCESS" }

// meta is the effect of a transaction.
type meta struct {
	Result    string         `json:"TransactionResult"`
	Place     uint32         `json:"TransactionIndex"`
	Nodes     []change       `json:"AffectedNodes"`
	Delivered jsontext.Value `json:"delivered_amount"`
}

// change is one entry of the ledger's state that was created, modified or deleted.
type change struct {
	Created  *entry `json:"CreatedNode"`
	Modified *entry `json:"ModifiedNode"`
	Deleted  *entry `json:"DeletedNode"`
}

// entry is the used part of an entry of any type.
type entry struct {
	Type     string `json:"LedgerEntryType"`
	New      fields `json:"NewFields"`
	Final    fields `json:"FinalFields"`
	Previous fields `json:"PreviousFields"`
}

// fields are the used fields of an entry: of an AccountRoot the account, its balance and its next sequence, of a Check,
// an Escrow or a PayChannel the receiver. In entries of other types the same names mean other things, or nothing.
type fields struct {
	Account     word   `json:"Account"`
	Balance     amount `json:"Balance"`
	Sequence    number `json:"Sequence"`
	Destination word   `json:"Destination"`
	Tag         number `json:"DestinationTag"`
}

// ledger is a header with its transactions, in the order in which they were applied.
type ledger struct {
	header
	Txs []transaction `json:"transactions"`
}

type headerAnswer struct {
	status
	Validated bool   `json:"validated"`
	Ledger    header `json:"ledger"`
}

type ledgerAnswer struct {
	status
	Validated bool   `json:"validated"`
	Ledger    ledger `json:"ledger"`
}

var (
	errOtherLedger  = errors.New("the node returned another ledger than requested")
	errHeader       = errors.New("the ledger's hash does not match its header")
	errNotValidated = errors.New("the ledger is not validated")
	// errOpen means that a node returned its open ledger for the height, because it is behind: rippled does so without
	// an error.
	errOpen    = fmt.Errorf("%w: %w", errLacks, errNotValidated)
	errPartial = errors.New("part of the ledger is missing")
)

// check compares a header with the request and with its own hash.
func (h header) check(height uint64, validated bool) error {
	switch {
	case !validated:
		return errOpen
	case uint64(h.Index) != height:
		return fmt.Errorf("%w: %d", errOtherLedger, h.Index)
	case h.computed() != h.Hash:
		return fmt.Errorf("%w: %s", errHeader, h.Hash)
	}
	return nil
}

// sort sorts the transactions as they were applied, and detects an incomplete list: each transaction has its own
// position.
func (l *ledger) sort() error {
	if (len(l.Txs) == 0) != (l.TxRoot == hash{}) {
		return fmt.Errorf("%w: %d transactions below root %s", errPartial, len(l.Txs), l.TxRoot)
	}
	for i := range l.Txs {
		tx := &l.Txs[i]
		if tx.Meta == nil || tx.Meta.Result == "" || tx.Account == "" || tx.Type == "" {
			return fmt.Errorf("%w: the metadata of transaction %s", errPartial, tx.Hash)
		}
	}
	slices.SortFunc(l.Txs, func(a, b transaction) int { return int(a.Meta.Place) - int(b.Meta.Place) })
	seen := map[hash]bool{}
	for i := range l.Txs {
		if place := l.Txs[i].Meta.Place; int(place) != i || seen[l.Txs[i].Hash] {
			return fmt.Errorf("%w: transaction %d has position %d", errPartial, place, i)
		}
		seen[l.Txs[i].Hash] = true
	}
	return nil
}

// headerAt requests a validated ledger's header at a height that the node has announced.
func headerAt(ctx context.Context, s *rpc.Session, height uint64) (header, error) {
	var answer headerAnswer
	if err := ask(ctx, s, "ledger", params{"ledger_index": height}, &answer); err != nil {
		return header{}, lacking(s, fmt.Errorf("ledger %d: %w", height, err))
	}
	if err := answer.Ledger.check(height, answer.Validated); err != nil {
		return header{}, unsound(s, fmt.Errorf("ledger %d: %w", height, err))
	}
	return answer.Ledger, nil
}

// ledgerAt requests a complete validated ledger.
func ledgerAt(ctx context.Context, s *rpc.Session, height uint64) (*ledger, error) {
	var answer ledgerAnswer
	with := params{"ledger_index": height, "transactions": true, "expand": true, "owner_funds": false}
	if err := ask(ctx, s, "ledger", with, &answer); err != nil {
		return nil, lacking(s, fmt.Errorf("ledger %d: %w", height, err))
	}
	l := &answer.Ledger
	err := l.check(height, answer.Validated)
	if err == nil {
		err = l.sort()
	}
	if err != nil {
		return nil, unsound(s, fmt.Errorf("ledger %d: %w", height, err))
	}
	return l, nil
}

// unsound handles a node that returns something other than the ledger: a node that is behind is not at fault.
func unsound(s *rpc.Session, err error) error {
	if errors.Is(err, errLacks) {
		return err
	}
	return s.Fail(err)
}

// lacking handles a refusal to return a ledger: the node does not have it, or is at fault.
func lacking(s *rpc.Session, err error) error {
	var answered *nodeError
	switch {
	case lacks(err):
		return fmt.Errorf("%w: %w", errLacks, err)
	case errors.As(err, &answered):
		return s.Fail(err)
	}
	return err
}
