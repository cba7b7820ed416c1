package bitcoin

import (
	"fmt"

	"github.com/bursar/bursar"
)

// Followable implements chain.ColdRules. A spend from a P2WPKH or P2WSH output shows the key or the script of which the
// address has the hash (BIP 141). A spend from a taproot output by its key shows nothing of the address (BIP 341), and
// older forms are not followed.
func (c *Chain) Followable(base string) error {
	script, err := c.network.script(base)
	if err != nil {
		return err
	}
	if form := formOf(script); form != formKeyHash && form != formWitnessScript {
		return fmt.Errorf("%w: a cold wallet has addresses of the forms P2WPKH and P2WSH, which begin with %s1q",
			bursar.ErrBadAddress, c.network.HRP)
	}
	if canonical, err := c.network.base(script); err != nil || canonical != base {
		return fmt.Errorf("%w: its canonical form is %s", bursar.ErrBadAddress, canonical)
	}
	return nil
}
