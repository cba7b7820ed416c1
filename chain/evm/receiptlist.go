package evm

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar"
)

// receipt is the outcome of a transaction, with the part of its logs that can concern us.
type receipt struct {
	TxHash       hash
	BlockHash    hash
	Index        quantity
	Status       status
	GasUsed      quantity
	GasPrice     wei
	BlobGasUsed  quantity
	BlobGasPrice wei
	Contract     optional

	logs   logRange
	tokens []tokenEvent
	moves  []move    // native value that the chain itself logs, in order
	named  []address // addresses in topics and data of other logs
	spoke  bool      // a contract logged something
}

// succeeded reports whether the transaction did anything but pay for its gas.
func (r *receipt) succeeded() bool { return r.Status == 1 }

// status is a receipt's outcome. Its zero value means no outcome.
type status int8

// UnmarshalJSONFrom reads 0x1, 0x0 or null. Anything else means no outcome too.
func (s *status) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*s = 0
	if dec.PeekKind() == jsontext.KindNull {
		return dec.SkipValue()
	}
	var q quantity
	if err := q.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	switch q {
	case 0:
		*s = -1
	case 1:
		*s = 1
	}
	return nil
}

// logRange is the position data in the logs of one receipt.
type logRange struct {
	count int
	first quantity
	tx    hash
	err   error // they contradict each other
}

// tokenEvent is a Transfer event of a listed token.
type tokenEvent struct {
	position uint32 // position among the transaction's logs
	contract address
	from, to address
	amount   bursar.Amount
	anomaly  bool // in a form that the standard does not define
}

// move is native value that went from one account to another.
type move struct {
	by       address // the address that wrote the log
	from, to address
	value    bursar.Amount
}

const (
	// maxNamed limits the addresses that all logs of a block mention. A word of log data costs 256 gas, so a block of
	// 256 million gas stays below it.
	maxNamed = 1 << 20
	// maxReceipts and maxBlockLogs limit what is counted of one block: a transaction costs at least 12,000 gas
	// (EIP-2780), a log 375.
	maxReceipts  = 1 << 17
	maxBlockLogs = 1 << 21
	// maxSeen limits the topics that are remembered so that each is hashed only once.
	maxSeen = 1 << 16
)

var errTooMuch = errors.New("the answer has more entries than fit into a block")

// receiptList reads the receipts of one block as they arrive. It implements rpc.Streamed.
type receiptList struct {
	rules *Rules

	list  []receipt
	bloom bloom // bloom of all logs
	logs  int
	named int
	event event // the log being read
	seen  map[string]bool
	null  bool
}

// ReadResult reads the answer of eth_getBlockReceipts.
func (l *receiptList) ReadResult(dec *jsontext.Decoder) error {
	*l = receiptList{rules: l.rules, seen: map[string]bool{}, null: dec.PeekKind() == jsontext.KindNull}
	return elements(dec, func() error { return l.read(dec) })
}

// read appends one receipt.
func (l *receiptList) read(dec *jsontext.Decoder) error {
	if len(l.list) >= maxReceipts {
		return errTooMuch
	}
	var r receipt
	err := members(dec, func(name []byte) (bool, error) {
		switch string(name) {
		case `"transactionHash"`:
			return true, r.TxHash.UnmarshalJSONFrom(dec)
		case `"blockHash"`:
			return true, r.BlockHash.UnmarshalJSONFrom(dec)
		case `"transactionIndex"`:
			return true, r.Index.UnmarshalJSONFrom(dec)
		case `"status"`:
			return true, r.Status.UnmarshalJSONFrom(dec)
		case `"gasUsed"`:
			return true, r.GasUsed.UnmarshalJSONFrom(dec)
		case `"effectiveGasPrice"`:
			return true, r.GasPrice.UnmarshalJSONFrom(dec)
		case `"blobGasUsed"`:
			return true, r.BlobGasUsed.orNull(dec)
		case `"blobGasPrice"`:
			return true, r.BlobGasPrice.UnmarshalJSONFrom(dec)
		case `"contractAddress"`:
			return true, r.Contract.UnmarshalJSONFrom(dec)
		case `"logs"`:
			return true, elements(dec, func() error { return l.log(dec, &r) })
		}
		return false, nil
	})
	l.list = append(l.list, r)
	return err
}

// log reads one log and keeps what can concern us.
func (l *receiptList) log(dec *jsontext.Decoder, r *receipt) error {
	if l.logs++; l.logs > maxBlockLogs {
		return errTooMuch
	}
	if err := l.event.read(dec); err != nil {
		return err
	}
	r.logs.add(&l.event)
	l.fill()
	switch e := &l.event; {
	case e.Address == systemAddress:
		if m, ok := e.transferLog(); ok {
			r.moves = append(r.moves, m)
		}
	case l.rules.quiet[e.Address]:
		if m, ok := e.polygonTransfer(); ok {
			r.moves = append(r.moves, m)
		}
	default:
		r.spoke = true
		if _, listed := l.rules.tokens[e.Address]; listed && len(e.Topics) > 0 && e.Topics[0] == transferTopic {
			from, to, amount, ok := e.transfer()
			r.tokens = append(r.tokens, tokenEvent{uint32(r.logs.count - 1), e.Address, from, to, amount, !ok})
			if ok {
				return nil
			}
		}
		return l.name(r)
	}
	return nil
}

// add counts a log, which must follow the previous one in the same transaction.
func (l *logRange) add(e *event) {
	if l.count == 0 {
		l.first, l.tx = e.Index, e.TxHash
	}
	switch {
	case e.TxHash != l.tx || e.Removed:
		l.err = errExternalTx
	case e.Index != l.first+quantity(l.count):
		l.err = errPartial
	}
	l.count++
}

// name keeps the addresses that a log mentions.
func (l *receiptList) name(r *receipt) error {
	before := len(r.named)
	note := func(a address) { r.named = append(r.named, a) }
	for i := range l.event.Topics {
		inWord(l.event.Topics[i], note)
	}
	inDigits(l.event.Data, note)
	if l.named += len(r.named) - before; l.named > maxNamed {
		return errTooMuch
	}
	return nil
}

// fill adds a log's address and topics to the bloom. Most of them repeat in a block and are hashed only once.
func (l *receiptList) fill() {
	add := func(data []byte) {
		if l.seen[string(data)] {
			return
		}
		if len(l.seen) < maxSeen {
			l.seen[string(data)] = true
		}
		l.bloom.add(data)
	}
	add(l.event.Address[:])
	for i := range l.event.Topics {
		add(l.event.Topics[i][:])
	}
}

// event is a log.
type event struct {
	Address address
	Topics  []hash
	Data    text
	Index   quantity
	TxHash  hash
	Removed bool
}

// read reads a log into the memory of the previous one. Data may be cut after 2 KiB: no credited event has that much.
func (e *event) read(dec *jsontext.Decoder) error {
	*e = event{Topics: e.Topics[:0], Data: e.Data[:0]}
	return members(dec, func(name []byte) (bool, error) {
		switch string(name) {
		case `"address"`:
			return true, e.Address.UnmarshalJSONFrom(dec)
		case `"topics"`:
			return true, elements(dec, func() error {
				if len(e.Topics) == 4 { // LOG4 is the longest (Yellow Paper, H.2)
					return errTooMuch
				}
				e.Topics = append(e.Topics, hash{})
				return e.Topics[len(e.Topics)-1].UnmarshalJSONFrom(dec)
			})
		case `"data"`:
			return true, e.Data.again(dec)
		case `"logIndex"`:
			return true, e.Index.UnmarshalJSONFrom(dec)
		case `"transactionHash"`:
			return true, e.TxHash.UnmarshalJSONFrom(dec)
		case `"removed"`:
			token, err := dec.ReadToken()
			e.Removed = token.Kind() == jsontext.KindTrue
			return true, err
		}
		return false, nil
	})
}
