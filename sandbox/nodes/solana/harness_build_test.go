package solana

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// holder has a key.
type holder struct {
	ed25519.PrivateKey
	key
}

func newHolder(name string) holder {
	seed := sha256.Sum256([]byte(name))
	private := ed25519.NewKeyFromSeed(seed[:])
	return holder{private, key(private.Public().(ed25519.PublicKey))}
}

// use is an account of an instruction and its permissions.
type use struct {
	key
	signs, writes bool
}

// doing is an instruction to build.
type doing struct {
	program key
	uses    []use
	data    []byte
}

func transferOfLamports(from, to key, lamports uint64) doing {
	return doing{systemProgram(), []use{{from, true, true}, {to, false, true}},
		append(le32(transferCode), le64(lamports)...)}
}

func budgetDoing(data ...byte) doing { return doing{program: budgetProgram(), data: data} }

func unitLimit(units uint32) doing { return budgetDoing(append([]byte{2}, le32(units)...)...) }

func unitPrice(price uint64) doing { return budgetDoing(append([]byte{3}, le64(price)...)...) }

// making is a transaction to build: the first signer pays.
type making struct {
	payer     holder
	others    []holder // further signers
	blockhash key
	versioned bool
	table     *key // lookup table of the receivers, at the indexes in tabled
	tabled    []key
	doings    []doing
}

// raw orders the accounts as wallets do (payer, signers, writable, the rest), signs and encodes the transaction.
func (m making) raw() []byte {
	uses := []use{{m.payer.key, true, true}}
	join := func(u use) {
		if i := slices.IndexFunc(uses, func(x use) bool { return x.key == u.key }); i >= 0 {
			uses[i].signs, uses[i].writes = uses[i].signs || u.signs, uses[i].writes || u.writes
			return
		}
		uses = append(uses, u)
	}
	for _, d := range m.doings {
		for _, u := range d.uses {
			join(u)
		}
		join(use{key: d.program})
	}
	rank := func(u use) int {
		switch {
		case u.key == m.payer.key:
			return 0
		case u.signs && u.writes:
			return 1
		case u.signs:
			return 2
		case u.writes:
			return 3
		}
		return 4
	}
	slices.SortStableFunc(uses, func(a, b use) int { return rank(a) - rank(b) })
	var loaded []key
	if m.table != nil {
		uses = slices.DeleteFunc(uses, func(u use) bool {
			from := rank(u) == 3 && slices.Contains(m.tabled, u.key)
			if from {
				loaded = append(loaded, u.key)
			}
			return from
		})
	}
	return m.sign(m.message(uses, loaded), uses)
}

func (m making) message(uses []use, loaded []key) []byte {
	var out []byte
	if m.versioned || m.table != nil {
		out = append(out, 0x80)
	}
	count := func(want func(u use) bool) (n byte) {
		for _, u := range uses {
			if want(u) {
				n++
			}
		}
		return n
	}
	out = append(out, count(func(u use) bool { return u.signs }), count(func(u use) bool { return u.signs && !u.writes }),
		count(func(u use) bool { return !u.signs && !u.writes }))
	out = appendCount(out, len(uses))
	var all []key
	for _, u := range uses {
		all = append(all, u.key)
		out = append(out, u.key[:]...)
	}
	all = append(all, loaded...)
	out = append(out, m.blockhash[:]...)
	out = appendCount(out, len(m.doings))
	for _, d := range m.doings {
		out = append(out, byte(slices.Index(all, d.program)))
		out = appendCount(out, len(d.uses))
		for _, u := range d.uses {
			out = append(out, byte(slices.Index(all, u.key)))
		}
		out = appendBytes(out, d.data)
	}
	if m.table != nil {
		out = append(out, 1)
		out = append(out, m.table[:]...)
		out = appendCount(out, len(loaded))
		for _, k := range loaded {
			out = append(out, byte(slices.Index(m.tabled, k)))
		}
		return append(out, 0)
	}
	if m.versioned {
		out = append(out, 0)
	}
	return out
}

// sign signs for every known signer and leaves the signatures of the others empty.
func (m making) sign(message []byte, uses []use) []byte {
	var signers []use
	for _, u := range uses {
		if u.signs {
			signers = append(signers, u)
		}
	}
	out := appendCount(nil, len(signers))
	for _, u := range signers {
		signed := make([]byte, ed25519.SignatureSize)
		for _, h := range append([]holder{m.payer}, m.others...) {
			if h.key == u.key {
				signed = ed25519.Sign(h.PrivateKey, message)
			}
		}
		out = append(out, signed...)
	}
	return append(out, message...)
}

// String describes what a transaction does, for test failures.
func (m making) String() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "payer %.6s, version 0 %t, table %t:", m.payer.key, m.versioned, m.table != nil)
	for _, d := range m.doings {
		fmt.Fprintf(&b, " %.6s(", d.program)
		for _, u := range d.uses {
			fmt.Fprintf(&b, "%.6s signs %t writes %t, ", u.key, u.signs, u.writes)
		}
		if len(d.data) == 12 {
			fmt.Fprintf(&b, "%d ", binary.LittleEndian.Uint64(d.data[4:]))
		}
		fmt.Fprintf(&b, "%x)", d.data)
	}
	return b.String()
}
