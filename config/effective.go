package config

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Set is one value that the file or the environment sets.
type Set struct {
	Path   string // "currencies.BTC.minimum"
	Value  string // empty where it may be a secret, or is a list
	Source string // "bursar.yaml:7" or the variable's name
}

// Effective returns the values that are set, in the order of their paths; every other value is the default. A value is
// left out unless it certainly is no secret: what is below a key that may hold one, and what does not look like a plain
// setting.
func (c Config) Effective() []Set {
	var list []Set
	for path, at := range c.places {
		if path == "" || at.section {
			continue
		}
		list = append(list, Set{Path: path, Value: at.shown, Source: at.name})
	}
	slices.SortFunc(list, func(a, b Set) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// shown returns a value that is certainly no secret: a configuration that is printed must not contain any.
func (n *node) shown() string {
	if secretive(n.path) || !plain.MatchString(n.text) {
		return ""
	}
	return n.text
}

// plain matches a number, a duration, an amount, a network, an address to listen on or a word. A URL and a file's path
// are not plain: each may contain credentials, or reveal too much about the machine.
var plain = regexp.MustCompile(`^[A-Za-z0-9 .,:%+_-]{1,100}$`)

// openKeys are keys below which no secret is configured. A key that is new is secretive until it is listed here.
var openKeys = []string{"listen", "admin_listen", "admin_pprof", "database_failover", "network", "lease",
	"poll_interval", "confirmations", "finality", "chain_id", "max_fee", "max_fee_rate", "max_fee_percent", "minimum",
	"withdrawal_minimum", "withdrawal_maximum", "withdrawal_fee", "deposit_fee", "approval_above", "approvers",
	"hourly_limit", "daily_limit", "weekly_limit", "hot_ceiling", "hot_target", "sweep_from", "decimals", "places",
	"contract", "chain", "credit_quorum", "allow_http", "destination_hold", "max_age", "max_spread", "refresh",
	"digest", "daily", "timezone", "approvals_after",
	"withdrawals_after", "quiet", "kinds", "format", "source", "policy_required", "orders_required", "proxy_header",
	"gas_from_customers"}

// openSections are sections without any secret.
var openSections = []string{"currencies.", "limits.", "withdrawals."}

func secretive(path string) bool {
	for _, s := range openSections {
		if strings.HasPrefix(path, s) {
			return false
		}
	}
	return !slices.Contains(openKeys, path[strings.LastIndexByte(path, '.')+1:])
}
