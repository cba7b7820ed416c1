package solana

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"
)

// NewNonceAccount makes a nonce account with an authority by a transaction from the faucet, as `solana
// create-nonce-account` does, and returns its address. It waits for Mine. An authority has one: the account that was
// made for it before is returned again, whatever has become of it.
func (n *Node) NewNonceAccount(authority string) (string, error) {
	by, err := parseKey(authority)
	if err != nil {
		return "", fmt.Errorf("make a nonce account for %.60q: %w", authority, err)
	}
	seed := sha256.Sum256(append([]byte("bursar sandbox nonce account"), by[:]...))
	own := ed25519.NewKeyFromSeed(seed[:])
	at := key(own.Public().(ed25519.PublicKey))
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.journal.Err(); err != nil {
		return "", err
	}
	if n.bank.accounts[at].lamports > 0 {
		return at.String(), nil
	}
	t, err := parseTransaction(nonceCreation(own, at, by, n.bank.at(finalized).hash))
	if err != nil {
		return "", fmt.Errorf("make a nonce account for %s: %w", by, err)
	}
	n.pool.add(t)
	return at.String(), n.record(step{Tx: t.raw})
}

// nonceCreation encodes the creation and the initialization of an account, signed by the faucet and the account.
func nonceCreation(own ed25519.PrivateKey, at, authority, blockhash key) []byte {
	keys := []key{faucetKey(), at, recentHashes(), rentSysvar(), systemProgram()}
	owner := systemProgram()
	message := append([]byte{2, 0, 3}, byte(len(keys)))
	for _, k := range keys {
		message = append(message, k[:]...)
	}
	message = append(append(message, blockhash[:]...), 2)
	message = appendBytes(append(message, 4, 2, 0, 1),
		slices.Concat(le32(createCode), le64(rentMinimum(nonceSize)), le64(nonceSize), owner[:]))
	message = appendBytes(append(message, 4, 3, 1, 2, 3), append(le32(initializeCode), authority[:]...))
	raw := append([]byte{2}, ed25519.Sign(faucetPrivate(), message)...)
	return slices.Concat(raw, ed25519.Sign(own, message), message)
}
