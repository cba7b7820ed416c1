package main

import (
	"encoding/binary"
	"math/big"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// protobuf appends fields as java-tron encodes them.
type protobuf []byte

func (m protobuf) number(field int, value uint64) protobuf {
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3), value)
}

func (m protobuf) bytes(field int, value []byte) protobuf {
	m = binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3|2), uint64(len(value)))
	return append(m, value...)
}

// tronTx is a transaction of Tron with one contract.
type tronTx struct {
	kind       uint64
	name       string
	body       protobuf
	permission uint64
	memo       []byte
	limit      uint64
}

const (
	tronUSDT     = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
	tronCustomer = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"
)

func tronBytes(base string) []byte {
	return from58(base)[:21]
}

// trons is an honest payment of one TRX that was changed.
func (c *lyingService) trons(change func(x *tronTx, owner []byte)) asked {
	c.t.Helper()
	owner := tronBytes(c.hot(bursar.Tron).Base)
	x := &tronTx{kind: 1, name: "TransferContract",
		body: protobuf(nil).bytes(1, owner).bytes(2, tronBytes(tronCustomer)).number(3, 1_000_000)}
	change(x, owner)
	contract := protobuf(nil).number(1, x.kind).bytes(2,
		protobuf(nil).bytes(1, []byte("type.googleapis.com/protocol."+x.name)).bytes(2, x.body))
	if x.permission > 0 {
		contract = contract.number(5, x.permission)
	}
	expires := uint64(1_800_000_000_000) + uint64(made.Add(1))
	raw := protobuf(nil).bytes(1, []byte{1, 2}).bytes(4, []byte("refblock")).number(8, expires)
	if x.memo != nil {
		raw = raw.bytes(10, x.memo)
	}
	raw = raw.bytes(11, contract).number(14, expires-1000)
	if x.limit > 0 {
		raw = raw.number(18, x.limit)
	}
	order := c.withdrawal(bursar.Tron, to(tronCustomer, 1_000_000))
	return c.envelope(bursar.Tron, raw, order, big.NewInt(99_000_000))
}

// tronTokens is trons with a payment of USDT, or another call of its contract.
func (c *lyingService) tronTokens(data []byte, change func(*tronTx)) asked {
	c.t.Helper()
	a := c.trons(func(x *tronTx, owner []byte) {
		x.kind, x.name, x.limit = 31, "TriggerSmartContract", 20_000_000
		x.body = protobuf(nil).bytes(1, owner).bytes(2, tronBytes(tronUSDT)).bytes(4, data)
		change(x)
	})
	paid := to(tronCustomer, 5)
	paid.Contract = tronUSDT
	a.order.Payments = []chain.Payment{paid}
	return a
}

func attacksOnTron() []attack {
	customer := tronBytes(tronCustomer)[1:]
	other := func(kind uint64, name string, body func(owner []byte) protobuf) func(*lyingService) asked {
		return func(c *lyingService) asked {
			return c.trons(func(x *tronTx, owner []byte) { x.kind, x.name, x.body = kind, name, body(owner) })
		}
	}
	return []attack{
		{"shape", "Tron: new permissions for the account", "unreadable", other(46, "AccountPermissionUpdateContract",
			func(owner []byte) protobuf { return protobuf(nil).bytes(1, owner).bytes(2, []byte{8, 0}) })},
		{"shape", "Tron: stakes everything (FreezeBalanceV2)", "unreadable", other(54, "FreezeBalanceV2Contract",
			func(owner []byte) protobuf { return protobuf(nil).bytes(1, owner).number(2, 1<<40) })},
		{"shape", "Tron: lends the account's energy", "unreadable", other(57, "DelegateResourceContract",
			func(owner []byte) protobuf { return protobuf(nil).bytes(1, owner).bytes(4, customer).number(3, 1<<40) })},
		{"shape", "Tron: creates a contract", "unreadable", other(30, "CreateSmartContract",
			func(owner []byte) protobuf { return protobuf(nil).bytes(1, owner).bytes(2, []byte{10, 0}) })},
		{"shape", "Tron: with another permission", "unreadable", func(c *lyingService) asked {
			return c.trons(func(x *tronTx, _ []byte) { x.permission = 2 })
		}},
		{"shape", "Tron: with a memo, which costs TRX", "unreadable", func(c *lyingService) asked {
			return c.trons(func(x *tronTx, _ []byte) { x.memo = []byte("hello") })
		}},
		{"shape", "Tron: approve, of everything to the intruder", "unreadable", func(c *lyingService) asked {
			return c.tronTokens(callOf("095ea7b3", mallorys20, 1<<63), func(*tronTx) {})
		}},
		{"shape", "Tron: a call with TRX sent along", "unreadable", func(c *lyingService) asked {
			return c.tronTokens(callOf("a9059cbb", customer, 5), func(x *tronTx) { x.body = x.body.number(3, 1_000_000) })
		}},
		{"fee", "Tron: a fee limit above max_fee", "fee", func(c *lyingService) asked {
			return c.tronTokens(callOf("a9059cbb", customer, 5), func(x *tronTx) { x.limit = 101_000_000 })
		}},
		{"tx-pays-order", "Tron: USDT to the intruder", "unpaid", func(c *lyingService) asked {
			return c.tronTokens(callOf("a9059cbb", mallorys20, 5), func(*tronTx) {})
		}},
	}
}
