package bursar

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// FeeKind says which operation a fee is charged for.
type FeeKind string

// The kinds of fees.
const (
	FeeOfDeposit    FeeKind = "deposit"
	FeeOfWithdrawal FeeKind = "withdrawal"
)

// Within returns the fee on a deposit. It is deducted from the deposit, so it is never more than the amount.
func (f Fee) Within(amount Amount) Amount {
	fee, err := f.Of(amount)
	if err != nil || amount.Less(fee) { // a fee that does not fit 128 bits is more than any amount
		return amount
	}
	return fee
}

const (
	percentDecimals = 4 // a millionth is 0.0001 %
	networkFee      = "network"
)

// ParseFee reads "network", an amount of a currency with so many decimals, a percentage below 100 such as "1%", or
// several of them with a + between, each kind once. Its errors quote the wrong part and say what is allowed.
func ParseFee(text string, decimals int) (Fee, error) {
	var fee Fee
	seen := map[string]bool{}
	for term := range strings.SplitSeq(text, "+") {
		kind, err := fee.read(strings.TrimSpace(term), decimals)
		if err != nil {
			return Fee{}, err
		}
		if seen[kind] {
			return Fee{}, fmt.Errorf("%.40q has %s twice", text, kind)
		}
		seen[kind] = true
	}
	return fee, nil
}

// read adds one part of a fee and returns the name of its kind.
func (f *Fee) read(term string, decimals int) (kind string, err error) {
	if term == networkFee {
		f.Network = true
		return networkFee, nil
	}
	percent, isPercent := strings.CutSuffix(term, "%")
	if !isPercent {
		return "an amount", f.readFixed(term, decimals)
	}
	millionths, err := ParseDecimal(strings.TrimSpace(percent), percentDecimals)
	count, small := millionths.Uint64()
	if err != nil || !small || count >= 1_000_000 {
		return "", fmt.Errorf("%.40q is not a percentage below 100%% with at most %d decimals", term, percentDecimals)
	}
	f.Millionths = uint32(count)
	return "a percentage", nil
}

func (f *Fee) readFixed(term string, decimals int) (err error) {
	switch f.Fixed, err = ParseDecimal(term, decimals); {
	case errors.Is(err, ErrAmountPlaces):
		return fmt.Errorf("%.40q has too many decimals; at most %d are allowed", term, decimals)
	case errors.Is(err, ErrAmountOverflow):
		return fmt.Errorf("%.40q is too large", term)
	case err != nil:
		return fmt.Errorf("%.40q is not a fee; allowed are network, an amount such as 0.5, a percentage such as 1%%, or "+
			"several with a + between", term)
	}
	return nil
}

// Text writes the fee as ParseFee reads it with the currency's decimals; no fee is "0".
func (f Fee) Text(c Currency) string {
	var terms []string
	if f.Network {
		terms = append(terms, networkFee)
	}
	if f.Millionths > 0 {
		terms = append(terms, Units(uint64(f.Millionths)).Decimal(percentDecimals, 0)+"%")
	}
	if !f.Fixed.IsZero() {
		terms = append(terms, c.Exact(f.Fixed))
	}
	if terms == nil {
		return "0"
	}
	return strings.Join(terms, " + ")
}

// FeeRule is a fee that the operator set for one account instead of the currency's own. It applies to deposits credited
// and withdrawals requested after it was set.
type FeeRule struct {
	AccountID ID
	Currency  CurrencyCode // empty: every currency that has no rule of its own
	Kind      FeeKind
	Fee       Fee // without a fixed amount where Currency is empty: it would be worth something else in each
	SetAt     time.Time
}

// FeeRules are the rules of any number of accounts.
type FeeRules []FeeRule

// Find returns the rule that applies to an account's deposits or withdrawals of a currency: the currency's rule, else
// the rule for every currency. Where there is neither, the currency's own fee applies.
func (rules FeeRules) Find(account ID, currency CurrencyCode, kind FeeKind) (rule FeeRule, found bool) {
	for _, r := range rules {
		if r.AccountID != account || r.Kind != kind {
			continue
		}
		if r.Currency == currency {
			return r, true
		}
		if r.Currency == "" {
			rule, found = r, true
		}
	}
	return rule, found
}

// For returns the currency with the fees that an account pays.
func (rules FeeRules) For(account ID, c Currency) Currency {
	if rule, found := rules.Find(account, c.Code, FeeOfDeposit); found {
		c.DepositFee = rule.Fee
	}
	if rule, found := rules.Find(account, c.Code, FeeOfWithdrawal); found {
		c.WithdrawalFee = rule.Fee
	}
	// The chain's fee is estimated in its native asset, so a token's withdrawals cannot carry it: the operator pays it.
	c.WithdrawalFee.Network = c.WithdrawalFee.Network && !c.IsToken()
	return c
}
