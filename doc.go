// Package bursar holds the nouns of a self-hosted cryptocurrency deposit and payout service.
package bursar
