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
	"github.com/bursar/bursar/wire"
)

// execute runs a command that does what the service's workers or its operator would do:
//
//	advance 1h                            the clock
//	head bitcoin 105 100                  the chain's newest and final height
//	deposit WALLETID hash output amount height   transfer seen in a block, as {{d:uuid}} under the name of the hash
//	credit hash [fee]                     that deposit becomes final; the operator takes a fee of it
//	fee NAME USDT withdrawal 1% + 0.5     what an account pays from now on
//	reverse hash                          that deposit is reorged out
//	stray currency hash amount height     final value that belongs to no wallet
//	assign hash wallet WALLETID           the operator assigns it, also to "account NAME"
//	attempt hash 500 oops                 a failed attempt to send its event
//	unfreeze NAME                         ends that freeze
//	freeze NAME | revoke NAME             freezes an account's withdrawals, revokes a key
//	down bitcoin                          the chain's node does not answer the next call
//	allow NAME CIDR… | scopes NAME read…  networks of a key, none: all; and its scopes
//	list NAME CURRENCY|FAMILY ADDRESS     a destination, named "listed.ADDRESS"; unlist NAME ADDRESS takes it off
//	enable NAME | disable NAME            an account's list of destinations
//	limited                               from now on one request of each kind, and another every 10 s
//	panicking                             from now on every request panics
//	away                                  makes the database unreachable
//	archived NAME                         an account's events but the newest are delivered and moved into an archive
//	asked NAME GET path 200 [code]        a request of an account that is in the log
//	webhook NAME url | gone NAME url      an account's own webhook; a URL of it that answered 410
func (c *script) execute(args []string) {
	c.Helper()
	switch args[0] {
	case "advance":
		d, err := time.ParseDuration(args[1])
		if err != nil {
			c.fatalf("%v", err)
		}
		c.clock.Advance(d)
	case "head":
		c.do(func(tx *store.Tx) error {
			if err := tx.Chains().Ensure(c.Context(), bursar.ChainID(args[1])); err != nil {
				return err
			}
			return tx.Chains().SetHead(c.Context(), bursar.ChainID(args[1]), c.number(args[2]), c.number(args[3]))
		})
	case "deposit":
		c.deposit(args[1], args[2], c.number(args[3]), args[4], c.number(args[5]))
	case "credit":
		c.credit(args[1], args[2:]...)
	case "fee":
		c.fee(args[1], bursar.CurrencyCode(args[2]), bursar.FeeKind(args[3]), strings.Join(args[4:], " "))
	case "limit":
		c.limit(args[1], bursar.CurrencyCode(args[2]), bursar.LimitKind(args[3]), args[4])
	case "reverse":
		c.reverse(args[1])
	case "stray":
		c.stray(args[1], args[2], args[3], c.number(args[4]))
	case "assign":
		c.assign(args[1], args[2], args[3])
	case "attempt":
		c.attempt(args[1], c.number(args[2]), args[3])
	case "freeze":
		c.do(func(tx *store.Tx) error {
			return tx.Halts().Put(c.Context(), store.Halt{Scope: store.HaltAccount(c.id(args[1])), Kind: store.HaltByOperator,
				Reason: "for a test"})
		})
	case "unfreeze":
		c.do(func(tx *store.Tx) error {
			_, err := tx.Halts().Lift(c.Context(), store.HaltAccount(c.id(args[1])), store.HaltByOperator, "")
			return err
		})
	case "revoke":
		id, _ := bursar.ParseID(c.names[args[1]+".keyID"])
		if err := c.accounts.Revoke(c.Context(), id); err != nil {
			c.fatalf("%v", err)
		}
	case "down":
		c.chains[bursar.ChainID(args[1])].Fail(sim.Quote, 1, errDown)
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
			_, err := tx.Accounts().SetNotifications(c.Context(), bursar.Account{ID: c.id(args[1]), Webhook: args[2]})
			return err
		})
	case "archived":
		c.archived(c.id(args[1]))
	case "asked":
		c.asked(args[1], args[2:])
	case "rates":
		c.prices.away = args[1] == "away"
	case "gone":
		c.do(func(tx *store.Tx) error { return tx.WebhookURLs().Disable(c.Context(), c.id(args[1]), args[2]) })
	default:
		c.rule(args)
	}
}

// serve replaces the harness's server.
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

// id returns the ID of a name.
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
	return tx.Wallets().ByID(c.Context(), id)
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
		_, _, err = tx.Deposits().Record(c.Context(), store.NewDeposit{Deposit: d, Wallet: w.Number})
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

// limit sets a limit of an account's withdrawals; none ends it.
func (c *script) limit(account string, code bursar.CurrencyCode, kind bursar.LimitKind, text string) {
	c.Helper()
	currency, err := c.registry.Get(code)
	if err != nil {
		c.fatalf("%v", err)
	}
	rule := bursar.LimitRule{AccountID: c.id(account), Currency: code, Kind: kind}
	c.do(func(tx *store.Tx) error {
		if text == "none" {
			return tx.LimitRules().Remove(c.Context(), rule)
		}
		if rule.Amount, err = currency.Parse(text); err != nil {
			return err
		}
		return tx.LimitRules().Set(c.Context(), rule)
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
		currency, err := c.registry.Get(d.Currency)
		if err != nil {
			return err
		}
		d.Status, d.ConfirmedAt = bursar.DepositConfirmed, tx.Now()
		event, err := wire.DepositEvent(bursar.Rate{}, c.ids.Next(), bursar.EventDeposit, d, currency,
			wire.ConfirmationContext{Latest: d.Height, Required: 1}, tx.Now())
		if err != nil {
			return err
		}
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
					[]store.Outcome{{Event: d.Number, Due: d.NextAt, Status: store.DeliveryPending,
						NextAt: tx.Now().Add(5 * time.Second),
						Attempt: store.Attempt{At: tx.Now(), Duration: 250 * time.Millisecond, Code: int64(code),
							Error: word}}})
			}
		}
		return fmt.Errorf("no event about %s", hash)
	})
}
