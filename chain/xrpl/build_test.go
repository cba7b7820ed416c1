package xrpl

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
)

func keys() chaintest.Keys { return chaintest.Keys{Curve: chain.Secp256k1} }

func hot() chain.Source {
	pub := keys().Public(chain.Hot("xrpl"))
	return chain.Source{Key: chain.Hot("xrpl"), Base: accountOf(pub).String(), Pub: hex.EncodeToString(pub)}
}

// paying returns a fake node with a hot wallet of 100 XRP at sequence 7, and a destination of 5 XRP with some flags.
func paying(t testing.TB, account, destination object) *fake {
	t.Helper()
	f := newFake(t)
	f.script["account_info"] = func(params object) object {
		data := object{"Account": params["account"], "Balance": "100000000", "Sequence": 7, "Flags": 0, "OwnerCount": 0}
		more := account
		if params["account"] != hot().Base {
			data["Balance"], more = "5000000", destination
		}
		if more == nil && params["account"] != hot().Base {
			return object{"error": "actNotFound"}
		}
		for key, value := range more {
			data[key] = value
		}
		if params["ledger_index"] != "validated" {
			return object{"account_data": data, "validated": false, "ledger_current_index": first + len(f.ledgers)}
		}
		newest := len(f.ledgers) - 1
		return object{"account_data": data, "validated": true, "ledger_index": first + newest,
			"ledger_hash": f.ledgers[newest]["ledger_hash"]}
	}
	return f
}

func requestOf(drops uint64, to string) chain.TxRequest {
	address, _ := bursar.SplitMemo(to)
	return chain.TxRequest{
		Kind: chain.KindWithdrawal, From: hot(), MaxFee: bursar.Units(2_000_000),
		Payments: []chain.Payment{{Address: address, Amount: bursar.Units(drops)}},
	}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	nonce := func(n uint64) func(*chain.TxRequest) { return func(o *chain.TxRequest) { o.Nonce = &n } }
	var funds *chain.NeedsFundsError
	var refused *chain.RefusedError
	for name, test := range map[string]struct {
		drops   uint64
		account object
		change  func(*chain.TxRequest)
		want    any // a string: the reservation; an error; or a pointer to an error type
	}{
		"the first":             {5_000_000, nil, nil, hot().Base + "/7"},
		"by our records":        {5_000_000, nil, nonce(9), hot().Base + "/9"},
		"the same":              {5_000_000, nil, nonce(7), hot().Base + "/7"},
		"used by somebody else": {5_000_000, nil, nonce(6), chain.ErrExternalNonce},
		"down to the reserve":   {98_999_988, nil, nil, hot().Base + "/7"},
		"into the reserve":      {98_999_989, nil, nil, &funds},
		"objects have reserves": {98_999_988, object{"OwnerCount": 2}, nil, &funds},
		"the key is disabled":   {5_000_000, object{"Flags": disableMaster}, nil, errMaster},
		"to itself": {5_000_000, nil, func(o *chain.TxRequest) {
			o.Payments[0].Address = bursar.Address{Base: hot().Base, Memo: 1, HasMemo: true}
		}, &refused},
		"a token": {5_000_000, nil, func(o *chain.TxRequest) { o.Payments[0].Contract = "USD" }, &refused},
		"two payments": {5_000_000, nil, func(o *chain.TxRequest) {
			o.Payments = append(o.Payments, o.Payments[0])
		}, errRequest},
		"to cold": {5_000_000, nil, func(o *chain.TxRequest) {
			o.Kind = chain.KindToCold
		}, hot().Base + "/7"},
		"a sweep":       {5_000_000, nil, func(o *chain.TxRequest) { o.Kind = chain.KindSweep }, errRequest},
		"no public key": {5_000_000, nil, func(o *chain.TxRequest) { o.From.Pub = "" }, errRequest},
		"another public key": {5_000_000, nil, func(o *chain.TxRequest) {
			o.From.Pub = hex.EncodeToString(keys().Public(chain.KeyRef{Index: 4}))
		}, errRequest},
		"another family": {5_000_000, nil, func(o *chain.TxRequest) { o.From.Key.Family = "evm" }, errRequest},
		"a fee bump":     {5_000_000, nil, func(o *chain.TxRequest) { o.Replaces = &chain.UnsignedTx{} }, errBump},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := requestOf(test.drops, third+":0")
			if test.change != nil {
				test.change(&o)
			}
			unsigned, err := paying(t, test.account, object{}).open(t).Build(t.Context(), o)
			switch want := test.want.(type) {
			case string:
				if err != nil || len(unsigned.Reservations) != 1 || unsigned.Reservations[0] != want || unsigned.Expires != 160 {
					t.Fatalf("built %+v (%v), want reservation %s until 160", unsigned, err, want)
				}
			case error:
				if !errors.Is(err, want) {
					t.Fatalf("built with error %v, want %v", err, want)
				}
			default:
				if !errors.As(err, want) {
					t.Fatalf("built with error %v, want a %T", err, want)
				}
			}
		})
	}
}

// Transactions pending in the open ledger count as spent; a missing account has no balance.
func TestBuildCountsTheAvailableBalance(t *testing.T) {
	t.Parallel()
	f := paying(t, nil, object{})
	usual := f.script["account_info"]
	f.script["account_info"] = func(params object) object {
		answer := usual(params)
		if params["ledger_index"] == "current" {
			answer["account_data"].(object)["Balance"] = "3000000"
		}
		return answer
	}
	var funds *chain.NeedsFundsError
	if _, err := f.open(t).Build(t.Context(), requestOf(5_000_000, third)); !errors.As(err, &funds) ||
		funds.Missing != bursar.Units(3_000_012) {
		t.Errorf("3 XRP pay 5 with %v, want 3.000012 missing", err)
	}
	f.script["account_info"] = func(params object) object {
		if params["account"] == hot().Base {
			return object{"error": "actNotFound"}
		}
		return usual(params)
	}
	if _, err := f.open(t).Build(t.Context(), requestOf(5_000_000, third)); !errors.As(err, &funds) ||
		funds.Missing != bursar.Units(6_000_012) {
		t.Errorf("no account pays 5 XRP with %v, want 6.000012 missing", err)
	}
}

// A payment has expired only if a ledger after its last one is validated, and every ledger that may contain it was
// searched without finding it.
func TestExpired(t *testing.T) {
	t.Parallel()
	lost := object{"error": "txnNotFound", "searched_all": true}
	for name, test := range map[string]struct {
		ledgers  int
		complete string
		answer   object
		sequence uint32
		want     bool
		fails    bool
	}{
		"too early":                  {60, "", lost, 7, false, false},
		"past":                       {61, "", lost, 7, true, false},
		"in a ledger":                {70, "", object{"validated": true, "ledger_index": 130}, 8, false, false},
		"not all searched":           {70, "", object{"error": "txnNotFound", "searched_all": false}, 7, false, true},
		"no answer about the search": {70, "", object{"error": "txnNotFound"}, 7, false, true},
		"a gap":                      {70, "100-120,122-170", lost, 7, false, true},
		"a gap before":               {70, "1-90,100-170", lost, 7, true, false},
		"begins too late":            {70, "101-170", lost, 7, false, true},
		"remembered, unused":         {70, "", object{"validated": false}, 7, true, false},
		"remembered, used":           {70, "", object{"validated": false}, 8, false, false},
		"not answered":               {70, "", object{"error": "noCurrent"}, 7, false, true},
		"a range not accepted":       {70, "", object{"error": "excessiveLgrRange"}, 7, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := paying(t, object{"Sequence": test.sequence}, object{})
			c := f.open(t)
			fresh := paying(t, nil, object{}).open(t)
			unsigned, tx := signed(t, fresh)
			for range test.ledgers {
				f.add()
			}
			f.complete = test.complete
			f.script["tx"] = func(params object) object {
				answer := object{"hash": tx.TxID}
				for key, value := range test.answer {
					answer[key] = value
				}
				least, named := params["min_ledger"].(float64)
				if !named || least > 100 || params["max_ledger"].(float64) < 160 {
					delete(answer, "searched_all") // for another range than the payment's, or without one
				}
				return answer
			}
			gone, err := c.Expired(t.Context(), unsigned, tx.TxID)
			if gone != test.want || (err != nil) != test.fails {
				t.Fatalf("expired is %v (%v), want %v", gone, err, test.want)
			}
		})
	}
}

func TestHoldingsAreThoseOfTheRequestedLedger(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	at := f.ref(0)
	for name, test := range map[string]struct {
		answer object
		want   uint64
		fails  bool
	}{
		"there": {object{"account_data": object{"Account": ours, "Balance": "7"}, "ledger_hash": at.Hash,
			"validated": true}, 7, false},
		"not there": {object{"error": "actNotFound"}, 0, false},
		"of another ledger": {object{"account_data": object{"Account": ours, "Balance": "7"}, "ledger_hash": fakeHash("x"),
			"validated": true}, 0, true},
		"of another account": {object{"account_data": object{"Account": third, "Balance": "7"}, "ledger_hash": at.Hash,
			"validated": true}, 0, true},
		"not validated": {object{"account_data": object{"Account": ours, "Balance": "7"}, "ledger_hash": at.Hash},
			0, true},
		"a lost ledger":     {object{"error": "lgrNotFound"}, 0, true},
		"no balance at all": {object{"account_data": object{"Account": ours, "Balance": 7.5}, "validated": true}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.script["account_info"] = func(params object) object {
				if params["ledger_hash"] != at.Hash {
					return object{"account_data": object{"Account": ours, "Balance": "999"}, "ledger_hash": fakeHash("another"),
						"validated": true}
				}
				return test.answer
			}
			balances, err := f.open(t).Holdings(t.Context(), []string{ours}, "", at)
			if (err != nil) != test.fails ||
				err == nil && (len(balances) != 1 || balances[0] != bursar.Units(test.want)) {
				t.Fatalf("balances %v (%v)", balances, err)
			}
		})
	}
	if _, err := f.open(t).Holdings(t.Context(), []string{ours}, "USD", at); !errors.Is(err, errToken) {
		t.Errorf("holdings of a token: %v, want %v", err, errToken)
	}
}
