package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/big"

	"github.com/ethereum/go-ethereum/rlp"
	"golang.org/x/crypto/ripemd160" //nolint:staticcheck // the ledger's hash of accounts

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
func (c *lyingCore) polygons(change func(*evmPayload)) asked {
	c.t.Helper()
	p := &evmPayload{ChainID: 137, Nonce: uint64(made.Add(1)), Tip: big.NewInt(30 * gwei), MaxFee: big.NewInt(100 * gwei),
		Gas: 100_000, To: customers20, Value: big.NewInt(gwei * gwei), kind: 2}
	order := c.withdrawal(bursar.Polygon, to(c.base(bursar.Polygon, "0x"+hex.EncodeToString(customers20)), gwei*gwei))
	change(p)
	return c.evm(p, order)
}

// tokens is polygons with an honest payment of a token.
func (c *lyingCore) tokens(change func(*evmPayload)) asked {
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

func (c *lyingCore) base(id bursar.ChainID, text string) string {
	c.t.Helper()
	address, err := c.chains[id].ParseAddress(text)
	c.must(err)
	return address.Base
}

// evm encodes a transaction as the service does.
func (c *lyingCore) evm(p *evmPayload, order chain.TxRequest) asked {
	c.t.Helper()
	body, err := rlp.EncodeToBytes([]any{p.ChainID, p.Nonce, p.Tip, p.MaxFee, p.Gas, p.To, p.Value, p.Data, p.Access})
	c.must(err)
	return c.envelope(bursar.Polygon, append(append([]byte{p.kind}, body...), p.after...), order,
		new(big.Int).Mul(p.MaxFee, new(big.Int).SetUint64(p.Gas)))
}

// envelope is the stored form of EVM chains and, without an address, of Tron.
func (c *lyingCore) envelope(id bursar.ChainID, payload []byte, order chain.TxRequest, fee *big.Int) asked {
	c.t.Helper()
	key := order.From.Key
	fields := []any{uint64(1), string(key.Family), key.Branch, key.Index}
	if id != bursar.Tron {
		fields = append(fields, unhex(order.From.Base[2:]))
	}
	raw, err := rlp.EncodeToBytes(append(fields, payload))
	c.must(err)
	most, err := bursar.AmountFromBig(fee)
	c.must(err)
	return asked{id, order, chain.UnsignedTx{Bytes: raw, Fee: most, Reservations: []string{"x"}}}
}

func attacksOnEVM() []attack {
	list := []attack{
		{"shape", "EVM: creates a contract", "unreadable", func(c *lyingCore) asked {
			return c.polygons(func(p *evmPayload) { p.To, p.Data = nil, unhex("6000600055") })
		}},
		{"shape", "EVM: hands the account to a contract (EIP-7702)", "unreadable", func(c *lyingCore) asked {
			return c.polygons(func(p *evmPayload) { p.kind = 4 })
		}},
		{"shape", "EVM: a legacy transaction, valid on every chain", "unreadable", func(c *lyingCore) asked {
			return c.polygons(func(p *evmPayload) { p.kind = 0xe8 })
		}},
		{"shape", "EVM: a signed message (EIP-191, personal_sign)", "unreadable", func(c *lyingCore) asked {
			a := c.polygons(func(*evmPayload) {})
			return c.envelope(a.id, []byte("\x19Ethereum Signed Message:\n5hello"), a.order, big.NewInt(1))
		}},
		{"shape", "EVM: typed data (EIP-712), as a permit is", "unreadable", func(c *lyingCore) asked {
			a := c.polygons(func(*evmPayload) {})
			return c.envelope(a.id, append([]byte{0x19, 1}, make([]byte, 64)...), a.order, big.NewInt(1))
		}},
		{"shape", "EVM: value sent along with a token", "unreadable", func(c *lyingCore) asked {
			return c.tokens(func(p *evmPayload) { p.Value = big.NewInt(1) })
		}},
		{"shape", "EVM: a contract that is no listed token", "unreadable", func(c *lyingCore) asked {
			return c.tokens(func(p *evmPayload) { p.To = mallorys20 })
		}},
		{"tx-readable", "EVM: the transaction of another chain", "unreadable", func(c *lyingCore) asked {
			return c.polygons(func(p *evmPayload) { p.ChainID = 1 })
		}},
		{"tx-readable", "EVM: bytes behind the transaction", "unreadable", func(c *lyingCore) asked {
			return c.polygons(func(p *evmPayload) { p.after = []byte{0} })
		}},
		{"tx-pays-order", "EVM: the intruder in the customer's place", "unpaid", func(c *lyingCore) asked {
			return c.polygons(func(p *evmPayload) { p.To = mallorys20 })
		}},
		{"tx-pays-order", "EVM: a token to the intruder", "unpaid", func(c *lyingCore) asked {
			return c.tokens(func(p *evmPayload) { p.Data = callOf("a9059cbb", mallorys20, 5) })
		}},
		{"tx-pays-order", "EVM: more of a token than is ordered", "unpaid", func(c *lyingCore) asked {
			return c.tokens(func(p *evmPayload) { p.Data = callOf("a9059cbb", customers20, 6) })
		}},
		{"fee", "EVM: gas for more than max_fee", "fee", func(c *lyingCore) asked {
			return c.polygons(func(p *evmPayload) { p.Gas, p.MaxFee = 30_000_000, big.NewInt(3000*gwei) })
		}},
		{"fee", "EVM: a price above max_fee_rate", "fee-rate", func(c *lyingCore) asked {
			return c.polygons(func(p *evmPayload) { p.Gas, p.MaxFee = 21_000, big.NewInt(20_000*gwei) })
		}},
		{"tx-pays-order", "EVM: the address of another key as the payer", "wrong_source", func(c *lyingCore) asked {
			a := c.polygons(func(*evmPayload) {})
			a.order.From.Key = c.deposit(a.id).Key
			return a
		}},
		{"quota", "EVM: gas for a deposit address that is no gas", "top-up", func(c *lyingCore) asked {
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
		list = append(list, attack{"shape", "EVM: " + name, "unreadable", func(c *lyingCore) asked {
			return c.tokens(func(p *evmPayload) { p.Data = data })
		}})
	}
	return list
}

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
func (c *lyingCore) trons(change func(x *tronTx, owner []byte)) asked {
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
func (c *lyingCore) tronTokens(data []byte, change func(*tronTx)) asked {
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
	other := func(kind uint64, name string, body func(owner []byte) protobuf) func(*lyingCore) asked {
		return func(c *lyingCore) asked {
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
		{"shape", "Tron: with another permission", "unreadable", func(c *lyingCore) asked {
			return c.trons(func(x *tronTx, _ []byte) { x.permission = 2 })
		}},
		{"shape", "Tron: with a memo, which costs TRX", "unreadable", func(c *lyingCore) asked {
			return c.trons(func(x *tronTx, _ []byte) { x.memo = []byte("hello") })
		}},
		{"shape", "Tron: approve, of everything to the intruder", "unreadable", func(c *lyingCore) asked {
			return c.tronTokens(callOf("095ea7b3", mallorys20, 1<<63), func(*tronTx) {})
		}},
		{"shape", "Tron: a call with TRX sent along", "unreadable", func(c *lyingCore) asked {
			return c.tronTokens(callOf("a9059cbb", customer, 5), func(x *tronTx) { x.body = x.body.number(3, 1_000_000) })
		}},
		{"fee", "Tron: a fee limit above max_fee", "fee", func(c *lyingCore) asked {
			return c.tronTokens(callOf("a9059cbb", customer, 5), func(x *tronTx) { x.limit = 101_000_000 })
		}},
		{"tx-pays-order", "Tron: USDT to the intruder", "unpaid", func(c *lyingCore) asked {
			return c.tronTokens(callOf("a9059cbb", mallorys20, 5), func(*tronTx) {})
		}},
	}
}

// solanaStep is an instruction: the number of its program, those of its accounts, and data.
type solanaStep struct {
	program  byte
	accounts []byte
	data     []byte
}

// sols is an honest payment of a thousandth of a SOL, with other instructions instead of or around it.
func (c *lyingCore) sols(version []byte, keys [][]byte, steps []solanaStep, tail ...byte) asked {
	c.t.Helper()
	hot := c.hot(bursar.Solana)
	payer := from58(hot.Base)
	all := append([][]byte{payer, solanaCustomer}, keys...)
	budget := from58("ComputeBudget111111111111111111111111111111")
	all = append(all, budget, make([]byte, 32)) // the system program
	b, s := byte(len(all)-2), byte(len(all)-1)
	data := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, 2), 1_000_000)
	list := []solanaStep{
		{b, nil, binary.LittleEndian.AppendUint64([]byte{3}, 1000)},
		{b, nil, binary.LittleEndian.AppendUint32([]byte{2}, 1500)},
		{s, []byte{0, 1}, data},
	}
	for _, extra := range steps {
		if extra.program == 0 {
			extra.program = s
		}
		list = append([]solanaStep{extra}, list...)
	}
	message := append(append([]byte{}, version...), 1, 0, byte(2), byte(len(all)))
	for _, k := range all {
		message = append(message, k...)
	}
	hash := sha256.Sum256(binary.BigEndian.AppendUint32(nil, made.Add(1)))
	message = append(append(message, hash[:]...), byte(len(list)))
	for _, one := range list {
		message = append(append(message, one.program, byte(len(one.accounts))), one.accounts...)
		message = append(append(message, byte(len(one.data))), one.data...)
	}
	message = append(message, tail...)
	raw := binary.LittleEndian.AppendUint32([]byte{1}, hot.Key.Branch)
	raw = binary.LittleEndian.AppendUint32(raw, hot.Key.Index)
	raw = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(raw, 100), 250)
	order := c.withdrawal(bursar.Solana, to(to58(solanaCustomer), 1_000_000))
	return asked{bursar.Solana, order, chain.UnsignedTx{Bytes: append(raw, message...), Fee: bursar.Units(10_000),
		Reservations: []string{"tx/1"}}}
}

var (
	solanaCustomer = from58("4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T")
	solanaNonce    = bytes.Repeat([]byte{7}, 32)
	solanaToken    = from58("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
)

func attacksOnSolana() []attack {
	system := func(code uint32, more ...byte) solanaStep {
		return solanaStep{0, []byte{2, 0}, append(binary.LittleEndian.AppendUint32(nil, code), more...)}
	}
	with := func(steps ...solanaStep) func(*lyingCore) asked {
		return func(c *lyingCore) asked { return c.sols(nil, [][]byte{solanaNonce}, steps) }
	}
	return []attack{
		{"shape", "Solana: hands a durable nonce to the intruder (AuthorizeNonceAccount)", "unreadable",
			with(system(7, solanaCustomer...))},
		{"shape", "Solana: a durable nonce, so that it never expires (AdvanceNonceAccount)", "unreadable", with(system(4))},
		{"shape", "Solana: hands the account to a program (Assign)", "unreadable", with(system(1, solanaToken...))},
		{"shape", "Solana: creates an account", "unreadable", with(system(0, make([]byte, 48)...))},
		{"shape", "Solana: a token account for the intruder (SetAuthority)", "unreadable", func(c *lyingCore) asked {
			return c.sols(nil, [][]byte{solanaNonce, solanaToken}, []solanaStep{{3, []byte{2, 0}, append([]byte{6, 2, 1},
				solanaCustomer...)}})
		}},
		{"shape", "Solana: approves the intruder for a token", "unreadable", func(c *lyingCore) asked {
			return c.sols(nil, [][]byte{solanaNonce, solanaToken}, []solanaStep{{3, []byte{2, 1, 0},
				binary.LittleEndian.AppendUint64([]byte{4}, 1<<40)}})
		}},
		{"shape", "Solana: addresses from a table, which the signer cannot see", "unreadable", func(c *lyingCore) asked {
			return c.sols([]byte{0x80}, nil, nil, append(append([]byte{1}, solanaNonce...), 1, 0, 0)...)
		}},
		{"tx-pays-order", "Solana: the intruder in the customer's place", "unpaid", func(c *lyingCore) asked {
			a := c.sols(nil, nil, nil)
			a.draft.Bytes = bytes.Replace(a.draft.Bytes, solanaCustomer, solanaNonce, 1)
			return a
		}},
	}
}

// ripples is an honest payment of one XRP that was changed, before its encoding or after it.
func (c *lyingCore) ripples(change func(raw []byte) []byte) asked {
	c.t.Helper()
	hot := c.hot(bursar.XRPL)
	public, err := c.keys.Public(hot.Key)
	c.must(err)
	raw := []byte{0x12, 0, 0, 0x22, 0x80, 0, 0, 0, 0x24}
	raw = binary.BigEndian.AppendUint32(raw, made.Add(1)+100)
	raw = append(raw, 0x20, 0x1b, 0, 0, 3, 0xe8, 0x61)
	raw = append(binary.BigEndian.AppendUint64(raw, 1<<62|1_000_000), 0x68)
	raw = append(binary.BigEndian.AppendUint64(raw, 1<<62|12), 0x73, 33)
	raw = append(append(raw, public...), 0x81, 20)
	raw = append(append(raw, accountOf(public)...), 0x83, 20)
	raw = change(append(raw, accountOf([]byte("a customer"))...))
	head := []byte{1}
	head = binary.BigEndian.AppendUint32(head, hot.Key.Branch)
	head = binary.BigEndian.AppendUint32(head, hot.Key.Index)
	head = append(binary.BigEndian.AppendUint32(head, 980), byte(len(hot.Key.Family)))
	head = append(head, hot.Key.Family...)
	paid := to(c.base(bursar.XRPL, rippleBase(accountOf([]byte("a customer")))), 1_000_000)
	order := c.withdrawal(bursar.XRPL, paid)
	return asked{bursar.XRPL, order, chain.UnsignedTx{Bytes: append(head, raw...), Fee: bursar.Units(12),
		Reservations: []string{"x"}}}
}

// accountOf is the account of a key: RIPEMD-160 of SHA-256.
func accountOf(public []byte) []byte {
	inner, outer := sha256.Sum256(public), ripemd160.New()
	outer.Write(inner[:])
	return outer.Sum(nil)
}

// rippleBase writes an account in the ledger's alphabet of base 58.
func rippleBase(account []byte) string {
	const ripples = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
	text := []byte(checked58(0, account))
	for i, letter := range text {
		text[i] = ripples[bytes.IndexByte([]byte(alphabet), letter)]
	}
	return string(text)
}

func attacksOnXRPL() []attack {
	kind := func(n byte) func(*lyingCore) asked {
		return func(c *lyingCore) asked {
			return c.ripples(func(raw []byte) []byte { raw[2] = n; return raw })
		}
	}
	return []attack{
		{"shape", "XRPL: another key for the account (SetRegularKey)", "unreadable", kind(5)},
		{"shape", "XRPL: other signers for the account (SignerListSet)", "unreadable", kind(12)},
		{"shape", "XRPL: other flags for the account (AccountSet)", "unreadable", kind(3)},
		{"shape", "XRPL: ends the account (AccountDelete)", "unreadable", kind(21)},
		{"shape", "XRPL: a check that is cashed later", "unreadable", kind(16)},
		{"shape", "XRPL: a payment that may deliver less (tfPartialPayment)", "unreadable", func(c *lyingCore) asked {
			return c.ripples(func(raw []byte) []byte { raw[5] = 2; return raw })
		}},
		{"shape", "XRPL: a payment without an expiry", "unreadable", func(c *lyingCore) asked {
			return c.ripples(func(raw []byte) []byte { return append(raw[:13:13], raw[19:]...) })
		}},
		{"shape", "XRPL: a memo behind the payment", "unreadable", func(c *lyingCore) asked {
			return c.ripples(func(raw []byte) []byte { return append(raw, 0xf9, 0xea, 0x7d, 1, 'x', 0xe1, 0xf1) })
		}},
		{"tx-pays-order", "XRPL: the intruder in the customer's place", "unpaid", func(c *lyingCore) asked {
			return c.ripples(func(raw []byte) []byte { return append(raw[:len(raw)-20], mallorys20...) })
		}},
		{"fee", "XRPL: ten XRP as a fee", "fee", func(c *lyingCore) asked {
			return c.ripples(func(raw []byte) []byte {
				i := bytes.IndexByte(raw[20:], 0x68) + 21
				binary.BigEndian.PutUint64(raw[i:], 1<<62|10_000_000)
				return raw
			})
		}},
	}
}
