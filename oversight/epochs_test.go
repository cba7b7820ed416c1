package oversight

import (
	"testing"

	"github.com/bursar/bursar"
)

// The page of epochs says for each chain how far the rotation is, and what is next.
func TestAnEpochHasAStateAndWhatIsNext(t *testing.T) {
	held := []EpochHeld{{Currency: "BTC", Hot: bursar.Units(1)}}
	for want, e := range map[string]Epoch{
		"the first":     {},
		"complete":      {Keys: 1, Leads: 1},
		"being emptied": {Keys: 1, Leads: 1, Held: held},
		"not led":       {Keys: 1, Held: held},
		"keys missing":  {Leads: 1},
	} {
		state, next := e.state()
		if state.Text != want || (next == "") != (want == "the first") {
			t.Errorf("%+v: got %q and %q, want %q and what to do next", e, state.Text, next, want)
		}
	}
}
