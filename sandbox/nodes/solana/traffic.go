package solana

import (
	"crypto/ed25519"
	"encoding/binary"
	"slices"
)

// What a faucet transaction of version 1 reserves: enough for a memo and a few transfers.
const (
	faucetUnits  = 200_000
	faucetLoaded = 4 << 20 // the memo program's code is among the loaded data
)

// signV1 encodes the transaction in version 1.
func (d *faucetTx) signV1(blockhash key) []byte {
	keys := []key{faucetKey()}
	for _, o := range d.paid {
		k, _ := parseKey(o.Address) // pay has checked it
		keys = appendNew(keys, k)
	}
	keys = append(keys, systemProgram(), memoProgram())
	steps := []instruction{{program: byte(len(keys) - 1), data: memo()}}
	for _, o := range d.paid {
		k, _ := parseKey(o.Address)
		steps = append(steps, instruction{byte(len(keys) - 2), []byte{0, byte(slices.Index(keys, k))},
			append(le32(transferCode), le64(o.Lamports)...)})
	}
	message := []byte{v1Prefix, 1, 0, 2}
	message = append(message, le32(maskUnits|maskLoaded)...)
	message = append(message, blockhash[:]...)
	message = append(message, byte(len(steps)), byte(len(keys)))
	for _, k := range keys {
		message = append(message, k[:]...)
	}
	message = append(message, slices.Concat(le32(faucetUnits), le32(faucetLoaded))...)
	for _, i := range steps {
		message = append(message, i.program, byte(len(i.accounts)))
		message = binary.LittleEndian.AppendUint16(message, uint16(len(i.data)))
	}
	for _, i := range steps {
		message = append(append(message, i.accounts...), i.data...)
	}
	return append(message, ed25519.Sign(faucetPrivate(), message)...)
}

// traffic is what every block of a busy chain also has: a transaction of version 1 that concerns no wallet.
func (n *Node) traffic() (*transaction, error) {
	return parseTransaction((&faucetTx{v1: true}).sign(n.bank.at(finalized).hash))
}
