package tron_test

import (
	"testing"

	"github.com/bursar/bursar/sandbox/nodes/tron"
)

func BenchmarkMine(b *testing.B) {
	n := start(b, tron.Config{})
	for b.Loop() {
		mine(b, n, 1)
	}
}

func BenchmarkPayAndMine(b *testing.B) {
	n := start(b, tron.Config{})
	to := n.NewAddress()
	for b.Loop() {
		if _, err := n.Pay(to, 1_000); err != nil {
			b.Fatal(err)
		}
		mine(b, n, 1)
	}
}
