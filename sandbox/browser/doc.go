// Package browser plays payers on the payer's page, customers of the demo shop, and operators in the console, in a real
// browser, with scripts and without.
//
// It owns nothing but its tests and the pictures in docs/payer-page and docs/operations/console, which they make.
package browser
