package service

import "github.com/prometheus/client_golang/prometheus"

// Metrics of the connections to this process.
var (
	connectionsOpen    = newGauge("connections", "Open connections of clients to a listener.", "listener")
	connectionsRefused = newCounter("connections_refused",
		"Connections of clients that were closed at once since the start, because too many were open.", "listener")
)

func (m metrics) connections(out chan<- prometheus.Metric) {
	for _, side := range m.service.sides {
		open, refused := side.bounded.Count()
		connectionsOpen.set(out, float64(open), side.name)
		connectionsRefused.set(out, float64(refused), side.name)
	}
}
