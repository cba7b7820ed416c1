package approval

import (
	"time"

	"github.com/bursar/bursar"
)

// NamespaceOrderKey is the namespace of signatures over an OrderKey.
const NamespaceOrderKey = "order-key@bursar"

// KindOrderKey is the first line of an OrderKey.
const KindOrderKey = "bursar-order-key/1"

// OrderKey adds a key with which a client signs the orders of an account, or revokes it.
type OrderKey struct {
	Instance string
	Revoke   bool
	Account  bursar.ID
	ID       string // of the key, as package orderkey has it
	Key      string // its spelling; empty where it is revoked
	Name     string // for lists; empty where it is revoked
	Created  time.Time
	Expires  time.Time // until when the text may be shown to the signer, at most Longest after Created
	Nonce    Nonce
}

// Text returns the text of a key.
func (k OrderKey) Text() string {
	w := NewWriter(KindOrderKey)
	w.Field("instance", k.Instance)
	w.Field("do", pick(k.Revoke, "revoke", "add"))
	w.Field("account", k.Account.String())
	w.Field("id", k.ID)
	w.Optional("key", k.Key)
	w.Optional("name", k.Name)
	w.Time("created", k.Created)
	w.Time("expires", k.Expires)
	w.Field("nonce", k.Nonce.String())
	return w.Text()
}

// ParseOrderKey reads the text of a key. The error is ErrText.
func ParseOrderKey(text string) (k OrderKey, err error) {
	r := NewReader(text, KindOrderKey)
	k.Instance = r.Word("instance")
	k.Revoke = r.OneOf("do", "add", "revoke") == "revoke"
	k.Account = r.ID("account", "")
	k.ID = r.Word("id")
	if k.Key = r.Word("key"); k.Key == none {
		k.Key = ""
	}
	k.Name = r.OptionalName("name")
	k.Created, k.Expires = r.Time("created"), r.Time("expires")
	k.Nonce = r.Nonce("nonce")
	r.Demand(k.Revoke == (k.Key == "") && k.Revoke == (k.Name == ""),
		"key and name are there to add a key, and - to revoke one")
	r.Demand(Lasts(k.Created, k.Expires) == nil, "the text must end after it begins, within %s", Longest)
	return Canonical(r, k, text)
}
