// Package browser plays payers on the payer's page in a real browser, with scripts and without.
//
// It owns nothing but its tests and the pictures in docs/payer-page, which they make.
package browser
