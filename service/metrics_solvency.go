package service

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/store"
)

var (
	solvent = newGauge("solvent",
		"1 while all liabilities are covered and the books are consistent in themselves and with the chains.")
	uncovered = newGauge("uncovered", "Liabilities that are not covered by custody, in whole units.", "currency")
	ownFunds  = newGauge("operator_own",
		"Operator funds: capital and fees, less network fees and losses, in whole units.", "currency")
	bookCustody = newGauge("custody",
		"What is in custody by the books, in whole units, by place: hot, unswept (at deposit addresses) or cold.",
		"currency", "place")
	chainDiffers = newGauge("chain_difference",
		"Balance on the chain minus the balance in the books (negative if less is held), in whole units, as last compared.",
		"currency")
	comparedAge = newGauge("chain_compared_age_seconds", "Time since a currency was last compared with its chain.",
		"currency")
	bookLinks   = newGauge("books_links", "Links in the hash chain of the books.")
	bookAudited = newGauge("books_audited_links", "Links that the audit has read.")
	bookFaults  = newGauge("books_faults", "Faults in the books.")
)

// solvency exports the solvency verdict.
func (m metrics) solvency(ctx context.Context, tx *store.Tx, out chan<- prometheus.Metric) error {
	v, err := reconcile.Evaluate(ctx, tx, m.service.Registry)
	if err != nil {
		return err
	}
	solvent.set(out, truth(v.OK()))
	bookLinks.set(out, float64(v.Links))
	bookAudited.set(out, float64(v.Audited))
	bookFaults.set(out, float64(len(v.Faults)))
	for _, p := range v.Lines {
		code := string(p.Currency.Code)
		bookOwed.set(out, whole(p.Currency, p.Owed), code)
		bookCustody.set(out, whole(p.Currency, p.Hot), code, "hot")
		bookCustody.set(out, whole(p.Currency, p.Unswept), code, "unswept")
		bookCustody.set(out, whole(p.Currency, p.Cold), code, "cold")
		uncovered.set(out, whole(p.Currency, p.Uncovered), code)
		ownFunds.set(out, whole(p.Currency, p.Own), code)
		if p.Chain != nil {
			chainDiffers.set(out, whole(p.Currency, p.Chain.Surplus)-whole(p.Currency, p.Chain.Missing), code)
			comparedAge.set(out, v.At.Sub(p.Since).Seconds(), code)
		}
	}
	return nil
}
