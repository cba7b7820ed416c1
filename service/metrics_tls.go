package service

import "github.com/prometheus/client_golang/prometheus"

// Metrics of the certificates that this process serves.
var (
	certificateExpires = newGauge("certificate_expires_timestamp_seconds",
		"When the certificate of a listener expires, in seconds since 1970.", "listener")
	certificateFailing = newGauge("certificate_failing",
		"1 while the files of a listener's certificate have changed and cannot be used.", "listener")
)

func (m metrics) certificates(out chan<- prometheus.Metric) {
	for _, side := range m.service.sides {
		if side.tls == nil {
			continue
		}
		state := side.tls.State()
		certificateExpires.set(out, float64(state.NotAfter.Unix()), side.name)
		certificateFailing.set(out, truth(state.Failing != nil), side.name)
	}
}
