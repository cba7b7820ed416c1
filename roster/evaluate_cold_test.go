package roster

import "testing"

// A move to a cold wallet needs a rule and a price: without one, what it is worth is bounded by nothing.
func TestMovesToColdNeedARule(t *testing.T) {
	t.Parallel()
	q := bitcoins(100_000)
	q.Kind = KindToCold
	p := policy()
	if a := p.Evaluate(q); a.Allowed || a.Lacks != Matches {
		t.Errorf("without a rule: got %+v, want it refused", a)
	}
	p.Rules = append(p.Rules, Rule{ID: "chill", For: []string{KindToCold}, To: ToOwn, Each: value("1000")})
	if err := p.soundRule(p.Rules[len(p.Rules)-1]); err != nil {
		t.Fatal(err)
	}
	if a := p.Evaluate(q); !a.Allowed || a.Rule != "chill" {
		t.Errorf("with a rule: got %+v, want it allowed by chill", a)
	}
	if q.Units = bitcoins(10_000_000).Units; p.Evaluate(q).Allowed {
		t.Error("more than the rule allows is allowed")
	}
	q.Contract = "a token without a price"
	if a := p.Evaluate(q); a.Allowed || a.Lacks != Matches {
		t.Errorf("without a price: got %+v, want it refused", a)
	}
}
