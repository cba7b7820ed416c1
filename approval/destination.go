package approval

import (
	"time"

	"github.com/bursar/bursar"
)

// Destination adds an address to the signer's list of addresses that may be paid, or removes it.
type Destination struct {
	Instance string
	Remove   bool
	Account  bursar.ID // whose orders may pay it; zero: everybody's
	Chain    bursar.ChainID
	Any      bool   // every asset of the chain, not only Contract
	Contract string // canonical; empty for the native asset
	To       bursar.Address
	Created  time.Time
	Expires  time.Time // until when the text may be shown to the signer, at most Longest after Created
	Until    time.Time // until when the address may be paid; after Created
	Nonce    Nonce
}

// every is an account or an asset where all of them are meant.
const every = "*"

// Text returns the text of a destination.
func (d Destination) Text() string {
	w := NewWriter(KindDestination)
	w.Field("instance", d.Instance)
	w.Field("do", pick(d.Remove, "remove", "add"))
	w.Field("account", account(d.Account, every))
	w.Field("chain", string(d.Chain))
	w.Field("asset", pick(d.Any, every, AssetText(d.Contract)))
	w.Address(d.To)
	w.Time("created", d.Created)
	w.Time("expires", d.Expires)
	w.Time("until", d.Until)
	w.Field("nonce", d.Nonce.String())
	return w.Text()
}

// ParseDestination reads the text of a destination. The error is ErrText.
func ParseDestination(text string) (d Destination, err error) {
	r := NewReader(text, KindDestination)
	d.Instance = r.Word("instance")
	d.Remove = r.OneOf("do", "add", "remove") == "remove"
	d.Account = r.ID("account", every)
	d.Chain = bursar.ChainID(r.Name("chain"))
	if asset := r.Asset("asset"); asset == every {
		d.Any = true
	} else {
		d.Contract = asset
	}
	d.To = r.Address()
	d.Created, d.Expires, d.Until = r.Time("created"), r.Time("expires"), r.Time("until")
	d.Nonce = r.Nonce("nonce")
	r.Demand(Lasts(d.Created, d.Expires) == nil, "the text must end after it begins, within %s", Longest)
	r.Demand(d.Created.Before(d.Until), "the text must be payable for a while")
	return Canonical(r, d, text)
}

// Covers reports whether an order pays this address as the destination allows, its times aside.
func (d Destination) Covers(o Order) bool {
	return !d.Remove && d.Chain == o.Chain && d.To == o.To && (d.Any || d.Contract == o.Contract) &&
		(d.Account.IsZero() || d.Account == o.Account)
}

// Freeze stops the signer, or ends the stop.
type Freeze struct {
	Instance string
	Thaw     bool
	Why      string
	Created  time.Time
	Expires  time.Time // at most Longest after Created
	Nonce    Nonce
}

// Text returns the text of a freeze.
func (f Freeze) Text() string {
	w := NewWriter(KindFreeze)
	w.Field("instance", f.Instance)
	w.Field("do", pick(f.Thaw, "thaw", "freeze"))
	w.Field("why", f.Why)
	w.Time("created", f.Created)
	w.Time("expires", f.Expires)
	w.Field("nonce", f.Nonce.String())
	return w.Text()
}

// ParseFreeze reads the text of a freeze. The error is ErrText.
func ParseFreeze(text string) (f Freeze, err error) {
	r := NewReader(text, KindFreeze)
	f.Instance = r.Word("instance")
	f.Thaw = r.OneOf("do", "freeze", "thaw") == "thaw"
	f.Why = r.Line("why")
	f.Created, f.Expires = r.Time("created"), r.Time("expires")
	f.Nonce = r.Nonce("nonce")
	r.Demand(Lasts(f.Created, f.Expires) == nil, "the text must end after it begins, within %s", Longest)
	return Canonical(r, f, text)
}

func pick(is bool, then, otherwise string) string {
	if is {
		return then
	}
	return otherwise
}
