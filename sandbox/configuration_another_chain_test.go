package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/sandbox/nodes/ethereum"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// another is a service that follows a chain which its code does not name.
type another struct {
	*testing.T
	node    *ethereum.Node
	service *service.Service
	client  *client.Client
}

const anotherID = 43114

// TestAnotherChainIsConfigurationOnly takes the configuration of docs/adding-a-chain.md, changes only the URL of the
// node and the contract of the token, and then deposits, sweeps and withdraws the native asset and the token.
func TestAnotherChainIsConfigurationOnly(t *testing.T) {
	t.Parallel()
	a := newAnother(t, func(contract string) string { return fmt.Sprintf("contract: %q", contract) })
	hot := a.service.Hot("avalanche").Base
	a.pay("", hot, 50) // operator funds for gas
	for code, symbol := range map[string]string{"AVAX": "", "USDC-AVAX": "USDC"} {
		wallet, err := a.client.CreateWallet(t.Context(),
			client.NewWallet{Currency: code, Webhook: "https://shop.example/hook"})
		if err != nil {
			t.Fatal(err)
		}
		a.pay(symbol, wallet.Address, 20)
		a.mineUntil(code+" is credited", func() error { return a.balanceIs(code, "20") })
		a.mineUntil(code+" is swept", func() error {
			if left := a.holds(symbol, wallet.Address); left.Cmp(units(symbol, 1)) > 0 {
				return fmt.Errorf("the deposit address still holds %s after the sweep", left)
			}
			return nil
		})
		to := a.node.NewAddress()
		order, err := a.client.Withdraw(t.Context(), client.NewWithdrawal{Currency: code, Amount: "12", Address: to})
		if err != nil {
			t.Fatal(err)
		}
		a.mineUntil(code+" is paid out", func() error {
			order, err := a.client.Withdrawal(t.Context(), order.WithdrawalID)
			if err == nil && order.Status != "confirmed" {
				err = fmt.Errorf("the withdrawal is %s, want it paid out", order.Status)
			}
			return err
		})
		if got := a.holds(symbol, to); got.Cmp(units(symbol, 12)) != 0 {
			t.Errorf("the receiver has %s units of %s, want what was withdrawn", got, code)
		}
	}
	a.mineUntil("the books agree with the chain", func() error {
		lines, err := a.service.Reconcile(t.Context(), false)
		for _, l := range lines {
			if !l.Balanced() {
				err = errors.Join(err, fmt.Errorf("%+v", l))
			}
		}
		return err
	})
}

// TestATokenInSmallLetters credits and pays a token whose contract is configured in lower case, within the hourly
// limit of the signer and not beyond it.
func TestATokenInSmallLetters(t *testing.T) {
	t.Parallel()
	a := newAnother(t, func(contract string) string {
		if strings.ToLower(contract) == contract {
			t.Fatal("the contract has no capital letters: this test proves nothing")
		}
		return fmt.Sprintf("contract: %q, hourly_limit: \"15\"", strings.ToLower(contract))
	})
	a.pay("", a.service.Hot("avalanche").Base, 50)
	wallet, err := a.client.CreateWallet(t.Context(),
		client.NewWallet{Currency: "USDC-AVAX", Webhook: "https://shop.example/hook"})
	if err != nil {
		t.Fatal(err)
	}
	a.pay("USDC", wallet.Address, 20)
	a.mineUntil("the deposit is credited", func() error { return a.balanceIs("USDC-AVAX", "20") })
	first, second := a.node.NewAddress(), a.node.NewAddress()
	for _, order := range []client.NewWithdrawal{{Currency: "USDC-AVAX", Amount: "12", Address: first},
		{Currency: "USDC-AVAX", Amount: "5", Address: second}} {
		if _, err := a.client.Withdraw(t.Context(), order); err != nil {
			t.Fatal(err)
		}
		if order.Address == first {
			a.mineUntil("a withdrawal within the hourly limit is paid", func() error {
				if got := a.holds("USDC", first); got.Cmp(units("USDC", 12)) != 0 {
					return fmt.Errorf("the receiver has %s units, want what was withdrawn", got)
				}
				return nil
			})
		}
	}
	a.mineUntil("a withdrawal beyond the hourly limit is held back", func() error {
		var open []store.Alarm
		err := a.service.DB.View(t.Context(), func(tx *store.Tx) (err error) {
			open, err = tx.Alarms().OfKind(t.Context(), "signer_refused")
			return err
		})
		if err == nil && len(open) == 0 {
			err = errors.New("no alarm says that the signer refuses")
		}
		return err
	})
	if got := a.holds("USDC", second); got.Sign() != 0 {
		t.Errorf("%s units are paid, which exceeds the hourly limit, want 0", got)
	}
}

// newAnother runs the documented configuration; token edits the configured contract of its token.
func newAnother(t *testing.T, token func(contract string) string) *another {
	t.Helper()
	node, err := ethereum.Start(t.Context(), ethereum.Config{ChainID: anotherID, FinalityDepth: 2,
		Tokens: []ethereum.TokenSpec{{Name: "USD Coin", Symbol: "USDC", Decimals: 6, Kind: ethereum.UsdcLike}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Close() })
	a := &another{T: t, node: node}
	s, err := service.Open(t.Context(), a.configuration(token),
		service.Options{Log: slog.New(slog.DiscardHandler), Getenv: getenv})
	if err != nil {
		t.Fatal(err)
	}
	a.service = s
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, s.Close()); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	issued, err := s.Accounts.Create(t.Context(), "shop", true)
	if err != nil {
		t.Fatal(err)
	}
	if a.client, err = client.New(client.Config{BaseURL: s.Address("api"), Key: issued.APIKey,
		Secret: issued.APISecret}); err != nil {
		t.Fatal(err)
	}
	return a
}

var (
	documentedLines = regexp.MustCompile("(?s)```yaml\n(chains:.*?)```")
	documentedRPC   = regexp.MustCompile(`rpc: \["[^"]*"\]`)
	documentedToken = regexp.MustCompile(`contract: "[^"]*"`)
)

// configuration is the documented configuration together with the settings that every service needs.
func (a *another) configuration(token func(contract string) string) config.Config {
	a.Helper()
	text, err := os.ReadFile("../docs/adding-a-chain.md")
	if err != nil {
		a.Fatal(err)
	}
	lines := documentedLines.FindSubmatch(text)
	if lines == nil || !strings.Contains(string(lines[1]), fmt.Sprintf("chain_id: %d,", anotherID)) {
		a.Fatal("docs/adding-a-chain.md shows no configuration of another chain")
	}
	contract, err := a.node.Token("USDC")
	if err != nil {
		a.Fatal(err)
	}
	shown := documentedRPC.ReplaceAllString(string(lines[1]), fmt.Sprintf("rpc: [%q]", a.node.URL()))
	shown = documentedToken.ReplaceAllString(shown, token(contract))
	dir := a.TempDir()
	a.seed(filepath.Join(dir, "seed.age"))
	file := filepath.Join(dir, "bursar.yaml")
	own := "listen: 127.0.0.1:0\nadmin_listen: off\nnetwork: regtest\npoll_interval: 50ms\n"
	if err := os.WriteFile(file, []byte(own+shown), 0o600); err != nil {
		a.Fatal(err)
	}
	cfg, err := config.Load(file, nil)
	if err != nil {
		a.Fatal(err)
	}
	return cfg
}

func (a *another) seed(file string) {
	a.Helper()
	mnemonic, err := signer.NewMnemonic(rand.Reader)
	if err != nil {
		a.Fatal(err)
	}
	phrase, err := signer.NewPassphrase(passphrase)
	if err != nil {
		a.Fatal(err)
	}
	sealed, err := signer.SealWith(mnemonic, phrase, sealWork)
	if err == nil {
		err = signer.WriteSeedFile(file, sealed)
	}
	if err != nil {
		a.Fatal(err)
	}
}

// units are whole native assets or whole tokens in their smallest unit.
func units(symbol string, whole int64) *big.Int {
	decimals := int64(18)
	if symbol != "" {
		decimals = 6
	}
	return new(big.Int).Mul(big.NewInt(whole), new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil))
}

func (a *another) pay(symbol, to string, whole int64) {
	a.Helper()
	var err error
	if symbol == "" {
		_, err = a.node.Pay(to, units(symbol, whole))
	} else {
		_, err = a.node.PayToken(symbol, to, units(symbol, whole))
	}
	if err != nil {
		a.Fatal(err)
	}
}

func (a *another) holds(symbol, address string) *big.Int {
	a.Helper()
	if symbol == "" {
		return a.node.Balance(address)
	}
	held, err := a.node.TokenBalance(symbol, address)
	if err != nil {
		a.Fatal(err)
	}
	return held
}

func (a *another) balanceIs(code, want string) error {
	account, err := a.client.Account(a.Context())
	if got, _, _ := strings.Cut(account.Balance[code], "."); err == nil && got != want {
		err = fmt.Errorf("the balance of %s is %s", code, account.Balance[code])
	}
	return err
}

// mineUntil mines blocks until the condition holds.
func (a *another) mineUntil(what string, check func() error) {
	a.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(time.Minute)
	for {
		if err := a.node.Mine(1); err != nil {
			a.Fatal(err)
		}
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			a.Fatalf("%s: not within a minute: %v", what, err)
		case <-ticker.C:
		}
	}
}
