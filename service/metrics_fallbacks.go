package service

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursar/bursar/chain"
)

var chainFallbacks = newCounter("chain_fallbacks", "Calls that an adapter made by its second method since the start.",
	"chain", "kind")

// fallbacks exports how often adapters used a second method, such as for blocks that no endpoint could trace.
func (m metrics) fallbacks(out chan<- prometheus.Metric) {
	for _, id := range m.service.order {
		adapter, counts := m.service.workers[id].chain.(chain.Counting)
		if !counts {
			continue
		}
		for kind, n := range adapter.Counters() {
			chainFallbacks.set(out, float64(n), string(id), kind)
		}
	}
}
