package tron

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func paid(to address, contract string, amount uint64) chain.Payment {
	return chain.Payment{Address: bursar.Address{Base: to.String()}, Contract: contract, Amount: bursar.Units(amount)}
}

type externalCase struct {
	name    string
	tx      fakeTx
	want    []chain.ExternalSpend
	anomaly string
}

func externalCases() []externalCase {
	token := fakeToken.String()
	spend := func(fee uint64, payments ...chain.Payment) []chain.ExternalSpend {
		return []chain.ExternalSpend{{TxID: fakeTxID(1, 0), Base: fakeOurs.String(), Payments: payments,
			Fee: bursar.Units(fee)}}
	}
	failed := spend(13_000_000)
	failed[0].Failed = true
	call := object{"owner_address": fakeOurs.hex(), "contract_address": fakeContract.hex(), "call_value": 9}
	return []externalCase{
		{"a payment", fakeTx{from: fakeOurs, to: fakeOutsider, sun: 5, fee: 1_100_000},
			spend(1_100_000, paid(fakeOutsider, "", 5)), ""},
		{"a failed call", fakeTx{from: fakeOurs, kind: triggerType, to: fakeToken, outcome: "OUT_OF_ENERGY", failed: true,
			fee: 13_000_000}, failed, ""},
		{"TRX for a contract", fakeTx{kind: triggerType, value: call, fee: 7}, spend(7, paid(fakeContract, "", 9)), ""},
		{"tokens, some of them to ourselves and some of an outsider",
			fakeTx{from: fakeOurs, kind: triggerType, to: fakeToken, logs: []any{
				transferLog(fakeToken, fakeOurs, fakeOutsider, 3), transferLog(fakeToken, fakeOurs, fakeOutsider, 4),
				transferLog(fakeToken, fakeOurs, fakeOther, 5), transferLog(fakeToken, fakeOurs, fakeOurs, 6),
				transferLog(fakeToken, fakeOutsider, fakeOther, 8), transferLog(fakeContract, fakeOurs, fakeOutsider,
					9),
			}}, spend(0, paid(fakeOutsider, token, 7), paid(fakeOther, token, 5)), ""},
		{"new permissions", fakeTx{kind: "AccountPermissionUpdateContract", value: object{"owner_address": fakeOurs.hex()}},
			spend(0), ""},
		{"tokens taken from us by somebody else", fakeTx{kind: triggerType, to: fakeToken, logs: []any{
			transferLog(fakeToken, fakeOurs, fakeContract,
				2_500_000)}}, nil, "2.5 of this token went from our address " + fakeOurs.String()},
		{"a transfer of nothing by somebody else", fakeTx{kind: triggerType, to: fakeToken, logs: []any{
			transferLog(fakeToken, fakeOurs, fakeContract, 0)}}, nil, ""},
	}
}

// An external spend is reported with everything that it moved, so that a database that lost its own transactions
// recognizes them.
func TestExternalSpendsShowTheirContents(t *testing.T) {
	t.Parallel()
	for _, test := range externalCases() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.add(test.tx)
			b := f.after(t, f.open(t, nil), fakeWatch())[0]
			if !reflect.DeepEqual(b.ExternalSpends, test.want) {
				t.Fatalf("got  %+v\nwant %+v", b.ExternalSpends, test.want)
			}
			if test.anomaly == "" && len(b.Anomalies) != 0 ||
				test.anomaly != "" && (len(b.Anomalies) != 1 || !strings.Contains(b.Anomalies[0].What, test.anomaly)) {
				t.Fatalf("anomalies %+v, want %q", b.Anomalies, test.anomaly)
			}
		})
	}
}

// The delivered amount of a token payment is the amount that left the payer according to the token's own events.
func TestDeliveredIsWhatTheEventsSay(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	calls := func(logs ...any) fakeTx { return fakeTx{from: fakeOurs, kind: triggerType, to: fakeToken, logs: logs} }
	f.add(
		calls(transferLog(fakeToken, fakeOurs, fakeOutsider, 97), transferLog(fakeToken, fakeOurs, fakeContract, 3)),
		calls(),
		fakeTx{from: fakeOurs, kind: triggerType, to: fakeToken, outcome: "REVERT", failed: true},
		fakeTx{from: fakeOurs, to: fakeOutsider, sun: 5},
		calls(transferLog(fakeToken, fakeOutsider, fakeOurs, 97)),
	)
	watch := fakeWatch()
	for i := range 5 {
		watch.AddSent(fakeTxID(1, i))
	}
	var got [][]chain.Payment
	for _, in := range f.after(t, f.open(t, nil), watch)[0].Included {
		got = append(got, in.Delivered)
	}
	token := fakeToken.String()
	want := [][]chain.Payment{{paid(fakeOutsider, token, 97), paid(fakeContract, token, 3)}, {}, nil, nil, {}}
	if !slices.EqualFunc(got, want, func(a, b []chain.Payment) bool { return reflect.DeepEqual(a, b) }) {
		t.Fatalf("delivered %+v, want %+v", got, want)
	}
}
