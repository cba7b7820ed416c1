package roster

import (
	"slices"

	"github.com/bursar/bursar"
)

// Spelling converts the addresses and contracts of one chain to canonical form, in which its transactions show them.
type Spelling interface {
	ParseAddress(text string) (bursar.Address, error)
	ParseContract(text string) (string, error)
}

// Chains returns how a chain writes addresses; false for a chain that this signer does not have.
type Chains func(id bursar.ChainID) (Spelling, bool)

// Spell reads the address of every deny as its chains write it, so that Evaluate and Diff take another spelling of an
// address for the same one. A deny of named assets must have an address of each of their chains, one of all assets an
// address of at least one chain; a contract must be in its canonical spelling, since assets are found by it. Chains
// that the signer does not have are passed over: nothing is paid on them. The error is ErrUnsound, and whatever could
// be read was read.
func (p *Policy) Spell(chains Chains) (err error) {
	if chains == nil {
		return nil
	}
	err = p.spelledContracts(chains)
	p.Rules = slices.Clone(p.Rules)
	for i := range p.Rules {
		if failed := p.spellRule(&p.Rules[i], chains); err == nil {
			err = failed
		}
	}
	return err
}

func (p *Policy) spelledContracts(chains Chains) error {
	for _, a := range p.Assets {
		spelling, has := chains(a.Chain)
		if !has || a.Contract == "" {
			continue
		}
		canonical, err := spelling.ParseContract(a.Contract)
		if err != nil {
			return unsound("asset %s: %q is no contract of %s: %v", a.Name, a.Contract, a.Chain, err)
		}
		if canonical != a.Contract {
			return unsound("asset %s: write the contract as %s", a.Name, canonical)
		}
	}
	return nil
}

// spellRule reads the address of a deny on every chain that it is about.
func (p *Policy) spellRule(r *Rule, chains Chains) (err error) {
	if !r.Deny || r.To == ToAny || r.To == ToOwn {
		return nil
	}
	r.addresses = map[bursar.ChainID]bursar.Address{}
	asked := 0
	for _, id := range p.chainsOf(*r) {
		spelling, has := chains(id)
		if !has {
			continue
		}
		asked++
		address, failed := spelling.ParseAddress(r.To)
		if failed != nil {
			err = unsound("deny %s: %q is no address of %s: %v", r.ID, r.To, id, failed)
			continue
		}
		r.addresses[id] = address
	}
	if r.Assets == nil && len(r.addresses) > 0 || asked == 0 {
		return nil // other chains have other addresses
	}
	return err
}

// chainsOf returns the chains that a rule is about, each once.
func (p *Policy) chainsOf(r Rule) (ids []bursar.ChainID) {
	for _, a := range p.Assets {
		if (r.Assets == nil || slices.Contains(r.Assets, a.Name)) && !slices.Contains(ids, a.Chain) {
			ids = append(ids, a.Chain)
		}
	}
	return ids
}

// goesTo reports whether a deny is about the address of a payment. A deny of an address without a tag is about every
// tag; what was not read is compared as it is written.
func (r Rule) goesTo(q Question) bool {
	if r.To == ToAny || r.To == ToOwn {
		return true
	}
	to, known := r.addresses[q.Chain]
	if !known {
		var err error
		if to, err = bursar.SplitMemo(r.To); err != nil {
			to = bursar.Address{Base: r.To}
		}
	}
	return to.Base == q.To.Base && (!to.HasMemo || to == q.To)
}
