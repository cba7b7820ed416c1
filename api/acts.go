package api

import (
	"context"
	"net/url"

	"github.com/bursar/bursar/store"
)

// record adds to the log of acts what a key changed of its account, as the last step of the transaction of the change.
// It is for what protects or misleads the account as a whole, such as where its events go: what clients do all day is
// in the objects themselves.
func (c *call) record(ctx context.Context, tx *store.Tx, verb, became string) error {
	from := ""
	if c.from.IsValid() {
		from = c.from.String()
	}
	return tx.Acts().Append(ctx, store.Act{
		Actor:   "API key " + c.identity.Key.ID.String(),
		Address: from,
		Verb:    verb,
		Object:  "account " + c.identity.Account.String(),
		Became:  became,
		Request: c.request,
	})
}

// receiver names where a URL leads, without its path and query: a receiver's URL may contain a secret.
func receiver(text string) string {
	at, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return at.Scheme + "://" + at.Host
}
