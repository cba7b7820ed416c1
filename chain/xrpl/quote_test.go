package xrpl

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func TestQuoteRefusesPaymentsThatTheLedgerWouldRefuse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		to      string
		drops   uint64
		account object // nil: it does not exist
		below   bool
		good    bool
	}{
		"plain":                        {third, 1, object{}, false, true},
		"a tag where one is required":  {third + ":0", 1, object{"Flags": requireTag}, false, true},
		"no tag where one is required": {third, 1, object{"Flags": requireTag}, false, false},
		"authorized senders only":      {third + ":1", 1, object{"Flags": depositAuth}, false, false},
		"XRP disallowed":               {third, 1, object{"Flags": disallowXRP}, false, false},
		"flags without effect":         {third, 1, object{"Flags": 0x00800000 | disableMaster}, false, true},
		"a market maker's pool":        {third, 1, object{"AMMID": fakeHash("amm")}, false, false},
		"a vault":                      {third, 1, object{"VaultID": fakeHash("vault")}, false, false},
		"a new account":                {third, 1_000_000, nil, false, true},
		"a new account, below":         {third, 999_999, nil, true, false},
		"nothing":                      {third, 0, object{}, true, false},
		"more than the total supply":   {third, 100_000_000_000*dropsPerXRP + 1, object{}, false, false},
		"account zero":                 {"rrrrrrrrrrrrrrrrrrrrrhoLvTp", 5_000_000, object{}, false, false},
		"account one":                  {"rrrrrrrrrrrrrrrrrrrrBZbvji", 5_000_000, object{}, false, false},
		"the name reservation account": {"rrrrrrrrrrrrrrrrrNAMEtxvNvQ", 5_000_000, object{}, false, false},
		"not a number":                 {"rrrrrrrrrrrrrrrrrrrn5RM1rHd", 5_000_000, object{}, false, false},
		"no address":                   {"rubbish", 5_000_000, object{}, false, false},
		"genesis on a private ledger":  {genesisAccount, 5_000_000, object{}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := paying(t, nil, test.account).open(t)
			fee, err := c.Quote(t.Context(), requestOf(test.drops, test.to).Payments[0])
			var refused *chain.RefusedError
			switch {
			case test.good && (err != nil || fee != bursar.Units(12)):
				t.Fatalf("quoted %s (%v), want 12", fee, err)
			case !test.good && (!errors.As(err, &refused) || refused.Below != test.below || refused.Reason == ""):
				t.Fatalf("quoted %s (%v), want a refusal, below %v", fee, err, test.below)
			}
		})
	}
	public := rules(t, Mainnet, 0)
	var refused *chain.RefusedError
	if err := (&Chain{Rules: public}).refuse(requestOf(5_000_000, genesisAccount).Payments[0]); !errors.As(err,
		&refused) {
		t.Errorf("the genesis account of mainnet is paid: %v", err)
	}
}

func TestFeeFollowsTheOpenLedgerWithinTheLimit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		open, minimum string
		most          uint64
		want          uint64 // 0: an error
	}{
		"calm":                             {"10", "10", 2_000_000, 12},
		"busy":                             {"1001", "10", 2_000_000, 1202},
		"under load it waits in the queue": {"5000000", "15", 2_000_000, 50_000},
		"the request's limit is lower":     {"5000000", "15", 400, 400},
		"the queue asks more":              {"10", "200", 2_000_000, 200},
		"the queue is too expensive":       {"5000000", "15", 14, 0},
		"no numbers":                       {"x", "10", 2_000_000, 0},
		"free":                             {"0", "0", 2_000_000, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := paying(t, nil, object{})
			f.script["fee"] = func(object) object {
				return object{"drops": object{"base_fee": "10", "minimum_fee": test.minimum, "open_ledger_fee": test.open}}
			}
			o := requestOf(1_000_000, third)
			o.MaxFee = bursar.Units(test.most)
			unsigned, err := f.open(t).Build(t.Context(), o)
			if (err == nil) != (test.want != 0) || unsigned.Fee != bursar.Units(test.want) {
				t.Fatalf("fee %s (%v), want %d", unsigned.Fee, err, test.want)
			}
		})
	}
}
