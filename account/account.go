// Package account creates accounts, issues their API keys and authenticates requests.
//
// It owns keys and secrets: 256 random bits each, shown once and stored as a SHA-256 hash only. So many random bits
// cannot be guessed, so a slow hash would cost every request and protect nothing. It never stores or logs a key or a
// secret. Its invariants: a key is looked up in the database for each request, so that a revoked or expired key is
// invalid from that moment on in every replica; and the reason why a key was refused is never shown.
package account

import (
	"context"
	"crypto/rand"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// MaxName is the maximum length of an account's name in bytes.
const MaxName = 200

// Service creates accounts and keys, and authenticates. It is safe for concurrent use.
type Service struct {
	db     *store.DB
	ids    *bursar.IDs
	random io.Reader
	keys   *store.Gather[[32]byte, bursar.APIKey]
	owners owners

	withBalances, withWallets *store.Gather[lookUp, looked] // keys, with what is read ahead
}

// NewService returns a service that makes keys from the system's randomness.
func NewService(db *store.DB, ids *bursar.IDs) *Service {
	keys := store.NewGather(db, func(ctx context.Context, tx *store.Tx, hashes [][32]byte) (
		map[[32]byte]bursar.APIKey, error) {
		return tx.APIKeys().ByHashes(ctx, hashes)
	})
	return &Service{db: db, ids: ids, random: rand.Reader, keys: keys, withBalances: store.NewGather(db, lookUpAll),
		withWallets: store.NewGather(db, lookUpAll)}
}

// DrawFrom makes the service read another source of randomness than the system's. Only a simulation may do so: anyone
// who knows the source knows the keys.
func (s *Service) DrawFrom(random io.Reader) { s.random = random }

// Create makes an account with a first key of all scopes, and with a secret where withSecret is set. The error is
// invalid_request for a name that is empty, longer than MaxName bytes or not plain text.
func (s *Service) Create(ctx context.Context, name string, withSecret bool) (Issued, error) {
	return s.CreateWith(ctx, name, withSecret, Settings{})
}

// CreateWith is Create for an account with initial settings. The error may also be invalid_webhook.
func (s *Service) CreateWith(ctx context.Context, name string, withSecret bool, settings Settings) (Issued, error) {
	if err := checkName(name); err != nil {
		return Issued{}, err
	}
	a := bursar.Account{ID: s.ids.Next(), Name: name, WebhookGeneration: 1}
	if err := settings.apply(&a); err != nil {
		return Issued{}, err
	}
	key, issued, err := s.draw(Grant{Account: a.ID, Scopes: AllScopes(), WithSecret: withSecret})
	if err != nil {
		return Issued{}, err
	}
	err = s.db.Do(ctx, func(tx *store.Tx) error {
		a.CreatedAt = tx.Now()
		if err := tx.Accounts().Insert(ctx, a); err != nil {
			return err
		}
		key.CreatedAt = tx.Now()
		return tx.APIKeys().Insert(ctx, key)
	})
	if err != nil {
		return Issued{}, err
	}
	return issued, nil
}

func checkName(name string) error {
	if strings.TrimSpace(name) == "" || len(name) > MaxName {
		return bursar.RefuseField(bursar.CodeInvalidRequest, "name", "an account's name has 1 to %d bytes", MaxName)
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return bursar.RefuseField(bursar.CodeInvalidRequest, "name",
			"an account's name is plain text without control characters")
	}
	return nil
}

// Accounts returns every account, oldest first.
func (s *Service) Accounts(ctx context.Context) (list []bursar.Account, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		list, err = tx.Accounts().All(ctx)
		return err
	})
	return list, err
}
