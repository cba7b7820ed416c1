package api_test

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/orderkey"
)

// orderKeyOf is the key that a script calls by a name of one letter.
func orderKeyOf(name string) crypto.Signer {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte(name), ed25519.SeedSize))
}

// orderKey adds a key to an account; {{name.id}} and {{name.public}} are its ID and its spelling.
func (c *script) orderKey(account, name string) {
	c.Helper()
	key, err := orderkey.New(orderKeyOf(name).Public())
	if err == nil {
		_, err = c.accounts.AddOrderKey(c.Context(), c.id(account), "key-"+name, key.String(), 24*time.Hour)
	}
	if err != nil {
		c.fatalf("%v", err)
	}
	c.names[name+".id"], c.names[name+".public"] = key.ID(), key.String()
}

// order signs an order with a key: of "mine", for 1 USDT-MATIC to the outsider, until a day from now. Changes replace
// lines. {{name}} is its text as JSON has it, {{name.sig}} its signature.
func (c *script) order(name, key string, changes []string) {
	c.Helper()
	code := "USDT-MATIC"
	for _, change := range changes {
		if named, is := strings.CutPrefix(change, "currency="); is {
			code = named
		}
	}
	currency, err := c.registry.Get(bursar.CurrencyCode(code))
	if err != nil {
		c.fatalf("%v", err)
	}
	now := c.config.DB.Now().Truncate(time.Second)
	text := approval.Order{Instance: "I", Account: c.id("mine"), ID: bursar.ID{6: 0x70, 8: 0x80, 15: 7},
		Chain: currency.Chain, Contract: currency.Contract,
		To:    bursar.Address{Base: c.names["outsider."+string(currency.Chain)]},
		Units: bursar.Units(1_000_000), Created: now, Expires: now.Add(24 * time.Hour)}.Text()
	lines := strings.Split(text, "\n")
	for _, change := range changes {
		field, value, _ := strings.Cut(change, "=")
		for i, line := range lines {
			if strings.HasPrefix(line, field+": ") {
				lines[i] = field + ": " + value
			}
		}
	}
	text = strings.Join(lines, "\n")
	signature, err := client.SignOrder(orderKeyOf(key), text)
	if err != nil {
		c.fatalf("%v", err)
	}
	inJSON, err := json.Marshal(text)
	if err != nil {
		c.fatalf("%v", err)
	}
	c.names[name], c.names[name+".sig"] = strings.Trim(string(inJSON), `"`), signature
	c.names[name+".zeros"] = signature[:33] + base64.StdEncoding.EncodeToString(make([]byte, 64))
}
