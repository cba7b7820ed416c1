package evm

import (
	"encoding/hex"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethabi"
)

// transferTopic is Keccak-256 of "Transfer(address,address,uint256)" (ERC-20).
var transferTopic = hash{
	0xdd, 0xf2, 0x52, 0xad, 0x1b, 0xe2, 0xc8, 0x9b, 0x69, 0xc2, 0xb0, 0x68, 0xfc, 0x37, 0x8d, 0xaa,
	0x95, 0x2b, 0xa7, 0xf1, 0x63, 0xc4, 0xa1, 0x16, 0x28, 0xf5, 0x5a, 0x4d, 0xf5, 0x23, 0xb3, 0xef,
}

// transferData returns the call data that pays tokens.
func transferData(to address, amount bursar.Amount) []byte { return ethabi.TransferData(to, amount) }

// readTransfer reads the output of transferData and refuses anything else.
func readTransfer(data []byte) (to address, amount bursar.Amount, ok bool) {
	return ethabi.ReadTransfer(data)
}

// balanceData returns the call data of balanceOf(address) (ERC-20).
func balanceData(of address) string {
	return "0x70a08231" + "000000000000000000000000" + hex.EncodeToString(of[:])
}

// unknownEvent describes a Transfer event whose topics or data are not two addresses and 128 bits of value.
const unknownEvent = "a Transfer event in an unknown form"

// logs adds the Transfer events of listed tokens in one transaction. The value in the event counts, whatever amount was
// requested: a token may keep a fee. An event of a listed contract in another form is an anomaly.
func (w *scanner) logs(i int) {
	r := &w.receipts[i]
	if !r.succeeded() {
		return
	}
	id := w.Txs[i].Hash.String
	for _, e := range r.tokens {
		if e.anomaly {
			w.out.Anomalies = append(w.out.Anomalies,
				chain.Anomaly{TxID: id(), Contract: e.contract.String(), What: unknownEvent})
			continue
		}
		if base := w.pays(e.to); base != "" && !e.amount.IsZero() {
			w.out.Transfers = append(w.out.Transfers, chain.Transfer{
				TxID: id(), Output: e.position, Address: bursar.Address{Base: base}, Contract: e.contract.String(),
				Amount: e.amount,
			})
		}
	}
}

// transfer reads a Transfer event: two addresses in topics and a value of at most 128 bits as its only data.
func (e *event) transfer() (from, to address, amount bursar.Amount, ok bool) {
	if len(e.Topics) != 3 || len(e.Data) != 64 {
		return from, to, amount, false
	}
	for _, topic := range e.Topics[1:] {
		if [12]byte(topic[:12]) != [12]byte{} {
			return from, to, amount, false
		}
	}
	amount, err := digitsAmount(e.Data)
	return address(e.Topics[1][12:]), address(e.Topics[2][12:]), amount, err == nil
}
