package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

// giveOrderKey makes a key that signs the orders of an account, and adds it to the service and to the state of its
// signer, as `bursar account order-key add` does. It returns the key in PEM, and the signer's instance.
func (s *environment) giveOrderKey(
	ctx context.Context, of *service.Service, account bursar.ID,
) (private, instance string, err error) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", "", fmt.Errorf("make a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", "", fmt.Errorf("write the key: %w", err)
	}
	known, err := orderkey.New(public)
	if err != nil {
		return "", "", err
	}
	if _, err := of.Accounts.AddOrderKey(ctx, account, "sandbox", known.String(), 0); err != nil {
		return "", "", err
	}
	file, err := memory.Join(ctx, host.StateFile(s.config))
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	k := approval.OrderKey{Account: account, ID: known.ID(), Key: known.String(), Name: "sandbox"}
	if _, err := people.KeyOnMachine(ctx, file, k, 0, "sandbox", of.DB.Now()); err != nil {
		return "", "", err
	}
	err = file.Do(ctx, func(tx memory.Tx) error {
		state, err := tx.State(ctx)
		instance = state.Instance
		return err
	})
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), instance, err
}
