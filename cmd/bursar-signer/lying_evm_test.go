package main

import (
	"encoding/binary"
	"encoding/hex"
	"math/big"

	"github.com/ethereum/go-ethereum/rlp"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func unhex(text string) []byte {
	raw, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return raw
}

// Addresses of the intruder and of a customer, and the contract of USDT-MATIC.
var (
	mallorys20  = unhex("00000000000000000000000000000000deadbeef")
	customers20 = unhex("70997970c51812dc3a010c7d01b50e0d17dc79c8")
	usdtMatic   = unhex("c2132d05d31c914a87c6611c10748aeb04b58e8f")
)

// evmPayload is a transaction of EIP-1559 in the order of its encoding. To is of any length: none creates a contract.
type evmPayload struct {
	ChainID, Nonce uint64
	Tip, MaxFee    *big.Int
	Gas            uint64
	To             []byte
	Value          *big.Int
	Data           []byte
	Access         []struct {
		Address [20]byte
		Keys    [][32]byte
	}

	kind  byte   // of the envelope of EIP-2718; not encoded here
	after []byte // behind the payload
}

const gwei = 1_000_000_000

// polygons is an honest payment of one MATIC that was changed, with the order of the honest one.
func (c *lyingService) polygons(change func(*evmPayload)) asked {
	c.t.Helper()
	p := &evmPayload{ChainID: 137, Nonce: uint64(made.Add(1)), Tip: big.NewInt(30 * gwei), MaxFee: big.NewInt(100 * gwei),
		Gas: 100_000, To: customers20, Value: big.NewInt(gwei * gwei), kind: 2}
	order := c.withdrawal(bursar.Polygon, to(c.base(bursar.Polygon, "0x"+hex.EncodeToString(customers20)), gwei*gwei))
	change(p)
	return c.evm(p, order)
}

// tokens is polygons with an honest payment of a token.
func (c *lyingService) tokens(change func(*evmPayload)) asked {
	c.t.Helper()
	a := c.polygons(func(p *evmPayload) {
		p.To, p.Value, p.Data = usdtMatic, new(big.Int), callOf("a9059cbb", customers20, 5)
		change(p)
	})
	paid := to(c.base(bursar.Polygon, "0x"+hex.EncodeToString(customers20)), 5)
	paid.Contract = c.base(bursar.Polygon, "0x"+hex.EncodeToString(usdtMatic))
	a.order.Payments = []chain.Payment{paid}
	return a
}

// callOf is call data of a function of an address and a number.
func callOf(selector string, address []byte, number uint64) []byte {
	data := append(unhex(selector), make([]byte, 12)...)
	data = append(append(data, address...), make([]byte, 24)...)
	return binary.BigEndian.AppendUint64(data, number)
}

func (c *lyingService) base(id bursar.ChainID, text string) string {
	c.t.Helper()
	address, err := c.chains[id].ParseAddress(text)
	c.must(err)
	return address.Base
}

// evm encodes a transaction as the service does.
func (c *lyingService) evm(p *evmPayload, request chain.TxRequest) asked {
	c.t.Helper()
	body, err := rlp.EncodeToBytes([]any{p.ChainID, p.Nonce, p.Tip, p.MaxFee, p.Gas, p.To, p.Value, p.Data, p.Access})
	c.must(err)
	return c.envelope(bursar.Polygon, append(append([]byte{p.kind}, body...), p.after...), request,
		new(big.Int).Mul(p.MaxFee, new(big.Int).SetUint64(p.Gas)))
}

// envelope is the stored form of EVM chains and, without an address, of Tron.
func (c *lyingService) envelope(id bursar.ChainID, payload []byte, request chain.TxRequest, fee *big.Int) asked {
	c.t.Helper()
	key := request.From.Key
	fields := []any{uint64(1), string(key.Family), key.Branch, key.Index}
	if id != bursar.Tron {
		fields = append(fields, unhex(request.From.Base[2:]))
	}
	raw, err := rlp.EncodeToBytes(append(fields, payload))
	c.must(err)
	most, err := bursar.AmountFromBig(fee)
	c.must(err)
	return asked{id, request, chain.UnsignedTx{Bytes: raw, Fee: most, Reservations: []string{"x"}}}
}

func attacksOnEVM() []attack {
	list := []attack{
		{"shape", "EVM: creates a contract", "unreadable", func(c *lyingService) asked {
			return c.polygons(func(p *evmPayload) { p.To, p.Data = nil, unhex("6000600055") })
		}},
		{"shape", "EVM: hands the account to a contract (EIP-7702)", "unreadable", func(c *lyingService) asked {
			return c.polygons(func(p *evmPayload) { p.kind = 4 })
		}},
		{"shape", "EVM: a legacy transaction, valid on every chain", "unreadable", func(c *lyingService) asked {
			return c.polygons(func(p *evmPayload) { p.kind = 0xe8 })
		}},
		{"shape", "EVM: a signed message (EIP-191, personal_sign)", "unreadable", func(c *lyingService) asked {
			a := c.polygons(func(*evmPayload) {})
			return c.envelope(a.id, []byte("\x19Ethereum Signed Message:\n5hello"), a.order, big.NewInt(1))
		}},
		{"shape", "EVM: typed data (EIP-712), as a permit is", "unreadable", func(c *lyingService) asked {
			a := c.polygons(func(*evmPayload) {})
			return c.envelope(a.id, append([]byte{0x19, 1}, make([]byte, 64)...), a.order, big.NewInt(1))
		}},
		{"shape", "EVM: value sent along with a token", "unreadable", func(c *lyingService) asked {
			return c.tokens(func(p *evmPayload) { p.Value = big.NewInt(1) })
		}},
		{"shape", "EVM: a contract that is no listed token", "unreadable", func(c *lyingService) asked {
			return c.tokens(func(p *evmPayload) { p.To = mallorys20 })
		}},
		{"tx-readable", "EVM: the transaction of another chain", "unreadable", func(c *lyingService) asked {
			return c.polygons(func(p *evmPayload) { p.ChainID = 1 })
		}},
		{"tx-readable", "EVM: bytes behind the transaction", "unreadable", func(c *lyingService) asked {
			return c.polygons(func(p *evmPayload) { p.after = []byte{0} })
		}},
		{"tx-pays-order", "EVM: the intruder in the customer's place", "unpaid", func(c *lyingService) asked {
			return c.polygons(func(p *evmPayload) { p.To = mallorys20 })
		}},
		{"tx-pays-order", "EVM: a token to the intruder", "unpaid", func(c *lyingService) asked {
			return c.tokens(func(p *evmPayload) { p.Data = callOf("a9059cbb", mallorys20, 5) })
		}},
		{"tx-pays-order", "EVM: more of a token than is ordered", "unpaid", func(c *lyingService) asked {
			return c.tokens(func(p *evmPayload) { p.Data = callOf("a9059cbb", customers20, 6) })
		}},
		{"fee", "EVM: gas for more than max_fee", "fee", func(c *lyingService) asked {
			return c.polygons(func(p *evmPayload) { p.Gas, p.MaxFee = 30_000_000, big.NewInt(3000*gwei) })
		}},
		{"fee", "EVM: a price above max_fee_rate", "fee-rate", func(c *lyingService) asked {
			return c.polygons(func(p *evmPayload) { p.Gas, p.MaxFee = 21_000, big.NewInt(20_000*gwei) })
		}},
		{"tx-pays-order", "EVM: the address of another key as the payer", "wrong_source", func(c *lyingService) asked {
			a := c.polygons(func(*evmPayload) {})
			a.order.From.Key = c.deposit(a.id).Key
			return a
		}},
		{"quota", "EVM: gas for a deposit address that is no gas", "top-up", func(c *lyingService) asked {
			home := c.deposit(bursar.Polygon)
			a := c.polygons(func(p *evmPayload) {
				p.To, p.Value = unhex(home.Base[2:]), new(big.Int).Mul(big.NewInt(50), big.NewInt(gwei*gwei))
			})
			paid, err := bursar.AmountFromBig(new(big.Int).Mul(big.NewInt(50), big.NewInt(gwei*gwei)))
			c.must(err)
			a.order.Kind, a.order.Change = chain.KindGasTopUp, home
			a.order.Payments = []chain.Payment{{Address: bursar.Address{Base: home.Base}, Amount: paid}}
			return a
		}},
	}
	for name, data := range map[string][]byte{
		"approve, of everything to the intruder": callOf("095ea7b3", mallorys20, 1<<63),
		"increaseAllowance":                      callOf("39509351", mallorys20, 1<<63),
		"transferFrom":                           append(callOf("23b872dd", customers20, 5), make([]byte, 32)...),
		"setApprovalForAll":                      callOf("a22cb465", mallorys20, 1),
		"transferOwnership":                      callOf("f2fde38b", mallorys20, 0)[:36],
		"a delegatecall through execTransaction": append(unhex("6a761202"), make([]byte, 320)...),
		"transfer with something behind it":      append(callOf("a9059cbb", customers20, 5), 0),
	} {
		list = append(list, attack{"shape", "EVM: " + name, "unreadable", func(c *lyingService) asked {
			return c.tokens(func(p *evmPayload) { p.Data = data })
		}})
	}
	return list
}
