package e2e

import (
	"fmt"
	"io"
	"math/big"
	"regexp"
)

// metrics is one scrape of the service, which asks its database for every queue, chain and book: who compares
// several of them reads them once.
type metrics []byte

func (w *harness) scrape() (metrics, error) {
	answer, err := httpClient.Get(w.sandbox.Dashboard + "/metrics")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

// sum is the sum of the metrics whose line matches a pattern, as the decimals that they are written as.
func (m metrics) sum(pattern string) (*big.Rat, error) {
	sum := new(big.Rat)
	for _, match := range regexp.MustCompile(`(?m)^`+pattern+` (\S+)$`).FindAllSubmatch(m, -1) {
		value, ok := new(big.Rat).SetString(string(match[1]))
		if !ok {
			return nil, fmt.Errorf("metric %q", match[0])
		}
		sum.Add(sum, value)
	}
	return sum, nil
}

// metric is the sum of metrics in a scrape of their own.
func (w *harness) metric(pattern string) (*big.Rat, error) {
	all, err := w.scrape()
	if err != nil {
		return nil, err
	}
	return all.sum(pattern)
}

// waiting returns the length of one of the service's queues.
func (m metrics) waiting(chain, queue string) (*big.Rat, error) {
	return m.sum(fmt.Sprintf(`bursar_queue_waiting{chain="%s",queue="%s"}`, chain, queue))
}

// idle returns an error while an entry waits in one of the service's queues.
func (m metrics) idle(chain string, queues ...string) error {
	for _, queue := range queues {
		waiting, err := m.waiting(chain, queue)
		if err != nil || waiting.Sign() != 0 {
			return fmt.Errorf("%s of %s: %v wait, %v", queue, chain, waiting, err)
		}
	}
	return nil
}
