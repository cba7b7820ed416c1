// Command wallet-go creates a wallet, waits for a deposit to it, and shows the balance. It owns no state, and never
// does more than the few calls that an integration begins with.
//
//	BURSAR_API=http://127.0.0.1:8080 BURSAR_API_KEY=… go run ./examples/wallet-go BTC https://shop.example/hook
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/bursar/bursar/client"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: wallet-go CURRENCY WEBHOOK")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, currency, webhook string) error {
	c, err := client.New(client.Config{BaseURL: os.Getenv("BURSAR_API"), Key: os.Getenv("BURSAR_API_KEY")})
	if err != nil {
		return err
	}
	newest, err := c.Events(ctx, client.FeedQuery{After: client.NewestEvents})
	if err != nil {
		return err
	}
	wallet, err := c.CreateWallet(ctx, client.NewWallet{Currency: currency, Webhook: webhook, Metadata: "customer 7"})
	var refused *client.Error
	if errors.As(err, &refused) {
		return fmt.Errorf("%s of %s, see %s: %s", refused.Code, refused.Field, refused.Docs, refused.Message)
	}
	if err != nil {
		return err
	}
	fmt.Println("pay to", wallet.Address)
	feed := c.Feed(ctx, client.FeedQuery{After: newest.Next, Event: "deposit", Wait: 20 * time.Second})
	for event, err := range feed {
		if err != nil {
			return err
		}
		if event.Deposit.WalletID != wallet.WalletID {
			continue
		}
		account, err := c.Account(ctx)
		if err != nil {
			return err
		}
		fmt.Println("paid", event.Deposit.Amount)
		fmt.Println("balance", account.Balance[currency])
		return nil
	}
	return nil
}
