package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"sync/atomic"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// The intruder's address, and a customer's, on Bitcoin: the first two of BIP 84's and BIP 173's examples.
const (
	mallorysAddress  = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
	customersAddress = "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"
)

// utxoTx is a transaction of the UTXO model, and what the service says of it.
type utxoTx struct {
	service  *lyingService
	id       bursar.ChainID
	tx       *wire.MsgTx
	previous []*wire.MsgTx // one for each input
	says     []uint64      // what each input is said to hold
	sources  []chain.Source
	order    chain.TxRequest
	proofs   [][]byte // nil: those of previous
	fee      uint64   // what the service says; 0: what it is
}

// made makes every previous transaction another one.
var made atomic.Uint32

// utxoTx returns a transaction that pays what is ordered out of UTXOs of the hot wallet, with the rest less a fee as
// change.
func (c *lyingService) utxoTx(id bursar.ChainID, holds []uint64, fee uint64, payments ...chain.Payment) *utxoTx {
	c.t.Helper()
	x := &utxoTx{service: c, id: id, tx: wire.NewMsgTx(2), order: c.withdrawal(id, payments...)}
	rest := uint64(0)
	for _, units := range holds {
		x.spend(c.hot(id), units)
		rest += units
	}
	for _, p := range payments {
		x.pay(p.Address.Base, p.Amount.Big().Uint64())
		rest -= p.Amount.Big().Uint64()
	}
	x.pay(c.hot(id).Base, rest-fee)
	return x
}

// spend adds an input: an output of ours of a transaction that nobody made before.
func (x *utxoTx) spend(source chain.Source, units uint64) {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: chainhash.Hash{1}, Index: made.Add(1)}, nil, nil))
	tx.AddTxOut(wire.NewTxOut(int64(units), x.script(source.Base)))
	in := wire.NewTxIn(&wire.OutPoint{Hash: tx.TxHash()}, nil, nil)
	in.Sequence = 0xfffffffd
	x.tx.AddTxIn(in)
	x.previous, x.says, x.sources = append(x.previous, tx), append(x.says, units), append(x.sources, source)
}

func (x *utxoTx) pay(base string, units uint64) {
	x.tx.AddTxOut(wire.NewTxOut(int64(units), x.script(base)))
}

func (x *utxoTx) script(base string) []byte {
	x.service.t.Helper()
	script, err := x.service.chains[x.id].(chain.Provable).Script(base)
	x.service.must(err)
	return script
}

// asked is the request with the transaction's own encoding.
func (x *utxoTx) asked() asked {
	type inputForm struct {
		Source chain.Source  `json:"source"`
		Amount bursar.Amount `json:"amount"`
	}
	form := struct {
		Tx     string       `json:"tx"`
		Inputs []inputForm  `json:"inputs"`
		Change chain.Source `json:"change"`
	}{Tx: hex.EncodeToString(serialized(x.tx)), Change: x.service.hot(x.id)}
	a := asked{id: x.id, order: x.order, draft: chain.UnsignedTx{Previous: x.proofs}}
	in, out := uint64(0), uint64(0)
	for i, units := range x.says {
		in += units
		form.Inputs = append(form.Inputs, inputForm{x.sources[i], bursar.Units(units)})
		a.draft.Reservations = append(a.draft.Reservations, x.tx.TxIn[i].PreviousOutPoint.String())
		if x.proofs == nil {
			a.draft.Previous = append(a.draft.Previous, serialized(x.previous[i]))
		}
	}
	for _, o := range x.tx.TxOut {
		out += uint64(o.Value)
	}
	var err error
	a.draft.Bytes, err = json.Marshal(form)
	x.service.must(err)
	if a.draft.Fee = bursar.Units(in - out); x.fee > 0 {
		a.draft.Fee = bursar.Units(x.fee)
	}
	return a
}

func serialized(tx *wire.MsgTx) []byte {
	var raw bytes.Buffer
	if err := tx.SerializeNoWitness(&raw); err != nil {
		panic(err)
	}
	return raw.Bytes()
}

// withWitnesses is a transaction in the encoding with witnesses (BIP 144).
func withWitnesses(tx *wire.MsgTx) []byte {
	raw := serialized(tx)
	with := append(append([]byte{}, raw[:4]...), 0, 1)
	with = append(with, raw[4:len(raw)-4]...)
	for range tx.TxIn {
		with = append(with, 0)
	}
	return binary.LittleEndian.AppendUint32(with, tx.LockTime)
}

const btc = 100_000_000

// attacksOnUTXOs are what a service in other hands asks for on chains of the UTXO model.
func attacksOnUTXOs() []attack {
	simple := func(c *lyingService, change func(*utxoTx)) asked {
		x := c.utxoTx(bursar.Bitcoin, []uint64{btc / 10, btc / 10}, 10_000, to(customersAddress, btc/20))
		change(x)
		return x.asked()
	}
	return []attack{
		{"inputs-proven", "a false amount of one input, so that half of it seems to be no fee (CVE-2020-14199)",
			"inputs-proven",
			func(c *lyingService) asked {
				return simple(c, func(x *utxoTx) { x.says[1] = btc / 100; x.tx.TxOut[1].Value -= 9 * btc / 100 })
			}},
		{"inputs-proven", "the same, with the other input's amount", "inputs-proven", func(c *lyingService) asked {
			return simple(c, func(x *utxoTx) { x.says[0] = btc / 100; x.tx.TxOut[1].Value -= 9 * btc / 100 })
		}},
		{"inputs-proven", "no previous transaction at all", "inputs-proven", func(c *lyingService) asked {
			return simple(c, func(x *utxoTx) { x.proofs = [][]byte{} })
		}},
		{"inputs-proven", "a previous transaction that says more than was paid", "inputs-proven", func(
			c *lyingService,
		) asked {
			return simple(c, func(x *utxoTx) {
				x.previous[0].TxOut[0].Value, x.says[0] = btc, btc // and so it has another ID
			})
		}},
		{"inputs-proven", "somebody else's output as ours", "inputs-proven", func(c *lyingService) asked {
			x := c.utxoTx(bursar.Bitcoin, []uint64{btc / 10}, 10_000, to(customersAddress, btc/20))
			x.previous[0].TxOut[0].PkScript = x.script(mallorysAddress)
			x.tx.TxIn[0].PreviousOutPoint.Hash = x.previous[0].TxHash()
			return x.asked()
		}},
		{"inputs-proven", "a previous transaction in another spelling, with witnesses", "inputs-proven",
			func(c *lyingService) asked {
				return simple(c, func(x *utxoTx) {
					x.proofs = [][]byte{withWitnesses(x.previous[0]), withWitnesses(x.previous[1])}
				})
			}},
		{"tx-pays-order", "a second payment, to the intruder", "unrequested_payment", func(c *lyingService) asked {
			return simple(c, func(x *utxoTx) { x.tx.TxOut[1].Value -= btc / 50; x.pay(mallorysAddress, btc/50) })
		}},
		{"tx-pays-order", "the change to the intruder", "unrequested_payment", func(c *lyingService) asked {
			return simple(c, func(x *utxoTx) { x.tx.TxOut[1].PkScript = x.script(mallorysAddress) })
		}},
		{"tx-pays-order", "the change to the intruder, with an order that says so", "change", func(c *lyingService) asked {
			return simple(c, func(x *utxoTx) {
				x.order.Change.Base = mallorysAddress
				x.tx.TxOut[1].PkScript = x.script(mallorysAddress)
			})
		}},
		{"tx-pays-order", "the change in two outputs, of which one could be dust", "change", func(c *lyingService) asked {
			return simple(c, func(x *utxoTx) { x.tx.TxOut[1].Value -= 1000; x.pay(c.hot(x.id).Base, 1000) })
		}},
		{"tx-pays-order", "the intruder in the customer's place", "unpaid", func(c *lyingService) asked {
			return simple(c, func(x *utxoTx) { x.tx.TxOut[0].PkScript = x.script(mallorysAddress) })
		}},
		{"tx-pays-order", "one satoshi less for the customer", "unpaid", func(c *lyingService) asked {
			return simple(c, func(x *utxoTx) { x.tx.TxOut[0].Value-- })
		}},
		{"tx-pays-order", "a sweep to the intruder", "invalid_request", func(c *lyingService) asked {
			x := c.utxoTx(bursar.Bitcoin, []uint64{btc / 10}, 10_000, to(mallorysAddress, btc/20))
			x.order.Kind = chain.KindSweep
			return x.asked()
		}},
		{"tx-pays-order", "a sweep home that pays the intruder as well", "unrequested_payment", func(c *lyingService) asked {
			x := c.utxoTx(bursar.Bitcoin, []uint64{btc / 10}, 10_000, to(mallorysAddress, btc/20))
			x.order.Kind, x.order.Payments = chain.KindSweep, []chain.Payment{to(c.hot(x.id).Base, btc/10)}
			return x.asked()
		}},
		{"fee", "almost everything as a fee", "fee", func(c *lyingService) asked {
			return simple(c, func(x *utxoTx) { x.tx.TxOut[1].Value = 1000 })
		}},
		{"fee", "a fee above max_fee that the order allows", "fee", func(c *lyingService) asked {
			return simple(c, func(x *utxoTx) { x.tx.TxOut[1].Value -= 100_000 })
		}},
		{"fee", "a fee that the service says is smaller", "fee", func(c *lyingService) asked {
			return simple(c, func(x *utxoTx) { x.fee = 9_999 })
		}},
		{"fee", "a rate above max_fee_rate", "fee-rate", func(c *lyingService) asked {
			x := c.utxoTx(bursar.Bitcoin, []uint64{btc / 10}, 99_000, to(customersAddress, btc/20))
			return x.asked()
		}},
		{"coin-one-order", "a UTXO that the draft does not name as used", "reservations", func(c *lyingService) asked {
			a := simple(c, func(*utxoTx) {})
			a.draft.Reservations = a.draft.Reservations[:1]
			return a
		}},
		{"quota", "a currency that has no limit", "quota", func(c *lyingService) asked {
			const customer = "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9"
			return c.utxoTx(bursar.Litecoin, []uint64{btc}, 10_000, to(customer, btc/20)).asked()
		}},
		{"quota", "more than the week holds, at once", "quota", func(c *lyingService) asked {
			return c.utxoTx(bursar.Bitcoin, []uint64{4 * btc}, 10_000, to(mallorysAddress, 31*btc/10)).asked()
		}},
		{"tx-readable", "the bytes of another chain", "unreadable", func(c *lyingService) asked {
			a := simple(c, func(*utxoTx) {})
			a.draft.Bytes = c.polygons(func(*evmPayload) {}).draft.Bytes
			return a
		}},
		{"tx-readable", "the same transaction in another spelling", "unreadable", func(c *lyingService) asked {
			a := simple(c, func(*utxoTx) {})
			a.draft.Bytes = append([]byte(" "), a.draft.Bytes...)
			return a
		}},
	}
}
