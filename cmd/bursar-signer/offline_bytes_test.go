package main

import (
	"bytes"
	"encoding/binary"
	"strings"
	"time"
)

// lastLedger is the last one of the payments of rippled.
const lastLedger = 0x90000

// rippled is a payment of five XRP by an encoder of its own, with a type, flags and fee, and more behind it.
func rippled(from, to []byte, kind, flags byte, fee uint64, more ...byte) []byte {
	raw := []byte{0x12, 0, kind, 0x22, 0x80, flags, 0, 0, 0x24, 0, 0, 0, 7, 0x20, 0x1b, 0, 9, 0, 0, 0x61}
	raw = append(binary.BigEndian.AppendUint64(raw, 1<<62|5_000_000), 0x68)
	raw = append(binary.BigEndian.AppendUint64(raw, 1<<62|fee), 0x73, 0, 0x81, 20)
	return append(append(append(append(raw, from...), 0x83, 20), to...), more...)
}

// ripples58 reads an account in the ledger's alphabet of base 58.
func ripples58(base string) []byte {
	const ripples = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
	text := []byte(base)
	for i, letter := range text {
		text[i] = alphabet[strings.IndexByte(ripples, letter)]
	}
	return from58(string(text))[1:21]
}

// tronned is a payment of five TRX by an encoder of its own, after a change.
func tronned(owner, to []byte, ends time.Time, change func(x *tronTx)) []byte {
	x := &tronTx{kind: 1, name: "TransferContract",
		body: protobuf(nil).bytes(1, owner).bytes(2, to).number(3, 5_000_000)}
	change(x)
	contract := protobuf(nil).number(1, x.kind).bytes(2,
		protobuf(nil).bytes(1, []byte("type.googleapis.com/protocol."+x.name)).bytes(2, x.body))
	if x.permission > 0 {
		contract = contract.number(5, x.permission)
	}
	at := uint64(ends.UnixMilli())
	raw := protobuf(nil).bytes(1, []byte{1, 2}).bytes(4, []byte("refblock")).number(8, at).bytes(11, contract).
		number(14, at-1000)
	if x.limit > 0 {
		raw = raw.number(18, x.limit)
	}
	return protobuf(nil).bytes(1, raw)
}

// solanaTx is an unsigned payment of five SOL by an encoder of its own, after a change of its keys and its first
// instruction.
func solanaTx(own, nonce, to []byte, first []byte, price uint64) []byte {
	sysvar := from58("SysvarRecentB1ockHashes11111111111111111111")
	budget := from58("ComputeBudget111111111111111111111111111111")
	message := []byte{0x80, 1, 0, 3, 6}
	for _, key := range [][]byte{own, nonce, to, sysvar, budget, make([]byte, 32), bytes.Repeat([]byte{9}, 32)} {
		message = append(message, key...) // the last one is the nonce
	}
	step := func(program byte, accounts, data []byte) {
		message = append(append(append(message, program, byte(len(accounts))), accounts...), byte(len(data)))
		message = append(message, data...)
	}
	message = append(message, 4)
	step(5, []byte{1, 3, 0}, first)
	step(4, nil, binary.LittleEndian.AppendUint64([]byte{3}, price))
	step(4, nil, binary.LittleEndian.AppendUint32([]byte{2}, 2000))
	step(5, []byte{0, 2}, binary.LittleEndian.AppendUint64([]byte{2, 0, 0, 0}, 5_000_000_000))
	return append(append(append([]byte{1}, make([]byte, 64)...), message...), 0)
}
