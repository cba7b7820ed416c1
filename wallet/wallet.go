// Package wallet creates deposit addresses and changes what clients attach to them.
//
// It owns the sequence of creation: index, key, address, row, all inside one gathered transaction, and the pool of keys
// that are derived ahead where only the seed can derive them. It never asks a node, so a chain whose nodes are down
// never stops address creation. Its invariants: an index is used once, an address belongs to one wallet, every
// committed address is visible to the followers before its first payment can be, and creating a wallet never needs a
// key that only the seed derives.
package wallet

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/store"
)

// Keys derives public keys. Creating wallets needs no seed; see Pooled.
type Keys interface {
	Public(ref chain.KeyRef) (chain.PublicKey, error)
}

// manyKeys is what Keys may implement in addition: it returns the public keys at n consecutive indexes, in either form
// of chain.PublicKey, in a fraction of the time that n calls of Public take. After an error the keys can still be
// derived one by one.
type manyKeys interface {
	Publics(first chain.KeyRef, n int) ([]chain.PublicKey, error)
}

// Chain is the part of a chain that address creation needs: nothing in it asks a node.
type Chain interface {
	Capabilities() chain.Capabilities
	chain.Addresses
}

// Service creates and changes wallets. It is safe for concurrent use.
type Service struct {
	db        *store.DB
	keys      Keys
	chains    map[bursar.ChainID]Chain
	registry  *bursar.Registry
	ids       *bursar.IDs
	receivers netpolicy.Receivers // where webhooks may be
	ahead     *ahead
	batch     *store.Batch[New, bursar.Wallet]
	reads     *store.Gather[store.WalletName, bursar.Wallet]

	// Pooled, when set before the first Create, is called after each request for a wallet whose key comes from the
	// pool. It must not block.
	Pooled func()

	// Marks, when set before the first Create, records outside the database which key indexes may have been given out:
	// an index that it does not know yet is never given out.
	Marks Marks

	// Cold, when set before the first Create, has the addresses of cold wallets, none of which is ever given out.
	Cold map[string]bool

	// Ended reports whether a key index cannot be given out by this process, since it or the keys are of an epoch that
	// has ended; nil: no epoch ever ends. It is set before the first Create, and answers from memory.
	Ended func(index uint32) bool

	// Suspended returns the reason why a currency is not credited now, "" for one that is; nil: no currency is
	// suspended. It is set before the first Create, and answers from memory.
	Suspended func(code bursar.CurrencyCode) string
}

// NewService returns a service for the configured chains.
func NewService(db *store.DB, keys Keys, chains map[bursar.ChainID]Chain, registry *bursar.Registry, ids *bursar.IDs,
	receivers netpolicy.Receivers) *Service {
	s := &Service{db: db, keys: keys, chains: chains, registry: registry, ids: ids, receivers: receivers}
	s.ahead = newAhead(s.derive)
	if many, offered := keys.(manyKeys); offered {
		s.ahead.several = func(code bursar.CurrencyCode, from uint32, n int) ([]bursar.Address, error) {
			return s.deriveSeveral(many, code, from, n)
		}
	}
	s.batch = store.NewBatch(db, s.createAll)
	s.reads = store.NewGather(db, func(ctx context.Context, tx *store.Tx, named []store.WalletName) (
		map[store.WalletName]bursar.Wallet, error) {
		return tx.Wallets().OfAccounts(ctx, named)
	})
	return s
}

// New is a request for a wallet, or for the wallet of a charge.
type New struct {
	Account  bursar.ID
	Currency bursar.CurrencyCode
	Webhook  string
	Metadata string

	ChargeMinimum bursar.Amount // of the charge
	ChargeLife    time.Duration // of the charge; zero: this is a wallet
	ForInvoice    bool          // this is the address of a charge whose deposits add up, which Done records

	// Done runs in the transaction that creates the wallet, so that its writes are committed with the wallet or not at
	// all.
	Done func(ctx context.Context, tx *store.Tx, w bursar.Wallet) error
}

// Create makes a wallet and returns it once it is committed. Errors: a *bursar.Error that says what is wrong with the
// request.
func (s *Service) Create(ctx context.Context, n New) (bursar.Wallet, error) {
	c, err := s.check(n)
	if err != nil {
		return bursar.Wallet{}, err
	}
	if s.Pooled != nil && Pooled(c.Capabilities()) {
		defer s.Pooled()
	}
	return s.create(ctx, n)
}

// Check refuses what Create would refuse, and makes nothing.
func (s *Service) Check(n New) error {
	_, err := s.check(n)
	return err
}

func (s *Service) check(n New) (Chain, error) {
	c, err := s.chainOf(n.Currency)
	if err != nil {
		return nil, err
	}
	if err := bursar.CheckMetadata(n.Metadata); err != nil {
		return nil, err
	}
	if err := s.receivers.Check(n.Webhook); err != nil {
		return nil, err
	}
	if s.Suspended != nil && s.Suspended(n.Currency) != "" { // the reason is for the operator only
		return nil, bursar.RefuseField(bursar.CodeUnavailable, "currency",
			"%s is suspended for the moment: what is paid in it is not credited", n.Currency)
	}
	return c, nil
}

func (s *Service) chainOf(code bursar.CurrencyCode) (Chain, error) {
	currency, err := s.registry.Get(code)
	if err != nil {
		return nil, err
	}
	c, on := s.chains[currency.Chain]
	if !on {
		return nil, bursar.RefuseField(bursar.CodeUnsupportedCurrency, "currency",
			"the chain of %s is not configured here", code)
	}
	return c, nil
}

// createAll makes the wallets of one batch. Either all are made or, on an error, none; a wallet for which the pool has
// no key is refused alone.
func (s *Service) createAll(ctx context.Context, tx *store.Tx, orders []New) ([]store.Result[bursar.Wallet], error) {
	t, err := s.take(ctx, tx, orders)
	if err != nil {
		return nil, err
	}
	wallets := make([]bursar.Wallet, len(orders))
	for i, n := range orders {
		wallets[i] = bursar.Wallet{
			Number:     t.number + int64(i),
			ID:         s.ids.Next(),
			AccountID:  n.Account,
			Currency:   n.Currency,
			Webhook:    n.Webhook,
			Metadata:   n.Metadata,
			ForCharge:  n.ChargeLife > 0 || n.ForInvoice,
			ForInvoice: n.ForInvoice,
			CreatedAt:  tx.Now(),
		}
	}
	refused, err := s.address(ctx, tx, wallets, t)
	if err != nil {
		return nil, err
	}
	results := make([]store.Result[bursar.Wallet], len(orders))
	var made []bursar.Wallet
	var wanted []New
	for i := range orders {
		if refused[i] {
			results[i].Err = errNoKey
			continue
		}
		if s.Cold[wallets[i].Address.Base] {
			if err := alarmCold(ctx, tx, wallets[i]); err != nil {
				return nil, err
			}
			results[i].Err = errCold
			continue
		}
		results[i].Value, made, wanted = wallets[i], append(made, wallets[i]), append(wanted, orders[i])
	}
	return results, s.insert(ctx, tx, made, wanted, t.versions)
}

// insert writes wallets that have their addresses, and whatever else their requests write.
func (s *Service) insert(ctx context.Context, tx *store.Tx, wallets []bursar.Wallet, orders []New,
	versions store.WebhookVersions) error {
	if len(wallets) == 0 {
		return nil
	}
	if err := tx.Wallets().InsertWith(ctx, wallets, versions); err != nil {
		return err
	}
	if err := enableURLs(ctx, tx, orders); err != nil {
		return err
	}
	if err := tx.Charges().Insert(ctx, s.chargesOf(tx.Now(), wallets, orders)...); err != nil {
		return err
	}
	for i, n := range orders {
		if n.Done == nil {
			continue
		}
		if err := n.Done(ctx, tx, wallets[i]); err != nil {
			return err
		}
	}
	return nil
}

// enableURLs enables those webhooks of the requests again that had answered 410 Gone.
func enableURLs(ctx context.Context, tx *store.Tx, orders []New) error {
	receivers := make([]store.Receiver, len(orders))
	for i, n := range orders {
		receivers[i] = store.Receiver{Account: n.Account, URL: n.Webhook}
	}
	return tx.WebhookURLs().EnableEach(ctx, receivers)
}

// chargesOf returns the charges that requests ask for, each beside its wallet.
func (s *Service) chargesOf(now time.Time, wallets []bursar.Wallet, orders []New) (charges []bursar.Charge) {
	for i, n := range orders {
		if n.ChargeLife == 0 {
			continue
		}
		charges = append(charges, bursar.Charge{
			Number:    wallets[i].Number,
			ID:        wallets[i].ID,
			AccountID: wallets[i].AccountID,
			Minimum:   n.ChargeMinimum,
			Expires:   now.Add(n.ChargeLife),
			Token:     s.ids.Token(),
		})
	}
	return charges
}

// Get returns an account's wallet, or bursar.ErrNotFound.
func (s *Service) Get(ctx context.Context, account, id bursar.ID) (bursar.Wallet, error) {
	w, err := s.reads.Find(ctx, store.WalletName{Account: account, ID: id})
	return w, store.AsRefusal(err)
}

// List returns an account's wallets, newest first, of one currency or of all for "".
func (s *Service) List(
	ctx context.Context, account bursar.ID, currency bursar.CurrencyCode, page store.Page,
) (list []bursar.Wallet, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		list, err = tx.Wallets().List(ctx, account, currency, page)
		return err
	})
	return list, err
}

// SetMetadata replaces a wallet's metadata; done runs in the same transaction and may be nil.
func (s *Service) SetMetadata(ctx context.Context, account, id bursar.ID, metadata string,
	done func(context.Context, *store.Tx, bursar.Wallet) error) (w bursar.Wallet, err error) {
	if err := bursar.CheckMetadata(metadata); err != nil {
		return w, err
	}
	err = s.db.Do(ctx, func(tx *store.Tx) error {
		w, err = tx.Wallets().SetMetadata(ctx, account, id, metadata)
		if err != nil || done == nil {
			return store.AsRefusal(err)
		}
		return done(ctx, tx, w)
	})
	return w, err
}
