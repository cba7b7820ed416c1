package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"golang.org/x/crypto/ripemd160" //nolint:staticcheck // the ledger's hash of accounts

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// solanaStep is an instruction: the number of its program, those of its accounts, and data.
type solanaStep struct {
	program  byte
	accounts []byte
	data     []byte
}

// sols is an honest payment of a thousandth of a SOL, with other instructions instead of or around it.
func (c *lyingService) sols(version []byte, keys [][]byte, steps []solanaStep, tail ...byte) asked {
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
	with := func(steps ...solanaStep) func(*lyingService) asked {
		return func(c *lyingService) asked { return c.sols(nil, [][]byte{solanaNonce}, steps) }
	}
	return []attack{
		{"shape", "Solana: hands a durable nonce to the intruder (AuthorizeNonceAccount)", "unreadable",
			with(system(7, solanaCustomer...))},
		{"shape", "Solana: a durable nonce, so that it never expires (AdvanceNonceAccount)", "unreadable", with(system(4))},
		{"shape", "Solana: hands the account to a program (Assign)", "unreadable", with(system(1, solanaToken...))},
		{"shape", "Solana: creates an account", "unreadable", with(system(0, make([]byte, 48)...))},
		{"shape", "Solana: a token account for the intruder (SetAuthority)", "unreadable", func(c *lyingService) asked {
			return c.sols(nil, [][]byte{solanaNonce, solanaToken}, []solanaStep{{3, []byte{2, 0}, append([]byte{6, 2, 1},
				solanaCustomer...)}})
		}},
		{"shape", "Solana: approves the intruder for a token", "unreadable", func(c *lyingService) asked {
			return c.sols(nil, [][]byte{solanaNonce, solanaToken}, []solanaStep{{3, []byte{2, 1, 0},
				binary.LittleEndian.AppendUint64([]byte{4}, 1<<40)}})
		}},
		{"shape", "Solana: addresses from a table, which the signer cannot see", "unreadable", func(c *lyingService) asked {
			return c.sols([]byte{0x80}, nil, nil, append(append([]byte{1}, solanaNonce...), 1, 0, 0)...)
		}},
		{"tx-pays-order", "Solana: the intruder in the customer's place", "unpaid", func(c *lyingService) asked {
			a := c.sols(nil, nil, nil)
			a.draft.Bytes = bytes.Replace(a.draft.Bytes, solanaCustomer, solanaNonce, 1)
			return a
		}},
	}
}

// ripples is an honest payment of one XRP that was changed, before its encoding or after it.
func (c *lyingService) ripples(change func(raw []byte) []byte) asked {
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
	kind := func(n byte) func(*lyingService) asked {
		return func(c *lyingService) asked {
			return c.ripples(func(raw []byte) []byte { raw[2] = n; return raw })
		}
	}
	return []attack{
		{"shape", "XRPL: another key for the account (SetRegularKey)", "unreadable", kind(5)},
		{"shape", "XRPL: other signers for the account (SignerListSet)", "unreadable", kind(12)},
		{"shape", "XRPL: other flags for the account (AccountSet)", "unreadable", kind(3)},
		{"shape", "XRPL: ends the account (AccountDelete)", "unreadable", kind(21)},
		{"shape", "XRPL: a check that is cashed later", "unreadable", kind(16)},
		{"shape", "XRPL: a payment that may deliver less (tfPartialPayment)", "unreadable", func(c *lyingService) asked {
			return c.ripples(func(raw []byte) []byte { raw[5] = 2; return raw })
		}},
		{"shape", "XRPL: a payment without an expiry", "unreadable", func(c *lyingService) asked {
			return c.ripples(func(raw []byte) []byte { return append(raw[:13:13], raw[19:]...) })
		}},
		{"shape", "XRPL: a memo behind the payment", "unreadable", func(c *lyingService) asked {
			return c.ripples(func(raw []byte) []byte { return append(raw, 0xf9, 0xea, 0x7d, 1, 'x', 0xe1, 0xf1) })
		}},
		{"tx-pays-order", "XRPL: the intruder in the customer's place", "unpaid", func(c *lyingService) asked {
			return c.ripples(func(raw []byte) []byte { return append(raw[:len(raw)-20], mallorys20...) })
		}},
		{"fee", "XRPL: ten XRP as a fee", "fee", func(c *lyingService) asked {
			return c.ripples(func(raw []byte) []byte {
				i := bytes.IndexByte(raw[20:], 0x68) + 21
				binary.BigEndian.PutUint64(raw[i:], 1<<62|10_000_000)
				return raw
			})
		}},
	}
}
