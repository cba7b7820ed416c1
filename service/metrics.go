package service

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursar/bursar/store"
)

// metrics reads the database whenever it is scraped, so that what it tells is true after a restart and on every replica.
type metrics struct{ service *Service }

var (
	heightDesc  = prometheus.NewDesc("bursar_chain_height", "Last block recorded.", []string{"chain"}, nil)
	latestDesc  = prometheus.NewDesc("bursar_chain_latest_height", "Newest block that a node told of.", []string{"chain"}, nil)
	finalDesc   = prometheus.NewDesc("bursar_chain_final_height", "Newest block that is final and recorded.", []string{"chain"}, nil)
	ageDesc     = prometheus.NewDesc("bursar_chain_head_age_seconds", "Time since a node last told of the chain's end.", []string{"chain"}, nil)
	haltedDesc  = prometheus.NewDesc("bursar_chain_halted", "1 while nothing is spent on the chain.", []string{"chain"}, nil)
	alarmsDesc  = prometheus.NewDesc("bursar_alarms_open", "Alarms that wait for an operator.", nil, nil)
	failureDesc = prometheus.NewDesc("bursar_scrape_failed", "1 when the database did not answer the scrape.", nil, nil)
)

// Describe names every metric.
func (metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{heightDesc, latestDesc, finalDesc, ageDesc, haltedDesc, alarmsDesc, failureDesc} {
		out <- d
	}
}

// Collect reads the metrics' values.
func (m metrics) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	err := m.service.DB.View(ctx, func(tx *store.Tx) error {
		chains, err := tx.ChainStates(ctx)
		if err != nil {
			return err
		}
		for _, c := range chains {
			id := string(c.Chain)
			gauge(heightDesc, float64(c.Height), id)
			gauge(latestDesc, float64(c.Latest), id)
			gauge(finalDesc, float64(c.Final), id)
			gauge(haltedDesc, truth(c.Halted != ""), id)
			if !c.CheckedAt.IsZero() {
				gauge(ageDesc, tx.Now().Sub(c.CheckedAt).Seconds(), id)
			}
		}
		alarms, err := tx.Alarms(ctx, 10_000)
		gauge(alarmsDesc, float64(len(alarms)))
		return err
	})
	gauge(failureDesc, truth(err != nil))
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
