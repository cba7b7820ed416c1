package signer

import (
	"crypto/hmac"
	"crypto/sha256"
)

// BooksKey returns the 32 bytes that seal the ledger's entries and the withdrawals: constant, and stored in no
// database. They are derived from the root that a service without the seed has too.
func (k *Keys) BooksKey() []byte { return booksKey(k.secret.open().webhook[:]) }

// BooksKey is Keys.BooksKey.
func (s *WatchOnly) BooksKey() []byte { return booksKey(s.root.open()[:]) }

func booksKey(root []byte) []byte {
	mac := hmac.New(sha256.New, root)
	mac.Write([]byte("bursar books key v1"))
	mac.Write([]byte{1}) // as webhookSecret: one block of HKDF-Expand
	return mac.Sum(nil)
}
