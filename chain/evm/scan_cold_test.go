package evm

import (
	"reflect"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
)

// A contract such as a Safe has no key: anybody sends the transaction with which it pays. Tokens that leave one are a
// spend of the cold wallet, where those of another address of ours are an anomaly.
func TestTokensThatLeaveAColdContractAreItsSpend(t *testing.T) {
	t.Parallel()
	ours := base(fakeOurs)
	for _, cold := range []bool{true, false} {
		f := newFake(t)
		f.add(fakeTx{to: fakeContract, input: "0x01", logs: []object{
			movedLog(fakeOurs, fakeOutsider, 2_500_000), movedLog(fakeOurs, fakeOther, 3), movedLog(fakeOutsider, fakeOther, 4),
		}})
		watch := chaintest.NewWatch(ours)
		if cold {
			watch.AddCold(ours)
		}
		blocks, err := f.open(t, nil).After(t.Context(), f.at(0), 10, watch)
		if err != nil {
			t.Fatal(err)
		}
		var want []chain.ExternalSpend
		if cold {
			want = []chain.ExternalSpend{{TxID: fakeHash("tx", 1, 0), Base: ours, Payments: []chain.Payment{
				paid(fakeOutsider, fakeToken, 2_500_000), paid(fakeOther, fakeToken, 3),
			}}}
		}
		if b := blocks[0]; !reflect.DeepEqual(b.ExternalSpends, want) || (len(b.Anomalies) == 0) != cold {
			t.Errorf("cold %v: got %+v and %d anomalies, want %+v", cold, b.ExternalSpends, len(b.Anomalies), want)
		}
	}
}
