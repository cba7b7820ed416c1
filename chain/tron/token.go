package tron

import (
	"encoding/hex"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethabi"
)

// transferTopic is Keccak-256 of "Transfer(address,address,uint256)" (TIP-20).
const transferTopic = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

// transferCall is the name of the same function for triggerconstantcontract.
const transferCall = "transfer(address,uint256)"

// event is a log of a transaction; its contract comes without the 41.
type event struct {
	Address string   `json:"address"`
	Topics  []string `json:"topics"`
	Data    string   `json:"data"`
}

// contract reads the contract that wrote a log. An unreadable one is not a listed token.
func (e *event) contract() (a address, ok bool) {
	text := e.Address
	if len(text) == 42 && text[:2] == "41" {
		text = text[2:]
	}
	if len(text) != 2*len(a) {
		return a, false
	}
	_, err := hex.Decode(a[:], []byte(text))
	return a, err == nil
}

// transferData returns the call data that pays tokens.
func transferData(to address, amount bursar.Amount) []byte { return ethabi.TransferData(to, amount) }

// readTransfer reads the output of transferData and refuses anything else.
func readTransfer(data []byte) (to address, amount bursar.Amount, ok bool) {
	return ethabi.ReadTransfer(data)
}

// unknownEvent describes a Transfer event whose topics or data are not two addresses and 128 bits of value.
const unknownEvent = "a Transfer event in an unknown form"

// logs adds the Transfer events of listed tokens in one successful transaction. The value in the event counts, whatever
// amount was requested: a token may keep a fee. An event of a listed contract in another form is an anomaly.
func (c *Chain) logs(w *scanner, i int) {
	e := &w.executions[i]
	for place := range e.Logs {
		log := &e.Logs[place]
		contract, readable := log.contract()
		token, listed := c.tokens[contract]
		if !readable || !listed || len(log.Topics) == 0 || log.Topics[0] != transferTopic {
			continue
		}
		_, to, amount, ok := log.transfer()
		if !ok {
			w.out.Anomalies = append(w.out.Anomalies,
				chain.Anomaly{TxID: e.ID.String(), Contract: token.Contract, What: unknownEvent})
			continue
		}
		if base := w.pays(to); base != "" && !amount.IsZero() {
			w.out.Transfers = append(w.out.Transfers, chain.Transfer{
				TxID: e.ID.String(), Output: uint32(place), Address: bursar.Address{Base: base},
				Contract: token.Contract, Amount: amount,
			})
		}
	}
}

// transfer reads a Transfer event: two addresses in topics and a value of at most 128 bits as its only data.
func (e *event) transfer() (from, to address, amount bursar.Amount, ok bool) {
	if len(e.Topics) != 3 {
		return from, to, amount, false
	}
	var addresses [2]address
	for i, topic := range e.Topics[1:] {
		w, err := parseWord(topic)
		if err != nil || [12]byte(w[:12]) != [12]byte{} {
			return from, to, amount, false
		}
		addresses[i] = address(w[12:])
	}
	value, err := parseWord(e.Data)
	if err != nil {
		return from, to, amount, false
	}
	amount, err = value.amount()
	return addresses[0], addresses[1], amount, err == nil
}
