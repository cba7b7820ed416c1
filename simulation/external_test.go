package main

import (
	"testing"

	"github.com/bursar/bursar/bursartest/replicas"
)

// TestAnExternalSpendIsSettled checks that every chain comes to rest again after an operator settles an external
// spend and resumes, with books that agree with it.
func TestAnExternalSpendIsSettled(t *testing.T) {
	t.Parallel()
	template := memory(t)
	for _, kind := range replicas.Kinds() {
		p := Plan{Seed: 1, Kinds: []replicas.Kind{kind}, Events: []Event{
			{Do: "wallet"}, {Do: "capital", B: 3 * replicas.Unit}, {Do: "deposit", B: 2 * replicas.Unit, C: 1},
			{Do: "mine", B: 2}, {Do: "round"}, {Do: "mine", B: 2}, {Do: "round"},
			{Do: "external"}, {Do: "mine"}, {Do: "round"}, {Do: "mine", B: 2}, {Do: "round"},
			{Do: "withdraw", A: 1, B: 1000}, {Do: "round"}}}
		r := run(p, Setting{Template: template})
		if r.Err != nil || r.Stolen != 1 {
			t.Errorf("%s: %d external spends: %v, want nil and 1", kind, r.Stolen, r.Err)
		}
	}
}
