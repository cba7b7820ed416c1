package command

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
)

// entryReader writes entries of the log for people.
type entryReader struct{ registry *bursar.Registry }

// read returns an entry as it is listed, and the chains that it is about.
func (r entryReader) read(e memory.Entry) (listed ListedEntry, chains map[bursar.ChainID]bool) {
	listed = ListedEntry{Number: e.Number, At: e.At, Kind: e.Kind, Hash: hex.EncodeToString(e.Hash[:])}
	if json.Valid([]byte(e.Detail)) {
		listed.Detail = json.RawMessage(e.Detail)
	}
	if s, err := signer.ReadSigned(e); err == nil {
		listed.Signed = r.signed(s)
		listed.Summary = r.summary(s, listed.Signed)
		return listed, map[bursar.ChainID]bool{s.Chain: true}
	}
	if e.Kind == memory.KindRefused {
		listed.Summary, chains = refusedSummary(e.Detail)
		return listed, chains
	}
	listed.Summary = plainSummary(e.Detail)
	return listed, nil
}

func (r entryReader) signed(s signer.SignedEntry) *ListedSigned {
	listed := &ListedSigned{Chain: s.Chain, Kind: string(s.Kind), Outgoing: s.Outgoing, TxID: s.TxID,
		Payments: []ListedPayment{}, Fee: r.registry.AssetText(s.Chain, "", s.Fee)}
	for _, p := range s.Payments {
		listed.Payments = append(listed.Payments, ListedPayment{p.Address.String(),
			r.registry.AssetText(s.Chain, p.Contract, p.Amount), s.Home != "" && p.Address == bursar.Address{Base: s.Home}})
	}
	return listed
}

// summary says in one line what was signed, by whose order and by which rule.
func (r entryReader) summary(s signer.SignedEntry, listed *ListedSigned) string {
	var parts, home []string
	for _, p := range listed.Payments {
		if p.Home {
			home = append(home, p.Amount)
			continue
		}
		parts = append(parts, p.Amount+" to "+p.To)
	}
	if len(home) > 0 {
		parts = append(parts, strings.Join(home, " and ")+" stays with us")
	}
	text := fmt.Sprintf("%s on %s: %s; fee at most %s; outgoing %s", s.Kind, s.Chain, strings.Join(parts, ", "),
		listed.Fee, s.Outgoing)
	if s.TxID != "" {
		text += "; transaction " + s.TxID
	}
	if from := payer(s); from != "" {
		text += "; from " + from
	}
	for _, o := range s.Ordered {
		text += fmt.Sprintf("; order %s of account %s, signed with key %s", o.Order, o.Account, o.Key)
	}
	for _, a := range s.Allowed {
		text += fmt.Sprintf("; order %s by rule %s of policy %d", a.Order, a.Rule, a.Policy)
		if len(a.By) > 0 {
			text += ", approved by " + strings.Join(a.By, ", ")
		}
	}
	if s.Order != "" {
		text += "; by compromise order " + s.Order
	}
	return text
}

// payer names the address and nonce that pay, or how many UTXOs do.
func payer(s signer.SignedEntry) string {
	switch {
	case len(s.Uses) > 0:
		return strings.Join(s.Uses, ", ")
	case len(s.Resources()) > 0:
		return fmt.Sprintf("%d UTXOs", len(s.Inputs))
	case s.Identified():
		return s.Inputs[0].From
	}
	return ""
}

// refusedSummary says what was refused, and how often.
func refusedSummary(detail string) (text string, chains map[bursar.ChainID]bool) {
	var of struct {
		Refused []struct {
			Chain  bursar.ChainID `json:"chain"`
			Reason string         `json:"reason"`
			Count  int            `json:"count"`
			First  string         `json:"first"`
		} `json:"refused"`
	}
	if json.Unmarshal([]byte(detail), &of) != nil {
		return detail, nil
	}
	chains = map[bursar.ChainID]bool{}
	var parts []string
	for _, one := range of.Refused {
		chains[one.Chain] = true
		on := ""
		if one.Chain != "" {
			on = " on " + string(one.Chain)
		}
		parts = append(parts, fmt.Sprintf("%s%s %d times, first for outgoing %s", one.Reason, on, one.Count, one.First))
	}
	return strings.Join(parts, "; "), chains
}

// plainSummary writes the fields of an entry that people made, in the order of their names.
func plainSummary(detail string) string {
	var of map[string]any
	if json.Unmarshal([]byte(detail), &of) != nil {
		return detail
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		text, is := of[name].(string)
		if !is {
			encoded, err := json.Marshal(of[name])
			if err != nil {
				return detail
			}
			text = string(encoded)
		}
		parts = append(parts, name+" "+text)
	}
	return strings.Join(parts, "; ")
}
