package wallet

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// AlarmColdAddress is the kind of the alarm that is raised when a deposit address is listed as that of a cold wallet.
const AlarmColdAddress = "cold_address_is_ours"

// errCold is the error where the next address is listed as cold. Its index is used up, so the next request gets
// another.
var errCold = bursar.Refuse(bursar.CodeUnavailable, "this address cannot be given out: repeat the request")

// alarmCold reports a cold address whose key the signer holds: deposits there would be treated as operator funds, and
// money there would not be cold.
func alarmCold(ctx context.Context, tx *store.Tx, w bursar.Wallet) error {
	return tx.Alarms().Raise(ctx, store.Alarm{
		Kind: AlarmColdAddress,
		Ref:  w.Address.Base,
		Message: fmt.Sprintf("%s is listed as the address of a cold wallet, and this service derives it as deposit address "+
			"%d: the signer has its key. Remove it from the cold wallets, and move what is on it", w.Address.Base, w.Index),
	})
}
