package api_test

import (
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// play does what the service's workers or its operator would do:
//
//	advance 1h                            the clock
//	head bitcoin 105 100                  the chain's newest and final height
//	deposit WALLETID hash output amount height   value seen in a block, as {{d:uuid}} under the name of the hash
//	credit hash [fee]                     that deposit becomes final; the operator takes a fee of it
//	fee NAME USDT withdrawal 1% + 0.5     what an account pays from now on
//	reverse hash                          and is reorged out
//	stray currency hash amount height     final value that fits no wallet
//	assign hash wallet WALLETID           is credited by the operator, or "account NAME"
//	attempt hash 500 oops                 its event was sent in vain
//	freeze NAME | revoke NAME             an account's withdrawals, a key
//	down bitcoin                          the chain's node does not answer once
//	allow NAME CIDR… | scopes NAME read…  where a key may be used from, no CIDR being everywhere; and what it may do
//	list NAME CURRENCY|FAMILY ADDRESS     a destination, named "listed.ADDRESS"; unlist NAME ADDRESS takes it off
//	enable NAME | disable NAME            an account's list of destinations
//	limited                               from now on one request of a kind, and another every 10 s
//	panicking                             from now on there is a fault of ours in every request
//	away                                  the database, for good
//	webhook NAME url | gone NAME url      an account's own webhook; a URL of it that answered 410
func (c *script) play(words []string) {
	c.Helper()
	switch words[0] {
	case "advance":
		d, err := time.ParseDuration(words[1])
		if err != nil {
			c.fatalf("%v", err)
		}
		c.clock.advance(d)
	case "head":
		c.do(func(tx *store.Tx) error {
			if err := tx.Chains().Ensure(c.Context(), bursar.ChainID(words[1])); err != nil {
				return err
			}
			return tx.Chains().SetHead(c.Context(), bursar.ChainID(words[1]), c.number(words[2]), c.number(words[3]))
		})
	case "deposit":
		c.deposit(words[1], words[2], c.number(words[3]), words[4], c.number(words[5]))
	case "credit":
		c.credit(words[1], words[2:]...)
	case "fee":
		c.fee(words[1], bursar.CurrencyCode(words[2]), bursar.FeeKind(words[3]), strings.Join(words[4:], " "))
	case "reverse":
		c.reverse(words[1])
	case "stray":
		c.stray(words[1], words[2], words[3], c.number(words[4]))
	case "assign":
		c.assign(words[1], words[2], words[3])
	case "attempt":
		c.attempt(words[1], c.number(words[2]), words[3])
	case "freeze":
		c.do(func(tx *store.Tx) error {
			return tx.Halts().Put(c.Context(), store.Halt{Scope: store.HaltAccount(c.id(words[1])), Kind: store.HaltByOperator,
				Reason: "for a test"})
		})
	case "revoke":
		id, _ := bursar.ParseID(c.names[words[1]+".keyID"])
		if err := c.accounts.Revoke(c.Context(), id); err != nil {
			c.fatalf("%v", err)
		}
	case "down":
		c.chains[bursar.ChainID(words[1])].Fail(sim.Quote, 1, errDown)
	case "limited":
		one := api.Limit{PerSecond: 0.1, Burst: 1}
		c.serve(func(config *api.Config) { config.RateLimits = api.RateLimits{Read: one, Change: one, Withdraw: one} })
	case "panicking":
		c.serve(func(config *api.Config) { config.Accounts = doorman{func() error { panic("a mistake") }} })
	case "away":
		c.serve(func(*api.Config) {})
		c.db.Close()
	case "webhook":
		c.do(func(tx *store.Tx) error {
			_, err := tx.Accounts().SetNotifications(c.Context(), bursar.Account{ID: c.id(words[1]), Webhook: words[2]})
			return err
		})
	case "gone":
		c.do(func(tx *store.Tx) error { return tx.WebhookURLs().Disable(c.Context(), c.id(words[1]), words[2]) })
	default:
		c.rule(words)
	}
}

// serve puts another server in the place of the stage's.
func (s *harness) serve(change func(*api.Config)) {
	s.Helper()
	config := s.config
	change(&config)
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.Server(api.New(config), config.Log)
	server.Start()
	s.Cleanup(server.Close)
	s.base = server.URL
}

var errDown = fmt.Errorf("dial tcp 10.9.8.7:8332: connection refused")

func (c *script) number(s string) uint64 {
	c.Helper()
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		c.fatalf("%v", err)
	}
	return n
}

// id returns what a name stands for.
func (c *script) id(name string) bursar.ID {
	c.Helper()
	id, err := bursar.ParseID(c.names[name])
	if err != nil {
		c.fatalf("%s is %q", name, c.names[name])
	}
	return id
}

// wallet finds a wallet or the wallet of a charge by the text of its ID.
func (c *script) wallet(tx *store.Tx, text string) (bursar.Wallet, error) {
	id, err := bursar.ParseID(text)
	if err != nil {
		return bursar.Wallet{}, err
	}
	newest, err := tx.Wallets().Newest(c.Context())
	for n := int64(1); err == nil && n <= newest; n++ {
		var w bursar.Wallet
		if w, err = tx.Wallets().ByNumber(c.Context(), n); err == nil && w.ID == id {
			return w, nil
		}
	}
	return bursar.Wallet{}, fmt.Errorf("no wallet %s: %w", text, err)
}

func (c *script) deposit(walletID, hash string, output uint64, amount string, height uint64) {
	c.Helper()
	c.do(func(tx *store.Tx) error {
		w, err := c.wallet(tx, walletID)
		if err != nil {
			return err
		}
		currency, err := c.registry.Get(w.Currency)
		if err != nil {
			return err
		}
		value, err := bursar.ParseDecimal(amount, currency.Decimals)
		if err != nil {
			return err
		}
		d := bursar.Deposit{ID: c.ids.Next(), Purpose: bursar.ForWallet, AccountID: w.AccountID, WalletID: w.ID,
			Currency: w.Currency, Chain: currency.Chain,
			TxID: hash, Output: uint32(output), Address: w.Address, Contract: currency.Contract, Amount: value, Height: height,
			BlockHash: "b", SeenAt: tx.Now()}
		if w.ForCharge {
			d.Purpose = bursar.ForCharge
		}
		c.names[hash] = d.ID.String()
		_, _, err = tx.Deposits().Record(c.Context(), store.Arrival{Deposit: d, Wallet: w.Number})
		return err
	})
}

func (c *script) fee(account string, code bursar.CurrencyCode, kind bursar.FeeKind, text string) {
	c.Helper()
	currency, err := c.registry.Get(code)
	if err != nil {
		c.fatalf("%v", err)
	}
	fee, err := bursar.ParseFee(text, currency.Decimals)
	if err != nil {
		c.fatalf("%v", err)
	}
	c.do(func(tx *store.Tx) error {
		return tx.FeeRules().Set(c.Context(), bursar.FeeRule{AccountID: c.id(account), Currency: code, Kind: kind, Fee: fee})
	})
}

func (c *script) credit(hash string, fee ...string) {
	c.Helper()
	c.do(func(tx *store.Tx) error {
		d, err := tx.Deposits().ByID(c.Context(), c.id(hash))
		if err != nil {
			return err
		}
		if len(fee) > 0 {
			currency, err := c.registry.Get(d.Currency)
			if err != nil {
				return err
			}
			if d.Fee, err = bursar.ParseDecimal(fee[0], currency.Decimals); err != nil {
				return err
			}
		}
		if err := tx.Deposits().SetStatus(c.Context(), d, bursar.DepositConfirmed); err != nil {
			return err
		}
		if err := tx.Ledger().Post(c.Context(), ledger.DepositCredited(d, tx.Now())); err != nil {
			return err
		}
		if d.Purpose == bursar.ForCharge {
			if err := tx.Charges().SetPaidBy(c.Context(), d.WalletID, d.ID); err != nil {
				return err
			}
		}
		event := bursar.Event{ID: c.ids.Next(), AccountID: d.AccountID, Kind: bursar.EventDeposit, Subject: d.ID,
			URL: d.Webhook, Body: []byte("{}"), CreatedAt: tx.Now()}
		c.names[hash+".event"] = event.ID.String()
		return tx.Events().Insert(c.Context(), event)
	})
}

func (c *script) reverse(hash string) {
	c.Helper()
	c.do(func(tx *store.Tx) error {
		d, err := tx.Deposits().ByID(c.Context(), c.id(hash))
		if err != nil {
			return err
		}
		if err := tx.Ledger().Post(c.Context(), ledger.DepositReversed(d, tx.Now())); err != nil {
			return err
		}
		d.Reversals++
		return tx.Deposits().SetStatus(c.Context(), d, bursar.DepositReversed)
	})
}

func (c *script) attempt(hash string, code uint64, word string) {
	c.Helper()
	c.do(func(tx *store.Tx) error {
		deliveries, err := tx.Deliveries().List(c.Context(), c.id("mine"), store.Page{Limit: 100})
		if err != nil {
			return err
		}
		for _, d := range deliveries {
			if d.Subject == c.id(hash) {
				return tx.Deliveries().RecordAttempts(c.Context(),
					[]store.Outcome{{Event: d.Number, Status: store.DeliveryPending, NextAt: tx.Now().Add(5 * time.Second),
						Attempt: store.Attempt{Number: d.Attempts + 1, At: tx.Now(), Duration: 250 * time.Millisecond, Code: int64(code),
							Error: word}}})
			}
		}
		return fmt.Errorf("no event about %s", hash)
	})
}
