package api

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

type orderKeysAnswer struct {
	Required bool           `json:"required"` // withdrawals must be orders that one of the keys signed
	Instance *string        `json:"instance"` // of the signer, for the text of an order; null: not known yet
	Keys     []orderKeyView `json:"keys"`
}

type orderKeyView struct {
	KeyID      string     `json:"keyID"`
	Name       string     `json:"name"`
	PublicKey  string     `json:"publicKey"`
	Usable     bool       `json:"usable"`
	UsableFrom time.Time  `json:"usableFrom"`
	RevokedAt  *time.Time `json:"revokedAt"`
	CreatedAt  time.Time  `json:"createdAt"`
}

// listOrderKeys is GET account/order-keys. No endpoint changes the keys: they protect against an attacker who has both
// key and secret.
func (a *api) listOrderKeys(ctx context.Context, c *call) (any, error) {
	terms, err := a.Accounts.OrderTerms(ctx, c.identity.Account)
	if err != nil {
		return nil, err
	}
	answer := orderKeysAnswer{Required: len(terms.Keys) > 0, Instance: orNull(terms.Instance)}
	answer.Keys, err = each(terms.Keys, func(k bursar.OrderKey) (orderKeyView, error) {
		v := orderKeyView{KeyID: k.ID, Name: k.Name, PublicKey: k.Public, Usable: k.UsableAt(c.now),
			UsableFrom: k.UsableFrom, CreatedAt: k.CreatedAt}
		if !k.RevokedAt.IsZero() {
			v.RevokedAt = &k.RevokedAt
		}
		return v, nil
	})
	return answer, err
}
