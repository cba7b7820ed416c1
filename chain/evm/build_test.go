package evm

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// payerState is the fake node's state of a payer. Its base fee is 1 gwei and its tip 2.
type payerState struct {
	native, tokens  uint64
	mined, pending  uint64
	gas             uint64 // gas of an estimate
	refused, noTips bool
}

func (p payerState) script(f *fake) {
	f.script["eth_getBalance"] = constant(quantity(p.native).hex())
	f.script["eth_maxPriorityFeePerGas"] = constant("0x77359400")
	if p.noTips {
		f.script["eth_maxPriorityFeePerGas"] = refusal(-32601, "method not found")
	}
	f.script["eth_getTransactionCount"] = func(params []any) (any, error) {
		if params[1] == "pending" {
			return quantity(p.pending).hex(), nil
		}
		return quantity(p.mined).hex(), nil
	}
	f.script["eth_estimateGas"] = constant(quantity(or(p.gas, plainGas)).hex())
	if p.refused {
		f.script["eth_estimateGas"] = refusal(3, "execution reverted: paused")
	}
	f.script["eth_call"] = func(params []any) (any, error) {
		if data := params[0].(map[string]any)["data"].(string); data != "0x313ce567" {
			return fmt.Sprintf("0x%064x", p.tokens), nil
		}
		return fmt.Sprintf("0x%064x", 6), nil
	}
}

// The prices that follow from the payer's state: twice the base fee and the tip, and for sweeps five quarters of the
// base fee and the tip.
const (
	usualPrice = 4 * gwei
	exactPrice = 3*gwei + gwei/4
	usualFee   = plainGas * usualPrice
	exactFee   = plainGas * exactPrice
)

func requestOf(kind chain.Kind, contract string, amount uint64) chain.TxRequest {
	return chain.TxRequest{
		Kind: kind, MaxFee: bursar.Units(1e18), From: chain.Source{Key: chain.Hot("evm"), Base: base(fakeOurs)},
		Payments: []chain.Payment{{Address: bursar.Address{Base: base(fakeOutsider)}, Contract: contract,
			Amount: bursar.Units(amount)}},
	}
}

// built is the expected unsigned transaction. A typed error is compared by its fields.
type built struct {
	nonce, amount, fee, tip uint64
	err                     error
}

type buildCase struct {
	name    string
	purse   payerState
	request chain.TxRequest
	change  func(o *chain.TxRequest)
	want    built
}

func needsFunds(contract string, missing uint64) error {
	return &chain.NeedsFundsError{Contract: contract, Missing: bursar.Units(missing)}
}

func needsGas(amount uint64) error {
	return &chain.NeedsGasError{Source: requestOf("", "", 1).From, Amount: bursar.Units(amount)}
}

func withdrawalCases() []buildCase {
	five := uint64(5)
	return []buildCase{
		{"payment", payerState{native: usualFee + 9}, requestOf(chain.KindWithdrawal, "", 9), nil,
			built{0, 9, usualFee, 2 * gwei, nil}},
		{"one unit too little", payerState{native: usualFee + 8}, requestOf(chain.KindWithdrawal, "", 9), nil,
			built{err: needsFunds("", 1)}},
		{"too little for the payment", payerState{native: 8}, requestOf(chain.KindWithdrawal, "", 9), nil,
			built{err: needsFunds("", usualFee+1)}},
		{"instead of pending transactions that our records do not have", payerState{native: 1e18, mined: 3, pending: 7},
			requestOf(chain.KindWithdrawal, "", 9), nil, built{3, 9, usualFee, 2 * gwei, nil}},
		{"our nonce", payerState{native: 1e18, mined: 5, pending: 5}, requestOf(chain.KindWithdrawal, "", 9),
			func(o *chain.TxRequest) {
				o.Nonce = &five
			}, built{5, 9, usualFee, 2 * gwei, nil}},
		{"our nonce before earlier ones are seen", payerState{native: 1e18, mined: 2, pending: 2},
			requestOf(chain.KindWithdrawal, "", 9), func(o *chain.TxRequest) {
				o.Nonce = &five
			}, built{5, 9, usualFee, 2 * gwei, nil}},
		{"external nonce", payerState{native: 1e18, mined: 6, pending: 6}, requestOf(chain.KindWithdrawal, "", 9),
			func(o *chain.TxRequest) {
				o.Nonce = &five
			}, built{err: chain.ErrExternalNonce}},
		{"no suggestion of tips", payerState{native: 1e18, noTips: true}, requestOf(chain.KindWithdrawal, "", 9), nil,
			built{0, 9, plainGas * (2*gwei + gwei/100), gwei / 100, nil}},
		{"fee limit", payerState{native: 1e18}, requestOf(chain.KindWithdrawal, "", 9), func(o *chain.TxRequest) {
			o.MaxFee = bursar.Units(usualFee - 1)
		}, built{0, 9, plainGas * (usualPrice - 1), 2 * gwei, nil}},
		{"fee limit below the base fee", payerState{native: 1e18}, requestOf(chain.KindWithdrawal, "", 9),
			func(o *chain.TxRequest) {
				o.MaxFee = bursar.Units(plainGas*gwei - 1)
			}, built{err: errFeeTooHigh}},
		{"receiver with code", payerState{native: 1e18, gas: 30_000}, requestOf(chain.KindWithdrawal, "", 9), nil,
			built{0, 9, 36_000 * usualPrice, 2 * gwei, nil}},
		{"receiver with too much code", payerState{native: 1e18, gas: 600_000}, requestOf(chain.KindWithdrawal, "", 9),
			nil,
			built{err: &chain.RefusedError{Reason: "the destination needs too much gas"}}},
		{"receiver that refuses", payerState{native: 1e18, refused: true}, requestOf(chain.KindWithdrawal, "", 9), nil,
			built{err: &chain.RefusedError{MayPass: true, Reason: "the destination does not accept the payment"}}},
		{"two payments", payerState{native: 1e18}, requestOf(chain.KindWithdrawal, "", 9), func(o *chain.TxRequest) {
			o.Payments = append(o.Payments, o.Payments[0])
		}, built{err: errRequest}},
		{"to itself", payerState{native: 1e18}, requestOf(chain.KindWithdrawal, "", 9), func(o *chain.TxRequest) {
			o.Payments[0].Address.Base = base(fakeOurs)
		}, built{err: &chain.RefusedError{Reason: "the payer cannot pay itself"}}},
	}
}

func sweepCases() []buildCase {
	return []buildCase{
		{"sweep", payerState{native: exactFee + 9}, requestOf(chain.KindSweep, "", exactFee+9), nil,
			built{0, 9, exactFee, exactPrice, nil}},
		{"sweep of less than the balance", payerState{native: 1e18}, requestOf(chain.KindSweep, "", exactFee+9), nil,
			built{0, 9, exactFee, exactPrice, nil}},
		{"sweep of more than the balance", payerState{native: exactFee + 9}, requestOf(chain.KindSweep, "", 1e18), nil,
			built{0, 9, exactFee, exactPrice, nil}},
		{"sweep of its own fee", payerState{native: exactFee}, requestOf(chain.KindSweep, "", exactFee), nil,
			built{err: needsFunds("", 1)}},
		{"sweep of dust", payerState{native: 100}, requestOf(chain.KindSweep, "", 100), nil,
			built{err: needsFunds("", exactFee-100)}},
		{"sweep of nothing", payerState{}, requestOf(chain.KindSweep, "", 100), nil, built{err: needsFunds("", 100)}},
	}
}

func tokenBuildCases() []buildCase {
	token := base(fakeToken)
	return []buildCase{
		{"tokens", payerState{native: 1e18, tokens: 9, gas: 50_000}, requestOf(chain.KindWithdrawal, token, 9), nil,
			built{0, 9, 60_000 * usualPrice, 2 * gwei, nil}},
		{"too few tokens", payerState{native: 1e18, tokens: 7, gas: 50_000}, requestOf(chain.KindWithdrawal, token, 9),
			nil,
			built{err: needsFunds(token, 2)}},
		{"tokens without gas", payerState{tokens: 9, gas: 50_000}, requestOf(chain.KindWithdrawal, token, 9), nil,
			built{err: needsFunds("", 60_000*usualPrice)}},
		{"sweep of tokens", payerState{native: 1e18, tokens: 7, gas: 50_000}, requestOf(chain.KindSweep, token, 9), nil,
			built{0, 7, 60_000 * usualPrice, 2 * gwei, nil}},
		{"sweep of tokens without gas", payerState{tokens: 7, gas: 50_000}, requestOf(chain.KindSweep, token, 7), nil,
			built{err: needsGas(75_000 * usualPrice)}},
		{"sweep of tokens with some gas", payerState{native: 1000, tokens: 7, gas: 50_000}, requestOf(chain.KindSweep,
			token,
			7),
			nil, built{err: needsGas(75_000*usualPrice - 1000)}},
		{"sweep of tokens that are locked", payerState{tokens: 7, refused: true}, requestOf(chain.KindSweep, token, 7),
			nil,
			built{err: &chain.RefusedError{MayPass: true, Reason: "the destination does not accept the payment"}}},
	}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	for _, test := range slices.Concat(withdrawalCases(), sweepCases(), tokenBuildCases()) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			test.purse.script(f)
			if test.change != nil {
				test.change(&test.request)
			}
			c := f.open(t, nil)
			unsigned, err := c.Build(t.Context(), test.request)
			if test.want.err != nil {
				wantSameError(t, err, test.want.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			contents, err := c.Inspect(unsigned.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			_, p, err := c.unpack(unsigned.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			want := test.request.Payments[0]
			want.Amount = bursar.Units(test.want.amount)
			if contents.Payments[0] != want || unsigned.Fee != bursar.Units(test.want.fee) ||
				p.Tip.Cmp(new(big.Int).SetUint64(test.want.tip)) != 0 {
				t.Fatalf("pays %+v for %s, tip %s, want %+v", contents.Payments, unsigned.Fee, p.Tip, test.want)
			}
			if resource := fmt.Sprintf("%s/%d", base(fakeOurs), test.want.nonce); len(unsigned.Reservations) != 1 ||
				unsigned.Reservations[0] != resource {
				t.Fatalf("reservations %q, want %q", unsigned.Reservations, resource)
			} else if len(contents.Reservations) != 1 || contents.Reservations[0] != resource {
				t.Fatalf("its bytes use %q, want %q", contents.Reservations, resource)
			}
		})
	}
}

// wantSameError compares typed errors by their fields and others by identity.
func wantSameError(t *testing.T, err, want error) {
	t.Helper()
	var funds *chain.NeedsFundsError
	var gas *chain.NeedsGasError
	var refused *chain.RefusedError
	same := errors.Is(err, want)
	switch want := want.(type) {
	case *chain.NeedsFundsError:
		same = errors.As(err, &funds) && *funds == *want
	case *chain.NeedsGasError:
		same = errors.As(err, &gas) && *gas == *want
	case *chain.RefusedError:
		same = errors.As(err, &refused) && *refused == *want
	}
	if !same {
		t.Fatalf("error %#v, want %#v", err, want)
	}
}
