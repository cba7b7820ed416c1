package evm

import "slices"

// systemAddress logs every transfer of native value since EIP-7708 (text of August 2026; live with Glamsterdam). It has
// no code and nobody has its key, so its logs come from the protocol itself.
var systemAddress = address{
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
}

// polygonTransferTopic is Keccak-256 of "LogTransfer(address,address,address,uint256,uint256,uint256,uint256,uint256)".
var polygonTransferTopic = hash{
	0xe6, 0x49, 0x7e, 0x3e, 0xe5, 0x48, 0xa3, 0x37, 0x21, 0x36, 0xaf, 0x2f, 0xcb, 0x06, 0x96, 0xdb,
	0x31, 0xfc, 0x6c, 0xf2, 0x02, 0x60, 0x70, 0x76, 0x45, 0x06, 0x8b, 0xd3, 0xfe, 0x97, 0xf3, 0xc4,
}

// transferLog reads the log of EIP-7708, which has the form of an ERC-20 Transfer.
func (e *event) transferLog() (move, bool) {
	if len(e.Topics) != 3 || e.Topics[0] != transferTopic {
		return move{}, false
	}
	from, to, amount, ok := e.transfer()
	return move{e.Address, from, to, amount}, ok
}

// polygonTransfer reads the log that bor writes for every transfer of value except that of SELFDESTRUCT (bor 2.2.11,
// core/bor_fee_log.go and core/vm/instructions.go). Contract 0x…1010 also writes the same event itself, so the event
// shows who may have been paid but never how much.
func (e *event) polygonTransfer() (move, bool) {
	if len(e.Topics) != 4 || e.Topics[0] != polygonTransferTopic || len(e.Data) < 64 {
		return move{}, false
	}
	amount, err := digitsAmount(e.Data[:64])
	return move{e.Address, address(e.Topics[2][12:]), address(e.Topics[3][12:]), amount}, err == nil
}

// logged reads from the logs of EIP-7708 the value that contracts sent in a block. It reports false if the block has no
// such logs, or if no log contains a transaction's own value: then the chain does not log every transfer.
//
// The outputs equal those of a trace: both count the transfers of a transaction in the order in which they were made.
// Only if a contract pays itself with value, a trace counts one more.
func (d *delivered) logged() ([]frame, bool) {
	if !slices.ContainsFunc(d.receipts, func(r receipt) bool {
		return slices.ContainsFunc(r.moves, move.bySystem)
	}) {
		return nil, false
	}
	var frames []frame
	for i := range d.receipts {
		r := &d.receipts[i]
		if !r.succeeded() {
			continue
		}
		own, pays := d.own(i)
		for _, m := range r.moves {
			switch {
			case !m.bySystem():
			case pays && m.from == own.from && m.to == own.to && m.value == own.value:
				pays = false
			default:
				frames = append(frames, frame{tx: i, from: m.from, to: m.to, value: m.value})
			}
		}
		if pays {
			return nil, false
		}
	}
	return number(frames), true
}

func (m move) bySystem() bool { return m.by == systemAddress }

// own returns the value that a transaction itself moves from one account to another.
func (d *delivered) own(i int) (move, bool) {
	tx, to := &d.Txs[i], d.Txs[i].To
	if !to.set {
		to = d.receipts[i].Contract
	}
	return move{from: tx.From, to: to.address, value: tx.Value.Amount},
		to.set && !tx.Value.IsZero() && to.address != tx.From
}
