package config

import (
	"math"

	"github.com/bursar/bursar"
)

const coldKey = "cold"

// The keys of a currency's ceiling.
const (
	ceilingKey = "hot_ceiling"
	targetKey  = "hot_target"
)

// maxColdWallets bounds the cold wallets of one chain.
const maxColdWallets = 16

var coldSettings = []setting[bursar.ColdWallet]{
	{"kind", func(r *reader, n *node, to *bursar.ColdWallet) {
		var kinds []string
		for _, k := range bursar.ColdKinds() {
			kinds = append(kinds, string(k))
		}
		word, ok := r.oneOf(n, kinds...)
		keep(&to.Kind)(bursar.ColdKind(word), ok)
	}},
	{"addresses", func(r *reader, n *node, to *bursar.ColdWallet) { to.Addresses = r.names(n) }},
	{"descriptor", func(r *reader, n *node, to *bursar.ColdWallet) { keep(&to.Descriptor)(r.text(n)) }},
	{"permission_id", func(r *reader, n *node, to *bursar.ColdWallet) {
		id, ok := r.whole(n, 0, math.MaxInt32)
		keep(&to.PermissionID)(int32(id), ok)
	}},
	{"executor", func(r *reader, n *node, to *bursar.ColdWallet) { keep(&to.Executor)(r.text(n)) }},
	{"nonce_account", func(r *reader, n *node, to *bursar.ColdWallet) { keep(&to.NonceAccount)(r.text(n)) }},
}

// coldWallets reads the cold wallets of a chain, each a section under its name. Whether an address is one of the chain
// is checked where its adapter is known.
func (r *reader) coldWallets(n *node, id bursar.ChainID, kinds []bursar.ColdKind) (wallets []bursar.ColdWallet) {
	if n.shape != isSection {
		r.fail(n, "this is %s; a section with a name for each cold wallet is expected", n.shape)
		return nil
	}
	if len(n.named) > maxColdWallets {
		r.fail(n, "%d cold wallets are too many; at most %d are allowed", len(n.named), maxColdWallets)
		return nil
	}
	seen := map[string]string{}
	for _, section := range n.named {
		if section.shape != isSection {
			r.fail(section, "this is %s; a section is expected, such as {kind: address, addresses: [\"…\"]}", section.shape)
			continue
		}
		w := bursar.ColdWallet{Chain: id, Name: section.key, Kind: bursar.ColdAddress}
		before := len(r.mistakes)
		read(r, section, coldSettings, &w)
		if len(r.mistakes) > before {
			continue
		}
		if err := w.Check(kinds...); err != nil {
			r.fail(section, "%v", err)
			continue
		}
		for _, a := range w.Addresses {
			if other, double := seen[a]; double {
				r.fail(section, "%s is an address of %s too", a, other)
			}
			seen[a] = w.Name
		}
		wallets = append(wallets, w)
	}
	return wallets
}

// hotCeiling checks the ceiling of the hot wallet. What is above it is moved down to the target, so the target must
// leave something for fees; and a cold wallet is needed that can receive it.
func (r *reader) hotCeiling(d *currencyDraft) {
	ceiling, target := d.node.field(ceilingKey), d.node.field(targetKey)
	switch {
	case ceiling == nil && target == nil:
	case ceiling == nil:
		r.fail(target, "the setting needs %s too", ceilingKey)
	case target == nil:
		r.fail(ceiling, "the setting needs %s too: what the hot wallet keeps when the rest goes to a cold wallet", targetKey)
	case d.HotTarget.IsZero() || !d.HotTarget.Less(d.HotCeiling):
		r.fail(target, "the amount must be above zero and below %s, which is %s", ceilingKey, d.Exact(d.HotCeiling))
	case !d.WithdrawalMaximum.IsZero() && d.HotTarget.Less(d.WithdrawalMaximum):
		r.fail(target, "the amount is below withdrawal_maximum, which is %s: such a withdrawal would wait for a refill",
			d.Exact(d.WithdrawalMaximum))
	case len(d.cfg.Chains[d.Chain].Cold) == 0:
		r.fail(ceiling, "chain %s has no cold wallet: list one under chains.%s.cold", d.Chain, d.Chain)
	}
}
