package service

import (
	"testing"
	"time"

	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/config"
)

func TestLimitsOfTheConfiguration(t *testing.T) {
	t.Parallel()
	if got := rateLimits(config.Config{Network: config.Mainnet}); got != api.DefaultRateLimits() {
		t.Errorf("the main network has %+v", got)
	}
	if got := rateLimits(config.Config{Network: config.Regtest}); got != (api.RateLimits{}) {
		t.Errorf("a private network has %+v, want %+v", got, api.RateLimits{})
	}
	named := config.Limits{Read: &config.Rate{}, Withdraw: &config.Rate{Count: 30, Per: time.Minute, Burst: 5}}
	want := api.DefaultRateLimits()
	want.Read, want.Withdraw = api.Limit{}, api.Limit{PerSecond: 0.5, Burst: 5}
	if got := rateLimits(config.Config{Network: config.Testnet, Limits: named}); got != want {
		t.Errorf("the file gives %+v, want %v", got, want)
	}
	if got := rateLimits(config.Config{Network: config.Regtest,
		Limits: named}); got != (api.RateLimits{Withdraw: want.Withdraw}) {
		t.Errorf("the file gives a private network %+v, want %+v", got, api.RateLimits{Withdraw: want.Withdraw})
	}
}
